"""Matrix units: what multiplies the tiles of a target, as values that its backend brings.

A target has a list of units. Each says of a product whether it takes it, what that costs, and how the result and the
operands then have to lie, in registers or in shared memory; layout assignment gives the product to the cheapest
(``GpuTarget.unit_for``) and treats these layouts like any other wish. The threads' own multiply-adds are a unit as
well, the one that every target has and that takes everything (``multiply_adds``).

An operand that the unit reads from shared memory by itself has the encoding of a buffer: to want a value in it is to
want it stored there. A unit whose products are not ``tt.dot`` any more says which op they are (``DotLayout.op``).

So nothing that serves every vendor knows an instruction. A unit with 16x8 results for warps of 32, one for waves of 64,
and one that another package defines are three values of one kind. What the unit's instructions are
is said where a thread's program is written (``Machine.dot``), by the layout of the result: every unit has results in a
layout that no other unit of the target has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Attribute, Operation

from tritonx.dialects.tile import DotOp, DotScaledOp
from tritonx.ir.types import bit_width, element_type, is_integer
from tritonx.layouts.encodings import DistributedEncoding, DotOperandEncoding, Encoding, Ints


@dataclass(frozen=True)
class Threads:
    """Who multiplies: the warps of a block, and the blocks of a cluster."""

    num_warps: int
    warp_size: int
    num_ctas: int = 1


@dataclass(frozen=True)
class Product:
    """A `tt.dot`, or a `tt.dot_scaled`, as a unit sees it.

    `shape` is the result's, [batch,] M, N, and `k` the extent of the summed dim. `a`, `b` and `sums` are the element
    types of the operands and of the result by the IR's names ("f16", "i8", "f8E4M3FN"), of `bits` bits in an operand;
    of a scaled product the operands' formats ("e4m3", "e2m1"), held in `bits`. `exact` says that f32 may not be
    shortened. `chained` says that the result becomes an operand of another product of the block, or the reverse,
    `a_is_made` that another one's result becomes A. `loaded_bits` is the width of the narrowest elements in memory
    that an operand is made of. `a_order` and `b_order` are the dims in the order, fastest first, in which the
    operands come from memory; `a_is_loaded` and `b_is_loaded` say that they do in the product's own block, and that
    nothing is computed with them on the way. `is_wanted_whole` says that another product takes the result as B, or
    transposed: each of its rows needs all of it.
    """

    shape: Ints
    k: int
    a: str
    b: str
    sums: str
    bits: int
    exact: bool = False
    chained: bool = False
    a_is_made: bool = False
    loaded_bits: int = 32
    a_order: Ints = (1, 0)
    b_order: Ints = (1, 0)
    a_is_loaded: bool = False
    b_is_loaded: bool = False
    is_wanted_whole: bool = False

    @property
    def transposed(self) -> Product:
        """The product that makes the transposed result, of two matrices."""
        return replace(
            self,
            shape=(self.columns, self.rows),
            a=self.b,
            b=self.a,
            a_is_made=False,
            a_order=tuple(1 - dim for dim in self.b_order),
            b_order=tuple(1 - dim for dim in self.a_order),
            a_is_loaded=self.b_is_loaded,
            b_is_loaded=self.a_is_loaded,
        )

    @property
    def rows(self) -> int:
        return self.shape[-2]

    @property
    def columns(self) -> int:
        return self.shape[-1]

    def cycles(self, rate: int) -> int:
        """Cycles of a multiprocessor that makes so many multiply-adds in each."""
        return -(-prod(self.shape) * self.k // rate)


@dataclass(frozen=True)
class DotLayout:
    """Encodings of the result (and accumulator) and of the two operands, and the class of the op that multiplies: with
    operands, result and properties of the names that `tt.dot` has."""

    result: DistributedEncoding
    a: Encoding
    b: Encoding
    op: type[Operation] = DotOp
    a_scale: DistributedEncoding | None = None
    """Of the scales of A, [batch,] M x K / 32, in a layout for `tt.dot_scaled`."""
    b_scale: DistributedEncoding | None = None
    """Of the scales of B, [batch,] N x K / 32."""

    @classmethod
    def of(cls, result: DistributedEncoding, k_width: int) -> DotLayout:
        """The operands in registers, `k_width` neighbours along K at a time."""
        return cls(result, DotOperandEncoding(0, result, k_width), DotOperandEncoding(1, result, k_width))

    def operands(self, op: Operation) -> list[Encoding | None]:
        """The encodings of the operands of `op`, in their order."""
        if not isinstance(op, DotScaledOp):
            return [self.a, self.b, self.result]
        scales = ((op.a_scale, self.a_scale), (op.b_scale, self.b_scale))
        return [self.a, self.b, self.result, *(encoding for scale, encoding in scales if scale is not None)]


class CannotMultiply(Exception):
    """A product that the unit takes is impossible in the way that the user asks for; with a hint."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason, hint)
        self.reason = reason
        self.hint = hint


class MatrixUnit(ABC):
    """One way to multiply. Units are frozen values: equal ones are the same unit."""

    @property
    def name(self) -> str:
        """What its users call it."""
        return type(self).__name__

    @property
    @abstractmethod
    def types(self) -> frozenset[str]:
        """The element types of operands that it multiplies; `DecomposeDots` rewrites products of others."""

    @abstractmethod
    def takes(self, product: Product, threads: Threads) -> bool:
        """Whether the unit multiplies this as it stands."""

    def refusal(self, product: Product, threads: Threads) -> str | None:
        """Why it does not; None where it does."""
        return None if self.takes(product, threads) else "it does not take that"

    @abstractmethod
    def cycles(self, product: Product) -> int:
        """About how long a multiprocessor is busy with it; only has to rank the units of one target."""

    def turned_bytes(self, product: Product) -> int:
        """Bytes of operands that the threads must turn on the way from memory to where the unit reads them."""
        return 0

    @property
    def packs_along_k(self) -> bool:
        """Whether words of its operands are neighbours along K that no instruction brings together on the way from
        shared memory."""
        return False

    @property
    def transposed_bytes(self) -> int:
        """Bytes of neighbours that reads of shared memory bring to as many threads, each with others along K; 0 where
        there are no such reads."""
        return 0

    @property
    def scaled_formats(self) -> frozenset[str]:
        """The formats of operands of `tt.dot_scaled` that it multiplies with their scales: "e4m3", "e2m1".
        `DecomposeScaledDots` rewrites products of others."""
        return frozenset()

    @property
    def scaled_instructions(self) -> tuple[Ints, ...]:
        """M, N and K of the instructions that do that: a product has at least the extents of one of them."""
        return ()

    @abstractmethod
    def layout(self, product: Product, threads: Threads) -> DotLayout:
        """How the result and the operands lie, of a product that the unit takes. Raises `CannotMultiply`."""

    def scaled_layout(self, product: Product, threads: Threads) -> DotLayout:
        """How result, operands and scales of a `tt.dot_scaled` lie whose formats and extents the unit has. Raises
        `CannotMultiply`."""
        raise CannotMultiply(f"{self.name} applies no scales", "run decompose-scaled-dots before layouts are assigned")


class ExplainingUnit(MatrixUnit):
    """A unit that takes what it has no reason to refuse.

    >>> from tritonx.backends.gpu import Product, Threads
    >>> from tritonx.backends.nvidia.matrix_units import WarpGroupUnit
    >>> WarpGroupUnit().refusal(Product((32, 64), 64, "f16", "f16", "f32", 16), Threads(4, 32))
    'M = 32 is less than 64'
    """

    @abstractmethod
    def refusal(self, product: Product, threads: Threads) -> str | None:
        """Why the unit does not multiply this as it stands; None where it does."""

    def takes(self, product: Product, threads: Threads) -> bool:
        return self.refusal(product, threads) is None


def has_types(product: Product, types: frozenset[str]) -> bool:
    """Whether operands are of these types, of one type or two kinds of 8-bit floats, and summed in the usual one: i32,
    f64, or f32 or f16."""
    return type_refusal(product, types) is None


def type_refusal(product: Product, types: frozenset[str]) -> str | None:
    """Why a unit for operands of these types does not multiply a product, if for that (`has_types`).

    >>> from tritonx.backends.gpu import Product, type_refusal
    >>> type_refusal(Product((64, 64), 64, "bf16", "bf16", "f32", 16), frozenset({"f16"}))
    'it does not sum products of bf16 in f32'
    """
    a, b = product.a, product.b
    alike = a == b or (a.startswith("f8") and b.startswith("f8"))
    sums = product.sums == {"i8": "i32", "f64": "f64"}.get(a, "f32") or product.sums == a == "f16"
    if a in types and b in types and alike and sums:
        return None
    return f"it does not sum products of {a if a == b else f'{a} and {b}'} in {product.sums}"


def extent_refusal(product: Product, rows: int = 1, columns: int = 1, k: int = 1) -> str | None:
    """Why a unit that needs at least so many rows, columns and steps of K does not multiply a product, if for that.

    >>> from tritonx.backends.gpu import Product, extent_refusal
    >>> extent_refusal(Product((64, 8), 64, "f16", "f16", "f32", 16), 16, 16, 16)
    'N = 8 is less than 16'
    """
    named = (("M", product.rows, rows), ("N", product.columns, columns), ("K", product.k, k))
    return next((f"{name} = {has} is less than {least}" for name, has, least in named if has < least), None)


def warps_over(product: Product, rows: int, columns: int, num_warps: int) -> tuple[int, ...]:
    """Warps over the result, for a unit whose instruction makes `rows` x `columns` of it: along M for chained products,
    so that rows stay inside a warp, as far as there are rows, since copies of a tile would be multiplied again, and
    summed in as many registers; otherwise so that the instruction tiles of a warp come close to a square of elements.
    Batches first, where there are any."""
    shape = product.shape
    warps = [1] * len(shape)
    left = num_warps
    if len(shape) == 3:
        warps[0] = min(left, shape[0])
        left //= warps[0]
    if product.chained:
        down = min(left, max(1, shape[-2] // rows))
        across = min(left // down, max(1, shape[-1] // columns))
        warps[-2:] = left // across, across  # more warps than tiles: copies along M
        return tuple(warps)
    while left > 1:
        down, across = shape[-2] / (rows * warps[-2]), shape[-1] / (columns * warps[-1])
        if (down * rows >= across * columns and down > 1) or (across <= 1 and down > 1):
            warps[-2] *= 2
        elif across > 1:
            warps[-1] *= 2
        else:  # more warps than tiles: copies along M
            warps[-2] *= 2
        left //= 2
    return tuple(warps)


def type_name(type_: Attribute) -> str:
    """The IR's name of an element type."""
    return f"i{bit_width(type_)}" if is_integer(type_) else element_type(type_).name
