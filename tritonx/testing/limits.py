"""What a device could reach, from the properties that its driver reports."""

from __future__ import annotations

from typing import Any

from tritonx.runtime import driver
from tritonx.runtime.devices.dtype_names import ITEM_BYTES, type_name

_SUBCORES = 4
"""Schedulers of a multiprocessor, each with its own arithmetic units."""


def _properties(device: int | None) -> Any:
    own = driver.get_active().implementation
    return own.properties(own.current_device() if device is None else device)


def _arch(device: int | None) -> int:
    arch = driver.get_active().implementation.current_target(device).arch
    if not isinstance(arch, int):
        raise ValueError(f"the arithmetic rate of {arch!r} is not known")
    return arch


def get_dram_gbps(device: int | None = None) -> float:
    """Peak bandwidth of the device's memory in GB/s: both edges of the clock, the whole bus."""
    known = _properties(device)
    return known["mem_clock_rate"] * known["mem_bus_width"] * 2 / 1e6 / 8


def _operand_bits(dtype: object) -> int:
    return 8 * ITEM_BYTES[type_name(dtype)]


def get_max_simd_tflops(dtype: object, clock_rate: float, device: int | None = None) -> float:
    """Peak of the vector units in TFLOP/s at ``clock_rate`` kHz, a fused multiply-add counting as two."""
    lanes = {32: 32, 16: 64, 64: 16}.get(_operand_bits(dtype))
    if lanes is None:
        raise ValueError(f"dtype {dtype} is not supported")
    return _properties(device)["multiprocessor_count"] * _SUBCORES * clock_rate * 2 * lanes * 1e-9


def get_max_tensorcore_tflops(dtype: object, clock_rate: float, device: int | None = None) -> float:
    """Peak of the matrix units in TFLOP/s at ``clock_rate`` kHz, dense, for operands of ``dtype`` (tf32 for 32
    bits)."""
    arch = _arch(device)
    bits = _operand_bits(dtype)
    if bits not in (8, 16, 32) or (arch < 80 and bits != 16):
        raise ValueError(f"dtype {dtype} is not supported")
    per_cycle = 256 if arch < 80 else (512 if arch < 90 else 1024) * 16 // bits
    return _properties(device)["multiprocessor_count"] * _SUBCORES * clock_rate * per_cycle * 1e-9
