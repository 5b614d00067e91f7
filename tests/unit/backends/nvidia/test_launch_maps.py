"""Tensor maps that a launch makes for a kernel: as the kernel would make them, once for the same arguments."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import ctypes
import json
import os
import pickle
from contextlib import nullcontext
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.backends.nvidia.test_block_copies import draw_made, draw_together, made_and_moved, made_together, run
from tests.unit.backends.nvidia.test_launcher import CONTEXT, FUNCTION, RecordingDriver, check
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.analysis.launch_ranges import arguments_of
from tritonx.analysis.launch_values import launch_values, steps
from tritonx.backends.api import Compilation, LoadedKernel, Parameter, PassStage
from tritonx.backends.nvidia.launch.launch_values import evaluate
from tritonx.backends.nvidia.launch.launcher import Launcher, fastest
from tritonx.backends.nvidia.passes.map_at_launch import MapAtLaunch
from tritonx.backends.nvidia.tensor_maps.launch_maps import LaunchMaps
from tritonx.backends.nvidia.tensor_maps.make_tensor_map import make_tensor_maps
from tritonx.backends.nvidia.tensor_maps.tensor_map import DATA_TYPES, DATA_TYPES_IN_KERNELS
from tritonx.backends.nvidia.tensor_maps.tensor_map_at_launch import maps_at_launch
from tritonx.backends.registry import get_backend, launch_options, parse_options
from tritonx.dialects import tile
from tritonx.dialects.nvidia import TensormapCreateOp
from tritonx.ir.failure import PassFailure
from tritonx.ir.pipeline import pass_context, run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module, print_module
from tritonx.runtime.compiling.compiler import compile as compile_source
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import IrregularArgument, UnsupportedArgument
from tritonx.runtime.launch.descriptor_parameters import FlatParameters, Made
from tritonx.tools.compile import CompileArgs, NotEmbeddable, compile_kernel
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx_testing.emulators.ptx.device import PtxDevice

SEED = int(os.environ["TRITONX_SEED"])
OPTIONS: dict[str, Any] = {"warp_group_dots": True, "launch_maps": True}


# What a kernel does with them, executed pass by pass


@pytest.mark.parametrize("draw", range(6))
def test_descriptors_that_a_kernel_makes(draw: int) -> None:
    """In an `if` and in an innermost loop too, where they are none of the copy engine's otherwise."""
    random = Random(f"made {SEED} {draw}")
    made = draw_made(random)
    args = (made.x, made.y, *made.scalars)
    program = Program(made_and_moved, args, made.constants, "cuda:90", random.choice((1, 4)), made.grid, OPTIONS)
    run(program, made.y, made.expected)
    names = [op.name for op in program.bound.module.walk()]
    nbytes, known = made.scalars[1] * made.x.itemsize, made.scalars[1] % 4 == 0
    begins = made.constants["N"] // 2 * made.x.itemsize % 16 == 0
    assert names.count("ttng.tensormap_at_launch") == begins * (1 + (nbytes % 16 == 0 and known))
    assert "ttng.tensormap_create" not in names and "ttg.global_scratch_alloc" not in names


@pytest.mark.parametrize("warps", [1, 4])
def test_what_changes_from_round_to_round_is_made_by_the_kernel(warps: int) -> None:
    """As many rows as the round says; of a single round all is known."""
    every = (draw_together(Random(f"together {SEED} {warps} {draw}")) for draw in range(1000))
    made = next(each for each in every if each.scalars[1] > 1)
    program = Program(made_together, made.args, made.constants, "cuda:90", warps, 1, OPTIONS)
    run(program, made.z, made.x - made.y)
    names = [op.name for op in program.bound.module.walk()]
    assert names.count("ttng.tensormap_create") == 3 and "ttng.tensormap_at_launch" not in names


# What the launch encodes, against what the kernel would


MADE = """
#line = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
#block = #ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = false, elementBitWidth = {bits}{more}}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @made(%p: !tt.ptr<{element}>, %m: i32, %n: i64, %k: i16) {{
    %c7 = arith.constant 7 : i32
    %one = arith.constant 1 : i64
    %wide = arith.extsi %k : i16 to i64
    %narrow = arith.trunci %n : i64 to i32
    %h = arith.muli %m, %c7 : i32
    %w = arith.maxsi %h, %narrow : i32
    %s = arith.addi %n, %wide : i64
    %q = tt.addptr %p, %m : !tt.ptr<{element}>, i32
    %d = tt.make_tensor_descriptor %q, [{shape}], [{strides}] {{padding = {padding} : i32}} : <{element}>, <tensor<{block}x{element}, #block>>
    tt.return
  }}
}}
"""  # noqa: E501
ELEMENTS = {"i8": 1, "f8E5M2": 1, "i16": 2, "f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}


class Encoder:
    """A driver that records what it is to encode, and copies to memory that does not exist."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.copied: list[tuple[int, bytes]] = []
        self.allocated = 0

    def cuTensorMapEncodeTiled(self, where: Any, kind: Any, rank: Any, base: Any, *rest: Any) -> int:
        extents, steps_, box, elements, interleave, swizzle, _, fill = rest
        self.calls.append(
            {
                "elem_type": kind.value, "base": base.value or 0, "shape": list(extents)[::-1],
                "steps": list(steps_)[: rank.value - 1][::-1], "box": list(box)[::-1], "elements": list(elements),
                "swizzle_mode": swizzle.value, "interleave_layout": interleave.value, "fill_mode": fill.value,
            }
        )  # fmt: skip
        ctypes.memset(where.value, len(self.calls) % 256, 128)
        return 0

    def cuMemAlloc_v2(self, out: Any, nbytes: Any) -> int:
        self.allocated += 1
        out._obj.value = 1 << 40
        return 0

    def cuMemcpyHtoD_v2(self, to: Any, source: Any, nbytes: Any) -> int:
        self.copied.append((to.value, ctypes.string_at(source, nbytes.value)))
        return 0


def described(module: Any) -> dict[str, Any]:
    """As the cache on disk gives it back."""
    found = maps_at_launch(module)
    assert found is not None
    return json.loads(json.dumps(found))


def maps_for(found: dict[str, Any]) -> tuple[Encoder, LaunchMaps]:
    driver: Any = Encoder()
    return driver, LaunchMaps(driver, found, check, nullcontext)


def drawn_text(random: Random) -> tuple[str, str, int]:
    """A kernel that makes a descriptor, its element type and rank."""
    element, rank = random.choice(list(ELEMENTS)), random.randint(1, 4)
    size = ELEMENTS[element]
    width = random.choice([w for w in (0, 32, 64, 128) if w == 0 or rank > 1])
    block = [random.choice((1, 2, 8)) for _ in range(rank - 1)] + [max(width, 16) * random.choice((1, 2)) // size]
    text = MADE.format(
        swizzle=width, bits=8 * size, more=f", rank = {rank}" if rank != 2 else "", element=element,
        shape=", ".join(random.choice(("%m", "%h", "%w", "%narrow", "%c7")) for _ in range(rank)),
        strides=", ".join([random.choice(("%n", "%s", "%wide")) for _ in range(rank - 1)] + ["%one"]),
        padding=2 if element[0] in "bf" and size > 1 and random.random() < 0.5 else 1,
        block="x".join(map(str, block)),
    )  # fmt: skip
    return text, element, rank


@pytest.mark.parametrize("draw", range(40))
def test_as_the_kernel_would_make_it(draw: int) -> None:
    """Field by field, for arguments whose sums and products wrap round."""
    random = Random(f"{SEED} {draw}")
    text, element, rank = drawn_text(random)
    at_launch, own = (parse_module(text) for _ in range(2))
    MapAtLaunch().apply(pass_context(), at_launch)
    make_tensor_maps([op for op in own.walk() if isinstance(op, tile.MakeTensorDescOp)])
    (create,) = (op for op in own.walk() if isinstance(op, TensormapCreateOp))
    (function,) = (op for op in own.ops if isinstance(op, tile.FuncOp))
    wanted, places = steps(launch_values(function), list(create.operands)[1:])
    driver, maps = maps_for(described(at_launch))
    seen = 0
    while seen < 5:
        step = 16 * random.randrange(-4, 1 << 20) + (1 << 64) * random.randrange(2)
        values = {
            0: 16 * random.randrange(1 << 40), 1: random.choice((16 * random.randrange(-2, 99), -(1 << 31), 1 << 30)),
            2: step - (1 << 64) * (step >= 1 << 63), 3: 16 * random.randrange(-9, 99),
        }  # fmt: skip
        base, *numbers = [evaluate(wanted, {n: values[n] for n in arguments_of(wanted)})[place] for place in places]
        box, shape, strides = numbers[:rank], numbers[rank : 2 * rank], numbers[2 * rank : 3 * rank - 1]
        if min(shape) <= 0 or not all(0 <= stride < 1 << 40 for stride in strides):
            continue
        maps(*(values[n] for n in maps.arguments))
        seen += 1
        assert driver.calls[-1] == {
            "elem_type": DATA_TYPES[element], "base": base, "shape": shape[::-1], "steps": strides[::-1],
            "box": box[::-1], "elements": [1] * rank, "swizzle_mode": create.swizzle_mode.value.data,
            "interleave_layout": 0, "fill_mode": create.fill_mode.value.data,
        }, f"seed {SEED}, draw {draw}, {values}\n{text}"  # fmt: skip
        assert create.elem_type.value.data == DATA_TYPES_IN_KERNELS[element]


def simple(**fields: Any) -> dict[str, Any]:
    """Metadata of a kernel that makes a descriptor of %p, [%m, %n] with rows of %n elements of two bytes."""
    recipe = {
        "swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 64], "block_shape": [64, 64], "read": True,
        "padding": "zero", "written": False, "conditional": False, "of_pointers": False,
        "base": 0, "shape": [1, 2], "strides": [3], **fields,
    }  # fmt: skip
    listed = [["argument", 64, 0], ["argument", 32, 2], ["argument", 32, 5], ["extsi", 64, 2, 32]]
    return {"steps": listed, "maps": [recipe], "asked": []}


def test_once_for_the_same_values() -> None:
    driver, maps = maps_for(simple())
    assert maps.arguments == (0, 2, 5)
    first = maps(1 << 20, 100, 64)
    assert maps(1 << 20, 100, 64) is first and len(driver.calls) == 1
    for other in ((1 << 21, 100, 64), (1 << 20, 101, 64), (1 << 20, 100, 128)):
        assert maps(*other)[0] != first[0]
    assert len(driver.calls) == 4
    for rows in range(1, 600):
        maps(1 << 20, rows, 64)
    assert len(maps.kept) <= 256
    assert ctypes.string_at(first[0], 128) == b"\x01" * 128, "lives as long as its address"


@pytest.mark.parametrize(("values", "reason"), [
    ((1 << 20 | 8, 64, 64), r"begins at 0x100008, which is no multiple of 16 bytes"),
    ((1 << 20, 64, 60), r"has a stride of 120 bytes"),
    ((1 << 20, 64, 65), r"has a stride of 130 bytes"),
])  # fmt: skip
def test_what_breaks_the_rules_is_refused(values: tuple[int, ...], reason: str) -> None:
    driver, maps = maps_for(simple())
    with pytest.raises(UnsupportedArgument, match=r"blocks of \[64, 64\] that the kernel makes " + reason):
        maps(*values)
    assert not driver.calls and not maps.kept
    driver, maps = maps_for(simple(conditional=True))
    assert maps(*values)
    assert (driver.calls[0]["base"], driver.calls[0]["shape"]) == (16, [1, 1]), "which no process has"


@pytest.mark.parametrize(("values", "is_map"), [
    ((1 << 20, 64, 64), True), ((1 << 20, 0, -64), True), ((1 << 20 | 8, -1, 64), True), ((1 << 20, 1, 64), True),
    ((1 << 20 | 8, 64, 64), False), ((1 << 20, 64, 60), False), ((1 << 20, 64, 0), False), ((1 << 20, 64, -64), False),
    ((1 << 20, 1, 0), False),
])  # fmt: skip
@pytest.mark.parametrize("conditional", [False, True])
def test_pointers_that_are_no_descriptors(values: tuple[int, ...], is_map: bool, conditional: bool) -> None:
    """Strides are above 0, unless nothing is read."""
    fields = {"shape": [1, 1], "strides": [3], "of_pointers": True, "conditional": conditional}
    driver, maps = maps_for(simple(**fields))
    if is_map:
        assert maps(*values)
        assert driver.calls[0]["steps"] == [128 if values[1] > 0 else 16]
    else:
        with pytest.raises(IrregularArgument, match=r"blocks of \[64, 64\] through pointers .*describe_loads=False"):
            maps(*values)
        assert not driver.calls and not maps.kept


def asking() -> dict[str, Any]:
    """Whether %n - program id of y is 0 or above, and no argument else."""
    steps_ = [["argument", 32, 5], ["program_id", 32, 1], ["subi", 32, 0, 1]]
    return {**simple(of_pointers=True), "asked": [{"steps": steps_, "from_zero": [2, 0]}]}


def test_what_is_asked_of_the_programs() -> None:
    """For the grid of the launch, once for the same values; and of other values again."""
    driver, maps = maps_for(asking())
    assert maps.of_grid and maps.arguments == (0, 2, 5)
    values = 1 << 20, 100, 64
    first = maps(1, 65, 9, *values)
    assert maps(1, 65, 9, *values) is first and len(driver.calls) == 1
    maps(7, 2, 1, *values)
    for _ in range(2):
        with pytest.raises(
            IrregularArgument, match=r"begin below 0.* in one of 1 x 66 x 9 programs.*describe_loads=False"
        ):
            maps(1, 66, 9, *values)
    assert len(driver.calls) == len(maps.kept) == 2 and len(maps.refused) == 1
    maps(1, 66, 9, 1 << 20, 100, 128)
    for rows in range(1, 600):
        with pytest.raises(IrregularArgument):
            maps(1, 66, 9, 1 << 20, rows, 64)
    assert len(maps.refused) <= 256


def test_the_grid_is_asked_for_only_where_it_matters() -> None:
    _, maps = maps_for(simple(of_pointers=True))
    assert not maps.of_grid
    launched: list[tuple[Any, ...]] = []
    for made, count in ((maps, 1), (maps_for(asking())[1], 1)):
        given = Made(made, made.arguments, count, made.of_grid)
        types = "*fp16", "i32", "i32", "i32", "i32", "i32"
        parameters = FlatParameters.of([Parameter(f"p{n}", kind) for n, kind in enumerate(types)])
        launch = parameters.flattening(lambda *args: launched.append(args), made=given)
        launch(2, 3, 4, 99, 1 << 20, 0, 100, 0, 0, 64)
    assert [each[:10] for each in launched] == [(2, 3, 4, 99, 1 << 20, 0, 100, 0, 0, 64)] * 2
    assert [list(each.kept) for each in (maps, made)] == [
        [(1 << 20, 100, 64)], [(2, 3, 4, 1 << 20, 100, 64)]
    ]  # fmt: skip


@tritonx.jit
def by_pointers(a, b, c, stride):
    places = tl.arange(0, 64)
    a_ptrs = a + places[:, None] * stride + places[None, :]
    b_ptrs = b + places[:, None] * stride + places[None, :]
    total = tl.zeros((64, 64), tl.float32)
    for _ in range(4):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += 64
        b_ptrs += 64 * stride
    tl.store(c + places[:, None] * 64 + places[None, :], total)


def product_source() -> ASTSource:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "stride": "i32"}
    return ASTSource(by_pointers, types, {}, {(place,): [["tt.divisibility", 16]] for place in range(4)})


def test_other_code_for_other_pointers() -> None:
    """Made when a launch needs it, once; with the options of the first, and launched with the same arguments."""
    found = compile_source(product_source(), "cuda:90", {"launch_maps": True, "num_warps": 8, "num_stages": 2})
    assert found.metadata.otherwise == {"describe_loads": False} and "cp.async.bulk.tensor" in found.asm["ptx"]
    launched: list[tuple[Any, ...]] = []

    def launch(*args: Any) -> None:
        if args[-1] <= 0:
            raise IrregularArgument("strides")
        launched.append(("first", *args))

    either = found._complete(Mock(spec=LoadedKernel), launch, 3)
    either(1, 1, 1, 9, 16, 32, 48, 64)
    assert found._other is None
    other = found._otherwise(found.metadata.otherwise)
    other.load = Mock(return_value=(None, lambda *args: launched.append(("other", *args))))
    either(1, 1, 1, 9, 16, 32, 48, -64)
    either(1, 1, 1, 9, 16, 32, 48, 0)
    assert found._other is other and [each[0] for each in launched] == ["first", "other", "other"]
    other.load.assert_called_with(3)
    assert launched[1] == ("other", 1, 1, 1, 9, 16, 32, 48, -64)
    assert (other.metadata.num_warps, other.metadata.num_stages, other.metadata.launch_maps) == (8, 2, True)
    assert not hasattr(other.metadata, "otherwise") and "cp.async.bulk.tensor" not in other.asm["ptx"]
    assert pickle.loads(pickle.dumps(found))._other is None


def test_text_has_no_other_code(tmp_path: Path) -> None:
    text = compile_source(product_source(), "cuda:90", {"launch_maps": True}).asm["ttgir"]
    (tmp_path / "kernel.ttgir").write_text(text)
    found = compile_source(str(tmp_path / "kernel.ttgir"), "cuda:90")
    assert found.metadata.otherwise

    def launch(*args: Any) -> None:
        raise IrregularArgument("strides")

    with pytest.raises(IrregularArgument, match="strides"):
        found._complete(Mock(spec=LoadedKernel), launch, 0)(1, 1, 1, 9)


def test_launches_have_them_and_others_do_not() -> None:
    """What `tritonx.compile` makes may be launched by whom it does not know."""
    backend = get_backend("cuda")
    target = backend.parse_target("90")

    def chosen(**given: Any) -> tuple[bool, bool]:
        both = launch_options(backend, target, given), parse_options(backend, target, given)
        return cast("tuple[bool, bool]", tuple(each.launch_maps for each in both))

    assert chosen() == chosen(launch_maps=None) == (True, False)
    assert chosen(launch_maps=True) == (True, True) and chosen(launch_maps=False) == (False, False)
    for knob in (True, False):
        with tritonx.knobs.nvidia.scope():
            tritonx.knobs.nvidia.launch_maps = knob
            assert chosen() == (knob, knob) and chosen(launch_maps=not knob) == (not knob, not knob)


def test_rows_that_a_copy_would_write_beyond_are_refused() -> None:
    driver, maps = maps_for(simple(written=True, read=False, strides=[1]))
    assert maps(1 << 20, 64, 64)
    with pytest.raises(UnsupportedArgument, match="rows of 63 elements, and its blocks are written in pieces of 16"):
        maps(1 << 20, 64, 63)
    driver, maps = maps_for(simple(strides=[1]))
    assert maps(1 << 20, 64, 63) and driver.calls[0]["shape"] == [64, 63], "only read"


def test_the_stride_of_one_row_does_not_matter() -> None:
    driver, maps = maps_for(simple())
    maps(1 << 20, 1, 63)
    assert driver.calls[0]["shape"] == [1, 63] and driver.calls[0]["steps"] == [16]


@pytest.mark.parametrize("values", [(0, 0, 64), (1 << 20, 64, 0), (1 << 20 | 8, -5, 64), (1 << 20, -(1 << 31), 63)])
def test_a_tensor_without_elements(values: tuple[int, ...]) -> None:
    """Reads find padding, writes go where nothing reads; whatever base and strides are."""
    held: dict[int, bytes] = {}
    places: list[int] = []
    for fields in ({"padding": "zero"}, {"padding": "nan"}, {"written": True, "read": False}):
        driver, maps = maps_for(simple(**fields))
        maps(*values)
        maps(*values[:2], values[2] - 64)
        (call, other) = driver.calls
        assert call == other and driver.allocated == 1
        assert call["shape"] == [1, 1] and call["steps"] == [16]
        ((start, content),) = driver.copied
        held |= {start + n: content[n : n + 1] for n in range(len(content))}
        places.append(call["base"])
    assert len({*places}) == 3 and all(place % 16 == 0 for place in places)
    zeros, ones = (b"".join(held[place + n] for n in range(16)) for place in places[:2])
    assert zeros == bytes(16)
    assert all(np.isnan(np.frombuffer(ones, kind)).all() for kind in (np.float16, np.float32, np.float64))
    driver, maps = maps_for(simple(written=True))
    with pytest.raises(UnsupportedArgument, match="reads and writes has no elements"):
        maps(*values)


@pytest.mark.parametrize("of_pointers", [False, True])
def test_nothing_at_address_0(of_pointers: bool) -> None:
    """Where empty tensors begin: a program that reads there ends, one that does not is as it was."""
    driver, maps = maps_for(simple(of_pointers=of_pointers))
    maps(0, 64, 64)
    maps(0, 64, 63)
    assert [(call["base"], call["shape"], call["steps"]) for call in driver.calls] == [(16, [1, 1], [16])] * 2


# How it is launched


@tritonx.jit
def between(a, source, b, n, rows, N: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [rows, n], [n, 1], [8, N])
    y = tl.make_tensor_descriptor(b, [source.shape[0], n], [n, 1], [8, N])
    y.store([0, 0], x.load([0, 0]) + source.load([0, 0]))


@tritonx.jit
def described_alone(a, n):
    x = tl.make_tensor_descriptor(a, [n], [1], [64])
    x.store([0], x.load([64]))


ALIGNED = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}


@tritonx.jit
def without(a, n):
    tl.store(a, n)


def compiled(**options: Any) -> Any:
    types = {
        "a": "*fp16",
        "source": "tensordesc<fp16[8, 64]>",
        "b": "*fp16",
        "n": "i32",
        "rows": "i32",
        "N": "constexpr",
    }
    multiples = {(i,): [["tt.divisibility", 16]] for i in (0, 2, 3)}
    return compile_source(ASTSource(between, types, {"N": 64}, multiples), "cuda:90", options)


@pytest.mark.parametrize("fast", [False, True])
def test_launches(fast: bool) -> None:
    """Behind the arguments, of which some stand for one descriptor; the builtin launches, as no memory is lent."""
    found = compiled(launch_maps=True)
    assert found.metadata.global_scratch_size == 0
    image = found.image()
    map_ = "!tt.tensordesc<tensor<64x64xf16>>"
    driver: Any = RecordingDriver(["*fp32", map_, "i32", "i32", "i64", "i64", "*fp32", "i32", "i32", map_, map_])
    encoder = Encoder()
    driver.cuTensorMapEncodeTiled = encoder.cuTensorMapEncodeTiled
    launcher = Launcher(driver, image, FUNCTION, CONTEXT, check, driver.on_device)
    launch = fastest(launcher) if fast else launcher.of_arguments(launcher)

    class Array:
        asked = 0

        def data_ptr(self) -> int:
            Array.asked += 1
            return 1 << 30

    base = SimpleNamespace(data_ptr=lambda: 1 << 20, dtype=np.dtype(np.float16), shape=(24, 64), stride=lambda: (64, 1))
    source = TensorDescriptor(base, [24, 64], [64, 1], [8, 64])
    for _ in range(3):
        launch(2, 1, 1, 9, Array(), source, None, 64, 16)
    assert Array.asked == 3, "an address is asked for once a launch"
    assert [call["base"] for call in encoder.calls] == [1 << 20, 1 << 30, 16]
    assert [call["shape"] for call in encoder.calls] == [[24, 64], [16, 64], [1, 1]]
    filled = [[0x0101010101010101 * n] * 16 for n in (1, 2, 3)]
    values = [1 << 30, filled[0], 24, 64, 64, 1, 0, 64, 16, *filled[1:]]
    assert [launched[2] for launched in driver.launches] == [values] * 3
    source.shape[0] = 16
    launch(2, 1, 1, 9, 1 << 30, source, None, 64, 16)
    assert len(encoder.calls) == 6 and driver.launches[-1][2][2] == 16, "what the extents are of has changed"


def test_launchers_of_others_refuse_it() -> None:
    """PyTorch's, which loads the cubin and passes the arguments by itself."""
    pytest.importorskip("torch")
    from torch._inductor.runtime.static_triton_launcher import StaticallyLaunchedCudaKernel

    found: Any = compile_source(
        ASTSource(described_alone, {"a": "*fp16", "n": "i32"}, {}, ALIGNED), "cuda:90", {"launch_maps": True}
    )
    assert found.metadata.tensormaps_at_launch
    found._cubin_path = "described_alone.cubin"
    with pytest.raises(NotImplementedError, match="scratch not yet supported"):
        StaticallyLaunchedCudaKernel(found)
    found: Any = compile_source(ASTSource(without, {"a": "*i32", "n": "i32"}, {}), "cuda:90", {"launch_maps": True})
    found._cubin_path = "without.cubin"
    assert StaticallyLaunchedCudaKernel(found)


def test_without_it_the_kernel_makes_them() -> None:
    found = compiled()
    assert found.metadata.global_scratch_size == 256 and not hasattr(found.metadata, "tensormaps_at_launch")
    assert "tensormap.replace" in found.asm["ptx"]


def test_the_knob() -> None:
    with tritonx.knobs.nvidia.scope():
        tritonx.knobs.nvidia.launch_maps = True
        assert "tensormap.replace" not in compiled().asm["ptx"]
        assert "tensormap.replace" in compiled(launch_maps=False).asm["ptx"]


def test_a_kernel_without_descriptors() -> None:
    found = compile_source(ASTSource(without, {"a": "*i32", "n": "i32"}, {}), "cuda:90", {"launch_maps": True})
    driver: Any = RecordingDriver(["*fp32", "i32"])
    fastest(Launcher(driver, found.image(), FUNCTION, CONTEXT, check, driver.on_device))(2, 1, 1, 9, 1 << 20, 5)
    assert driver.launches[0][2] == [1 << 20, 5]


def test_other_chips_have_none() -> None:
    backend = get_backend("cuda")
    for arch in ("80", "100"):
        target = backend.parse_target(arch)
        stages = backend.stages(target, backend.parse_options(target, {"launch_maps": True}))
        names = {one.name for stage in stages if isinstance(stage, PassStage) for one in stage.passes}
        assert not names & {"map-at-launch", "hoist-descriptors"}


# What is refused


def emitted(text: str) -> dict[str, Any]:
    backend = get_backend("cuda")
    target = backend.parse_target("90")
    options = backend.parse_options(target, {})
    compilation = Compilation(target, options)
    module: Any = parse_module(text, "made.ttgir")
    for stage in backend.stages(target, options)[:3]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return compilation.metadata


def test_text_says_so_by_itself() -> None:
    """Whatever the options are: a stage's text goes on as it was."""
    text, _, _ = drawn_text(Random(SEED))
    module = parse_module(text)
    MapAtLaunch().apply(pass_context(), module)
    assert json.loads(json.dumps(emitted(print_module(module))["tensormaps_at_launch"])) == described(module)


IN_A_CALLEE = """
#block = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @copies(%p: !tt.ptr<f16>, %n: i32) attributes {noinline = true} {
    %one = arith.constant 1 : i64
    %a = ttng.tensormap_at_launch %p, [%n], [%one] : <f16>, <tensor<256xf16, #block>>
    tt.return
  }
  tt.func public @calls(%p: !tt.ptr<f16>, %n: i32) {
    tt.call @copies(%p, %n) : (!tt.ptr<f16>, i32) -> ()
    tt.return
  }
}
"""
LOADED = """
#block = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @loads(%p: !tt.ptr<f16>, %n: !tt.ptr<i32>) {
    %one = arith.constant 1 : i64
    %m = tt.load %n : !tt.ptr<i32>
    %a = ttng.tensormap_at_launch %p, [%m], [%one] : <f16>, <tensor<256xf16, #block>>
    tt.return
  }
}
"""


@pytest.mark.parametrize(("text", "reason"), [
    (IN_A_CALLEE, "a launch makes tensor maps for its kernel only, not for functions that this calls"),
    (LOADED, "a launch computes integers of the kernel's arguments and constants only"),
])  # fmt: skip
def test_text_that_asks_for_what_a_launch_cannot_do(text: str, reason: str) -> None:
    with pytest.raises(PassFailure, match=reason):
        emitted(text)


KERNELS = """
import tritonx
import tritonx.language as tl
@tritonx.jit
def moved(a, b, n, N: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [n], [1], [N])
    y = tl.make_tensor_descriptor(b, [n], [1], [N])
    y.store([0], x.load([0]))
"""


@pytest.mark.parametrize("launch_maps", [False, True])
def test_no_c_source_makes_them(launch_maps: bool, tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    options = {"launch_maps": launch_maps}
    signature = "*fp16:16, *fp16:16, i32:16, 64"
    args = CompileArgs(str(tmp_path / "kernels.py"), "moved", signature, "1, 1, 1", "cuda:90", options=options)
    reason = "launches make tensor maps for it" if launch_maps else "needs memory of its own on the device"
    with pytest.raises(NotEmbeddable, match=reason):
        compile_kernel(args)


# PTX that stores through them, executed


@tritonx.jit
def doubled(x, y, n, step, rows, N: tl.constexpr):
    """Stores to two halves of an array, by descriptors that are made where they are used."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    for row in range(rows):
        block = tl.load(x + row * step + at, at < n)
        first = tl.make_tensor_descriptor(y, [rows, n], [step, 1], [1, N])
        second = tl.make_tensor_descriptor(y + rows * step, [rows, n], [step, 1], [1, N])
        first.store([row, tl.program_id(0) * N], (block + block)[None, :])
        second.store([row, tl.program_id(0) * N], block[None, :])


@pytest.mark.parametrize("draw", range(4))
def test_executed_as_ptx(draw: int) -> None:
    """By the launch's arguments alone: of the code each copy has the address of a parameter."""
    random = Random(f"{SEED} {draw}")
    width, rows, programs = random.choice((4, 8)), random.randint(2, 4), random.randint(1, 3)
    n = max(4, width * programs - random.choice((0, 4)))
    step = 4 * random.randint(programs * 2, programs * 3)
    x = np.random.default_rng(draw).integers(0, 99, (rows, step)).astype(np.int32)
    y = np.full((2, rows, step), 77, np.int32)
    options = {**OPTIONS, "num_warps": random.choice((1, 4))}
    text = PtxDevice("90", SEED).launch(doubled, (x, y, n, step, rows), {"N": width}, programs, options)
    assert "cp.async.bulk.tensor" in text and "tensormap.replace" not in text
    expected = np.full_like(y, 77)
    expected[0, :, :n], expected[1, :, :n] = 2 * x[:, :n], x[:, :n]
    np.testing.assert_array_equal(y, expected, f"seed {SEED}, draw {draw}")


CONDITIONAL = """
#block = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16, rank = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @asks(%p: !tt.ptr<f16>, %n: i32, %c: i1) {
    %one = arith.constant 1 : i64
    %a = ttng.tensormap_at_launch %p, [%n], [%one] : <f16>, <tensor<256xf16, #block>>
    scf.if %c {
      %b = ttng.tensormap_at_launch %p, [%n], [%one] : <f16>, <tensor<256xf16, #block>>
    }
    tt.return
  }
}
"""


def test_what_is_made_in_a_branch_is_known() -> None:
    found = maps_at_launch(parse_module(CONDITIONAL))
    assert found is not None
    assert [each["conditional"] for each in found["maps"]] == [False, True]
