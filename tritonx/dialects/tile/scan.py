"""Prefix scans of tiles along an axis by a region."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.irdl import IRDLOperation, prop_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import REGION_END, ControlFlow, PerElement
from tritonx.dialects.effects import PURE, SCRATCH_EFFECTS, Effects, of_regions
from tritonx.dialects.layout_constraints import NO_TENSORS, LayoutConstraint, Scanned
from tritonx.dialects.tile.reduce import check_combine, check_sources, names
from tritonx.ir.define import define
from tritonx.ir.types import element_type


@define
class ScanOp(IRDLOperation):
    """Inclusive scan along `axis` by an associative region; from the end towards the start with `reverse`."""

    name = "tt.scan"
    srcs = var_operand_def()
    axis = prop_def(IntegerAttr.constr(i32))
    reverse = prop_def(BoolAttr)
    result = var_result_def()
    combineOp = region_def()
    LAYOUTS: ClassVar[LayoutConstraint] = Scanned()
    EFFECTS: ClassVar[Effects] = of_regions(SCRATCH_EFFECTS)
    CONTROL_FLOW: ClassVar[ControlFlow] = PerElement()

    def verify_(self) -> None:
        types = [value.type for value in self.srcs]
        check_sources(types, self.axis.value.data)
        results = [value.type for value in self.result]
        if results != types:
            raise VerifyException(f"a scan keeps its operands' types, {names(types)} became {names(results)}")
        check_combine(self.combineOp, [element_type(t) for t in types], ScanReturnOp)


@define
class ScanReturnOp(IRDLOperation):
    """Ends the region of `scan`."""

    name = "tt.scan.return"
    result = var_operand_def()
    traits = traits_def(IsTerminator())
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "$result attr-dict `:` type($result)"
