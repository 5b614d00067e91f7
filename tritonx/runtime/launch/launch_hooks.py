"""The hooks around launches (``knobs.runtime.launch_enter_hook``, ``launch_exit_hook``) and what they receive, the same
for a kernel that was compiled and for one whose lines are run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tritonx.runtime import knobs

if TYPE_CHECKING:
    from tritonx.runtime.compiling.jit_function import JITFunction


class LazyDict:
    """What launch hooks receive: ``get()`` computes the data.

    >>> seen = []
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.launch_enter_hook = lambda data: seen.append(data.get()["name"])
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    >>> seen
    ['double']
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.extras: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []

    def get(self) -> dict[str, Any]:
        for function, args in self.extras:
            self.data = self.data | function(*args)
        self.extras.clear()
        return self.data

    def add(self, func: Callable[..., Any], args: tuple[object, ...]) -> None:
        self.extras.append((func, args))


def launch_data(
    fn: JITFunction | None,
    basics: Mapping[str, object],
    grid: tuple[int, int, int],
    metadata: object,
    arguments: Mapping[str, object],
) -> LazyDict:
    """``basics`` (name, function, stream) and, when a hook asks, what the kernel's ``launch_metadata`` function says of
    this launch."""
    data = LazyDict(dict(basics))
    describe: Any = getattr(fn, "launch_metadata", None)
    if describe is not None:
        data.add(describe, (grid, metadata, dict(arguments)))
    return data


@contextmanager
def around_launch(describe: Callable[[], LazyDict | None]) -> Generator[None]:
    """Call the hooks before and after what runs inside; those behind a launch only where it raised nothing.
    ``describe`` makes what they receive; it is not called, and they receive None, where no hook enters."""
    hooks = knobs.runtime
    data = describe() if hooks.launch_enter_hook else None
    if hooks.launch_enter_hook:
        hooks.launch_enter_hook(data)
    yield
    if hooks.launch_exit_hook:
        hooks.launch_exit_hook(data)
