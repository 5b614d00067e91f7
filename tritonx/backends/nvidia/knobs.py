"""``knobs.nvidia``: this backend's settings, under Triton's names."""

from __future__ import annotations

from tritonx.runtime.knobs import Group, optional_text


class NvidiaKnobs(Group):
    libdevice_path = optional_text("TRITON_LIBDEVICE_PATH")
    """The libdevice.10.bc to link with; None looks for one. PyTorch sets it to be as exact as its own kernels."""


knobs = NvidiaKnobs()
