"""``hook="triton"``: a kernel's ``launch_metadata`` says the name and the metrics of each launch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Self

from tritonx.profiler.hooks.hook import Hook
from tritonx.profiler.metric import Value, of_launch
from tritonx.profiler.stack import NUMBERS, current
from tritonx.profiler.state import COMPUTE_METADATA_SCOPE_PREFIX
from tritonx.runtime.launch.launch_hooks import LazyDict

id: ContextVar[int | None] = ContextVar("id", default=None)
"""The number of the last launch that a kernel has described, in this thread."""
op_name: ContextVar[str | None] = ContextVar("op_name", default=None)
"""Its name."""


class LaunchHook(Hook):
    """One for a process. Kernels that ``launch_metadata`` itself launches are in a state of their own
    (`tritonx.profiler.state.metadata_state`), which the viewer leaves out.

    >>> LaunchHook() is LaunchHook()
    True
    """

    priority = 100
    _one: LaunchHook | None = None
    _include: re.Pattern[str] | None = None
    _exclude: re.Pattern[str] | None = None

    def __new__(cls) -> Self:
        if cls._one is None:
            cls._one = super().__new__(cls)
        assert isinstance(cls._one, cls)
        return cls._one

    def configure(self, *, include: str | None = None, exclude: str | None = None) -> None:
        """Ask kernels only whose name begins as ``include`` says and not as ``exclude`` does (regular expressions). The
        others are timed all the same."""
        self._include = None if include is None else re.compile(include)
        self._exclude = None if exclude is None else re.compile(exclude)

    def _asks(self, name: str) -> bool:
        if self._include is not None and not self._include.match(name):
            return False
        return self._exclude is None or not self._exclude.match(name)

    def init_handle(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        return None

    def enter(self, metadata: LazyDict) -> None:
        if metadata.extras:  # the kernel says something
            found = self.describe(str(metadata.data["name"]), metadata.get)
            if found is not None:
                current().described = found

    def describe(self, name: str, say: Callable[[], Mapping[str, object]]) -> tuple[str, dict[str, Value]] | None:
        """The name and the metrics that a kernel gives its launch; None where it is not asked. Raises BadProfile."""
        stack = current()
        if stack.describing or not self._asks(name):
            return None
        stack.describing = True
        stack.push_state(COMPUTE_METADATA_SCOPE_PREFIX + name)
        try:
            found = say()
        finally:
            stack.pop_state()
            stack.describing = False
        name = str(found.get("name", name))
        if not self._asks(name):
            return None
        id.set(next(NUMBERS))
        op_name.set(name)
        return name, of_launch(found)

    def exit(self, metadata: LazyDict) -> None:
        return None

    def activate(self) -> None:
        return None

    def deactivate(self) -> None:
        return None
