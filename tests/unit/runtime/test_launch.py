"""Binding, keys, placement, grids, hooks, options: the launch path over a backend that records what it is given."""

from __future__ import annotations

import collections
import re
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.language.values.constexpr import constexpr
from tritonx.runtime import arrays, driver, knobs
from tritonx.runtime.errors import MixedDevices, NoBackend, UnreachableArgument, UnsupportedArgument
from tritonx.runtime.launch import specialize

WIDTH = constexpr(4)
PLAIN = 3


@tritonx.jit
def add(x, y, n, BLOCK: tl.constexpr = 64):
    pass


@tritonx.jit
def uses_globals(x):
    return x + WIDTH


@pytest.fixture(autouse=True)
def forget() -> None:
    """Each test has backends of its own."""
    add._launcher = uses_globals._launcher = None


def launched(backend: Any) -> list[Any]:
    return backend.own_driver.launched


def test_launch_passes_addresses_and_numbers(fake: Any) -> None:
    x, y = np.zeros(8, np.float32), np.zeros(8, np.int64)
    kernel = add[(3,)](x, y, 7)
    assert launched(fake) == [("add", (3, 1, 1), 5, (x.ctypes.data, y.ctypes.data, 7))]
    assert kernel.src.signature == {"x": "*fp32", "y": "*i64", "n": "i32", "BLOCK": "constexpr"}
    assert kernel.src.constants == {(3,): 64}
    assert kernel.metadata.shared == 128
    assert kernel.packed_metadata == (4, 1, 128)
    assert (kernel.n_regs, kernel.n_spills, kernel.function) == (11, 3, 77)


def test_a_second_launch_compiles_nothing(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    first = add[(1,)](x, x, 5)
    for n in (5, 6, 7, 9):
        assert add[(1,)](x, x, n) is first
    assert len(fake.compiles) == 1
    add[(1,)](x, x, 16)  # divisible
    add[(1,)](x, x, 24)  # by 8
    add[(1,)](x, x, 20)  # by 4
    add[(1,)](x, x, 1)  # folded
    add[(1,)](x, x, 2**31)
    assert len(fake.compiles) == 6
    add[(1,)](x, x, 5, num_warps=8)
    add[(1,)](x, x, 5, num_warps=8, num_stages=2)
    add[(1,)](x, x, 5, num_stages=2, num_warps=8)
    assert len(fake.compiles) == 8


def test_folded_arguments_are_not_passed(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    kernel = add[(1,)](x, None, 1)
    assert launched(fake)[-1][3] == (x.ctypes.data,)
    assert kernel.src.constants == {(1,): None, (2,): 1, (3,): 64}
    assert [p.name for p in kernel.parameters] == ["x"]


def test_tuples_are_flattened(fake: Any) -> None:
    Pair = collections.namedtuple("Pair", "pointer size")
    x = np.zeros(8, np.float32)
    kernel = add[(1,)](Pair(x, 1), (x, (5, None)), 7)
    assert launched(fake)[-1][3] == (x.ctypes.data, x.ctypes.data, 5, 7)
    assert kernel.src.signature["x"] == ("*fp32", "constexpr")
    assert type(kernel.src.signature["x"]) is Pair
    assert kernel.src.signature["y"] == ("*fp32", ("i32", "constexpr"))
    assert kernel.src.constants[1, 1, 1] is None
    assert [p.name for p in kernel.parameters] == ["x.0", "y.0", "y.1.0", "n"]


@pytest.mark.parametrize(
    ("grid", "expected"),
    [((2,), (2, 1, 1)), ([2, 3], (2, 3, 1)), ((2, 3, 4), (2, 3, 4)), (5, (5, 1, 1)), ((np.int64(6),), (6, 1, 1))],
)
def test_grids(fake: Any, grid: Any, expected: tuple[int, int, int]) -> None:
    x = np.zeros(8, np.float32)
    add[grid](x, x, 7)
    add[lambda meta: grid](x, x, 7)
    assert [entry[1] for entry in launched(fake)] == [expected, expected]


def test_a_grid_function_sees_all_arguments_and_options(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    seen: list[dict[str, Any]] = []

    def grid(meta: dict[str, Any]) -> tuple[int]:
        seen.append(meta)
        return (tritonx.cdiv(meta["n"], meta["BLOCK"]),)

    add[grid](x, y=x, n=1000, BLOCK=128, num_warps=2)
    assert launched(fake)[-1][1] == (8, 1, 1)
    assert seen[0]["x"] is x
    assert {k: seen[0][k] for k in ("n", "BLOCK", "num_warps")} == {"n": 1000, "BLOCK": 128, "num_warps": 2}


def test_an_empty_grid_compiles_and_launches_nothing(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    assert add[(0,)](x, x, 7).name == "add"
    assert len(fake.compiles) == 1
    assert not launched(fake)


@pytest.mark.parametrize("grid", [(), (1, 2, 3, 4), (-1,), ("a",), "abc", (1.5,)])
def test_bad_grids(fake: Any, grid: Any) -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(UnsupportedArgument):
        add[grid](x, x, 7)


@pytest.mark.parametrize("grid", [(2.0,), (2, 3.0), (2, 3, 4.0)])
def test_a_float_is_no_extent_where_an_integer_was_before(fake: Any, grid: Any) -> None:
    """They are equal, and have one hash."""
    x = np.zeros(8, np.float32)
    add[tuple(map(int, grid))](x, x, 7)
    with pytest.raises(UnsupportedArgument, match=r"the extents of a grid are integers, got \d\.0"):
        add[grid](x, x, 7)
    assert len(launched(fake)) == 1


def test_binding_errors_are_pythons(fake: Any) -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'n'"):
        add[(1,)](1, 2)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        add[(1,)](1, 2, 3, x=4)
    with pytest.raises(KeyError, match="Keyword argument foo was specified but unrecognised"):
        add[(1,)](1, 2, 3, foo=4)
    with pytest.raises(KeyError, match="stream option is deprecated; current stream will be used"):
        add[(1,)](1, 2, 3, stream=4)
    with pytest.raises(TypeError, match=r"unhashable type: 'list'.*'BLOCK'"):
        add[(1,)](1, 2, 3, BLOCK=[1])
    with pytest.raises(ValueError, match="num_warps must be a power of 2"):
        add[(1,)](2, 2, 3, num_warps=3)


def test_calling_a_kernel_as_a_function() -> None:
    with pytest.raises(RuntimeError, match=r"Cannot call @triton\.jit'd outside of the scope of a kernel"):
        add(1, 2, 3)


def test_options_reach_the_backend(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    add[(1,)](x, x, 7, speed=9, num_warps=2, debug=True)
    options = fake.compiles[-1][1]
    assert (options.speed, options.num_warps, options.debug) == (9, 2, True)


def test_options_that_launches_were_given_before(fake: Any) -> None:
    """Launches are written for them, whatever the next ones are given."""
    x = np.zeros(8, np.float32)
    seen: list[dict[str, Any]] = []
    grid = lambda meta: seen.append(meta) or (1,)  # noqa: E731  # one for all
    given: list[dict[str, Any]] = [{"num_warps": 2}, {"num_warps": 2, "num_stages": 3}, {"num_stages": 3}, {}]
    given += [{"num_stages": 3, "num_warps": 2}, {"num_warps": 8}, {"num_warps": 2, "debug": True}]
    for _ in range(3):
        for options in given:
            kernel = add[grid](x, x, 5, **options)
            assert {name: seen[-1][name] for name in seen[-1].keys() - {"x", "y", "n", "BLOCK"}} == options
            assert kernel.metadata.num_warps == options.get("num_warps", 4)
            assert kernel.metadata.num_stages == options.get("num_stages", 3)
    assert len(fake.compiles) == 4  # the defaults are 4 and 3
    with pytest.raises(KeyError, match="Keyword argument foo was specified but unrecognised"):
        add[(1,)](x, x, 5, num_warps=2, foo=4)
    with pytest.raises(TypeError, match="multiple values for argument 'x'"):
        add[(1,)](x, x, 5, num_warps=2, x=x)
    with pytest.raises(TypeError, match="takes 4 positional arguments but 5 were given"):
        add[(1,)](x, x, 5, 64, 5, num_warps=2)


@pytest.mark.parametrize("options", [{"num_warps": 2}, {"num_stages": 3, "debug": True}, {"num_warps": 2, "speed": 4}])
def test_the_second_launch_with_options_is_found(
    fake: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the key that it has since the first one was compiled."""
    x = np.zeros(8, np.float32)
    for given in (options, {**options, "num_ctas": 1}):
        add[(1,)](x, x, 5, **given)
        with monkeypatch.context() as without:
            without.setattr(add.launcher, "_request", None)
            add[(1,)](x, x, 5, **given)
    assert len(fake.own_driver.launched) == 4


def test_an_option_that_is_equal_to_one_before_means_its_own(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    for _ in range(2):
        add[(1,)](x, x, 5, num_stages=1)
        with pytest.raises(ValueError, match="num_stages must be a whole number"):
            add[(1,)](x, x, 5, num_stages=1.0)


def test_code_of_fewer_options_runs_while_it_is_written_again(fake: Any) -> None:
    """As another thread's launch does that began before."""
    x = np.zeros(8, np.float32)
    add[(1,)](x, x, 5, num_warps=2)
    old = FunctionType(add.launcher.launch.__code__, add.launcher.launch.__globals__)
    old.__defaults__, old.__kwdefaults__ = add.launcher.launch.__defaults__, add.launcher.launch.__kwdefaults__
    add[(1,)](x, x, 5, num_stages=2)
    kernel = old((1, 1, 1), x, x, 16, num_warps=2)
    assert (kernel.metadata.num_warps, kernel.metadata.num_stages) == (2, 3)


def test_options_may_be_lists_and_dictionaries(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    for _ in range(2):
        kernel = add[(1,)](x, x, 7, extern_libs={"libm": "/lib/libm.so"}, supported_fp8_dtypes=["fp8e5"])
    assert kernel.metadata.extern_libs == (("libm", "/lib/libm.so"),)
    assert len(fake.compiles) == 1
    assert len(launched(fake)) == 2


def test_numpy_numbers_are_compile_time_values(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    kernel = add[(1,)](x, x, 7, np.int64(32))
    assert type(kernel.src.constants[3,]) is int
    assert add[(1,)](x, x, 7, 32) is kernel


def test_a_parameter_that_is_also_an_option(fake: Any) -> None:
    @tritonx.jit
    def kernel(x, num_warps: tl.constexpr):
        pass

    compiled = kernel[(1,)](np.zeros(3), num_warps=8)
    assert compiled.metadata.num_warps == 8
    assert compiled.src.constants == {(1,): 8}


def test_debug_switch_is_part_of_the_key(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    add[(1,)](x, x, 7)
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        assert add[(1,)](x, x, 7).metadata.debug is True
        assert add[(1,)](x, x, 7, debug=False).metadata.debug is True  # the switch is for every launch
    assert add[(1,)](x, x, 7).metadata.debug is False


# Globals -------------------------------------------------------------------------------------------------------------


def test_a_changed_global_is_an_error(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros(8, np.float32)
    uses_globals[(1,)](x)
    uses_globals[(1,)](x)
    monkeypatch.setitem(globals(), "WIDTH", constexpr(8))
    said = "Global variable WIDTH has changed since we compiled this kernel, from constexpr[4] to constexpr[8]"
    with pytest.raises(RuntimeError, match=re.escape(said)):
        uses_globals[(1,)](x)
    with pytest.raises(RuntimeError, match="Global variable WIDTH has changed"):
        uses_globals[(1,)](np.zeros(8))  # also where it would be compiled anew
    monkeypatch.setitem(globals(), "WIDTH", constexpr(4))  # equal again, though another object
    uses_globals[(1,)](x)


# Placement -----------------------------------------------------------------------------------------------------------


class Device(NamedTuple):
    type: str
    index: int


class Tensor:
    def __init__(self, device: Device) -> None:
        self.dtype = "torch.float16"
        self.device = device

    def data_ptr(self) -> int:
        return 4096


def test_arguments_decide_the_backend(fakes: Any) -> None:
    host, there = np.zeros(4), Tensor(Device("chip", 1))
    assert add[(1,)](host, host, 3).target.backend == "fake"
    assert add[(1,)](there, there, 3).target.backend == "chip"
    assert fakes["chip"].own_driver.loaded == [("add", 1)]
    assert launched(fakes["chip"])[-1][2] == 6  # the stream of device 1
    add[(1,)](Tensor(Device("chip", 0)), 2, 3)
    assert fakes["chip"].own_driver.loaded[-1] == ("add", 0)


def test_backends_may_look_at_sizes(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = lambda self, nbytes: ("S",) if nbytes < 2**31 else ()  # noqa: E731
    monkeypatch.setattr(type(fakes["chip"]), "pointer_specialization", rule)
    specialize.forget_classes()

    class Sized(Tensor):
        def __init__(self, nbytes: int) -> None:
            super().__init__(Device("chip", 0))
            self.nbytes = nbytes

    add._launcher = None
    small = add[(1,)](Sized(1000), np.zeros(0).nbytes, 3)
    assert small.src.attrs[0,] == [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    assert add[(1,)](Sized(2**31), 0, 3).src.attrs[0,] == [["tt.divisibility", 16]]
    assert add[(1,)](Sized(2000), 0, 3) is small
    monkeypatch.undo()
    specialize.forget_classes()


def test_a_run_put_in_place_is_called(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    original = tritonx.JITFunction.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["grid"])
        return original(self, *args, **kwargs)

    monkeypatch.setattr(tritonx.JITFunction, "run", run)
    add[(2,)](np.zeros(3), 2, 3)
    assert seen == [(2,)]
    assert len(launched(fake)) == 1


def test_mixtures_name_both_arguments(fakes: Any) -> None:
    with pytest.raises(ValueError, match=r"'x' lives in host memory and argument 'y' in chip:0"):  # Triton's kind
        add[(1,)](np.zeros(4), Tensor(Device("chip", 0)), 3)
    with pytest.raises(MixedDevices, match=r"'x' lives in chip:1 and argument 'y' in chip:0"):
        add[(1,)](Tensor(Device("chip", 1)), Tensor(Device("chip", 0)), 3)
    with pytest.raises(MixedDevices, match=r"'x\[0\]'.*'n\[1\]\[0\]'"):
        add[(1,)]((np.zeros(4), 2), 2, (5, (Tensor(Device("chip", 0)),)))
    with pytest.raises(NoBackend, match="'y' lives in moon:0, and no installed backend runs there"):
        add[(1,)](2, Tensor(Device("moon", 0)), 3)


def test_override_by_set_active_and_environment(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert driver.active.get_current_target().backend == "chip"  # the device is preferred to the host
    assert add[(1,)](2, 3, 5).target.backend == "chip"
    driver.set_active("fake")
    assert driver.active.get_current_target().backend == "fake"
    assert add[(1,)](2, 3, 5).target.backend == "fake"
    with pytest.raises(UnsupportedArgument, match="'x' lives in chip:0, where the backend 'fake'"):
        add[(1,)](Tensor(Device("chip", 0)), 3, 5)
    monkeypatch.setenv("TRITONX_BACKEND", "chip")
    driver.reset_active()
    assert add[(1,)](2, 3, 5).target.backend == "chip"
    with pytest.raises(UnreachableArgument, match="'x' lives in host memory, where the backend 'chip'") as caught:
        add[(1,)](np.zeros(3), 3, 5)
    assert isinstance(caught.value, ValueError)  # as Triton's


def test_unknown_backend_in_the_environment(fakes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_BACKEND", "nonesuch")
    with pytest.raises(NoBackend, match="no backend named 'nonesuch'"):
        driver.reset_active()
    monkeypatch.delenv("TRITONX_BACKEND")
    driver.reset_active()


def test_device_arrays(fakes: Any) -> None:
    x = arrays.to_device(np.arange(6, dtype=np.int16).reshape(2, 3), backend="chip", device=1)
    assert add[(1,)](x, 2, 3).src.signature["x"] == "*i16"
    assert launched(fakes["chip"])[-1][3][0] == x.address
    np.testing.assert_array_equal(x.numpy(), np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(x.reshape(3, -1).numpy(), np.arange(6).reshape(3, 2))
    assert x.stride() == (3, 1)
    before = len(fakes["chip"].own_driver.memory)
    view = x.reshape(6)
    del x
    assert len(fakes["chip"].own_driver.memory) == before  # the view keeps it
    del view
    assert len(fakes["chip"].own_driver.memory) == before - 1


# Hooks ---------------------------------------------------------------------------------------------------------------


def test_hooks_of_a_launch(fake: Any) -> None:
    calls: list[Any] = []
    x = np.zeros(8, np.float32)

    @tritonx.jit(launch_metadata=lambda grid, metadata, args: {"bytes": args["n"] * 4, "grid": grid})
    def kernel(x, n):
        pass

    kernel.add_pre_run_hook(lambda *args, **kwargs: calls.append(("pre", args[1], kwargs)))
    with knobs.runtime.scope():
        enter, leave = lambda data: calls.append(data.get()), lambda data: calls.append("exit")
        knobs.runtime.launch_enter_hook.add(enter)
        knobs.runtime.launch_exit_hook.add(leave)
        kernel[(2,)](x, 7, num_warps=2)
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    assert calls[0] == ("pre", 7, {"num_warps": 2})
    assert (calls[1]["name"], calls[1]["bytes"], calls[1]["grid"]) == ("kernel", 28, (2, 1, 1))
    assert calls[2] == "exit"
    assert len(launched(fake)) == 1


def test_hooks_of_a_compile(fake: Any) -> None:
    seen: list[Any] = []
    x = np.zeros(8, np.float32)

    @tritonx.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        pass

    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda **info: seen.append(info) or True
        assert kernel[(2,)](x, 7, 4) is None
        assert not launched(fake)
        knobs.runtime.jit_cache_hook = None
        knobs.runtime.jit_post_compile_hook = lambda **info: seen.append(info)
        assert kernel.warmup(x, 7, 4, grid=(1,)).name == "kernel"
        assert not launched(fake)
    assert [s["is_manual_warmup"] for s in seen] == [False, True]
    name = "test_hooks_of_a_compile.<locals>.kernel"  # by which a module's kernel is found again
    assert (seen[0]["fn"].module, seen[0]["fn"].name) == (__name__, name)
    assert f"{name}[num_warps=4" in seen[0]["repr"]
    assert seen[0]["compile"].keys() == tritonx.knobs.JITHookCompileInfo.__annotations__.keys()
    assert seen[0]["compile"]["key"] == seen[0]["key"]
    data = seen[0]["compile"]["specialization_data"]
    again = kernel.preload(data)
    assert again.src.signature == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    assert len(fake.compiles) == 1  # found on disk
    with pytest.raises(tritonx.TritonError, match="Specialization data is for kernel"):
        add.preload(data)


def test_warmup_takes_dtypes(fake: Any) -> None:
    kernel = add.warmup(np.dtype("float16"), np.float64, 5, grid=(1,))
    assert kernel.src.signature["x"] == "*fp16"


# The compiled kernel -------------------------------------------------------------------------------------------------


def test_compiled_kernels_launch_with_and_without_constexprs(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    kernel = add[(1,)](x, x, 7)
    launched(fake).clear()
    kernel[(4, 1, 1)](x, x, 7, 64)
    kernel[(4, 1, 1)](x, x, 7)
    kernel.run(4, 1, 1, 5, kernel.function, kernel.packed_metadata, None, None, None, x, x, 7, 64)
    assert launched(fake) == [("add", (4, 1, 1), 5, (x.ctypes.data, x.ctypes.data, 7))] * 3
    with pytest.raises(TypeError, match="takes 3 run-time arguments or 4"):
        kernel[(4, 1, 1)](x, x)


def test_compiled_kernels_launch_with_arguments_that_were_specialized(fake: Any) -> None:
    """As Triton's did before 3.3: all but those that are declared `constexpr`."""
    x = np.zeros(8, np.float32)
    kernel = add[(1,)](x, x, 1)  # a constant of the kernel
    launched(fake).clear()
    for given in ((x, x, 1, 64), (x, x, 1), (x, x)):
        kernel[(4, 1, 1)](*given)
    assert [arguments for *_, arguments in launched(fake)] == [(x.ctypes.data, x.ctypes.data)] * 3


def test_asm(fake: Any) -> None:
    kernel = add[(1,)](np.zeros(8, np.float32), 2, 7)
    assert kernel.asm["bin"].startswith(b"\x00binary of ttir")
    assert kernel.asm["ttir"].startswith("ttir {'x': '*fp32'")
    assert set(kernel.asm) == {"ttir", "bin"}
    assert "cubin" not in kernel.asm
    with pytest.raises(KeyError):
        kernel.asm["nonesuch"]


def test_run_and_device_caches(fake: Any) -> None:
    x = np.zeros(8, np.float32)

    @tritonx.jit
    def kernel(x):
        pass

    compiled = kernel.run(x, grid=(1,), warmup=False)
    assert kernel.run(x, grid=lambda meta: (1,), warmup=True) is compiled
    kernels, _, target, backend, _ = kernel.device_caches[0]
    assert list(kernels.values()) == [compiled]
    assert (target.backend, backend.name) == ("fake", "fake")
