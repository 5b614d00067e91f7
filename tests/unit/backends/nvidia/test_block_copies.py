"""Descriptors that a kernel is given, on 9.0: what the copy engine moves, executed by the machine pass by pass."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false -- kernels are the language's, not Python's

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tests.unit.interpreter.asynchronous.mutants import mutated
from tests.unit.transforms.gpu.test_executed import Program
from tritonx.dialects import scf
from tritonx.interpreter.asynchronous import Kind
from tritonx.interpreter.values import Descriptor
from tritonx.ir.text import print_module
from tritonx.tools.tensor_descriptor import TensorDescriptor

SEED = int(os.environ["TRITONX_SEED"])
OPTIONS: dict[str, Any] = {"warp_group_dots": True}


@tritonx.jit
def moved_block(source, target, KIND: tl.constexpr, RANK: tl.constexpr, BLOCK: tl.constexpr):
    at = [tl.program_id(0) * BLOCK] + [0] * (RANK - 1)
    block = source.load(at)
    if KIND == "store":
        target.store(at, block + block)
    elif KIND == "more":
        target.store(at, (block.to(tl.float32) + 1).to(target.dtype))
    elif KIND == "add more":
        target.atomic_add(at, block + 1)
    elif KIND == "add":
        target.atomic_add(at, block)
    elif KIND == "max":
        target.atomic_max(at, block)
    else:
        target.atomic_xor(at, block)


@tritonx.jit
def product_of_blocks(a, b, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNED: tl.constexpr):
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x = a.load([0, step * K])
        if TURNED:
            y = b.load([0, step * K]).T
        else:
            y = b.load([step * K, 0])
        total = tl.dot(x, y, total)
    o.store([0, 0], total.to(tl.float16))


@tritonx.jit
def made_and_moved(
    x, y, m, n, m_step, KIND: tl.constexpr, M: tl.constexpr, N: tl.constexpr, PADDING: tl.constexpr, AGAIN: tl.constexpr
):
    """The kernel makes its descriptors: one of them in an `if`, one in an innermost loop, where it becomes pointers."""
    source = tl.make_tensor_descriptor(x, [m, n], [m_step, 1], [M, N], padding_option=PADDING)
    row = tl.program_id(0) * M
    if tl.program_id(0) % 2 == 0:
        target = tl.make_tensor_descriptor(y, [m, n], [m_step, 1], [M, N])
        moved_between(source, target, row, N, KIND)
    else:
        for _ in range(AGAIN):
            target = tl.make_tensor_descriptor(y, [m, n], [m_step, 1], [M, N])
            moved_between(source, target, row, N, KIND)


@tritonx.jit
def made_together(x, y, z, n, rounds, M: tl.constexpr, N: tl.constexpr):
    """All descriptors at once, again for each block of rows, as there is a loop inside."""
    for i in range(rounds):
        first = tl.make_tensor_descriptor(x, [(i + 1) * M, n], [n, 1], [M, N])
        second = tl.make_tensor_descriptor(y, [(i + 1) * M, n], [n, 1], [M, N])
        third = tl.make_tensor_descriptor(z, [(i + 1) * M, n], [n, 1], [M, N])
        for column in range(0, n, N):
            third.store([i * M, column], first.load([i * M, column]) - second.load([i * M, column]))


@tritonx.jit
def moved_between(source, target, row, N: tl.constexpr, KIND: tl.constexpr):
    block = source.load([row, N // 2]) + 1
    if KIND == "store":
        target.store([row, N // 2], block)
    elif KIND == "add":
        target.atomic_add([row, N // 2], block)
    else:
        target.atomic_max([row, N // 2], block)


def run(program: Program, target: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> set[str]:
    """Executes before the passes and after each that changes something; the names of those."""
    acted: set[str] = set()
    fenced = False
    for one in [None, *program.passes]:
        fenced = fenced or (one is not None and one.name == "fence-stores")
        if one is not None and not program.apply(one):
            continue
        _, found = program.run()
        found = [each for each in found if fenced or each.kind is not Kind.UNFENCED]
        assert not found, "\n".join(map(str, found))
        np.testing.assert_array_equal(target, expected, err_msg=f"after {one and one.name}")
        if one is not None:
            acted.add(one.name)
    return acted


@pytest.mark.parametrize("draw", range(6))
def test_moved_blocks(draw: int) -> None:
    random, rng = Random(SEED + draw), np.random.default_rng(SEED + draw)
    rank = random.randint(1, 4)
    kind, dtype = random.choice(
        [("store", np.float16), ("store", ml_dtypes.bfloat16), ("store", np.float32), ("store", np.int8),
         ("add", np.float32), ("add", np.int32), ("max", np.int32), ("max", np.uint32), ("xor", np.int32)]
    )  # fmt: skip
    block = [random.choice((2, 4, 8)) for _ in range(rank - 1)] + [random.choice((16, 32, 64))]
    shape = [extent * (2 if d == 0 else 1) - random.choice((0, 1)) * (d < rank - 1) for d, extent in enumerate(block)]
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= -(-extent // 16) * 16
    x, y = (rng.integers(-9, 9, step).astype(dtype) for _ in range(2))

    def whole(array: Any) -> Any:
        return np.lib.stride_tricks.as_strided(array, shape, [s * array.itemsize for s in strides])

    descriptors = [TensorDescriptor(array, shape, strides, block) for array in (x, y)]
    old, new = whole(y.copy()), whole(x)
    grid = -(-shape[0] // block[0])
    wanted = y.copy()
    match kind:
        case "store":
            whole(wanted)[...] = new + new
        case "add":
            whole(wanted)[...] = old + new
        case "max":
            whole(wanted)[...] = np.maximum(old, new)
        case _:
            whole(wanted)[...] = old ^ new
    constants = {"KIND": kind, "RANK": rank, "BLOCK": block[0]}
    program = Program(moved_block, descriptors, constants, "cuda:90", random.choice((1, 4)), grid, OPTIONS)
    assert "copy-blocks" in run(program, y, wanted)


@dataclass(frozen=True)
class Made:
    """Arguments of a launch of `made_and_moved`: what `y` is then, and how many programs there are."""

    x: Any
    y: Any
    expected: Any
    scalars: tuple[int, int, int]
    constants: dict[str, Any]
    grid: int


def draw_made(random: Random) -> Made:
    """Tensors that end within a block, in rows that are longer than they are: the copy engine would change what is
    behind them, as a block has no zeros there."""
    rng = np.random.default_rng(random.randrange(1 << 30))
    kind, dtype = random.choice(
        [("store", np.float16), ("store", ml_dtypes.bfloat16), ("store", np.float64), ("store", np.int64),
         ("store", np.uint8), ("store", np.float32), ("store", np.int16),
         ("add", np.float32), ("add", ml_dtypes.bfloat16), ("max", np.int32), ("max", np.uint32)]
    )  # fmt: skip
    block_m, block_n = random.choice((2, 8, 16)), random.choice((16, 32, 64))
    m, n = 3 * block_m - random.choice((0, 1)), block_n + block_n // 2 - random.choice((0, 0, 1, 2, 3, 4))
    step = -(-n // 16) * 16 + random.choice((0, 16))
    x, y = (rng.integers(0, 9, (m, step)).astype(dtype) for _ in range(2))
    padding = "nan" if dtype == np.float16 and random.random() < 0.5 else "zero"
    expected = y.copy()
    old, new = y[:, block_n // 2 : n], x[:, block_n // 2 : n]
    moved = {"store": new + 1, "add": old + (new + 1), "max": np.maximum(old, new + 1)}[kind]
    expected[:, block_n // 2 : n] = moved.astype(dtype)
    constants = {"KIND": kind, "M": block_m, "N": block_n, "PADDING": padding, "AGAIN": 1}
    return Made(x, y, expected, (m, n, step), constants, 3)


@pytest.mark.parametrize("draw", range(6))
def test_descriptors_that_a_kernel_makes(draw: int) -> None:
    random = Random(f"made {SEED} {draw}")
    made = draw_made(random)
    args = (made.x, made.y, *made.scalars)
    program = Program(made_and_moved, args, made.constants, "cuda:90", random.choice((1, 4)), made.grid, OPTIONS)
    run(program, made.y, made.expected)
    names = [op.name for op in program.bound.module.walk()]
    nbytes = made.scalars[1] * made.x.itemsize
    known = made.scalars[1] % 4 == 0  # what a launch tells of an integer
    begins = made.constants["N"] // 2 * made.x.itemsize % 16 == 0
    maps = begins * (1 + (nbytes % 16 == 0 and known))
    assert names.count("ttng.tensormap_create") == maps, "the one in the loop is none"
    assert "tt.store" in names or "tt.atomic_rmw" in names, "but pointers"


@dataclass(frozen=True)
class Shifted:
    """Arguments of a launch of `shifted_block` with rows of whole pieces, and what `y` is then."""

    x: Any
    y: Any
    expected: Any
    column: int
    rows: int
    columns: int

    @property
    def constants(self) -> dict[str, int]:
        return {"N": self.columns}

    def descriptors(self, place: Callable[[Any], Any]) -> tuple[list[TensorDescriptor], Any]:
        block, arrays = [self.rows, self.columns], [place(array) for array in (self.x, self.y)]
        return [TensorDescriptor(array, list(self.x.shape), [80, 1], block) for array in arrays], arrays[1]


@tritonx.jit
def shifted_block(source, target, column, N: tl.constexpr):
    target.store([0, column + N], source.load([0, column]) + 1)


def draw_shifted(random: Random) -> Shifted:
    rng = np.random.default_rng(random.randrange(1 << 30))
    dtype = random.choice([np.uint8, np.int16, np.float16, np.float32, np.int32, np.float64, np.int64])
    rows, columns = random.choice((2, 8)), random.choice((16, 32))
    x, y = (rng.integers(0, 9, (rows, 80)).astype(dtype) for _ in range(2))
    column = random.choice((random.randrange(24), random.randrange(0, 24, 4)))
    expected = y.copy()
    at = slice(column + columns, min(80, column + 2 * columns))
    expected[:, at] = (x[:, column : column + columns] + 1)[:, : at.stop - at.start]
    return Shifted(x, y, expected, column, rows, columns)


@pytest.mark.parametrize("draw", range(8))
def test_a_block_begins_where_it_may(draw: int) -> None:
    """A unit that copies blocks ends a kernel whose blocks begin within a piece of 16 bytes."""
    random = Random(f"shifted {SEED} {draw}")
    made = draw_shifted(random)
    descriptors, _ = made.descriptors(lambda x: x)
    arguments = (*descriptors, made.column)
    program = Program(shifted_block, arguments, made.constants, "cuda:90", random.choice((1, 4)), 1, OPTIONS)
    run(program, made.y, made.expected)
    told = next(n for n in (16, 8, 4, 1) if made.column % n == 0)  # of an integer, by a launch
    begins = told * made.x.itemsize % 16 == 0
    names = {op.name for op in program.bound.module.walk()}
    assert ("ttng.async_tma_copy_global_to_local" in names) == begins, f"{made.x.dtype} {made.column}"


@dataclass(frozen=True)
class Partial:
    """Arguments of a launch of `moved_block` over rows that may end within a piece of 16 bytes."""

    x: Any
    y: Any
    expected: Any
    shape: list[int]
    strides: list[int]
    block: list[int]
    constants: dict[str, Any]
    grid: int

    def descriptors(self, wrap: Any = lambda array: array) -> tuple[list[TensorDescriptor], Any]:
        """Of both tensors, which `wrap` puts where they are wanted; and what it made of `y`."""
        arrays = [wrap(array) for array in (self.x, self.y)]
        return [TensorDescriptor(array, self.shape, self.strides, self.block) for array in arrays], arrays[1]

    @property
    def is_whole(self) -> bool:
        return self.shape[-1] * self.x.itemsize % 16 == 0


def draw_partial(random: Random) -> Partial:
    rng = np.random.default_rng(random.randrange(1 << 30))
    kind, dtype = random.choice(
        [("more", np.float16), ("more", ml_dtypes.bfloat16), ("more", np.float64), ("more", np.int64),
         ("more", np.uint8), ("more", np.float32), ("more", np.int16), ("more", ml_dtypes.float8_e5m2),
         ("add more", np.float32), ("add more", np.int32), ("add more", ml_dtypes.bfloat16)]
    )  # fmt: skip
    rank = random.randint(1, 3)
    block = [random.choice((2, 4, 8)) for _ in range(rank - 1)] + [random.choice((16, 32, 64))]
    grid = random.randint(1, 3)
    shape = [extent * (grid if d == 0 else 1) - random.choice((0, 1)) for d, extent in enumerate(block)]
    shape[-1] -= random.choice((0, 1, 2, 3, 5, 8))
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= -(-extent // 16) * 16 + (16 if step == 1 else 0)
    x, y = (rng.integers(0, 9, step).astype(dtype) for _ in range(2))
    expected = y.copy()

    def whole(array: Any) -> Any:
        return np.ndarray(shape, array.dtype, array.view(np.uint8), 0, [s * array.itemsize for s in strides])

    moved = whole(x).astype(np.float64) + 1 + (whole(y).astype(np.float64) if kind == "add more" else 0)
    whole(expected)[...] = moved.astype(dtype)
    return Partial(x, y, expected, shape, strides, block, {"KIND": kind, "RANK": rank, "BLOCK": block[0]}, grid)


@pytest.mark.parametrize("draw", range(6))
def test_rows_that_end_within_a_piece(draw: int) -> None:
    """Of a descriptor that the host makes: nothing behind them is changed."""
    random = Random(f"partial {SEED} {draw}")
    given = draw_partial(random)
    descriptors, target = given.descriptors()
    program = Program(moved_block, descriptors, given.constants, "cuda:90", random.choice((1, 4)), given.grid, OPTIONS)
    assert "copy-blocks" in run(program, target, given.expected), "loads are the engine's"
    written = [op for op in program.bound.module.walk() if "local_to_global" in op.name or "tma_reduce" in op.name]
    assert bool(written) == given.is_whole


@pytest.mark.parametrize("elements", [32, 64])
def test_blocks_that_shared_memory_cannot_hold(elements: int) -> None:
    """Pointers move them."""
    rng = np.random.default_rng(SEED)
    block = [8, 8, 8, elements]
    x, y = (rng.integers(0, 9, block).astype(np.float64) for _ in range(2))
    descriptors = [TensorDescriptor.from_tensor(array, block) for array in (x, y)]
    constants = {"KIND": "store", "RANK": 4, "BLOCK": 8}
    program = Program(moved_block, descriptors, constants, "cuda:90", 4, 1, OPTIONS)
    copied = any("tt.descriptor_load" in op.name for op in program.bound.module.walk())
    assert copied == (elements == 32), "of 128 KiB"
    program.run()
    np.testing.assert_array_equal(y, 2 * x)


def test_the_machine_changes_whole_pieces() -> None:
    """As the device does: the checks above are worth nothing otherwise."""
    x, y = np.arange(1, 33, dtype=np.int64), np.full(32, -1, np.int64)
    descriptors = [TensorDescriptor(array, [32], [1], [32]) for array in (x, y)]
    constants = {"KIND": "store", "RANK": 1, "BLOCK": 32}
    program = Program(moved_block, descriptors, constants, "cuda:90", 1, 1, OPTIONS)
    arguments = [replace(a, shape=(29,)) if isinstance(a, Descriptor) else a for a in program.bound.arguments]
    program.bound = replace(program.bound, arguments=arguments)
    for one in program.passes:
        program.apply(one)
    _, found = program.run()
    assert not found
    np.testing.assert_array_equal(y, [*(2 * x[:29]), 0, -1, -1])


def test_a_pipelined_product_has_one_barrier_a_round() -> None:
    """And one wait, however many blocks come."""
    args = [
        TensorDescriptor.from_tensor(np.zeros((64, 256), np.float16), [64, 64]),
        TensorDescriptor.from_tensor(np.zeros((256, 64), np.float16), [64, 64]),
        TensorDescriptor.from_tensor(np.zeros((64, 64), np.float16), [64, 64]), 4,
    ]  # fmt: skip
    constants = {"M": 64, "N": 64, "K": 64, "TURNED": False}
    options = {"pipeline": True, "num_stages": 3}
    program = Program(product_of_blocks, args, constants, "cuda:90", 4, 1, options)
    for one in program.passes:
        program.apply(one)
    (loop,) = (op for op in program.bound.module.walk() if isinstance(op, scf.ForOp))
    names = Counter(op.name for op in loop.walk())
    assert names["ttg.local_barrier"] == names["ttng.wait_barrier"] == names["ttng.barrier_expect"] == 1
    assert names["ttng.async_tma_copy_global_to_local"] == 2


@dataclass(frozen=True)
class Together:
    """Arguments of a launch of `made_together`."""

    x: Any
    y: Any
    z: Any
    scalars: tuple[int, int]
    constants: dict[str, Any]

    @property
    def args(self) -> tuple[Any, ...]:
        return (self.x, self.y, self.z, *self.scalars)


def draw_together(random: Random) -> Together:
    rng = np.random.default_rng(random.randrange(1 << 30))
    dtype, m, n = random.choice((np.float16, np.float32, np.int64)), random.choice((8, 16)), random.choice((16, 32))
    rounds, columns = random.randint(1, 3), n * random.randint(1, 2) + random.choice((0, 16))
    x, y = (rng.integers(-9, 9, (m * rounds, columns)).astype(dtype) for _ in range(2))
    return Together(x, y, np.full_like(x, 99), (columns, rounds), {"M": m, "N": n})


@pytest.mark.parametrize("warps", [1, 2, 4])
def test_descriptors_that_are_made_together(warps: int) -> None:
    """A warp makes each, as far as there are so many."""
    made = draw_together(Random(f"together {SEED} {warps}"))
    program = Program(made_together, made.args, made.constants, "cuda:90", warps, 1, OPTIONS)
    run(program, made.z, made.x - made.y)
    ops = [op for op in program.bound.module.walk() if op.name.startswith("ttng.tensormap")]
    assert [op.name.rpartition("_")[2] for op in ops] == ["create"] * 3 + ["acquire"] * 3


@pytest.mark.parametrize("together", [False, True])
def test_maps_that_are_not_acquired_are_found(together: bool) -> None:
    if together:
        both = draw_together(Random(SEED))
        program = Program(made_together, both.args, both.constants, "cuda:90", 4, 1, OPTIONS)
    else:
        made = draw_made(Random(SEED))
        args = (made.x, made.y, *made.scalars)
        program = Program(made_and_moved, args, made.constants, "cuda:90", 4, made.grid, OPTIONS)
    for one in program.passes:
        program.apply(one)
    text = print_module(program.bound.module)
    assert not program.run()[1]
    for number in range(text.count("ttng.tensormap_fenceproxy_acquire")):
        program.bound = replace(program.bound, module=mutated(text, "tensor map not acquired", number))
        assert program.run()[1], f"seed {SEED}, {number} of\n{text}"


@pytest.mark.parametrize("step", [36, 44])
def test_rows_that_are_not_aligned(step: int) -> None:
    """Pointers move their blocks."""
    rng = np.random.default_rng(SEED)
    x, y = (rng.integers(0, 9, (16, step)).astype(np.float16) for _ in range(2))
    expected = y.copy()
    expected[:, 16:] = x[:, 16:] + 1
    constants = {"KIND": "store", "M": 16, "N": 32, "PADDING": "zero", "AGAIN": 1}
    program = Program(made_and_moved, (x, y, 16, step, step), constants, "cuda:90", 4, 1, OPTIONS)
    assert "copy-blocks" not in run(program, y, expected)


@pytest.mark.parametrize("turned", [False, True])
def test_products(turned: bool) -> None:
    rng = np.random.default_rng(SEED)
    m, n, k, steps = 64, 32, 32, 3
    a = rng.integers(-3, 4, (m, k * steps)).astype(np.float16)
    b = rng.integers(-3, 4, (n, k * steps) if turned else (k * steps, n)).astype(np.float16)
    o = np.full((m, n), np.nan, np.float16)
    args = [
        TensorDescriptor.from_tensor(a, [m, k]), TensorDescriptor.from_tensor(b, [n, k] if turned else [k, n]),
        TensorDescriptor.from_tensor(o, [m, n]), steps,
    ]  # fmt: skip
    constants = {"M": m, "N": n, "K": k, "TURNED": turned}
    program = Program(product_of_blocks, args, constants, "cuda:90", 4, 1, OPTIONS)
    acted = run(program, o, (a.astype(np.float32) @ (b.T if turned else b).astype(np.float32)).astype(np.float16))
    assert {"copy-blocks"} | ({"view-transposed"} if turned else set()) <= acted
    ops = [op.name for op in program.bound.module.walk()]
    assert "ttg.local_load" not in ops and "ttg.convert_layout" not in ops, "blocks go through registers"


@tritonx.jit
def converted_blocks(a, b, o, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Blocks of bytes, which the threads convert for the product, one of them turned."""
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        x, y = a.load([0, step * K]), b.load([0, step * K]).T
        total = tl.dot(x.to(tl.float16), y.to(tl.float16), total)
    tl.store(o + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], total)


@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize("warps", [1, 4])
def test_turned_blocks_of_bytes(warps: int, k: int) -> None:
    """Rows of 16 bytes are not swizzled, and such memory has no transposed form."""
    random, rng = Random(f"{SEED} {warps} {k}"), np.random.default_rng(SEED)
    n, steps = random.choice((16, 32)), random.randrange(4)
    a, b = (rng.integers(-3, 4, (extent, k * max(1, steps))).astype(np.int8) for extent in (16, n))
    o = np.full((16, n), np.nan, np.float32)
    args = [TensorDescriptor.from_tensor(a, [16, k]), TensorDescriptor.from_tensor(b, [n, k]), o, steps]
    program = Program(converted_blocks, args, {"M": 16, "N": n, "K": k}, "cuda:90", warps, 1, OPTIONS)
    x, y = (each[:, : k * steps].astype(np.float32) for each in (a, b))
    run(program, o, x @ y.T)
