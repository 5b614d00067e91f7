"""Accesses of global memory are checked against the memory of the kernel's arguments.

    %v = tt.load %p, %mask    →    %address = tt.ptr_to_int %p
                                   %inside = (first₀ <= %address <= last₀) or (first₁ <= %address <= last₁) or ...
                                   if any(%mask and not %inside):
                                       report the first such lane
                                   %v = tt.load %p, %mask and %inside, 0

The ranges come from a table (`ir/access_table`) that the launch passes as one argument more, behind all others. A range
is the memory of one argument, and an access may go to any of them: pointers are compared, selected and carried by
loops, and which argument a pointer was made of does not say what it may reach. This is the rule of the interpreter.

Why a rewrite on `tt`, and not instructions of each backend: what is inserted is made of `tt`, `arith` and `scf` ops, so
that it means the same on every target, and the mask makes it safe by itself. A lane that is out of bounds does not
access memory, whatever becomes of the report and whenever the other lanes see it. Where a program ends at its report
the access behind it needs no mask, and keeps its speed: the report writes memory, and no pass moves a load over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tritonx.analysis.attributed_pointers import AttributedPointers
from tritonx.analysis.checked_accesses import ACCESSES, RANGES, TABLE_ARGUMENT
from tritonx.dialects import arith, scf, tile
from tritonx.dialects.arith import CmpiPredicate
from tritonx.dialects.control_flow import is_per_element
from tritonx.dialects.tile.enums import MemSemantic, MemSyncScope, RMWOp
from tritonx.ir import access_table
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.edit import replace
from tritonx.ir.location import SourcePoint, block_at
from tritonx.ir.source import source_of
from tritonx.ir.types import (
    bit_width,
    element_type,
    i1,
    i32,
    i64,
    is_pointer,
    is_tensor,
    pointee_of,
    pointer,
    shape_of,
    with_element,
)
from tritonx.ir.types import tensor as tensor_type
from tritonx.ir.walk import ops_in
from tritonx.transforms.tile.block_access import is_view, padding


@dataclass(frozen=True)
class CheckBounds(ModulePass):
    """Checks each access of global memory against a table of ranges, and reports faults.

    Each function takes the table as its last argument. Loads, stores and atomics are checked before any lane accesses
    memory; lanes that are masked off are not. Lanes outside read 0 and write nothing, or the program ends. The first
    access of a program that has such lanes is reported to the table. Accesses through pointers that were loaded from
    memory or made of integers stay as they are: no argument tells of their memory.

    Blocks of descriptors and block pointers must be plain accesses before."""

    name = "check-bounds"
    contract = Contract(
        ("tt",),
        on=tile.ACCESSES,
        creates=("arith", "scf", "tt"),
        writes=(ACCESSES, RANGES, TABLE_ARGUMENT),
        needs=("rewrite-descriptors",),
    )

    end_program: bool = False
    """Whether a program ends behind its report, by a failed `tt.assert`: on targets where that ends one program and not
    the whole device's work. Programs behind one that has reported do not begin."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, tile.FuncOp) and f.body.blocks.first is not None]
        kernels = [f for f in functions if f.is_kernel]
        ranges = max((sum(map(is_pointer, f.function_type.inputs)) for f in kernels), default=0)
        pointers = AttributedPointers.of(op)
        accesses = {f: _checked(f, pointers) for f in functions}
        if not ranges or not any(accesses.values()):
            return
        tables = {f: _add_table(f) for f in functions}
        _pass_on(functions, tables)
        found: list[Attribute] = []
        for function, ops in accesses.items():
            for access in ops:
                check = _Check(Builder.before(access), tables[function], ranges, self.end_program)
                found.append(_description(access, (*source_of(access), *pointers.called_from(function))))
                check.access(access, len(found) - 1)
        if self.end_program:
            for kernel in kernels:
                _end_behind(kernel, tables[kernel])
        op.attributes[ACCESSES] = ArrayAttr(found)
        op.attributes[RANGES] = IntegerAttr(ranges, i32)


def _checked(function: tile.FuncOp, pointers: AttributedPointers) -> list[tile.Access]:
    """The accesses that are checked, in the order of the text."""
    found = [op for op in ops_in(function) if isinstance(op, tile.Access)]
    return [op for op in found if not is_view(op.ptr.type) and not _in_element(op) and pointers.is_attributed(op.ptr)]


def _in_element(op: Operation) -> bool:
    """Whether the op is in a function of elements."""
    around = op.parent_op()
    while around is not None and not is_per_element(around):
        around = around.parent_op()
    return around is not None


def _add_table(function: tile.FuncOp) -> SSAValue:
    """The argument that is the table."""
    entry = function.body.blocks[0]
    count, type_ = len(entry.args), pointer(i64)
    table = entry.insert_arg(type_, count)
    table.name_hint, table.location = "access_table", function.location
    signature = function.function_type
    function.properties["function_type"] = type(signature).from_lists(
        [*signature.inputs, type_], list(signature.outputs)
    )
    given = function.arg_attrs.data if function.arg_attrs is not None else (DictionaryAttr({}),) * count
    own = DictionaryAttr({TABLE_ARGUMENT: IntegerAttr(1, i1)})
    function.properties["arg_attrs"] = ArrayAttr([*given, own])
    return table


def _pass_on(functions: list[tile.FuncOp], tables: dict[tile.FuncOp, SSAValue]) -> None:
    """Calls pass the table of the function that they are in."""
    changed = {f.sym_name.data for f in functions}
    for function in functions:
        for op in ops_in(function):
            if isinstance(op, tile.CallOp) and op.callee.string_value() in changed:
                op.operands = [*op.operands, tables[function]]


def _end_behind(kernel: tile.FuncOp, table: SSAValue) -> None:
    """A program behind one that has reported ends at once."""
    first = kernel.body.blocks[0].first_op
    assert first is not None, "a block has a terminator"
    check = _Check(Builder.before(first), table, 0, True)
    lowest = check.word(access_table.LOWEST)
    check.end_unless(check.compare(CmpiPredicate.ULE, check.program(), lowest))


def _description(op: tile.Access, at: Iterable[SourcePoint]) -> Attribute:
    """What a message says of an access: what it does, the elements' type and bytes, the shape, and its location:
    ``at`` a line, behind it those of calls."""
    element = pointee_of(element_type(op.ptr.type))
    action = "writes" if isinstance(op, tile.StoreOp | tile.AtomicStoreOp) else "reads"
    return DictionaryAttr(
        {
            "action": StringAttr(action),
            "element": StringAttr(str(element)),
            "bytes": IntegerAttr(_bytes(element), i32),
            "shape": DenseArrayBase.from_list(i64, list(shape_of(op.ptr.type))),
            "at": ArrayAttr([StringAttr(str(point)) for point in at]),
        }
    )


def _bytes(element: Attribute) -> int:
    return access_table.WORD if is_pointer(element) else max(bit_width(element) // 8, 1)


@dataclass(frozen=True)
class _Check:
    """Writes checks in front of an op."""

    builder: Builder
    table: SSAValue
    ranges: int
    end_program: bool

    def access(self, op: tile.Access, number: int) -> None:
        element = pointee_of(element_type(op.ptr.type))
        address = self.builder.emit(tile.PtrToIntOp, (op.ptr,), (with_element(op.ptr.type, i64),))
        inside = self.inside(address, _bytes(element))
        mask = op.mask if isinstance(op, tile.MaskedAccess) else None
        outside = self._not(inside)
        self.report(outside if mask is None else self._and(mask, outside), address, number)
        if not self.end_program:
            _guard(op, self, inside if mask is None else self._and(mask, inside))

    # ---- conditions

    def inside(self, address: SSAValue, size: int) -> SSAValue:
        """Whether ``size`` bytes at an address lie in one of the ranges."""
        found: SSAValue | None = None
        for number in range(self.ranges):
            first = self.word(access_table.RANGES + 2 * number)
            end = self.word(access_table.RANGES + 2 * number + 1)
            last = self.builder.emit(arith.SubiOp, (end, self.constant(size)), (i64,))
            here = self._and(
                self.compare(CmpiPredicate.UGE, address, self.like(address, first)),
                self.compare(CmpiPredicate.ULE, address, self.like(address, last)),
            )
            found = here if found is None else self.builder.emit(arith.OrIOp, (found, here), (here.type,))
        assert found is not None, "there is a range"
        return found

    def compare(self, how: CmpiPredicate, left: SSAValue, right: SSAValue) -> SSAValue:
        bit = with_element(left.type, i1)
        return self.builder.emit(arith.CmpiOp, (left, right), (bit,), {"predicate": IntegerAttr(how, i64)})

    def _and(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self.builder.emit(arith.AndIOp, (left, right), (left.type,))

    def _not(self, bits: SSAValue) -> SSAValue:
        return self.builder.emit(arith.XOrIOp, (bits, self.builder.constant(True, bits.type)), (bits.type,))

    def like(self, tile_or_scalar: SSAValue, value: SSAValue) -> SSAValue:
        """A scalar in the shape of another value."""
        type_ = with_element(tile_or_scalar.type, value.type)
        return value if type_ == value.type else self.builder.emit(tile.SplatOp, (value,), (type_,))

    # ---- the table

    def constant(self, number: int) -> SSAValue:
        return self.builder.constant(number, i64)

    def word(self, offset: int) -> SSAValue:
        """The value of a word."""
        return self.builder.create(tile.LoadOp, (self.pointer(self.constant(offset)),), (i64,)).result

    def pointer(self, offset: SSAValue) -> SSAValue:
        return self.builder.emit(tile.AddPtrOp, (self.table, offset), (self.table.type,))

    def _atomic(self, kind: RMWOp, offset: int, value: SSAValue) -> SSAValue:
        """Changes a word; its old value."""
        properties = {
            "atomic_rmw_op": IntegerAttr(int(kind), i32),
            "sem": IntegerAttr(int(MemSemantic.RELAXED), i32),
            "scope": IntegerAttr(int(MemSyncScope.GPU), i32),
        }
        operands = (self.pointer(self.constant(offset)), value)
        return self.builder.create(tile.AtomicRMWOp, operands, (i64,), properties).result

    def redirected(self, type_: Attribute, offset: int = access_table.REDIRECTED) -> SSAValue:
        """Where accesses go that may not go where they would: pointers of the type, to a word of the table."""
        place = self.pointer(self.constant(offset))
        number = self.builder.emit(tile.PtrToIntOp, (place,), (i64,))
        return self._like_pointer(type_, self.builder.emit(tile.IntToPtrOp, (number,), (element_type(type_),)))

    def _like_pointer(self, type_: Attribute, place: SSAValue) -> SSAValue:
        return self.builder.emit(tile.SplatOp, (place,), (type_,)) if is_tensor(type_) else place

    # ---- reports

    def report(self, bad: SSAValue, address: SSAValue, number: int) -> None:
        """Where any lane is ``bad``, reports the access, unless a program before this one has reported."""
        builder = self.builder
        failed = bad if not is_tensor(bad.type) else self._not_zero(self._all(arith.OrIOp, self._as(bad, i32)))
        taken, otherwise = Block(), Block()
        with builder.at(otherwise):
            builder.create(scf.YieldOp)
        builder.create(scf.IfOp, (failed,), (), regions=(Region(taken), Region(otherwise)))
        with builder.at(taken):
            program = self.program()
            before = self._atomic(RMWOp.UMIN, access_table.LOWEST, program)
            is_first = self.compare(CmpiPredicate.UGT, before, program)
            self._when(is_first, lambda: self._write_report(program, bad, address, number))
            if self.end_program:
                self.end_unless(builder.constant(False, i1))
            builder.create(scf.YieldOp)

    def _when(self, condition: SSAValue, write: Callable[[], None]) -> None:
        builder, taken, otherwise = self.builder, Block(), Block()
        with builder.at(otherwise):
            builder.create(scf.YieldOp)
        builder.create(scf.IfOp, (condition,), (), regions=(Region(taken), Region(otherwise)))
        with builder.at(taken):
            write()
            builder.create(scf.YieldOp)

    def _write_report(self, program: SSAValue, bad: SSAValue, address: SSAValue, number: int) -> None:
        slot = self._atomic(RMWOp.ADD, access_table.BEGUN, self.constant(1))
        fits = self.compare(CmpiPredicate.ULT, slot, self.constant(access_table.REPORTS))
        self._when(fits, lambda: self._fill(slot, (program, self.constant(number), *self._lanes(bad, address))))

    def _fill(self, slot: SSAValue, words: tuple[SSAValue, ...]) -> None:
        builder = self.builder
        start = builder.emit(arith.MuliOp, (slot, self.constant(access_table.REPORT_WORDS)), (i64,))
        for n, word in enumerate(words):
            offset = self.constant(access_table.reports_at(self.ranges) + n)
            place = self.pointer(builder.emit(arith.AddiOp, (start, offset), (i64,)))
            builder.create(tile.StoreOp, (place, word))

    def _lanes(self, bad: SSAValue, address: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
        """The first bad lane, its address, and how many are bad."""
        if not is_tensor(bad.type):
            return self.constant(0), address, self.constant(1)
        builder, numbers = self.builder, self._numbers(shape_of(bad.type))
        never = builder.constant((1 << 31) - 1, numbers.type)
        first = self._all(arith.MinSIOp, builder.emit(arith.SelectOp, (bad, numbers, never), (numbers.type,)))
        is_it = self.compare(CmpiPredicate.EQ, numbers, self.like(numbers, first))
        nothing = builder.constant(0, address.type)
        there = self._all(arith.OrIOp, builder.emit(arith.SelectOp, (is_it, address, nothing), (address.type,)))
        count = self._all(arith.AddiOp, self._as(bad, i32))
        return self._as(first, i64), there, self._as(count, i64)

    def _numbers(self, shape: tuple[int, ...]) -> SSAValue:
        """The number of each lane of a tile, in row-major order (i32)."""
        builder, total = self.builder, self.builder.constant(0, tensor_type(i32, shape))
        for axis, extent in enumerate(shape):
            bounds = {"start": IntegerAttr(0, i32), "end": IntegerAttr(extent, i32)}
            value = builder.emit(tile.MakeRangeOp, (), (tensor_type(i32, (extent,)),), bounds)
            stride = builder.constant(prod(shape[axis + 1 :]), value.type)
            value = builder.emit(arith.MuliOp, (value, stride), (value.type,))
            for other in range(len(shape)):
                if other != axis:
                    grown = [*shape_of(value.type)]
                    grown.insert(other, 1)
                    at = {"axis": IntegerAttr(other, i32)}
                    value = builder.emit(tile.ExpandDimsOp, (value,), (tensor_type(i32, grown),), at)
            value = builder.emit(tile.BroadcastOp, (value,), (total.type,))
            total = builder.emit(arith.AddiOp, (total, value), (total.type,))
        return total

    def _all(self, combine: type[Operation], values: SSAValue) -> SSAValue:
        """All lanes combined."""
        builder, element, count = self.builder, element_type(values.type), prod(shape_of(values.type))
        flat = tensor_type(element, (count,))
        if values.type != flat:
            values = builder.emit(tile.ReshapeOp, (values,), (flat,))
        block = block_at(builder.location, (element, element))
        with builder.at(block):
            combined = builder.create(combine, block.args, (element,)).results[0]
            builder.create(tile.ReduceReturnOp, (combined,))
        axis = {"axis": IntegerAttr(0, i32)}
        return builder.create(tile.ReduceOp, (values,), (element,), axis, regions=(Region(block),)).results[0]

    def _as(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Unsigned integers in more bits."""
        return self.builder.emit(arith.ExtUIOp, (value,), (with_element(value.type, element),))

    def _not_zero(self, value: SSAValue) -> SSAValue:
        return self.compare(CmpiPredicate.NE, value, self.builder.constant(0, value.type))

    # ---- programs

    def program(self) -> SSAValue:
        """The program's number in the grid, x fastest (i64)."""
        number: SSAValue | None = None
        for axis in reversed(range(3)):
            at = {"axis": IntegerAttr(axis, i32)}
            here = self._as(self.builder.emit(tile.GetProgramIdOp, (), (i32,), at), i64)
            if number is not None:
                extent = self._as(self.builder.emit(tile.GetNumProgramsOp, (), (i32,), at), i64)
                number = self.builder.emit(arith.MuliOp, (number, extent), (i64,))
                here = self.builder.emit(arith.AddiOp, (number, here), (i64,))
            number = here
        assert number is not None, "a grid has axes"
        return number

    def end_unless(self, condition: SSAValue) -> None:
        message = {"message": StringAttr("access out of bounds")}
        self.builder.create(tile.AssertOp, (condition,), (), message)


def _guard(op: tile.Access, check: _Check, allowed: SSAValue) -> None:
    """The access itself only where it is ``allowed``; otherwise a load gives 0."""
    if isinstance(op, tile.AtomicPollOp):
        _guard_poll(op, check, allowed)
        return
    if isinstance(op, tile.AtomicCASOp):
        elsewhere = check.redirected(op.ptr.type)
        op.operands[0] = check.builder.emit(arith.SelectOp, (allowed, op.ptr, elsewhere), (op.ptr.type,))
        return
    if isinstance(op, tile.LoadOp):
        other = op.other if op.other is not None else padding(check.builder, op.result.type, False)
        operands, results = [op.ptr, allowed, other], [op.result.type]
    elif isinstance(op, tile.AtomicLoadOp):
        operands, results = [op.ptr, allowed], [op.result.type]
    else:
        value = op.value if isinstance(op, tile.StoreOp) else op.val
        operands, results = [op.ptr, value, allowed], [r.type for r in op.results]
    properties = {name: value for name, value in op.properties.items() if name != SEGMENTS}
    replace(op, check.builder.create(type(op), operands, results, properties, op.attributes).results)


def _guard_poll(op: tile.AtomicPollOp, check: _Check, allowed: SSAValue) -> None:
    """Lanes that are not ``allowed`` poll a word of the table, which does not change during a launch, for what it is,
    and give false."""
    word, type_ = check.word(access_table.RANGES), op.expected.type
    if element_type(type_) != i64:
        word = check.builder.emit(arith.TruncIOp, (word,), (element_type(type_),))
    choices = (
        (op.ptr, check.redirected(op.ptr.type, access_table.RANGES)),
        (op.expected, check.like(op.expected, word)),
    )
    for number, (own, elsewhere) in enumerate(choices):
        op.operands[number] = check.builder.emit(arith.SelectOp, (allowed, own, elsewhere), (own.type,))
    uses, following = list(op.result.uses), op.next_op
    assert following is not None, "a block has a terminator"
    equal = Builder.before(following).emit(arith.AndIOp, (op.result, allowed), (op.result.type,))
    for use in uses:
        use.operation.operands[use.index] = equal
