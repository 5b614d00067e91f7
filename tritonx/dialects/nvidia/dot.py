"""Matrix products of a warp group (Hopper) and of the fifth-generation tensor cores (Blackwell), and tensor memory."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, UnitAttr, i1, i32
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.effects import (
    VIEW,
    Completion,
    Effect,
    EffectList,
    Effects,
    Kind,
    Resource,
    allocation,
    arrives,
    asynchronous,
    by_op,
    effects,
    reads_memory,
    waits,
    writes_memory,
)
from tritonx.dialects.gpu_layout.rules import MEMDESC, check_mutable, check_same_tile, mem_desc
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN, MemDescType
from tritonx.dialects.layout_constraints import (
    ANY_LAYOUTS,
    CARRIED_TYPES,
    NO_TENSORS,
    DotOperands,
    LayoutConstraint,
    values_of,
)
from tritonx.dialects.nvidia.rules import check_barrier, check_matrix_shapes, check_tensor_memory, shape_of_operand
from tritonx.dialects.tile.enums import InputPrecision, ScaleDotElemType
from tritonx.ir.declaration import TypeRules, enum_prop, same
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel

FALSE = BoolAttr.from_bool(False)


def _warp_group_effects(op: WarpGroupDotOp) -> EffectList:
    """The matrix unit reads shared memory, after the op if that is asynchronous; an operand in registers it has."""
    completion = Completion.PRODUCT_GROUP if op.isAsync.value.data else Completion.AT_ONCE
    read = [name for name in ("a", "b") if isinstance(values_of(op, name)[0].type, MemDescType)]
    group = () if completion is Completion.AT_ONCE else (Effect(Kind.COMMIT, completion=completion),)
    return (*(asynchronous(reads_memory(name), completion) for name in read), *group)


def _told(
    op: TMEMCopyOp | TCGen5MMAOp | TCGen5MMAScaledOp, barriers: str, *access: Effect, at_once: bool = False
) -> EffectList:
    """Accesses of the tensor core that are over when it tells the barriers; without them when the token is there, or
    when a commit behind the op tells a barrier."""
    if values_of(op, barriers):
        by = (asynchronous(each, Completion.MBARRIER, barriers) for each in access)
        return (*by, arrives(barriers, Completion.MBARRIER))
    later = Completion.TOKEN if op.results else Completion.PRODUCT_GROUP
    return tuple(asynchronous(each, Completion.AT_ONCE if at_once else later) for each in access)


def _copy_effects(op: TMEMCopyOp) -> EffectList:
    return _told(op, "barrier", reads_memory("src"), writes_memory("dst"))


def _product_effects(op: TCGen5MMAOp | TCGen5MMAScaledOp, operands: tuple[str, ...] = ("a", "b")) -> EffectList:
    access = (*(reads_memory(name) for name in (*operands, "d")), writes_memory("d"))
    return _told(op, "barriers", *access, at_once=op.is_async is None)


def _scaled_product_effects(op: TCGen5MMAScaledOp) -> EffectList:
    return _product_effects(op, ("a", "b", "a_scale", "b_scale"))


@define
class WarpGroupDotOp(IRDLOperation):
    """d = a · b + c on a warp group; b, and mostly a, lie in shared memory. Not waited for if `isAsync`; c is not
    read if `useC` is false.
    """

    name = "ttng.warp_group_dot"
    a = operand_def()
    b = operand_def(MEMDESC)
    c = operand_def()
    useC = opt_operand_def(i1)
    inputPrecision = enum_prop(InputPrecision, default=InputPrecision.IEEE)
    maxNumImpreciseAcc = prop_def(IntegerAttr.constr(i32), default_value=IntegerAttr(0, i32))
    isAsync = prop_def(BoolAttr, default_value=FALSE)
    d = result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = DotOperands()
    EFFECTS: ClassVar[Effects] = by_op(_warp_group_effects)
    MEMORY_PRODUCT: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "$a `,` $b `,` $c (`,` $useC^)? attr-dict `:` type($a) `*` type($b) `->` type($d)"
    TYPES: ClassVar[TypeRules] = {"c": ("d", same)}

    def verify_(self) -> None:
        check_matrix_shapes(self.a.type, self.b.type, self.d.type)


@define
class WarpGroupDotWaitOp(IRDLOperation):
    """Waits until at most `pendings` products are under way; passes its operands through, memory among them stays
    alive until then.
    """

    name = "ttng.warp_group_dot_wait"
    inputs = var_operand_def()
    pendings = prop_def(IntegerAttr.constr(i32))
    outputs = var_result_def()
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = Effects((waits(Completion.PRODUCT_GROUP, "pendings"),), view_of="inputs")
    FORMAT: ClassVar[str] = "$inputs attr-dict `:` type($inputs)"
    TYPES: ClassVar[TypeRules] = {"outputs": ("inputs", same)}

    def verify_(self) -> None:
        if not self.inputs:
            raise VerifyException("waits for at least one product")


@define
class TMEMAllocOp(IRDLOperation):
    """Tensor memory for a tile, filled with `src` if there is one."""

    name = "ttng.tmem_alloc"
    src = opt_operand_def()
    result = result_def(MEMDESC)
    token = opt_result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = by_op(allocation)

    # functional-type with two results: the format notation has no place for the optional one
    FORMAT: ClassVar[str] = "($src^)? attr-dict `:` functional-type(operands, results)"

    def verify_(self) -> None:
        check_tensor_memory(self.result.type, "the result")
        if self.src is not None:
            check_same_tile(self.src.type, self.result.type)
        elif not mem_desc(self.result.type).mutable:
            raise VerifyException("memory that nothing fills must be mutable")


@define
class TMEMLoadOp(IRDLOperation):
    """Reads a tile from tensor memory."""

    name = "ttng.tmem_load"
    src = operand_def(MEMDESC)
    dep = opt_operand_def(ASYNC_TOKEN)
    result = result_def()
    token = opt_result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects(reads_memory("src"))
    FORMAT: ClassVar[str] = "$src `` token($dep, $token) attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        check_tensor_memory(self.src.type, "the source")
        check_same_tile(self.result.type, self.src.type)


@define
class TMEMStoreOp(IRDLOperation):
    """Writes a tile to tensor memory."""

    name = "ttng.tmem_store"
    dst = operand_def(MEMDESC)
    dep = opt_operand_def(ASYNC_TOKEN)
    src = operand_def()
    pred = operand_def(i1)
    token = opt_result_def(ASYNC_TOKEN)
    LAYOUTS: ClassVar[LayoutConstraint] = ANY_LAYOUTS
    EFFECTS: ClassVar[Effects] = effects(writes_memory("dst"))
    FORMAT: ClassVar[str] = "$src `,` $dst `` token($dep, $token) `,` $pred attr-dict `:` type($src) `->` type($dst)"

    def verify_(self) -> None:
        check_tensor_memory(self.dst.type, "the destination")
        check_mutable(self.dst.type)
        check_same_tile(self.src.type, self.dst.type)


@define
class TMEMSubsliceOp(IRDLOperation):
    """The columns of tensor memory from `N` on."""

    name = "ttng.tmem_subslice"
    src = operand_def(MEMDESC)
    N = prop_def(IntegerAttr.constr(i32))
    result = result_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = VIEW
    FORMAT: ClassVar[str] = "$src attr-dict `:` type($src) `->` type($result)"

    def verify_(self) -> None:
        source = check_tensor_memory(self.src.type, "the source")
        result = check_tensor_memory(self.result.type, "the result")
        start = self.N.value.data
        if start < 0 or start + result.shape[-1] > source.shape[-1]:
            raise VerifyException(f"columns {start} to {start + result.shape[-1]} are outside of {source}")


class TMEMWaitKind(IntEnum):
    """Whose accesses to tensor memory are waited for."""

    LOAD = 0
    STORE = 1


@define
class TMEMWaitOp(IRDLOperation):
    """Waits until the thread's loads from tensor memory, or its stores to it, are over."""

    name = "ttng.tmem_wait"
    kind = enum_prop(TMEMWaitKind)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(Effect(Kind.FENCE, Resource.MEMDESC))
    FORMAT: ClassVar[str] = "$kind attr-dict"
    SPELLINGS: ClassVar[Spellings] = Spellings({TextLevel.V3_9: "ttng.tmem_wait load"})


@define
class TMEMCopyOp(IRDLOperation):
    """Copies shared memory to tensor memory; the barrier is told when it is done."""

    name = "ttng.tmem_copy"
    src = operand_def(MEMDESC)
    dst = operand_def(MEMDESC)
    barrier = opt_operand_def(MEMDESC)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = by_op(_copy_effects)
    FORMAT: ClassVar[str] = "$src `,` $dst (`,` $barrier^)? attr-dict `:` type(operands)"

    def verify_(self) -> None:
        check_tensor_memory(self.dst.type, "the destination")
        check_mutable(self.dst.type)
        if self.barrier is not None:
            check_barrier(self.barrier.type)


def _check_barriers(op: TCGen5MMAOp | TCGen5MMAScaledOp) -> None:
    if len(op.barriers) != len(op.barrier_preds):
        raise VerifyException(f"{len(op.barriers)} barriers need as many predicates, got {len(op.barrier_preds)}")
    for barrier in op.barriers:
        check_barrier(barrier.type)
    if op.barriers and op.is_async is None:
        raise VerifyException("only an asynchronous product tells barriers")


@define
class TCGen5MMAOp(IRDLOperation):
    """d = a · b + d in tensor memory; d is not read if `useD` is false, nothing happens if `pred` is."""

    name = "ttng.tc_gen5_mma"
    a = operand_def(MEMDESC)
    b = operand_def(MEMDESC)
    d = operand_def(MEMDESC)
    acc_dep = opt_operand_def(ASYNC_TOKEN)
    useD = operand_def(i1)
    pred = operand_def(i1)
    barriers = var_operand_def(MEMDESC)
    barrier_preds = var_operand_def(i1)
    is_async = opt_prop_def(UnitAttr)
    two_ctas = opt_prop_def(UnitAttr)
    token = opt_result_def(ASYNC_TOKEN)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = by_op(_product_effects)
    FORMAT: ClassVar[str] = (
        "$a `,` $b `,` $d `` token($acc_dep, $token) `,` $useD `,` $pred pairs($barriers, $barrier_preds) attr-dict"
        " `:` type($a) `,` type($b) `,` type($d) (`,` type($barriers)^)?"
    )

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        return {5: (1, 1, 1, 0, 1, 1, 0, 0), 6: (1, 1, 1, 1, 1, 1, 0, 0)}.get(count)

    def verify_(self) -> None:
        check_tensor_memory(self.d.type, "the accumulator")
        check_mutable(self.d.type, "the accumulator")
        check_matrix_shapes(self.a.type, self.b.type, self.d.type)
        _check_barriers(self)


@define
class TCGen5MMAScaledOp(IRDLOperation):
    """d = (a · scale of a) · (b · scale of b) + d in tensor memory."""

    name = "ttng.tc_gen5_mma_scaled"
    a = operand_def(MEMDESC)
    b = operand_def(MEMDESC)
    d = operand_def(MEMDESC)
    acc_dep = opt_operand_def(ASYNC_TOKEN)
    a_scale = operand_def(MEMDESC)
    b_scale = operand_def(MEMDESC)
    a_type = enum_prop(ScaleDotElemType)
    b_type = enum_prop(ScaleDotElemType)
    useD = operand_def(i1)
    pred = operand_def(i1)
    barriers = var_operand_def(MEMDESC)
    barrier_preds = var_operand_def(i1)
    is_async = opt_prop_def(UnitAttr)
    token = opt_result_def(ASYNC_TOKEN)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = by_op(_scaled_product_effects)
    FORMAT: ClassVar[str] = (
        "$a `,` $b `,` $d `` token($acc_dep, $token) `,` $a_scale `,` $b_scale `,` $useD `,` $pred"
        " `lhs` `=` $a_type `rhs` `=` $b_type pairs($barriers, $barrier_preds) attr-dict"
        " `:` type($a) `,` type($b) `,` type($d) `,` type($a_scale) `,` type($b_scale) (`,` type($barriers)^)?"
    )

    @staticmethod
    def segment_sizes(count: int) -> tuple[int, ...] | None:
        return {7: (1, 1, 1, 0, 1, 1, 1, 1, 0, 0), 8: (1, 1, 1, 1, 1, 1, 1, 1, 0, 0)}.get(count)

    def verify_(self) -> None:
        check_tensor_memory(self.d.type, "the accumulator")
        check_mutable(self.d.type, "the accumulator")
        if any(len(shape_of_operand(value.type)) != 2 for value in (self.a, self.b, self.d)):
            raise VerifyException("operands must have rank 2")
        _check_barriers(self)


@define
class TCGen5CommitOp(IRDLOperation):
    """Has a barrier told when all products so far are done."""

    name = "ttng.tc_gen5_commit"
    barrier = operand_def(MEMDESC)
    pred = opt_operand_def(i1)
    two_ctas = opt_prop_def(UnitAttr)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = effects(arrives("barrier", Completion.PRODUCT_GROUP))
    FORMAT: ClassVar[str] = "$barrier (`,` $pred^)? attr-dict `:` type($barrier)"

    def verify_(self) -> None:
        check_barrier(self.barrier.type)
