"""``knobs.nvidia``: this backend's settings, under Triton's names."""

from __future__ import annotations

from tritonx.runtime.knobs import Group, Knob, parse_bool, parse_file


class NvidiaKnobs(Group):
    libdevice_path = Knob[str | None]("TRITON_LIBDEVICE_PATH", None, parse_file)
    """The libdevice.10.bc to link with; None looks for one. PyTorch sets it to be as exact as its own kernels."""

    pipeline = Knob[bool]("TRITON_PIPELINE", True, parse_bool)
    """Whether loops with products are pipelined where a launch does not say (`pipeline=`)."""


knobs = NvidiaKnobs()
