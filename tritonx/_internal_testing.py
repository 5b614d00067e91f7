"""What tests of libraries take from Triton's module of this name: which device there is, and settings as if nothing had
been set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from tritonx.backends.api import Target
from tritonx.runtime import driver, knobs

__all__ = [
    "_fresh_knobs_impl",
    "get_current_target",
    "is_cuda",
    "is_hip",
    "is_hopper",
    "is_hopper_or_newer",
    "is_interpreter",
]


def is_interpreter() -> bool:
    """Whether kernels run line by line."""
    return bool(knobs.runtime.interpret)


def get_current_target() -> Target | None:
    """What kernels are compiled for; None where they run line by line."""
    return None if is_interpreter() else driver.get_active().get_current_target()


def _arch(backend: str) -> Any:
    target = get_current_target()
    return target.arch if target is not None and target.backend == backend else None


def is_cuda() -> bool:
    """Whether the device is NVIDIA's."""
    return _arch("cuda") is not None


def is_hip() -> bool:
    """Whether the device is AMD's."""
    return _arch("hip") is not None


def is_hopper_or_newer() -> bool:
    """Compute capability 9.0 and up."""
    return (_arch("cuda") or 0) >= 90


def is_hopper() -> bool:
    """Compute capability 9."""
    return (_arch("cuda") or 0) // 10 == 9


def _fresh_knobs_impl(skipped_attr: Iterable[str] | None = None) -> tuple[Callable[[], Any], Callable[[], None]]:
    """(a function that forgets all settings and gives the module, one that restores them); but for those named."""
    left = set(skipped_attr or ())
    groups = [g for name, g in vars(knobs).items() if isinstance(g, knobs.Group) and name not in left]
    scopes = ExitStack()

    def fresh() -> Any:
        for group in groups:
            scopes.enter_context(group.scope())
            group.reset()
            for knob in group.knob_descriptors.values():
                if knob.env:
                    os.environ.pop(knob.env, None)
        return knobs

    return fresh, scopes.close
