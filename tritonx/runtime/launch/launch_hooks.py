"""The hooks around launches (``knobs.runtime.launch_enter_hook``, ``launch_exit_hook``) and what they receive, the same
for a kernel that was compiled and for one whose lines are run."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from tritonx.runtime import knobs
from tritonx.runtime.devices.loaded_modules import LoadedModule

if TYPE_CHECKING:
    from tritonx.backends.api import Driver, LoadedKernel
    from tritonx.runtime.compiling.jit_function import JITFunction


def tell_when_gone(loaded: LoadedKernel, name: str, metadata_group: Mapping[str, str], hash: str) -> None:
    """Have ``knobs.runtime.kernel_unload_hook`` called when the last reference to ``loaded`` and its launchers is gone;
    not at the end of the process, and not in the child of a fork. A kernel without weak references tells nothing."""
    module = getattr(loaded, "module", None)
    kept = module if isinstance(module, LoadedModule) else loaded
    with suppress(TypeError):
        weakref.finalize(kept, _tell_gone, os.getpid(), loaded.function, name, metadata_group, hash).atexit = False


def _tell_gone(process: int, function: object, name: str, metadata_group: Mapping[str, str], hash: str) -> None:
    if knobs.runtime.kernel_unload_hook and process == os.getpid():
        knobs.runtime.kernel_unload_hook(None, function, name, metadata_group, hash)


class LazyDict:
    """What launch hooks receive: ``get()`` computes the data.

    >>> seen = []
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.launch_enter_hook = lambda data: seen.append(data.get()["name"])
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    >>> seen
    ['double']
    """

    driver: Driver | None = None
    """What runs the launch; None where the kernel's lines are run."""
    grid: tuple[int, int, int] | None = None
    device: int | None = None
    """Where it runs, if the launch knows without asking."""

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


class LaunchFacts(NamedTuple):
    """What is the same for all launches of a kernel. ``description`` is its ``launch_metadata``, if it has one."""

    name: str
    driver: Driver
    description: Callable[..., Mapping[str, Any]] | None


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
    data.grid = grid
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
