"""The launch path without a GPU: a driver of two functions records what it is called with."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import random
import struct
import subprocess
import sys
import types as types_of
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonx.backends.api import KernelImage, Parameter, Target
from tritonx.backends.nvidia.launch import launcher_builtin
from tritonx.backends.nvidia.launch.launcher import Launcher, can_build, fastest
from tritonx.backends.nvidia.targets import GRID_LIMITS
from tritonx.backends.nvidia.tensor_maps.tensor_map import MapAddress
from tritonx.runtime import knobs
from tritonx.runtime.devices import elf
from tritonx.runtime.errors import TritonError, UnsupportedArgument
from tritonx.tools.tensor_descriptor import TensorDescriptor

FUNCTION, CONTEXT, OTHER = 0x1230, 0x4560, 0x7890
SHAPES = {"i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
          "u1": ctypes.c_uint8, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
          "u64": ctypes.c_uint64, "fp32": ctypes.c_float, "fp64": ctypes.c_double, "*fp32": ctypes.c_uint64,
          "bf16": ctypes.c_uint16, "fp16": ctypes.c_uint16,
          "!tt.tensordesc<tensor<64x64xf16>>": ctypes.c_uint64 * 16}  # fmt: skip
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p,
                          ctypes.c_void_p)  # fmt: skip
CURRENT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))


class RecordingDriver:
    """``launches`` has (shape, stream, values); a launch outside CONTEXT, or the next one after ``fail``, fails."""

    def __init__(self, types: list[str]) -> None:
        self.types = types
        self.context: int | None = CONTEXT
        self.code = 0
        self.launches: list[tuple[tuple[int, ...], int | None, list[Any]]] = []
        self.wrong_context = 0
        self.cuLaunchKernel = LAUNCH(self._launch)
        self.cuCtxGetCurrent = CURRENT(self._current)

    def _current(self, out: Any) -> int:
        out[0] = self.context
        return 0

    def _launch(self, function: int, *rest: Any) -> int:
        *shape, stream, block, extra = rest
        assert function == FUNCTION
        assert extra is None
        if self.context != CONTEXT:
            self.wrong_context += 1
            return 201
        cells = (ctypes.c_void_p * len(self.types)).from_address(block)
        read = [SHAPES[t].from_address(cell or 0) for t, cell in zip(self.types, cells, strict=True)]
        values = [list(each) if isinstance(each, ctypes.Array) else each.value for each in read]
        self.launches.append((tuple(shape), stream, values))
        return self.code

    @contextmanager
    def on_device(self) -> Any:
        before, self.context = self.context, CONTEXT
        yield
        self.context = before


class Failed(TritonError):
    pass


def check(code: int, call: str) -> None:
    if code:
        raise Failed(f"{call}: {code}")


@pytest.fixture(autouse=True, scope="module")
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path_factory.mktemp("cache"))
        yield


def launcher_of(types: list[str]) -> tuple[RecordingDriver, Launcher]:
    driver = RecordingDriver(types)
    parameters = tuple(Parameter(f"p{i}", t) for i, t in enumerate(types))
    image = KernelImage("kernel", b"", parameters, {"num_warps": 4, "shared": 512}, Target("cuda", 90, 32))
    cuda: Any = driver
    return driver, Launcher(cuda, image, FUNCTION, CONTEXT, check, driver.on_device)


class Array:
    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


BOTH = pytest.mark.parametrize("fast", [False, True], ids=["through ctypes", "builtin"])


def ways(types: list[str], fast: bool) -> tuple[RecordingDriver, Callable[..., None]]:
    driver, launcher = launcher_of(types)
    if not fast:
        return driver, launcher
    builtin = fastest(launcher)
    assert isinstance(builtin, types_of.BuiltinFunctionType) == can_build()
    return driver, builtin


@BOTH
def test_arguments_reach_the_driver(fast: bool) -> None:
    types = ["*fp32", "*fp32", "*fp32", "i32", "i64", "u8", "fp32", "bf16"]
    args = (Array(1 << 40), 1 << 41, None, -5, -(1 << 62), 200, 0.1, 1.0)
    driver, launcher = ways(types, fast)
    launcher(7, 8, 9, 99, *args)
    (shape, stream, values) = driver.launches.pop()
    assert shape == (7, 8, 9, 128, 1, 1, 512)
    assert stream == 99
    assert values == [1 << 40, 1 << 41, 0, -5, -(1 << 62), 200, ctypes.c_float(0.1).value, 0x3F80]


@BOTH
@pytest.mark.parametrize(
    "value", [1 / 3, -1.00390625, 1.01171875, 3.3e38, 65519.0, 1e-7, 0.0, float("inf"), float("nan")]
)
def test_halves_are_rounded_to_nearest_even(fast: bool, value: float) -> None:
    driver, launcher = ways(["bf16", "fp16"], fast)
    fits = abs(value) < 65520 or math.isinf(value) or math.isnan(value)
    launcher(1, 1, 1, 0, value, value if fits else 0.0)
    bfloat, half = (np.uint16(v) for v in driver.launches[0][2])
    single = np.array([bfloat.astype(np.uint32) << 16], np.uint32).view(np.float32)[0]
    if math.isnan(value):
        assert np.isnan(single) and np.isnan(half.view(np.float16))
    elif math.isinf(value):
        assert np.isinf(single) and np.isinf(half.view(np.float16))
    else:
        steps = np.array([int(bfloat) - 1, int(bfloat), int(bfloat) + 1], np.int64).astype(np.uint32) << 16
        distances = abs(steps.view(np.float32).astype(np.float64) - np.float64(np.float32(value)))
        assert distances[1] == distances[~np.isnan(distances)].min()
        assert half.view(np.float16) == np.float16(value if fits else 0.0)


@BOTH
@pytest.mark.parametrize("context", [None, OTHER])
def test_another_context_is_changed_before_the_launch(fast: bool, context: int | None) -> None:
    driver, launcher = ways(["i32"], fast)
    driver.context = context
    launcher(2, 1, 1, 0, 3)
    assert driver.launches == [((2, 1, 1, 128, 1, 1, 512), None, [3])]
    assert driver.context == context
    assert not driver.wrong_context


@BOTH
def test_largest_grids(fast: bool) -> None:
    driver, launcher = ways(["i32"], fast)
    launcher(*GRID_LIMITS, 0, 3)
    assert driver.launches[0][0][:3] == GRID_LIMITS
    for axis, limit in enumerate(GRID_LIMITS):
        grid = [1, 1, 1]
        grid[axis] = limit + 1
        with pytest.raises(UnsupportedArgument, match=rf"the grid \({grid[0]}, {grid[1]}, {grid[2]}\) is too large"):
            launcher(*grid, 0, 3)
    assert len(driver.launches) == 1


@BOTH
def test_a_failed_launch_is_raised(fast: bool) -> None:
    driver, launcher = ways(["i32"], fast)
    driver.code = 701
    with pytest.raises(Failed, match="cuLaunchKernel: 701"):
        launcher(1, 1, 1, 0, 3)


@BOTH
def test_an_argument_of_another_kind_is_an_error(fast: bool) -> None:
    driver, launcher = ways(["*fp32", "fp32"], fast)
    with pytest.raises(Exception, match=r"real number|float"):
        launcher(1, 1, 1, 0, 0, "1.0")
    with pytest.raises((TypeError, AttributeError)):
        launcher(1, 1, 1, 0, object(), 1.0)
    assert not driver.launches


def value_of(type_: str, rng: random.Random) -> Any:
    if type_.startswith("!"):
        memory = (ctypes.c_uint64 * 16)(*[rng.randrange(1 << 64) for _ in range(16)])
        address = MapAddress(ctypes.addressof(memory))
        address.memory = memory
        return address
    if type_.startswith("*"):
        address = rng.randrange(1 << 64)
        return rng.choice([address, Array(address), None])
    if type_[0] in "iu":
        bits = int(type_[1:])
        return bool(rng.randrange(2)) if bits == 1 else rng.randrange(1 << bits) - (1 << bits - 1) * (type_[0] == "i")
    return rng.choice([-1.0, 0.0, rng.uniform(-9, 9)])


RECIPE: dict[str, Any] = {
    "swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "block_shape": [64, 64], "written": True,
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("from_source", [False, True])
def test_descriptors_are_launched_as_maps(fast: bool, from_source: bool) -> None:
    """Those of a kernel's source with their extents and strides, or as pointers where no copy uses them; those of a
    file's kernel alone."""
    if from_source:
        types = ["tensordesc<fp16[64, 64]>", "i32", "tensordesc<fp16[64, 64]>", "tensordesc<fp16[8]>"]
        mapped = ["!tt.tensordesc<tensor<64x64xf16>>", "i32", "i32", "i64", "i64"]
        flat = [*mapped, "i32", *mapped, "*fp32", "i64", "i64", "u1", "i32", "i64"]
    else:
        flat = types = ["!tt.tensordesc<tensor<64x64xf16>>", "i32", "!tt.tensordesc<tensor<64x64xf16>>", "*fp32"]
    driver = RecordingDriver(flat)
    encoded: list[int] = []

    def encode(where: Any, kind: Any, rank: Any, base: Any, *rest: Any) -> int:
        encoded.append(base.value)
        ctypes.memset(where.value, len(encoded), 128)
        return 0

    driver.cuTensorMapEncodeTiled = encode  # type: ignore[attr-defined]
    recipes = tuple({**RECIPE, "descriptor": number if from_source else None} for number in range(2))
    metadata = {"num_warps": 4, "shared": 512, "tensordesc_meta": recipes}
    parameters = tuple(Parameter(f"p{i}", t) for i, t in enumerate(types))
    image = KernelImage("kernel", b"", parameters, metadata, Target("cuda", 90, 32))
    cuda: Any = driver
    launcher = Launcher(cuda, image, FUNCTION, CONTEXT, check, driver.on_device)
    launch = fastest(launcher) if fast else launcher.of_arguments(launcher)
    bases = [np.zeros(64 * 128, np.float16) for _ in range(3)]

    def described(base: Any, *shape: int) -> TensorDescriptor:
        held = types_of.SimpleNamespace(data_ptr=lambda: base.ctypes.data, dtype=base.dtype)
        return TensorDescriptor(held, [*shape], [128, 1][-len(shape) :], [64, 64] if len(shape) > 1 else [8])

    first, second = described(bases[0], 64, 96), described(bases[1], 32, 64)
    for _ in range(3):
        launch(2, 3, 1, 9, first, 7, second, described(bases[2], 24) if from_source else bases[2].ctypes.data)
    assert encoded == [base.ctypes.data for base in bases[:2]], "once"
    maps = [[0x0101010101010101 * number] * 16 for number in (1, 2)]
    values = [maps[0], 7, maps[1], bases[2].ctypes.data]
    if from_source:
        values = [maps[0], 64, 96, 128, 1, 7, maps[1], 32, 64, 128, 1, bases[2].ctypes.data, 24, 1, 0, 24, 1]
    assert driver.launches == [((2, 3, 1, 128, 1, 1, 512), 9, values)] * 3
    first.shape[1] = 92
    with pytest.raises(UnsupportedArgument, match="rows of 92 elements are no whole pieces"):
        launch(2, 3, 1, 9, first, 7, second, described(bases[2], 24) if from_source else bases[2].ctypes.data)
    with pytest.raises(UnsupportedArgument, match="a TensorDescriptor is needed, got int"):
        launch(2, 3, 1, 9, 5, 7, second, described(bases[2], 24) if from_source else bases[2].ctypes.data)


def test_any_signature_both_ways() -> None:
    """One code for all signatures: as the other way passes them."""
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    for _ in range(100):
        types = rng.choices(list(SHAPES), k=rng.choice([0, 1, 2, 5, 30, 200]))
        args = [value_of(t, rng) for t in types]
        grid = [rng.randint(1, most) for most in GRID_LIMITS]
        seen: list[Any] = []
        for fast in (False, True):
            driver, launch = ways(types, fast)
            launch(*grid, 7, *args)
            seen += driver.launches
        assert len(seen) == 2 and seen[0] == seen[1], f"seed {seed}: {types}"


@BOTH
@pytest.mark.parametrize(
    ("type_", "wrong"),
    [("*fp32", object()), ("*fp32", -1), ("i32", "1"), ("i64", 1.5), ("fp16", "x"), ("fp16", 1e6), ("fp64", None)],
)
def test_a_wrong_argument_among_others(fast: bool, type_: str, wrong: Any) -> None:
    driver, launch = ways(["i32", type_, "*fp32", "fp32"], fast)
    with pytest.raises((TypeError, AttributeError, OverflowError, ValueError, struct.error)):
        launch(1, 1, 1, 0, 3, wrong, 4, 1.0)
    assert not driver.launches
    launch(1, 1, 1, 0, 3, value_of(type_, random.Random(0)), 4, 1.0)
    assert len(driver.launches) == 1


def test_a_wrong_number_of_arguments_reads_none() -> None:
    driver, launch = ways(["i32", "i32"], True)
    for args in [(), (1,), (1, 1, 1, 0), (1, 1, 1, 0, 5), (1, 1, 1, 0, 5, 6, 7)]:
        with pytest.raises((TypeError, struct.error)):
            launch(*args)
    assert not driver.launches


def test_a_builtin_keeps_what_it_needs() -> None:
    driver, launch = ways(["*fp32"], True)
    gc.collect()
    launch(1, 1, 1, 0, Array(64))
    assert driver.launches[0][2] == [64]
    del launch
    gc.collect()


# Which launch compiles what

PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from test_launcher import Array, launcher_of
from tritonx.backends.nvidia.launch import launcher_builtin
from tritonx.backends.nvidia.launch.launcher import fastest
compiled, events = [], []
real = launcher_builtin.compile_object
launcher_builtin.compile_object = lambda: compiled.append(launches) or real()
launches = 0
for types, args in ((["*fp32", "i32"], (64, 1)), (["fp32"], (0.5,)), (["i32"] * 20, (1,) * 20)):
    driver, launcher = launcher_of(types)
    launch = fastest(launcher)
    assert type(launch).__name__ == "builtin_function_or_method"
    for number in range(2000):
        launch(1, 1, 1, 0, *args)
        if launches == 0:
            sys.addaudithook(lambda event, args: events.append(event))
        launches += 1
    assert len(driver.launches) == 2000
assert not {{"import", "open", "compile", "exec", "mmap.__new__", "ctypes.dlopen"}} & set(events), events
print(compiled, sorted({{"xdsl", "llvmlite"}} & set(sys.modules)))
"""


def run_program(folder: Path) -> str:
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", PROGRAM.format(folder=os.path.dirname(__file__))]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=120).stdout


@pytest.mark.skipif(not (can_build() and elf.supported()), reason="the builtin, linked without LLVM")
def test_only_the_first_launch_of_a_cache_compiles(tmp_path: Path) -> None:
    """One compile for all kernels and signatures, before the first launch; another process needs no LLVM at all. A
    damaged object is compiled again."""
    assert run_program(tmp_path).strip() == "[0] ['llvmlite']"
    assert run_program(tmp_path).strip() == "[] []"
    (stored,) = tmp_path.glob("*/launcher.o")
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 1
    stored.write_bytes(content)
    assert run_program(tmp_path).strip() == "[0] ['llvmlite']"
    assert run_program(tmp_path).strip() == "[] []"


@pytest.mark.skipif(not can_build(), reason="no builtin here")
def test_compiling_a_kernel_makes_the_launchers_code(tmp_path: Path) -> None:
    """So that another process that only launches needs no compiler."""
    from tritonx.backends.nvidia import BACKEND

    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        launcher_builtin.object_file.cache_clear()
        BACKEND.prepare_launch()
    assert len(list(tmp_path.glob("*/launcher.o"))) == 1


@pytest.mark.skipif(not can_build(), reason="no builtin here")
def test_llvm_links_the_object_where_the_linker_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elf, "supported", lambda: False)
    launcher_builtin._linked.cache_clear()
    try:
        driver, launch = ways(["*fp32", "fp64"], True)
        launch(3, 1, 1, 0, Array(64), 0.25)
        assert driver.launches == [((3, 1, 1, 128, 1, 1, 512), None, [64, 0.25])]
    finally:
        launcher_builtin._linked.cache_clear()


@pytest.mark.skipif(not can_build(), reason="no builtin here")
@pytest.mark.parametrize("content", [b"", b"garbage", b"\x7fELF" + bytes(500)])
def test_an_object_that_is_none_is_compiled_again(tmp_path: Path, content: bytes) -> None:
    """Its digest holds: whoever stored it stored that."""
    caches = (launcher_builtin.object_file, launcher_builtin._linked)
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        launcher_builtin._stored(content)
        for each in caches:
            each.cache_clear()
        try:
            driver, launch = ways(["*fp32", "fp64"], True)
            launch(3, 1, 1, 0, Array(64), 0.25)
            assert driver.launches == [((3, 1, 1, 128, 1, 1, 512), None, [64, 0.25])]
            (stored,) = tmp_path.glob("*/launcher.o")
            assert stored.read_bytes() == launcher_builtin.compile_object()
        finally:
            for each in caches:
                each.cache_clear()


@pytest.mark.skipif(not can_build(), reason="no builtin here")
@pytest.mark.parametrize("by_llvm", [False, True])
def test_a_builtin_keeps_its_code(monkeypatch: pytest.MonkeyPatch, by_llvm: bool) -> None:
    """Whoever forgets what was linked."""
    monkeypatch.setattr(elf, "supported", lambda: not by_llvm)
    launcher_builtin._linked.cache_clear()
    try:
        driver, launch = ways(["*fp32", "fp64"], True)
        kept = weakref.ref(launcher_builtin._linked())
        launcher_builtin._linked.cache_clear()
        gc.collect()
        launch(3, 1, 1, 0, Array(64), 0.25)
        assert driver.launches == [((3, 1, 1, 128, 1, 1, 512), None, [64, 0.25])]
        assert kept() is not None
        del launch
        gc.collect()
        assert kept() is None
    finally:
        launcher_builtin._linked.cache_clear()
