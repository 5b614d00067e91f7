"""The state of writing one function: text, names, and the IR values' tiles.

Text goes to ``lines``; a block is opened by ``label``. What depends on the thread only goes to the prologue of those
who run the lines (``threads``), the block that they run first, so that it is computed once and dominates every use."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.analysis.buffers import offset_of
from tritonx.conversion.gpu_to_llvm import trigonometry
from tritonx.conversion.gpu_to_llvm.budget import Budget
from tritonx.conversion.gpu_to_llvm.cold_paths import Left
from tritonx.conversion.gpu_to_llvm.constancy import first_registers
from tritonx.conversion.gpu_to_llvm.constant_offsets import Sums
from tritonx.conversion.gpu_to_llvm.encodings import type_encoding
from tritonx.conversion.gpu_to_llvm.loop_vectors import LoopBody, are_few, kept_in_loop
from tritonx.conversion.gpu_to_llvm.threads import ThreadGroup, Threads
from tritonx.conversion.gpu_to_llvm.types import bits, is_held, pointer_to, space_of
from tritonx.conversion.gpu_to_llvm.values import SharedView, Tile, Value, is_constant
from tritonx.conversion.gpu_to_llvm.wait_intervals import wait_intervals_of
from tritonx.conversion.llvm_writer import Writer
from tritonx.ir.failure import PassError
from tritonx.ir.types import element_type, is_tensor, shape_of, type_of
from tritonx.layouts import LinearLayout
from tritonx.layouts.dims import REGISTER
from tritonx.layouts.lookup import linear_layout

if TYPE_CHECKING:
    from tritonx.conversion.gpu_to_llvm.module import ModuleEmitter
    from tritonx.conversion.gpu_to_llvm.partitions import Partitions

Emit = Callable[[Operation, "FunctionEmitter"], None]


class FunctionEmitter(Writer):
    """Writes one ``tt.func`` as an LLVM function; the emitters of the op families receive it."""

    def __init__(self, module: ModuleEmitter, group: ThreadGroup) -> None:
        super().__init__(module)
        self.module: ModuleEmitter = module
        self.machine = module.machine
        self.shared = pointer_to(module.machine.shared_space)
        """The type of an address in the block's shared memory."""
        self.global_ = pointer_to(module.machine.global_space)
        """The type of an address in global memory."""
        self.options = module.options
        self.threads = Threads(self, group)
        self.partitions: Partitions | None = None
        self.symbol = ""
        self.is_kernel = False
        self.allocas = 0
        self._values: dict[SSAValue, Value] = {}
        self._intervals: dict[Block, dict[Operation, int]] = {}
        self.labels: dict[Block, str] = {}
        self.edges: dict[Block, list[tuple[str, list[list[str]]]]] = {}
        self.returns: list[tuple[str, list[Tile]]] | None = None
        self.current: Operation | None = None
        self.body: LoopBody | None = None
        """Of the innermost counted loop around the lines."""
        self.uniform: set[str] = set()
        """Scalars that tiles are made of: they are in registers that the lanes of a warp share, or constants."""
        self.runs: list[int] | None = None
        self.left = Left()
        self.sums = Sums()
        self.budget = Budget(self.options.max_instructions)

    # ---- text

    def inst(self, text: str) -> str:
        name = super().inst(text)
        if len(self.lines) > self.budget.limit:
            raise self.budget.exceeded(len(self.lines))
        return name

    def call(self, result: str, symbol: str, *arguments: tuple[str, str], attributes: str = "") -> str:
        if symbol in trigonometry.FUNCTIONS:
            return trigonometry.large(self, symbol, arguments[0][1])
        return super().call(result, symbol, *arguments, attributes=attributes)

    @contextmanager
    def where(self, condition: str | None) -> Generator[None]:
        """Lines written inside are run by the threads in which ``condition`` (i1) holds, or by all if it is None."""
        if condition is None:
            yield
            return
        then, done = self.new_label("do"), self.new_label("done")
        self.branch_if(condition, then, done)
        self.label(then)
        yield
        self.enter(done)

    @contextmanager
    def in_prologue(self) -> Generator[None]:
        """Lines written inside go to the block that the threads run first."""
        outside = self.lines, self.block, self.body
        self.lines, self.block, self.body = self.threads.prologue, self.threads.entry, None
        try:
            yield
        finally:
            self.lines, self.block, self.body = outside

    @contextmanager
    def in_body(self, type_: str, counter: str) -> Generator[None]:
        """Lines written inside are the body of a loop with a counter of a type, of which nothing else was written."""
        outer, self.body = self.body, LoopBody(type_, counter, int(counter.removeprefix("%v")))
        try:
            yield
        finally:
            self.body = outer

    # ---- values

    def get(self, value: SSAValue) -> Tile:
        """The tile of an operand; where the result of the op that asks has runs of equal elements, a list of scalars
        is that of each run's first.
        """
        tile = self._tile(value)
        if self.runs is None or tile.prefers_vector or tile.n != len(self.runs):
            return tile
        names = self.scalars(tile)
        return Tile.of(tile.elem, [names[r] for r in self.runs])

    def _tile(self, value: SSAValue) -> Tile:
        """What registers hold of a value, whatever runs it has."""
        held = self._values[value]
        assert isinstance(held, Tile), f"{value.type} is no value of registers"
        return held

    def view(self, value: SSAValue) -> SharedView:
        """Where the shared memory is that a memdesc names."""
        held = self._values[value]
        assert isinstance(held, SharedView), f"{value.type} is no memory"
        return held

    def set(self, value: SSAValue, held: Value) -> None:
        self._values[value] = held

    def scalar(self, value: SSAValue) -> str:
        """The one name of a scalar IR value."""
        return self.scalars(self._tile(value))[0]

    def scalars(self, tile: Tile) -> list[str]:
        """The elements of ``tile`` as names."""
        if tile.scalars is not None and tile.scalars_block in (None, self.block):
            return tile.scalars
        vector = self.wide(tile)
        names = [self.inst(f"extractelement {tile.type} {vector}, i32 {i}") for i in range(tile.n)]
        tile.scalars, tile.scalars_block = names, self.block
        return names

    def wide(self, tile: Tile) -> str:
        """``tile`` as one operand of type ``tile.type``."""
        if tile.n == 1:
            return self.scalars(tile)[0]
        if tile.vector is not None and tile.vector_block in (None, self.block):
            return tile.vector
        if tile.lazy is not None:
            name = tile.lazy(0, tile.n)
        else:
            assert tile.scalars is not None
            name = self.pack(tile.elem, tile.scalars)
        tile.vector, tile.vector_block = name, self.block
        return name

    def pack(self, elem: str, names: list[str]) -> str:
        """A vector of ``names``, each of type ``elem``."""
        n = len(names)
        if n == 1:
            return names[0]
        names = kept_in_loop(self, elem, names)
        first = names[0]
        if all(x == first for x in names):
            if is_constant(first):
                return f"splat ({elem} {first})"
            one = self.inst(f"insertelement <{n} x {elem}> poison, {elem} {first}, i32 0")
            return self.inst(f"shufflevector <{n} x {elem}> {one}, <{n} x {elem}> poison, <{n} x i32> zeroinitializer")
        constant = [x if is_constant(x) else "poison" for x in names]
        vector = "<" + ", ".join(f"{elem} {x}" for x in constant) + ">"
        for i, x in enumerate(names):
            if not is_constant(x):
                vector = self.inst(f"insertelement <{n} x {elem}> {vector}, {elem} {x}, i32 {i}")
        return vector

    def gathered(self, elem: str, names: list[str]) -> Tile:
        """Data that is there element by element: only what is asked for as a vector is packed."""
        if len(names) == 1:
            return Tile.of(elem, names)
        return Tile(elem, len(names), scalars=names, lazy=lambda i, count: self.pack(elem, names[i : i + count]))

    def slice(self, elem: str, n: int, vector: str, first: int, count: int) -> str:
        """``count`` consecutive elements of a vector of ``n``, from ``first``."""
        if count == n:
            return vector
        if count == 1:
            return self.inst(f"extractelement <{n} x {elem}> {vector}, i32 {first}")
        mask = ", ".join(f"i32 {first + i}" for i in range(count))
        return self.inst(f"shufflevector <{n} x {elem}> {vector}, <{n} x {elem}> poison, <{count} x i32> <{mask}>")

    def run(self, tile: Tile, first: int, count: int) -> str:
        """``count`` consecutive elements of a tile from ``first``, as one operand."""
        if count == tile.n:
            return self.wide(tile)
        if tile.lazy is not None and (tile.vector is None or tile.vector_block != self.block):
            return tile.lazy(first, count)
        if tile.vector is not None and tile.vector_block in (None, self.block):
            return self.slice(tile.elem, tile.n, tile.vector, first, count)
        return self.pack(tile.elem, self.scalars(tile)[first : first + count])

    def may_be_written_late(self, op: Operation | None) -> bool:
        """Whether the one result of ``op`` has one use, in the block of ``op`` and before anything is waited for."""
        if op is None or len(op.results) != 1:
            return False
        result, block = op.results[0], op.parent
        use = result.first_use
        if use is None or block is None or not result.has_one_use() or use.operation.parent is not block:
            return False
        if block not in self._intervals:
            self._intervals[block] = wait_intervals_of(block)
        intervals = self._intervals[block]
        return intervals[op] == intervals[use.operation]

    def concat(self, elem: str, parts: list[str], width: int) -> str:
        """Vectors of ``width`` elements each, one after another; the number of parts is a power of two."""
        while len(parts) > 1:
            if width == 1:
                return self.pack(elem, parts)
            mask = ", ".join(f"i32 {i}" for i in range(2 * width))
            parts = [
                self.inst(
                    f"shufflevector <{width} x {elem}> {parts[i]}, <{width} x {elem}> {parts[i + 1]}, "
                    f"<{2 * width} x i32> <{mask}>"
                )
                for i in range(0, len(parts), 2)
            ]
            width *= 2
        return parts[0]

    def permute(self, tile: Tile, order: list[int]) -> Tile:
        """The tile whose register ``i`` is ``tile``'s register ``order[i]``."""
        if order == list(range(tile.n)):
            return tile
        if not tile.prefers_vector:
            names = self.scalars(tile)
            return Tile.of(tile.elem, [names[i] for i in order])
        is_repeated = self.machine.holds_vectors_whole and are_few(order)
        if is_repeated or (tile.scalars is not None and tile.scalars_block is None):
            names = self.scalars(tile)
            return self.gathered(tile.elem, [names[i] for i in order])
        if len(order) == 1:
            return Tile.of(tile.elem, [self.inst(f"extractelement {tile.type} {self.wide(tile)}, i32 {order[0]}")])
        mask = ", ".join(f"i32 {i}" for i in order)
        vector = self.inst(
            f"shufflevector {tile.type} {self.wide(tile)}, {tile.type} poison, <{len(order)} x i32> <{mask}>"
        )
        return Tile.wide(tile.elem, len(order), vector)

    # ---- layouts

    def layout(self, type_: Attribute) -> LinearLayout:
        """The linear layout of a tensor type."""
        assert is_tensor(type_)
        return linear_layout(type_encoding(type_), shape_of(type_))

    def registers(self, type_: Attribute) -> int:
        """How many elements of a value of ``type_`` one thread holds."""
        if not is_tensor(type_):
            return 1
        return 1 << self.layout(type_).in_bits(REGISTER)

    # ---- shared memory

    def scratch_offset(self, op: Operation) -> int:
        """The byte offset that the allocator gave to the scratch memory or buffer of ``op``."""
        offset = offset_of(op)
        if offset >= self.module.shared_bytes:
            reason = f"its buffer at byte {offset} is not in the {self.module.shared_bytes} bytes that the module has"
            raise PassError(op, reason, "'ttg.shared' says how many")
        return offset

    def shared_element(self, offset: int, elem: str, index: str, extra: int) -> str:
        """The address of element ``index + extra`` of the area of ``elem`` that starts at byte ``offset``."""
        base = self.shared_base(offset)
        if index != "0":
            base = self.inst(f"getelementptr inbounds {elem}, {self.shared} {base}, i32 {index}")
        if extra:
            base = self.inst(f"getelementptr inbounds {elem}, {self.shared} {base}, i32 {extra}")
        return base

    def shared_base(self, offset: int) -> str:
        """The address of byte ``offset`` of the block's shared memory, a constant."""
        symbol = self.module.shared_symbol
        if offset == 0:
            return symbol
        return f"getelementptr inbounds (i8, {self.shared} {symbol}, i32 {offset})"

    # ---- the grid

    def program_id(self, axis: int) -> str:
        return self.threads.once(f"program_id{axis}", lambda: self.machine.program_id(self, axis))

    def num_programs(self, axis: int) -> str:
        return self.threads.once(f"num_programs{axis}", lambda: self.machine.num_programs(self, axis))

    # ---- walking

    def ops(self, block: Block) -> None:
        """Emit the ops of ``block`` up to and without its terminator's effect on control flow."""
        self.sequence(block.ops)

    def sequence(self, ops: Iterable[Operation]) -> None:
        """Emit ops one after another."""
        for op in ops:
            if self.left.takes(op):
                continue
            if self.left.holds(op):
                for waiting in self.left.write(self):
                    self._op(waiting)
            self._op(op)
        self.budget.end(len(self.lines))

    def _op(self, op: Operation) -> None:
        self.current = op
        emit = self.module.table.get(type(op))
        if emit is None:
            raise PassError(op, f"no code is generated for {op.name} on this target")
        for result in op.results:
            if not is_held(type_of(result)):
                raise PassError(op, f"no target has registers for {element_type(type_of(result))}")
        start = len(self.lines)
        self.budget.begin(op, start)
        self.runs = first_registers(op, self)
        emit(op, self)
        self.runs = None
        if self.module.line_info is not None:
            self.module.line_info.mark(self.lines, start, op)

    def return_values(self, values: list[Tile]) -> None:
        """End the function. A kernel returns nothing; a function returns its values as one struct of their wide
        forms.
        """
        if not values:
            self.line("ret void")
            return
        struct = "{ " + ", ".join(v.type for v in values) + " }"
        packed = "poison"
        for i, v in enumerate(values):
            packed = self.inst(f"insertvalue {struct} {packed}, {v.type} {self.wide(v)}, {i}")
        self.line(f"ret {struct} {packed}")

    def result(self, op: Operation, tile: Tile) -> None:
        self.set(op.results[0], tile)

    def elem(self, value: SSAValue) -> str:
        return self.type(value.type)

    def type(self, type_: Attribute) -> str:
        """The LLVM type of a scalar, of one element of a tile, or of where a buffer starts."""
        return self.module.type(type_)

    def pointer_bits(self, elem: str) -> int:
        """Bits that a register holds of a pointer of LLVM type ``elem``."""
        return self.machine.pointer_bits(space_of(elem))

    def bits(self, elem: str) -> int:
        """Bits that one element of LLVM type ``elem`` takes in shared memory: a pointer's are a register's."""
        return self.pointer_bits(elem) if elem.startswith("ptr") else bits(elem)
