"""The compute capabilities, as the tables of the CUDA C++ programming guide have them ("Features and technical
specifications per compute capability"): kilobytes of shared memory that a block can ask for, warps of a
multiprocessor."""

from __future__ import annotations

import pytest

from tritonx.backends.api import Target
from tritonx.backends.nvidia.targets import CAPABILITIES, capability, parse

TABLE = {
    75: (64, 32),
    80: (163, 64),
    86: (99, 48),
    89: (99, 48),
    90: (227, 64),
    100: (227, 64),
    103: (227, 64),
    120: (99, 48),
}
FEATURES_OF_ONE_ARCHITECTURE = {90, 100, 103, 120}
"""Compiled for themselves alone, `sm_90a`: wgmma and its like."""


def test_the_table() -> None:
    for number, (kilobytes, warps) in TABLE.items():
        found = CAPABILITIES[number]
        assert (found.number, found.shared_bytes, found.resident_threads) == (number, kilobytes * 1024, warps * 32)
        assert (found.registers, found.max_threads) == (64 * 1024, 1024)
        assert found.processor == f"sm_{number}{'a' if number in FEATURES_OF_ONE_ARCHITECTURE else ''}"
    assert CAPABILITIES.keys() == TABLE.keys()


@pytest.mark.parametrize(
    ("threads", "registers"), [(32, 255), (256, 255), (257, 248), (288, 224), (512, 128), (768, 80), (1024, 64)]
)
def test_registers_of_a_thread(threads: int, registers: int) -> None:
    """In eights, of 64 Ki; a thread can name 255."""
    assert CAPABILITIES[90].thread_registers(threads) == registers


@pytest.mark.parametrize(
    ("given", "number"),
    [("", 90), ("90", 90), ("sm_90", 90), ("sm_90a", 90), ("sm_100f", 100), ("75", 75), ("87", 86), ("121", 120)],
)
def test_names(given: str, number: int) -> None:
    """A capability between two known ones is compiled as the lower of its generation."""
    target = parse(given)
    assert capability(target).number == number
    assert (target.backend, target.warp_size) == ("cuda", 32)
    assert int(target.arch) == int(given.removeprefix("sm_").rstrip("af") or 90)


@pytest.mark.parametrize("given", ["70", "110", "sm_x", "ninety"])
def test_unknown_names(given: str) -> None:
    with pytest.raises(ValueError, match=r"known are .*90"):
        parse(given)
    if given.isdigit():
        with pytest.raises(ValueError, match=rf"{given} is not supported"):
            capability(Target("cuda", int(given), 32))
