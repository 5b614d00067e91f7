"""What a launch gets where it says nothing: each target's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tritonx.backends.api import Options, Target
from tritonx.backends.cpu import CpuBackend
from tritonx.backends.registry import get_backend
from tritonx.runtime.config import Config

TARGETS = [target for name in ("cuda", "hip", "cpu") for target in get_backend(name).known_targets()]


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_defaults_by_target(target: Target) -> None:
    """A program of the CPU's is one thread; those of GPUs are Triton's."""
    options = get_backend(target.backend).parse_options(target, {})
    wanted = {"cuda": (4, 3), "hip": (4, 2), "cpu": (1, 1)}[target.backend]
    assert (options.num_warps, options.num_stages) == wanted


class Wide(CpuBackend):
    """A machine whose larger model runs more warps."""

    def default_options(self, target: Target) -> Mapping[str, object]:
        return {"num_warps": 16} if target.arch == "x86-64-v4" else {}


def test_a_backend_says_them_for_one_target_and_a_launch_has_the_last_word() -> None:
    small, large = Target("cpu", "x86-64-v3"), Target("cpu", "x86-64-v4")
    backend, plain = Wide(), get_backend("cpu").parse_options(small, {})
    assert backend.parse_options(small, {}) == plain
    assert backend.parse_options(large, {}) == replace(plain, num_warps=16)
    assert backend.parse_options(large, {"num_warps": 2}) == replace(plain, num_warps=2)
    with pytest.raises(KeyError, match="warps_"):
        backend.parse_options(large, {"warps_": 2})


def test_a_configuration_says_its_own_everywhere() -> None:
    """As in Triton, whose libraries read ``config.num_warps``: what it does not name is four warps and three stages."""
    options: Options = get_backend("cpu").parse_options(Target("cpu"), Config({}).all_kwargs())
    assert (options.num_warps, options.num_stages) == (4, 3)
