"""Descriptors and block pointers become plain pointers, for targets (or accesses) without a unit that walks tensors.

A view, that is a tensor descriptor or a block pointer, is not one value any more but its parts: base pointer, extents,
strides, and a block pointer's offsets or a descriptor's padding (``block_access.View``). Where a view was passed on,
through a function's parameters, a loop, a conditional or a call, its parts are passed instead; where it was used,
pointers and a mask are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as with_fields

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tritonx.dialects import arith, cf, scf, tile
from tritonx.dialects.tile.descriptor import DESCRIPTOR, ROUNDS
from tritonx.dialects.tile.enums import DescriptorReduceKind, MemSemantic, MemSyncScope, PaddingOption, RMWOp
from tritonx.ir.builder import Builder
from tritonx.ir.contract import Contract
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.dispatch import case_in
from tritonx.ir.edit import erase, replace
from tritonx.ir.failure import PassError
from tritonx.ir.types import (
    PointerType,
    encoding_of,
    i1,
    i32,
    is_float,
    is_tensor,
    is_unsigned,
    pointee_of,
    shape_of,
    type_as,
)
from tritonx.transforms.tile.block_access import (
    View,
    addresses,
    is_view,
    may_round,
    padding,
    part_names,
    part_types,
    positions,
    reshaped,
    rounded,
    widen,
)
from tritonx.transforms.tile.copied_descriptors import copied
from tritonx.transforms.tile.host_descriptors import part_attributes, set_last_stride


@dataclass(frozen=True)
class RewriteDescriptors(ModulePass):
    """Replaces tensor descriptors and block pointers by pointers, extents and strides.

    Accesses become masked loads, stores and atomics.

    A function parameter that is a descriptor becomes, in its place, ``base``, the extents and the strides (i64, one for
    each dimension, outermost first) and an i1 that says whether reads outside the tensor give NaN instead of 0. What is
    read through one that rounds (``tt.round_f32_to_tf32``) is rounded behind the load. With ``block_pointers_only``
    descriptors stay. With ``host_rules`` the parameters of kernels are known to keep the rules of the host
    (``host_descriptors``), which is stated of the parts.

    With ``keep_copied`` a kernel's descriptor stays that is only used by loads, stores and reductions of whole blocks,
    for a target that copies these by itself (``copied_descriptors``): a parameter, on which ``tt.descriptor`` says
    which of the kernel's descriptors it was, counted from 0; and one that the kernel makes, not in an innermost loop,
    if its base and strides are known to be as a descriptor's must be. Stores and reductions through one whose rows may
    end within a piece of 16 bytes become a pointer's, and so do all accesses to blocks of more than ``block_bytes``.
    """

    name = "rewrite-descriptors"
    contract = Contract(
        ("tt",),
        creates=("tt", "arith", "scf"),
        reads=("tt.divisibility", "tt.round_f32_to_tf32"),
        writes=("tt.descriptor", "tt.divisibility"),
        needs=("inline",),
        after=("lift-control-flow",),
    )

    block_pointers_only: bool = False
    """Whether descriptors stay as they are, and block pointers alone are replaced."""
    keep_copied: bool = False
    """Whether the target copies whole blocks of descriptors by itself: those stay."""
    block_bytes: int | None = None
    """Bytes of the largest block that it copies; None for any."""
    host_rules: bool = False
    """Whether descriptors that a kernel is given keep the rules of those that the host makes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kept = copied(op, self.block_bytes) if self.keep_copied else frozenset[SSAValue]()
        functions = [function for function in op.ops if isinstance(function, tile.FuncOp)]
        rounding = frozenset(argument for function in functions for argument in rounding_parameters(function))
        rewriter = _Rewriter(self.block_pointers_only, kept, self.host_rules, rounding)
        for function in functions:
            rewriter.function(function)


def rounding_parameters(function: tile.FuncOp) -> list[SSAValue]:
    """The descriptors that a kernel is given and that round."""
    entry = function.body.blocks.first
    if entry is None or function.arg_attrs is None or not function.is_kernel:
        return []
    return [argument for argument, own in zip(entry.args, function.arg_attrs, strict=True) if ROUNDS in own.data]


_PASSED_ON = scf.YieldOp | scf.ConditionOp | tile.ReturnOp | cf.BranchOp


@dataclass
class _Rewriter:
    """One walk over a module; ``views`` knows the parts of every view met so far."""

    block_pointers_only: bool
    kept: frozenset[SSAValue]
    host_rules: bool = False
    rounding: frozenset[SSAValue] = frozenset()
    """Parameters of kernels whose f32 is rounded as it is read. Without any, no view says of itself whether it is."""
    views: dict[SSAValue, View] = field(default_factory=dict[SSAValue, View])
    obsolete: list[Operation] = field(default_factory=list[Operation])

    def rewrites(self, type: Attribute) -> bool:
        return is_view(type) and not (self.block_pointers_only and isinstance(type, tile.TensorDescType))

    def changes(self, value: SSAValue) -> bool:
        return self.rewrites(value.type) and value not in self.kept

    def involved(self, op: Operation) -> bool:
        return any(self.changes(v) for v in (*op.operands, *op.results))

    def expand(self, values: Iterable[SSAValue]) -> list[SSAValue]:
        """``values`` with every view replaced by its parts."""
        parts: list[SSAValue] = []
        for value in values:
            parts += self.views[value].parts() if self.changes(value) else (value,)
        return parts

    def expand_types(self, types: Iterable[Attribute]) -> list[Attribute]:
        parts: list[Attribute] = []
        for type in types:
            parts += self.part_types(type) if self.rewrites(type) else (type,)
        return parts

    def part_types(self, type: Attribute) -> tuple[Attribute, ...]:
        return part_types(type, rounding=bool(self.rounding))

    def function(self, function: tile.FuncOp) -> None:
        signature = function.function_type
        if any(self.rewrites(t) for t in (*signature.inputs, *signature.outputs)):
            self.signature(function)
        arguments = self.from_host(function)
        self.blocks(list(function.body.blocks))
        for argument in arguments:
            set_last_stride(self.views[argument], function)
        for op in reversed(self.obsolete):
            if op.parent is not None and not any(r.first_use for r in op.results):
                erase(op)
        self.obsolete.clear()

    def from_host(self, function: tile.FuncOp) -> list[BlockArgument]:
        """The parameters that become parts and are known to keep the host's rules."""
        entry = function.body.blocks.first
        if entry is None or not self.host_rules or not function.is_kernel:
            return []
        return [each for each in entry.args if isinstance(each.type, tile.TensorDescType) and self.changes(each)]

    def signature(self, function: tile.FuncOp) -> None:
        """The parameters' types and attributes; a function without a body keeps no parameter."""
        signature, entry = function.function_type, function.body.blocks.first
        values = entry.args if entry is not None else (None,) * len(signature.inputs.data)
        given = function.arg_attrs or [DictionaryAttr({})] * len(values)
        types: list[Attribute] = []
        attributes: list[DictionaryAttr] = []
        descriptors, known = 0, self.from_host(function)
        types_of = part_types if function.is_kernel else self.part_types
        for type, value, own in zip(signature.inputs, values, given, strict=True):
            if value in self.kept:
                number = IntegerAttr(descriptors, i32)
                attributes.append(DictionaryAttr({**own.data, DESCRIPTOR: number}))
                types.append(type)
            else:
                parts = types_of(type) if self.rewrites(type) else None
                if value in known and isinstance(type, tile.TensorDescType):
                    attributes += part_attributes(type, own)
                else:
                    attributes += [own] if parts is None else [DictionaryAttr({})] * len(parts)
                types += [type] if parts is None else parts
            descriptors += isinstance(type, tile.TensorDescType)
        if function.arg_attrs is not None or self.kept or known:
            function.properties["arg_attrs"] = ArrayAttr(attributes)
        outputs = self.expand_types(signature.outputs)
        function.properties["function_type"] = FunctionType.from_lists(types, outputs)

    def blocks(self, blocks: Sequence[Block]) -> None:
        """Rewrite the blocks of a region, their arguments first."""
        old: list[tuple[Block, BlockArgument]] = []
        for block in blocks:
            for argument in list(block.args):
                if self.changes(argument):
                    self.views[argument] = self.parts_in_front(block, argument)
                    old.append((block, argument))
        for block in blocks:
            for op in list(block.ops):
                self.visit(op)
        for block, argument in old:
            if argument.first_use is not None:
                _drop_obsolete_uses(argument)
            block.erase_arg(argument)

    def parts_in_front(self, block: Block, argument: BlockArgument) -> View:
        """The parts of a view that ``block`` is given, as arguments. Whether a kernel's own rounds is known: no launch
        says it."""
        function = block.parent_op()
        given = isinstance(function, tile.FuncOp) and function.is_kernel and function.body.blocks.first is block
        rounding = bool(self.rounding) and not given
        types = part_types(argument.type, rounding=rounding)
        parts = [block.insert_arg(t, argument.index + n) for n, t in enumerate(types)]
        for part, suffix in zip(parts, part_names(argument.type, rounding=rounding), strict=True):
            part.location = argument.location
            part.name_hint = f"{argument.name_hint}_{suffix}" if argument.name_hint else None
        view = View.of_parts(argument.type, parts)
        if not given or not self.rounding or not may_round(argument.type):
            return view
        assert block.first_op is not None, "a block of a function ends with an op"
        rounds = Builder.before(block.first_op).constant(int(argument in self.rounding), i1)
        return with_fields(view, rounded=rounds)

    def visit(self, op: Operation) -> None:
        if not op.regions and not self.involved(op):
            return
        if isinstance(op, _PASSED_ON):
            op.operands = self.expand(op.operands)
            return
        for region in op.regions:
            self.blocks(list(region.blocks))
        if not self.involved(op):
            return
        if any(is_tensor(v.type) and encoding_of(v.type) is not None for v in (*op.operands, *op.results)):
            raise PassError(op, "descriptors and block pointers become pointers before tiles have layouts")
        rule = _USES.get(op.__class__)
        if rule is not None:
            rule(self, op, Builder.before(op))
        elif isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp | scf.ExecuteRegionOp | tile.CallOp):
            self.rebuild(op)
        else:
            raise PassError(op, f"{op.name} of a tensor descriptor or block pointer cannot be rewritten")

    def rebuild(self, op: Operation) -> None:
        """The op again, with views among its operands and results replaced by their parts."""
        block = op.parent
        assert block is not None, "ops are visited where they stand"
        new = op.__class__.create(
            operands=self.expand(op.operands),
            result_types=self.expand_types(r.type for r in op.results),
            properties={name: value for name, value in op.properties.items() if name != SEGMENTS},
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in list(op.regions)],
            location=op.location,
        )
        block.insert_op_before(new, op)
        position = 0
        for result in op.results:
            if self.changes(result):
                count = len(self.part_types(result.type))
                self.views[result] = View.of_parts(result.type, new.results[position : position + count])
                position += count
            else:
                result.replace_all_uses_with(new.results[position])
                position += 1
        self.obsolete.append(op)


def _drop_obsolete_uses(value: SSAValue) -> None:
    """Erase the ops that still use a view argument: they only made or moved views, whose parts have replaced them."""
    for use in list(value.uses):
        user = use.operation
        for result in user.results:
            _drop_obsolete_uses(result)
        erase(user)


# What uses of views become. Each rule gets the op and a builder in front of it.


def _make_descriptor(rewriter: _Rewriter, op: tile.MakeTensorDescOp, builder: Builder) -> None:
    nan = builder.constant(op.padding.value.data == PaddingOption.PAD_NAN, i1)
    shape = tuple(widen(builder, v) for v in op.shape)
    rounds = builder.constant(0, i1) if rewriter.rounding and may_round(op.result.type) else None
    rewriter.views[op.result] = View(op.base, shape, tuple(op.strides), (), nan, rounds)
    rewriter.obsolete.append(op)


def _make_block_pointer(rewriter: _Rewriter, op: tile.MakeTensorPtrOp, builder: Builder) -> None:
    offsets = tuple(widen(builder, v) for v in op.offsets)
    rewriter.views[op.result] = View(op.base, tuple(op.shape), tuple(op.strides), offsets)
    rewriter.obsolete.append(op)


def _advance(rewriter: _Rewriter, op: tile.AdvanceOp, builder: Builder) -> None:
    view = rewriter.views[op.ptr]
    offsets = tuple(
        builder.emit(arith.AddiOp, (start, widen(builder, by)), (start.type,))
        for start, by in zip(view.offsets, op.offsets, strict=True)
    )
    rewriter.views[op.result] = View(view.base, view.shape, view.strides, offsets)
    rewriter.obsolete.append(op)


def _select(rewriter: _Rewriter, op: arith.SelectOp, builder: Builder) -> None:
    condition, if_true, if_false = op.operands
    sides = (rewriter.views[if_true].parts(), rewriter.views[if_false].parts())
    chosen = [builder.emit(arith.SelectOp, (condition, a, b), (a.type,)) for a, b in zip(*sides, strict=True)]
    rewriter.views[op.results[0]] = View.of_parts(op.results[0].type, chosen)
    rewriter.obsolete.append(op)


def _masked(properties: dict[str, Attribute], *names: str) -> dict[str, Attribute]:
    return {name: properties[name] for name in names if name in properties}


def _emit_load(
    builder: Builder, op: Operation, pointers: SSAValue, mask: SSAValue | None, with_nan: SSAValue | bool
) -> SSAValue:
    operands = [pointers]
    type = pointee_of(pointers.type)
    if mask is not None:
        operands += [mask, padding(builder, type, with_nan)]
    properties = _masked(op.properties, "cache", "evict", "isVolatile")
    return builder.create(tile.LoadOp, operands, (type,), properties).results[0]


def _emit_store(builder: Builder, op: Operation, pointers: SSAValue, mask: SSAValue | None, value: SSAValue) -> None:
    operands = [pointers, value] if mask is None else [pointers, value, mask]
    builder.create(tile.StoreOp, operands, (), _masked(op.properties, "cache", "evict"))


def _checked_axes(op: tile.LoadOp | tile.StoreOp) -> tuple[int, ...]:
    return tuple(int(axis) for axis in op.boundaryCheck.get_values())


def _block_at(builder: Builder, view: View, offsets: Sequence[SSAValue], type: Attribute) -> list[SSAValue]:
    return [positions(builder, start, extent) for start, extent in zip(offsets, shape_of(type), strict=True)]


def _load(rewriter: _Rewriter, op: tile.LoadOp, builder: Builder) -> None:
    view = rewriter.views[op.ptr]
    at = _block_at(builder, view, view.offsets, type_as(op.ptr, PointerType).pointee)
    pointers, mask = addresses(builder, view, at, _checked_axes(op))
    nan = op.padding is not None and op.padding.value.data == PaddingOption.PAD_NAN
    replace(op, (_emit_load(builder, op, pointers, mask, nan),))


def _store(rewriter: _Rewriter, op: tile.StoreOp, builder: Builder) -> None:
    if op.ptr not in rewriter.views:
        raise PassError(op, "a block pointer cannot be stored")
    view = rewriter.views[op.ptr]
    at = _block_at(builder, view, view.offsets, type_as(op.ptr, PointerType).pointee)
    pointers, mask = addresses(builder, view, at, _checked_axes(op))
    _emit_store(builder, op, pointers, mask, op.value)
    erase(op)


_OfBlock = tile.DescriptorLoadOp | tile.DescriptorStoreOp | tile.DescriptorReduceOp


def _descriptor_block(rewriter: _Rewriter, op: _OfBlock, builder: Builder) -> tuple[View, SSAValue, SSAValue | None]:
    view = rewriter.views[op.desc]
    at = _block_at(builder, view, tuple(op.indices), type_as(op.desc, tile.TensorDescType).block_type)
    return (view, *addresses(builder, view, at))


def _descriptor_load(rewriter: _Rewriter, op: tile.DescriptorLoadOp, builder: Builder) -> None:
    view, pointers, mask = _descriptor_block(rewriter, op, builder)
    value = rounded(builder, _emit_load(builder, op, pointers, mask, view.pad_with_nan or False), view)
    replace(op, (reshaped(builder, value, op.result.type),))


def _source(builder: Builder, op: tile.DescriptorStoreOp | tile.DescriptorReduceOp, pointers: SSAValue) -> SSAValue:
    return reshaped(builder, op.src, pointee_of(pointers.type))


def _descriptor_store(rewriter: _Rewriter, op: tile.DescriptorStoreOp, builder: Builder) -> None:
    _, pointers, mask = _descriptor_block(rewriter, op, builder)
    _emit_store(builder, op, pointers, mask, _source(builder, op, pointers))
    erase(op)


_REDUCTIONS: dict[int, RMWOp] = {
    DescriptorReduceKind.ADD: RMWOp.ADD,
    DescriptorReduceKind.MIN: RMWOp.MIN,
    DescriptorReduceKind.MAX: RMWOp.MAX,
    DescriptorReduceKind.AND: RMWOp.AND,
    DescriptorReduceKind.OR: RMWOp.OR,
    DescriptorReduceKind.XOR: RMWOp.XOR,
}


_UNSIGNED = {DescriptorReduceKind.MIN: RMWOp.UMIN, DescriptorReduceKind.MAX: RMWOp.UMAX}


def _descriptor_reduce(rewriter: _Rewriter, op: tile.DescriptorReduceOp, builder: Builder) -> None:
    kind = DescriptorReduceKind(op.kind.value.data)
    function = _REDUCTIONS.get(kind)
    if is_float(op.src.type):
        function = RMWOp.FADD if kind is DescriptorReduceKind.ADD else function
    elif is_unsigned(type_as(op.desc, tile.TensorDescType).element_type):
        function = _UNSIGNED.get(kind, function)
    if function is None:
        raise PassError(op, f"no atomic operation does {kind.name.lower()} on {op.src.type}")
    _, pointers, mask = _descriptor_block(rewriter, op, builder)
    value = _source(builder, op, pointers)
    operands = [pointers, value] if mask is None else [pointers, value, mask]
    properties: dict[str, Attribute] = {
        "atomic_rmw_op": IntegerAttr(int(function), i32),
        "sem": IntegerAttr(int(MemSemantic.RELAXED), i32),
        "scope": IntegerAttr(int(MemSyncScope.GPU), i32),
    }
    builder.create(tile.AtomicRMWOp, operands, (value.type,), properties)
    erase(op)


def _descriptor_rows(
    rewriter: _Rewriter, op: tile.DescriptorGatherOp | tile.DescriptorScatterOp, builder: Builder, width: int
) -> tuple[View, SSAValue, SSAValue | None]:
    view = rewriter.views[op.desc]
    at = (widen(builder, op.x_offsets), positions(builder, op.y_offset, width))
    return (view, *addresses(builder, view, at))


def _descriptor_gather(rewriter: _Rewriter, op: tile.DescriptorGatherOp, builder: Builder) -> None:
    view, pointers, mask = _descriptor_rows(rewriter, op, builder, shape_of(op.result.type)[1])
    value = _emit_load(builder, op, pointers, mask, view.pad_with_nan or False)
    replace(op, (rounded(builder, value, view),))


def _descriptor_scatter(rewriter: _Rewriter, op: tile.DescriptorScatterOp, builder: Builder) -> None:
    _, pointers, mask = _descriptor_rows(rewriter, op, builder, shape_of(op.src.type)[1])
    _emit_store(builder, op, pointers, mask, op.src)
    erase(op)


_USES: dict[type[Operation], Callable[[_Rewriter, Operation, Builder], None]] = {
    **case_in(tile.MakeTensorDescOp, _make_descriptor),
    **case_in(tile.MakeTensorPtrOp, _make_block_pointer),
    **case_in(tile.AdvanceOp, _advance),
    **case_in(tile.LoadOp, _load),
    **case_in(tile.StoreOp, _store),
    **case_in(tile.DescriptorLoadOp, _descriptor_load),
    **case_in(tile.DescriptorStoreOp, _descriptor_store),
    **case_in(tile.DescriptorReduceOp, _descriptor_reduce),
    **case_in(tile.DescriptorGatherOp, _descriptor_gather),
    **case_in(tile.DescriptorScatterOp, _descriptor_scatter),
    **case_in(arith.SelectOp, _select),
}
