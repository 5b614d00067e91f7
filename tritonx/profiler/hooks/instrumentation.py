"""Regions of kernels as a hook: Triton's names. A session with ``backend="instrumentation"`` needs none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tritonx.profiler.errors import AnotherHook
from tritonx.profiler.hooks.hook import Hook
from tritonx.profiler.mode import BaseMode, InstrumentationMode, mode_of
from tritonx.runtime.launch.launch_hooks import LazyDict


class InstrumentationHook(Hook):
    """While it is active, launches record the regions of their kernels in its mode, unless an active session says
    another one. One can be active at a time.

    ``enable_host_buffer`` has ``host_buffer`` hold what the last such launch has recorded, as
    `tritonx.profiler.host_buffer` writes it, until no launch is measured any more.

    >>> str(InstrumentationHook("default:sampling_strategy=selective:sampling_options=0").mode.sampling_strategy)
    'selective'
    """

    priority = 0
    active_count: ClassVar[int] = 0
    enable_host_buffer: ClassVar[bool] = False
    host_buffer: ClassVar[object] = None

    def __init__(self, mode_obj: str | BaseMode | None) -> None:
        """Raises BadProfile."""
        found = mode_of(mode_obj, "instrumentation")
        assert isinstance(found, InstrumentationMode)
        self.mode = found

    def init_handle(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        """A kernel knows its regions itself."""

    def enter(self, metadata: LazyDict) -> None:
        """What is recorded comes with the launch (`tritonx.runtime.launch.measured_launch`)."""

    def exit(self, metadata: LazyDict) -> None:
        """Likewise."""

    def activate(self) -> None:
        """Raises AnotherHook."""
        if InstrumentationHook.active_count > 0:
            raise AnotherHook("Only one instance of the instrumentation hook can be active at a time.")
        InstrumentationHook.active_count += 1

    def deactivate(self) -> None:
        InstrumentationHook.active_count -= 1
