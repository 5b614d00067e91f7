"""One kernel, one module: what all function instances of a compile share, the kernel's function, and ``noinline``
functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from tritonx.dialects.tile import CallOp, FuncOp, ReturnOp
from tritonx.frontend import errors
from tritonx.frontend.codegen import calls
from tritonx.frontend.codegen.detached_blocks import RecordingBuilder, lost
from tritonx.frontend.codegen.expressions import EXPRESSIONS
from tritonx.frontend.codegen.function import FunctionGenerator
from tritonx.frontend.codegen.locations import Locations
from tritonx.frontend.codegen.source import FunctionSource
from tritonx.frontend.codegen.statements import FLOW, STATEMENTS, assign
from tritonx.frontend.codegen.values import handles_of, is_dynamic, suggest_name
from tritonx.frontend.errors import CompilationError
from tritonx.frontend.semantics import Semantics, ir_types
from tritonx.ir.location import name_loc
from tritonx.ir.types import i32
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.kernel.identity import loose
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import constexpr, unwrap

if TYPE_CHECKING:
    from tritonx.backends.api import Options, Target

_ILLEGAL = re.compile(r"[^A-Za-z0-9_.$]")


@dataclass(frozen=True, slots=True)
class _Noinline:
    """A function of the module: its symbol, and the type of what it returns (None: nothing)."""

    symbol: str
    result: Any


class ModuleGenerator:
    """The state of one compile. ``any_global``: kernels may read any global; ``raw_errors``: exceptions are not
    wrapped."""

    expressions = EXPRESSIONS
    statements = STATEMENTS
    flow = FLOW
    assign = staticmethod(assign)
    semantics: type[Semantics] = Semantics
    parameter_type: Callable[[str], base_type] = staticmethod(str_to_ty)
    """The type that a signature's text names."""

    def __init__(self, options: Options, target: Target, *, any_global: bool = False, raw_errors: bool = False) -> None:
        self.builder = RecordingBuilder()
        self.semantic = self.semantics(self.builder, options, target)
        self.semantic.generator = self
        self.any_global = any_global
        self.raw_errors = raw_errors
        self.current: FunctionGenerator | None = None
        self._sources: dict[KernelDeclaration, FunctionSource] = {}
        self._functions: list[FuncOp] = []
        self._noinline: dict[Any, _Noinline] = {}
        self._symbols: set[str] = set()

    def source_of(self, function: KernelDeclaration) -> FunctionSource:
        source = self._sources.get(function)
        if source is None:
            source = self._sources[function] = FunctionSource(function)
        return source

    def locations(self, source: FunctionSource, call: LocationAttr | None) -> Locations:
        return Locations(source, call)

    def call_function(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Generate a call for a builtin that is running: the combine function of a reduction, a constructor."""
        gen = self.current
        assert gen is not None, "builtins run inside a kernel"
        return calls.call(gen, gen.node, unwrap(fn), list(args), kwargs)

    # Functions.

    def kernel(
        self,
        function: KernelDeclaration,
        symbol: str,
        arguments: Mapping[str, object],
        attributes: Mapping[int, Mapping[str, int]],
    ) -> ModuleOp:
        """The module of a kernel. ``arguments`` are types of the language (or constexprs) by name; ``attributes``
        belong to the
        n-th parameter of the function in the IR."""
        source = self.source_of(function)
        gen = FunctionGenerator(self, source)
        position = len(self._functions)
        result, operation = self._function(gen, symbol, "public", arguments, attributes)
        if result is not None:
            message = f"a kernel returns nothing, but {source.name} returns {result.type}"
            hint = "store results to memory with tl.store"
            raise gen.error(errors.ReturnMismatch, source.definition, message, hint=hint)
        self._functions.insert(position, operation)
        dropped = lost(self.builder.opened)
        if dropped is not None:
            message = f"internal error: {dropped.name} at {dropped.location} was generated and dropped"
            raise gen.error(errors.LanguageError, source.definition, message)
        module = ModuleOp(list(self._functions))
        module.location = operation.location
        return module

    def _function(
        self,
        gen: FunctionGenerator,
        symbol: str,
        visibility: str,
        arguments: Mapping[str, Any],
        attributes: Mapping[int, Mapping[str, int]],
    ) -> tuple[Any, FuncOp]:
        """Generate the body of ``gen`` as a function: what it returns, and the op."""
        types = [type_ for value in arguments.values() for type_ in ir_types(value)]
        entry = Block(arg_types=types)
        handles = iter(entry.args)
        values = {name: type_.rebuild(handles) for name, type_ in arguments.items()}
        _name_arguments(gen, values)
        gen.bind(values)
        gen.arguments = values
        with self.builder.at(entry):
            outcome = gen.statements(gen.source.definition.body, tail=True)
            value = outcome.value if outcome is not None else None
            returned: list[SSAValue] = [] if value is None else value.handles()
            gen.locate(gen.source.definition)
            self.builder.create(ReturnOp, returned)
            location = self.builder.location
        signature = FunctionType.from_lists(types, [handle.type for handle in returned])
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(symbol),
            "function_type": signature,
            "sym_visibility": StringAttr(visibility),
        }
        if attributes:
            properties["arg_attrs"] = _argument_attributes(len(types), attributes)
        operation = FuncOp.create(
            properties=properties,
            attributes={"noinline": BoolAttr.from_bool(gen.source.function.noinline)},
            regions=(Region(entry),),
            location=location,
        )
        gen.semantic.place_hints(operation)
        return value, operation

    def call_noinline(
        self, gen: FunctionGenerator, node: ast.AST, function: KernelDeclaration, arguments: Mapping[str, Any]
    ) -> Any:
        """A ``tt.call`` of the instance of ``function`` for these arguments, which is generated at the first call."""
        key = (function, *((name, v.type if is_dynamic(v) else loose(unwrap(v))) for name, v in arguments.items()))
        callee = self._noinline.get(key)
        if callee is None:
            callee = self._noinline[key] = self._instance(gen, node, function, arguments)
        operands = handles_of(v for v in arguments.values() if isinstance(v, base_value))
        gen.locate(node)
        types = ir_types(callee.result) if callee.result is not None else []
        call = self.builder.create(CallOp, operands, types, {"callee": SymbolRefAttr(callee.symbol)})
        return callee.result.rebuild(iter(call.results)) if callee.result is not None else constexpr(None)

    def _instance(
        self, gen: FunctionGenerator, node: ast.AST, function: KernelDeclaration, arguments: Mapping[str, object]
    ) -> _Noinline:
        callee = calls.enter(gen, node, function, arguments)
        callee.locations = self.locations(callee.source, None)
        symbol = self._fresh_symbol(function, arguments)
        position = len(self._functions)
        outer = self.builder.location
        try:
            types = {name: v.type if isinstance(v, base_value) else constexpr(v).type for name, v in arguments.items()}
            value, operation = self._function(callee, symbol, "private", types, {})
        except CompilationError as error:
            gen.raise_in_call(error, node)
        self.builder.location = outer
        self._functions.insert(position, operation)
        return _Noinline(symbol, None if value is None else value.type)

    def _fresh_symbol(self, function: KernelDeclaration, arguments: Mapping[str, Any]) -> str:
        """``module.name__types__constants``, in characters that every assembler takes."""
        types = "_".join(v.type.mangle() for v in arguments.values() if is_dynamic(v))
        constants = "_".join(f"{i}c{unwrap(v)!r}" for i, v in enumerate(arguments.values()) if not is_dynamic(v))
        name = f"{function.module}.{function.__qualname__}__{types}__{constants}"
        symbol = _ILLEGAL.sub("_", name)[:200]
        while symbol in self._symbols:
            symbol += "_"
        self._symbols.add(symbol)
        return symbol


def _name_arguments(gen: FunctionGenerator, values: Mapping[str, Any]) -> None:
    """Show the parameters' names in the text of the IR, and where they are declared."""
    place = gen.location_of(gen.source.definition)
    for name, value in values.items():
        handles: list[SSAValue] = value.handles()
        for index, handle in enumerate(handles):
            suggest_name(handle, name if len(handles) == 1 else f"{name}_{index}")
            cast(BlockArgument, handle).location = name_loc(name, place)


def _argument_attributes(count: int, attributes: Mapping[int, Mapping[str, int]]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr(
        [
            DictionaryAttr({name: IntegerAttr(value, i32) for name, value in attributes.get(i, {}).items()})
            for i in range(count)
        ]
    )
