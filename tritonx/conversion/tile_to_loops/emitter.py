"""The state of emitting one kernel: where every SSA value is, and how an element of it is computed.

A scalar (also a pointer, a block pointer, a descriptor) is a tuple of LLVM values. A tile is either a buffer, a `View`
of memory, or nothing but its definition, evaluated for a chunk of elements at a `Position` when it is needed.

A position is one index a dimension and at most one *lane dimension*, along which the chunk holds `width` consecutive
elements. A value that does not vary along the lane dimension evaluates to a scalar (`Lanes` of width 0), so `x *
row_scale[:, None]` reads the scale once a row and `ptr + row * stride` is scalar arithmetic.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Operation, SSAValue

from tritonx.conversion.llvm_text import vector
from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.scalar.conversions import convert
from tritonx.conversion.scalar.ops import Ops
from tritonx.conversion.tile_to_loops.addresses import evaluate_form
from tritonx.conversion.tile_to_loops.index import IndexAnalysis
from tritonx.conversion.tile_to_loops.isa import HostIsa
from tritonx.conversion.tile_to_loops.numbers import HostNumbers, of_operand
from tritonx.conversion.tile_to_loops.position import Position
from tritonx.conversion.tile_to_loops.types import (
    element_bytes,
    memory_type,
    register_type,
    type_bytes,
)
from tritonx.conversion.tile_to_loops.writer import Lanes, LoopWriter
from tritonx.ir.failure import PassError
from tritonx.ir.types import PointerType, element_type, f32, is_tensor, shape_of

if TYPE_CHECKING:
    from tritonx.conversion.tile_to_loops.branches import Body
    from tritonx.conversion.tile_to_loops.demand import Needed
    from tritonx.conversion.tile_to_loops.regions import Variables
    from tritonx.conversion.tile_to_loops.tables import Tables
    from tritonx.ir.region_records import Regions


@dataclass(frozen=True)
class View:
    """A tile in memory: the element at index i lies at ``pointer + Σ i·strides`` elements of ``type``.

    ``element`` is the tile's element type; ``widened`` says that memory holds f32 instead (the operands of a matrix
    product are converted once when they are written).
    """

    pointer: str
    element: Attribute
    strides: tuple[int, ...]
    widened: bool = False

    @property
    def type(self) -> str:
        return memory_type(f32 if self.widened else self.element)


TRUE = Lanes("true", 0)
"""A mask that is known."""

FALSE = Lanes("false", 0)
"""A mask that is known to be false everywhere."""

_SHUFFLED_STRIDES = (2, 4)
"""Lanes this far apart are read with whole vectors and picked out; the last may reach past the buffer
(`entry.OVERREAD`).
"""


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def unsupported(op: Operation, why: str, hint: str = "") -> PassError:
    """An op that the CPU backend cannot express."""
    return PassError(op, f"{op.name}: {why}", hint)


class Emitter:
    """Emits one function. Rules of the op families are in ``tables``; see `lower.py` for how they are put together."""

    def __init__(
        self, module: Module, isa: HostIsa, tables: Tables, *, fuse: bool, index: IndexAnalysis, lines: bool = False
    ) -> None:
        self.module = module
        self.lines = lines
        """Whether each line of the text is to be known by the op that it is of."""
        self.writer = LoopWriter(module)
        self.isa = isa
        self.tables = tables
        self.numbers = HostNumbers(fuse=fuse)
        self.index = index
        self.values: dict[SSAValue, tuple[str, ...]] = {}
        self.views: dict[SSAValue, View] = {}
        self.buffered: set[SSAValue] = set()
        self.writing: set[SSAValue] = set()
        self.preferred: dict[SSAValue, SSAValue] = {}
        """Tiles that are best written into another tile's buffer (a loop's carried tile, a product's accumulator)."""
        self.widened: set[SSAValue] = set()
        """Tiles of narrow floats whose buffer holds f32."""
        self.carried: dict[SSAValue, str] = {}
        """The i64 advance of tiles that loops carry as a scalar."""
        self.overwrites: dict[SSAValue, SSAValue] = {}
        """Tiles that are written over a carried tile: that one is read first, at each element."""
        self.body: Body | None = None
        self.functions: dict[str, Operation] = {}
        self.assertions: list[str] = []
        """Messages of the assertions, in the order of their numbers."""
        self.described: set[Operation] = set()
        self.described_nests: set[Operation] = set()
        """Ops of which ``remarks`` has told."""
        self.buffer_sizes: list[int] = []
        self.assumed: frozenset[SSAValue] = frozenset()
        """Masks that are true at each position that the loop being written walks over (`prefixes.py`)."""
        self.excluded: frozenset[SSAValue] = frozenset()
        """Masks that are false at each position that is evaluated now."""
        self.walked: Position | None = None
        """That position. An op that moves elements, or an address, asks for a mask at others."""
        self.streamed: frozenset[Operation] = frozenset()
        """Stores that go past the caches in the loop being written (`streaming.py`)."""
        self.stored_lanes: tuple[str, str] | None = None
        """The range of indices along the lanes that the loop being written stores; None: all."""
        self.needed: dict[Operation, Needed] = {}
        """The parts of products that are computed (`demand.py`)."""
        self.traffic = 0
        """The bytes that a program loads and stores; 0 where no store may go past the caches."""
        self.streams = False
        self.regions: Regions | None = None
        self.region_variables: Variables | None = None
        """Whether some store does."""
        self._memo: dict[tuple[SSAValue, Position], Lanes] = {}

    # ---- elements

    def ops(self, args: list[Lanes]) -> Ops:
        """What writes an op on operands of one width."""
        return Ops(self.writer, args[0].width, self.numbers, lambda number: of_operand(args[number]))

    def convert(self, lanes: Lanes, source: Attribute, target: Attribute) -> Lanes:
        """Floats of one type as another."""
        return Lanes(convert(self.ops([lanes]), lanes.text, source.name, target.name), lanes.width)

    # ---- scalars

    def scalar(self, value: SSAValue) -> str:
        """The LLVM value of a scalar."""
        return self.values[value][0]

    # ---- buffers

    def new_buffer(self, nbytes: int) -> str:
        """A buffer of the program's scratch memory, 64-byte aligned; buffers alias nothing."""
        self.buffer_sizes.append(-(-nbytes // 64) * 64)
        return f"%b{len(self.buffer_sizes) - 1}"

    def new_view(self, shape: tuple[int, ...], element: Attribute, *, widened: bool = False) -> View:
        """A tile in a buffer of its own, row-major."""
        nbytes = prod(shape) * element_bytes(f32 if widened else element)
        return View(self.new_buffer(nbytes), element, row_major(shape), widened)

    def buffer_of(self, value: SSAValue) -> View:
        """The buffer that a tile is to be written to, made on first use."""
        view = self.views.get(value)
        if view is not None:
            return view
        shape, element = shape_of(value.type), element_type(value.type)
        widened = value in self.widened
        place = self.preferred.get(value)
        if place is not None:
            host = self.buffer_of(place)
            if host.widened == widened and host.element == element:
                view = View(host.pointer, element, row_major(shape), widened)
        if view is None:
            view = self.new_view(shape, element, widened=widened)
        self.views[value] = view
        return view

    # ---- chunks

    def fresh_chunk(self) -> None:
        """Forget the values of the previous chunk: a new loop body begins, or one has ended."""
        self._memo = {}

    @contextmanager
    def conditionally(self) -> Generator[None]:
        """Values evaluated inside are forgotten afterwards: they are in a block that does not always run."""
        saved, self._memo = self._memo, dict(self._memo)
        yield
        self._memo = saved

    def evaluate(self, value: SSAValue, position: Position) -> Lanes:
        """The elements of `value` at `position`; a scalar where they are all the same."""
        if not is_tensor(value.type):
            return Lanes(self.values[value][0], 0)
        if value in self.assumed and self._is_walked(position):
            return TRUE
        if value in self.excluded and self._is_walked(position):
            return FALSE
        key = (value, position)
        known = self._memo.get(key)
        if known is None:
            if value in self.views and value not in self.writing:
                known = self.load_view(self.views[value], position)
            else:
                known = self.compute(value, position)
            self._memo[key] = known
        return known

    def _is_walked(self, position: Position) -> bool:
        """Whether it is the chunk that the loop is at, or the first element of that."""
        walked = self.walked
        return walked is not None and position.index == walked.index and position.lane in (walked.lane, -1)

    def compute(self, value: SSAValue, position: Position) -> Lanes:
        """Evaluate the definition of a tile, without looking for it in memory."""
        op = value.owner
        if not isinstance(op, Operation) or op.regions:
            form = self.index.form(value)
            assert form is not None, f"{value} was not put into memory"
            return evaluate_form(self, form, value, position)
        if self.lines:
            with self.writer.of(op):
                return self._computed(op, value, position)
        return self._computed(op, value, position)

    def _computed(self, op: Operation, value: SSAValue, position: Position) -> Lanes:
        rule = self.tables.inline.get(type(op))
        if rule is not None:
            return rule(self, op, value, position)
        elementwise = self.tables.elementwise.get(type(op))
        if elementwise is None:
            raise unsupported(op, "the CPU backend has no rule for this op")
        return elementwise(self, op, self.operands(op, position))

    def operands(self, op: Operation, position: Position) -> list[Lanes]:
        """An op's operands at one width: as scalars if none varies along the lanes."""
        return self.level([self.evaluate(v, position) for v in op.operands], [v.type for v in op.operands])

    def level(self, args: list[Lanes], types: list[Attribute]) -> list[Lanes]:
        """Repeat scalars where another argument is a vector."""
        width = max((a.width for a in args), default=0)
        if not width or all(a.width == width for a in args):
            return args
        return [
            a if a.width == width else Lanes(self.writer.widen(register_type(element_type(t)), a, width), width)
            for a, t in zip(args, types, strict=True)
        ]

    # ---- memory

    def pointee_type(self, pointer: PointerType) -> str:
        return memory_type(pointer.pointee)

    def view_offset(self, view: View, index: tuple[str, ...]) -> str:
        total = "0"
        for i, stride in zip(index, view.strides, strict=True):
            total = self.writer.add(total, self.writer.mul(i, str(stride)))
        return total

    def view_address(self, view: View, index: tuple[str, ...]) -> str:
        offset = self.view_offset(view, index)
        if offset == "0":
            return view.pointer
        return self.writer.inst(f"getelementptr inbounds {view.type}, ptr {view.pointer}, i64 {offset}")

    def load_view(self, view: View, position: Position) -> Lanes:
        """Read a chunk of a tile in memory."""
        w = self.writer
        address = self.view_address(view, position.index)
        align = type_bytes(view.type)
        stride = view.strides[position.lane] if position.lane >= 0 else 0
        if stride == 0:
            return self._from_view(view, Lanes(w.inst(f"load {view.type}, ptr {address}, align {align}"), 0))
        ty = vector(view.type, position.width)
        if stride == 1:
            return self._from_view(view, Lanes(w.inst(f"load {ty}, ptr {address}, align {align}"), position.width))
        if stride in _SHUFFLED_STRIDES and view.pointer.startswith("%b"):
            every = position.width * stride
            wide = w.inst(f"load {vector(view.type, every)}, ptr {address}, align {align}")
            value = w.shuffle(view.type, wide, "poison", every, list(range(0, every, stride)))
            return self._from_view(view, Lanes(value, position.width))
        value = "poison"
        for lane in range(position.width):
            at = w.inst(f"getelementptr inbounds {view.type}, ptr {address}, i64 {lane * stride}")
            one = w.inst(f"load {view.type}, ptr {at}, align {align}")
            value = w.inst(f"insertelement {ty} {value}, {view.type} {one}, i64 {lane}")
        return self._from_view(view, Lanes(value, position.width))

    def store_view(self, view: View, position: Position, lanes: Lanes) -> None:
        """Write a chunk of a tile in memory; `lanes` is in the register representation of the tile's element."""
        w = self.writer
        lanes = self._to_view(view, lanes)
        text = w.widen(view.type, lanes, position.width)
        address = self.view_address(view, position.index)
        align = type_bytes(view.type)
        stride = view.strides[position.lane] if position.lane >= 0 else 0
        if not position.width or stride == 1:
            w.line(f"store {vector(view.type, position.width)} {text}, ptr {address}, align {align}")
            return
        for lane in range(position.width):
            at = w.inst(f"getelementptr inbounds {view.type}, ptr {address}, i64 {lane * stride}")
            one = w.extract(view.type, Lanes(text, position.width), lane)
            w.line(f"store {view.type} {one}, ptr {at}, align {align}")

    def _from_view(self, view: View, lanes: Lanes) -> Lanes:
        if view.widened:
            return self.convert(lanes, f32, view.element)
        return self.from_memory(lanes, view.element)

    def _to_view(self, view: View, lanes: Lanes) -> Lanes:
        if view.widened:
            return self.convert(lanes, view.element, f32)
        return self.to_memory(lanes, view.element)

    def from_memory(self, lanes: Lanes, element: Attribute) -> Lanes:
        """The register form of a value just read: a byte of an i1 is compared with 0."""
        if register_type(element) != "i1":
            return lanes
        ty = vector("i8", lanes.width)
        zero = self.writer.splat("i8", "0", lanes.width)
        return Lanes(self.writer.inst(f"icmp ne {ty} {lanes.text}, {zero}"), lanes.width)

    def to_memory(self, lanes: Lanes, element: Attribute) -> Lanes:
        """The memory form of a value about to be written: an i1 becomes the byte 0 or 1."""
        if register_type(element) != "i1":
            return lanes
        a, b = vector("i1", lanes.width), vector("i8", lanes.width)
        return Lanes(self.writer.inst(f"zext {a} {lanes.text} to {b}"), lanes.width)
