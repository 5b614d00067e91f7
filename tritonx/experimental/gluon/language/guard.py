"""Builtins of Gluon that GPUs of one vendor have."""

from __future__ import annotations

from tritonx.language.builtins.builtin import builtin_of

amd_builtin = builtin_of("hip", "gluon.language.amd")
"""As `builtin`: a kernel for a GPU of another vendor is refused at the line of the call."""
