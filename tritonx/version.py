"""The version of this distribution, and that of the Triton whose language and host interface it offers."""

from __future__ import annotations

import os

VERSION = "0.1.0"
"""What pip calls tritonx: pyproject.toml reads it from here."""


def triton_version() -> str:
    """What libraries that import Triton by name branch on: the release of the process's level.
    ``TRITONX_REPORTED_VERSION`` overrides it."""
    from tritonx import level

    return os.environ.get("TRITONX_REPORTED_VERSION", level.active().triton)
