"""Warp specialisation (a kernel whose warps do different work) and what the software pipeliner leaves in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import REGION_END, ControlFlow, OneOf, PartitionHolder, Specialized
from tritonx.dialects.effects import PURE, REGIONS, Effects
from tritonx.dialects.layout_constraints import CARRIED_TYPES, NO_TENSORS, LayoutConstraint
from tritonx.dialects.tile.rules import check_power_of_two
from tritonx.ir.declaration import same
from tritonx.ir.define import define
from tritonx.ir.spelling import Spellings, TextLevel, spellings
from tritonx.ir.types import is_integer

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


def _captures_up(op: WarpSpecializeOp) -> Operation:
    """In the generic form, what is captured are operands of the partitions since 3.8."""
    if captured := op.holder.operands:
        op.operands, op.holder.operands = tuple(captured), ()
    return op


def _captures_down(op: WarpSpecializeOp, level: TextLevel) -> None:
    if level >= TextLevel.V3_8:
        op.holder.operands, op.operands = tuple(op.explicitCaptures), ()


@define
class WarpSpecializeOp(IRDLOperation):
    """Runs the default region on the kernel's own warps and each partition on warps of its own, all at the same time.

    The default region sees the values around it and yields the results; the partitions see only what is captured
    explicitly.
    """

    name = "ttg.warp_specialize"
    explicitCaptures = var_operand_def()
    partitionNumWarps = prop_def(DenseArrayBase.constr(i32))
    warpGroupStartIds = opt_prop_def(DenseArrayBase.constr(i32))
    requestedRegisters = opt_prop_def(DenseArrayBase.constr(i32))
    actualRegisters = opt_prop_def(DenseArrayBase.constr(i32))
    defaultPassthrough = var_result_def()
    defaultRegion = region_def()
    partitionOpHolder = region_def("single_block")
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = Specialized()
    SPELLINGS: ClassVar[Spellings] = spellings({TextLevel.V3_6: ""}, read=_captures_up, write=_captures_down)

    @property
    def holder(self) -> Operation:
        """The op that has the partitions; the op itself where there is none."""
        block = self.partitionOpHolder.blocks.first
        first = None if block is None else block.first_op
        return first if isinstance(first, WarpSpecializePartitionsOp) else self

    @property
    def partitions(self) -> tuple[Region, ...]:
        """One region for each partition."""
        return () if self.holder is self else self.holder.regions

    def verify_(self) -> None:
        holder = self.partitionOpHolder.blocks.first
        if holder is None or not isinstance(holder.first_op, WarpSpecializePartitionsOp):
            raise VerifyException("the second region must hold a ttg.warp_specialize.partitions")
        regions = self.partitions
        warps = [int(count) for count in self.partitionNumWarps.get_values()]
        if len(warps) != len(regions):
            raise VerifyException(f"{len(regions)} partitions, but {len(warps)} numbers of warps")
        for count in warps:
            check_power_of_two(count, "the number of warps of a partition")
        for key in ("warpGroupStartIds", "requestedRegisters"):
            values = self.properties.get(key)
            count = len(cast("DenseArrayBase[IntegerType]", values)) if values is not None else len(regions)
            if count != len(regions):
                raise VerifyException(f"'{key}' has {count} entries for {len(regions)} partitions")
        captured = [value.type for value in self.explicitCaptures]
        for index, region in enumerate(regions):
            block = region.blocks.first
            if block is None or [argument.type for argument in block.args] != captured:
                raise VerifyException(f"partition {index} must take what is captured: {', '.join(map(str, captured))}")
        for block in self.defaultRegion.blocks:
            end = block.last_op
            if isinstance(end, WarpYieldOp) and [v.type for v in end.values] != [
                r.type for r in self.defaultPassthrough
            ]:
                raise VerifyException("the default region does not yield the results' types")

    @classmethod
    def parse(cls, parser: Parser) -> WarpSpecializeOp:
        isolated = getattr(parser, "isolated_names", None)
        start = parser.pos
        captures = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        extra = parser.parse_optional_attr_dict_with_keyword()
        attributes = dict(extra.data) if extra is not None else {}
        properties = {key: attributes.pop(key) for key in cls.get_irdl_definition().properties if key in attributes}
        parser.parse_keyword("default")
        default = parser.parse_region()
        regions: list[Region] = []
        warps: list[int] = []
        while parser.parse_optional_keyword(f"partition{len(regions)}"):
            arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_argument(parser))
            parser.parse_keyword("num_warps")
            with parser.in_parens():
                warps.append(parser.parse_integer(allow_boolean=False, allow_negative=False))
            if isolated is None:
                regions.append(parser.parse_region(arguments))
            else:
                with isolated():
                    regions.append(parser.parse_region(arguments))
        parser.parse_punctuation(":")
        type_ = parser.parse_function_type()
        properties["partitionNumWarps"] = DenseArrayBase.from_list(i32, warps)
        partitions = WarpSpecializePartitionsOp.create(regions=regions)
        return cls.create(
            operands=parser.resolve_operands(captures, type_.inputs.data, start),
            result_types=type_.outputs.data,
            properties=properties,
            attributes=attributes,
            regions=(default, Region(Block([partitions]))),
        )

    def print(self, printer: Printer) -> None:
        captured = self.explicitCaptures or self.holder.operands
        with printer.in_parens():
            printer.print_list(captured, printer.print_operand)
        shown: dict[str, Attribute] = {
            key: value for key, value in self.properties.items() if key != "partitionNumWarps"
        }
        printer.print_op_attributes({**self.attributes, **shown}, print_keyword=True)
        printer.print_string("\ndefault ")
        printer.print_region(self.defaultRegion, print_entry_block_args=False)
        warps = self.partitionNumWarps.get_values()
        for index, (region, count) in enumerate(zip(self.partitions, warps, strict=True)):
            printer.enter_scope()
            printer.print_string(f"\npartition{index}")
            with printer.in_parens():
                printer.print_list(
                    region.block.args if len(region.blocks) == 1 else region.blocks[0].args,
                    printer.print_block_argument,
                )
            printer.print_string(f" num_warps({count}) ")
            printer.print_region(region, print_entry_block_args=False)
            printer.exit_scope()
        printer.print_string(" : ")
        printer.print_function_type([v.type for v in captured], [r.type for r in self.defaultPassthrough])


def _parse_argument(parser: Parser) -> Parser.Argument:
    argument = parser.parse_argument()
    argument.location = parser.parse_optional_location()
    return argument


@define
class WarpSpecializePartitionsOp(IRDLOperation):
    """Holds the partitions of a `warp_specialize`, so that they are isolated and the default region is not."""

    name = "ttg.warp_specialize.partitions"
    partitionRegions = var_region_def()
    traits = traits_def(IsolatedFromAbove(), IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = PartitionHolder()


@define
class WarpYieldOp(IRDLOperation):
    """Ends the default region: its results are those of the `warp_specialize`."""

    name = "ttg.warp_yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(WarpSpecializeOp))
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "($values^)? attr-dict (`:` type($values)^)?"


@define
class WarpReturnOp(IRDLOperation):
    """Ends a partition."""

    name = "ttg.warp_return"
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "attr-dict"


@define
class WarpIdOp(IRDLOperation):
    """The number of the thread's warp in its group: the partition's, or the kernel's. `omitUniformHint` is for the
    code generator of Triton: the number need not be known to be uniform over the warp."""

    name = "ttg.warp_id"
    omitUniformHint = opt_prop_def(UnitAttr)
    result = result_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "attr-dict"
    SPELLINGS: ClassVar[Spellings] = Spellings({TextLevel.V3_6: None, TextLevel.V3_8: "%r = ttg.warp_id"})


@define
class PredicateStageOp(IRDLOperation):
    """Whether a stage of a pipelined loop has work in this iteration."""

    name = "ttg.predicate_stage"
    iv = operand_def()
    ub = operand_def()
    step = operand_def()
    maxStage = prop_def(IntegerAttr.constr(i32))
    stage = prop_def(IntegerAttr.constr(i32))
    result = result_def(i1)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = (
        "$iv `,` $ub `,` $step `maxStage` int($maxStage) `stage` int($stage) attr-dict `:` type($iv) `->` type($result)"
    )
    TYPES: ClassVar = {"ub": ("iv", same), "step": ("iv", same)}

    def verify_(self) -> None:
        if not is_integer(self.iv.type):
            raise VerifyException(f"expected integers, got {self.iv.type}")


@define
class MaskOp(IRDLOperation):
    """Runs its region where the predicate is true."""

    name = "ttg.mask"
    pred = operand_def(i1)
    result = var_result_def()
    region = region_def("single_block")
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = REGIONS
    CONTROL_FLOW: ClassVar[ControlFlow] = OneOf(optional=True)


@define
class MaskReturnOp(IRDLOperation):
    """Ends the region of a `mask`."""

    name = "ttg.mask.return"
    result = var_operand_def()
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "$result attr-dict `:` type($result)"
