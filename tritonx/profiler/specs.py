"""What a device could do, which a profile's ``util`` is a share of. The backends say it (`Backend.matrix_peaks`)."""

from __future__ import annotations

from tritonx.backends.registry import available
from tritonx.profiler.errors import BadProfile


def _peak(device_type: str, arch: str) -> tuple[float, float | None]:
    backend = available().get(device_type.lower())
    if backend is None:
        raise BadProfile(f"Unsupported device type: {device_type}")
    if arch not in backend.matrix_peaks:
        raise BadProfile(f"Unsupported architecture: {arch}")
    return backend.matrix_peaks[arch]


def max_flops(device_type: str, arch: str, width: int, num_sms: int, clock_rate: float) -> float:
    """Operations a second on operands of ``width`` bits; ``clock_rate`` in kHz. Raises BadProfile.

    >>> tritonx.profiler.specs.max_flops("CUDA", "90", 16, num_sms=132, clock_rate=1_980_000) / 1e12
    988.2...
    """
    return _peak(device_type, arch)[0] * num_sms * clock_rate * 1e3 / (width / 8)


def max_bps(device_type: str, arch: str, bus_width: int, memory_clock_rate: float) -> float:
    """Bytes a second; ``bus_width`` in bits, ``memory_clock_rate`` in kHz. Raises BadProfile.

    >>> tritonx.profiler.specs.max_bps("CUDA", "90", bus_width=6144, memory_clock_rate=2_619_000) / 1e12
    4.02...
    """
    known = _peak(device_type, arch)[1]
    return 2 * bus_width / 8 * memory_clock_rate * 1e3 if known is None else known
