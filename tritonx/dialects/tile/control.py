"""Functions, calls and the program's place in the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    i32,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    CallableOpInterface,
    IsolatedFromAbove,
    IsTerminator,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects.control_flow import REGION_END, ControlFlow, Function
from tritonx.dialects.effects import ANYTHING, PURE, Effect, EffectList, Effects, Resource, anywhere, by_op, declared_by
from tritonx.dialects.layout_constraints import CARRIED_TYPES, NO_TENSORS, LayoutConstraint
from tritonx.dialects.tile.enums import ProgramIDDim
from tritonx.ir.declaration import enum_prop
from tritonx.ir.define import define

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class _FuncOpCallable(CallableOpInterface):
    """How xDSL sees the body and the signature of a function."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[object, ...]:  # pyright: ignore[reportIncompatibleMethodOverride] -- xDSL wants a list-like of attributes
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[object, ...]:  # pyright: ignore[reportIncompatibleMethodOverride] -- as above
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


STATED = "tt.stated"
"""The attribute of an argument of which the program's author states something (`tl.multiple_of`), beside what is
stated."""


@define
class FuncOp(IRDLOperation):
    """A kernel (`public`, or nothing said) or a function that kernels call (`private`). Argument attributes carry
    alignment facts."""

    name = "tt.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), _FuncOpCallable())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = Function()

    @property
    def is_kernel(self) -> bool:
        """Whether the host calls it: its arguments are the host's."""
        return self.sym_visibility is None or self.sym_visibility.data == "public"

    def verify_(self) -> None:
        inputs = self.function_type.inputs.data
        entry = self.body.blocks.first
        if entry is not None and tuple(a.type for a in entry.args) != inputs:
            raise VerifyException("the types of the entry block's arguments differ from the function's")
        if self.arg_attrs is not None and len(self.arg_attrs.data) != len(inputs):
            raise VerifyException(f"{len(self.arg_attrs.data)} argument attributes for {len(inputs)} arguments")
        if entry is None and (self.sym_visibility is None or self.sym_visibility.data != "private"):
            raise VerifyException("a function without a body must be private")

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        from xdsl.dialects.utils import parse_func_op_like

        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")
        )
        properties = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(inputs, outputs),
            "sym_visibility": visibility,
            "arg_attrs": arg_attrs,
            "res_attrs": res_attrs,
        }
        return cls.create(
            properties={key: value for key, value in properties.items() if value is not None},
            attributes=extra.data if extra is not None else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        types, entry = self.function_type, self.body.blocks.first
        with printer.in_parens():
            for index, taken in enumerate(types.inputs.data if entry is None else entry.args):
                if index:
                    printer.print_string(", ")
                if isinstance(taken, BlockArgument):
                    printer.print_block_argument(taken, print_type=False)
                    printer.print_string(": ")
                    self._print_typed(printer, taken.type, self.arg_attrs, index)
                    if printer.print_debuginfo:
                        printer.print_string(" ")
                        printer.print_attribute(taken.location)
                else:
                    self._print_typed(printer, taken, self.arg_attrs, index)
        if types.outputs.data:
            printer.print_string(" -> ")
            if len(types.outputs.data) == 1 and self.res_attrs is None:
                printer.print_attribute(types.outputs.data[0])
            else:
                with printer.in_parens():
                    for index, type_ in enumerate(types.outputs.data):
                        if index:
                            printer.print_string(", ")
                        self._print_typed(printer, type_, self.res_attrs, index)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        if entry is not None:
            printer.print_string(" ")
            printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)

    @staticmethod
    def _print_typed(
        printer: Printer, type_: Attribute, attributes: ArrayAttr[DictionaryAttr] | None, index: int
    ) -> None:
        """A type of the signature and, behind it, the attributes that it has."""
        printer.print_attribute(type_)
        if attributes is not None and index < len(attributes.data) and attributes.data[index].data:
            printer.print_op_attributes(attributes.data[index].data)


@define
class ReturnOp(IRDLOperation):
    """Ends a function."""

    name = "tt.return"
    srcs = var_operand_def()
    traits = traits_def(IsTerminator(), ReturnLike())
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = PURE
    CONTROL_FLOW: ClassVar[ControlFlow] = REGION_END
    FORMAT: ClassVar[str] = "attr-dict ($srcs^ `:` type($srcs))?"

    def verify_(self) -> None:
        function = self.parent_op()
        if not isinstance(function, FuncOp):
            return
        returned, declared = tuple(v.type for v in self.srcs), function.function_type.outputs.data
        if returned != declared:
            raise VerifyException(
                f"returns ({', '.join(map(str, returned))}), the function ({', '.join(map(str, declared))})"
            )


def _callee_effects(op: CallOp) -> EffectList:
    """What the function, and what it calls, may do, wherever: its arguments are not followed. Its scratch memory is its
    own. Anything, where there is no body to look into."""
    found: dict[Effect, None] = {}
    work, seen = [op.function()], set[FuncOp]()
    while work:
        function = work.pop()
        if function is None or function.body.blocks.first is None:
            return ANYTHING
        if function in seen:
            continue
        seen.add(function)
        for inner in function.body.walk():
            if isinstance(inner, CallOp):
                work.append(inner.function())
                continue
            declared = declared_by(type(inner))
            if declared is None:
                return ANYTHING
            done = (effect for effect in declared.own(inner) if effect.resource is not Resource.SCRATCH)
            found.update((anywhere(effect), None) for effect in done)
    return tuple(found)


@define
class CallOp(IRDLOperation):
    """Calls a function of the module."""

    name = "tt.call"
    LAYOUTS: ClassVar[LayoutConstraint] = CARRIED_TYPES
    EFFECTS: ClassVar[Effects] = by_op(_callee_effects)
    callee = prop_def(SymbolRefAttr)
    args = var_operand_def()
    res = var_result_def()
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    FORMAT: ClassVar[str] = "$callee `(` $args `)` attr-dict `:` functional-type($args, $res)"

    def verify_(self) -> None:
        if self.get_root() is None:
            return
        callee = SymbolTable.lookup_symbol(self, self.callee)
        if not isinstance(callee, FuncOp):
            raise VerifyException(f"{self.callee} is no tt.func of this module")
        given = FunctionType.from_lists([v.type for v in self.args], [v.type for v in self.res])
        if given != callee.function_type:
            raise VerifyException(f"called as {given}, but {self.callee} is {callee.function_type}")

    def function(self) -> FuncOp | None:
        """The function that is called; None while the call is in no module, or for a name that is none's."""
        root = self.get_root()
        callee = None if root is None else SymbolTable.lookup_symbol(root, self.callee)
        return callee if isinstance(callee, FuncOp) else None

    def get_root(self) -> Operation | None:
        """The op at the top of the tree, or None while the call is not in a symbol table (during construction)."""
        op: Operation | None = self.parent_op()
        while op is not None and not op.has_trait(SymbolTable):
            op = op.parent_op()
        return op


@define
class GetProgramIdOp(IRDLOperation):
    """The index of this program along an axis of the grid."""

    name = "tt.get_program_id"
    axis = enum_prop(ProgramIDDim)
    result = result_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$axis attr-dict `:` type($result)"


@define
class GetNumProgramsOp(IRDLOperation):
    """The size of the grid along an axis."""

    name = "tt.get_num_programs"
    axis = enum_prop(ProgramIDDim)
    result = result_def(i32)
    LAYOUTS: ClassVar[LayoutConstraint] = NO_TENSORS
    EFFECTS: ClassVar[Effects] = PURE
    FORMAT: ClassVar[str] = "$axis attr-dict `:` type($result)"
