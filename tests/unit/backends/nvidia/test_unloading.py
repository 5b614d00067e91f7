"""A module is unloaded when it cannot be launched any more, at a time when that is allowed; the hook tells of it."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false -- kernels are the language's, not Python's

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx.runtime.devices.loaded_modules import LoadedModule, UnusedModules
from tritonx_testing.emulators.ptx import backend

SIDE = 7
"""A stream; the emulator has no order of its own for it."""


def filled(x, value, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), value)


@pytest.fixture
def emulated() -> Iterator[Any]:
    found = backend.emulated(75)
    with backend.active(found):
        gc.collect()
        driver_of(found).unused.found.clear()  # the emulator's driver is one for all tests
        yield found


@pytest.fixture(autouse=True)
def no_kernels_of_other_tests() -> None:
    gc.collect()


def fresh() -> Any:
    return tritonx.jit(filled)


def launch(kernel: Any, n: int = 32) -> Any:
    x = to_device(np.zeros(n, np.int32))
    compiled = kernel[(1,)](x, 3, N=n)
    assert x.numpy().tolist() == [3] * n
    return compiled


def unloaded(emulated: Any) -> int:
    return emulated.cuda.calls.count("cuModuleUnload")


def test_when_the_next_one_is_loaded(emulated: Any) -> None:
    before = unloaded(emulated)
    kernel = fresh()
    launch(kernel)
    launch(fresh(), 64)
    assert unloaded(emulated) == before, "the first one can be launched still, the second could when it was loaded"
    del kernel
    gc.collect()
    assert unloaded(emulated) == before, "not in the middle of anything"
    launch(fresh(), 128)
    assert unloaded(emulated) == before + 2


def test_a_launcher_keeps_it(emulated: Any) -> None:
    before = unloaded(emulated)
    kernel = fresh()
    raw = launch(kernel).load()[1]
    del kernel
    gc.collect()
    other = fresh()
    launch(other, 64)
    assert unloaded(emulated) == before
    x = to_device(np.zeros(32, np.int32))
    raw(1, 1, 1, 0, x, 5)
    assert x.numpy().tolist() == [5] * 32
    del raw
    gc.collect()
    launch(fresh(), 128)
    assert unloaded(emulated) == before + 1


def test_given_up_by_name(emulated: Any) -> None:
    """As Triton's own tests do: the hook is told at once, and the module is gone until it is launched again."""
    told: list[str] = []
    x = to_device(np.zeros(32, np.int32))
    kernel = fresh()
    before = unloaded(emulated)
    with tritonx.knobs.runtime.scope():
        tritonx.knobs.runtime.kernel_unload_hook.add(lambda *what: told.append(what[2]))
        compiled = kernel.warmup(x, 3, N=32, grid=(1,))
        compiled._init_handles()
        assert compiled.module is not None and not told
        compiled.__del__()
        assert compiled.module is None and told == ["filled"]
        compiled.__del__()
        assert told == ["filled"]
    launch(fresh(), 64)
    assert unloaded(emulated) == before + 1
    assert launch(kernel) is compiled and compiled.module is not None


@pytest.mark.parametrize("side", [True, False])
def test_what_a_graph_may_have(emulated: Any, side: bool) -> None:
    """A launch on another stream may have been recorded: the module stays."""
    before = unloaded(emulated)
    kernel = fresh()
    raw = launch(kernel).load()[1]
    x = to_device(np.zeros(32, np.int32))
    raw(1, 1, 1, SIDE if side else 0, x, 5)
    raw(1, 1, 1, 0, x, 5)
    del kernel, raw
    gc.collect()
    launch(fresh(), 64)
    assert unloaded(emulated) == before + (not side)


def test_not_while_something_runs_or_is_recorded(emulated: Any) -> None:
    own = driver_of(emulated)
    before = unloaded(emulated)
    launch(fresh())
    gc.collect()
    emulated.cuda.fails["cuStreamQuery"] = 600
    kept = fresh()
    launch(kept, 64)
    emulated.cuda.fails.clear()
    with own.recording(0):
        launch(kept, 128)
    assert unloaded(emulated) == before
    launch(kept, 256)
    assert unloaded(emulated) == before + 1


def test_the_hook(emulated: Any) -> None:
    seen: list[tuple[object, ...]] = []
    with tritonx.knobs.runtime.scope():
        tritonx.knobs.runtime.kernel_unload_hook.add(tell := lambda *given: seen.append(given))
        kernel = fresh()
        compiled = launch(kernel)
        function, hash, group = compiled.function, compiled.hash, compiled.metadata_group
        assert seen == []
        del kernel, compiled
        gc.collect()
        assert seen == [(None, function, "filled", group, hash)]
        tritonx.knobs.runtime.kernel_unload_hook.remove(tell)
        launch(fresh())
        gc.collect()
        assert len(seen) == 1


def test_the_hook_on_the_cpu() -> None:
    seen: list[object] = []
    driver.set_active("cpu")
    try:
        with tritonx.knobs.runtime.scope():
            tritonx.knobs.runtime.kernel_unload_hook.add(lambda module, function, name, group, hash: seen.append(name))
            x = np.zeros(32, np.int32)
            fresh()[(1,)](x, 3, N=32)
            gc.collect()
            assert seen == ["filled"] and x.tolist() == [3] * 32
    finally:
        driver.reset_active()


def test_another_device_s_stay() -> None:
    unused, gone = UnusedModules(), list[object]()
    kept = [LoadedModule(name, device, unused) for name, device in (("a", 0), ("b", 1), ("c", 0))]
    unused.unload(0, may=lambda: True, unload=gone.append)
    assert gone == []
    kept.clear()
    gc.collect()
    unused.unload(0, may=lambda: False, unload=gone.append)
    assert gone == []
    unused.unload(0, may=lambda: True, unload=gone.append)
    assert sorted(map(str, gone)) == ["a", "c"]
    unused.unload(1, may=lambda: True, unload=gone.append)
    assert gone[2:] == ["b"] and unused.found == []


def test_neither_a_child_s_nor_at_the_end() -> None:
    """A forked child leaves the parent's modules alone, and nothing is unloaded while Python ends."""
    text = """
import gc, os
from tritonx.runtime.devices.loaded_modules import LoadedModule, UnusedModules
class Unused(UnusedModules):
    def put_aside(self, *given):
        super().put_aside(*given)
        print("aside", len(self.found), flush=True)
unused = Unused()
module, last = LoadedModule(1, 0, unused), LoadedModule(2, 0, unused)
if os.fork() == 0:
    del module
    os._exit(0)
os.wait()
print("parent", flush=True)
del module
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stdout.split("\n") == ["aside 0", "parent", "aside 1", ""], done
