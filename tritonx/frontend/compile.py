"""The front end's entry: a jit function and a signature in, a module of ``tt`` out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tritonx.frontend import errors
from tritonx.frontend.codegen.call_stack import room_for_calls
from tritonx.frontend.codegen.function import FunctionGenerator
from tritonx.frontend.codegen.module import ModuleGenerator
from tritonx.frontend.errors import CompilationError
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.language.values.base import base_type
from tritonx.language.values.constexpr import constexpr_type
from tritonx.language.values.tuples import tuple_type
from tritonx.runtime import knobs

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tritonx.backends.api import Options, Target

Path = tuple[int, ...]
"""Where an argument is: its position, then the positions inside nested tuples."""


class SpecializationProxy(NamedTuple):
    """What the ``repr`` of a kernel is given, under Triton's names."""

    constants: Mapping[str, Any]
    signature: Mapping[str, Any]


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def make_module(
    fn: KernelDeclaration,
    signature: Mapping[str, object],
    constants: Mapping[Path, object],
    attrs: Mapping[Path, Sequence[Sequence[object]]],
    options: Options,
    target: Target,
    generator: type[ModuleGenerator] = ModuleGenerator,
) -> ModuleOp:
    """The ``tt`` module of kernel ``fn`` for one specialisation.

    ``signature`` names each parameter's type as Triton does (``*fp32``, ``i32``, ``constexpr``, tuples of these),
    ``constants`` gives the compile-time values by path, ``attrs`` facts such as ``[["tt.divisibility", 16]]``. A
    mistake in the kernel's source is a ``CompilationError`` of ``tritonx.frontend.errors``. ``generator`` walks the
    source.
    """
    module = generator(
        options,
        target,
        any_global=knobs.compilation.allow_non_constexpr_globals,
        raw_errors=knobs.compilation.front_end_debugging,
    )
    _check_parameters(module, fn)
    types: dict[str, base_type] = {}
    for index, name in enumerate(fn.arg_names):
        types[name] = _argument_type(signature.get(name, "constexpr"), (index,), constants, generator.parameter_type)
    try:
        with room_for_calls():
            return module.kernel(fn, _symbol(module, fn, signature, constants), types, _handle_attributes(types, attrs))
    except CompilationError as error:
        raise error.with_traceback(None) from error.__cause__


def _argument_type(
    text: Any, path: Path, constants: Mapping[Path, object], named: Callable[[str], base_type]
) -> base_type:
    """The type of the argument at ``path``: a constant's is its value, others are ``named`` by the signature."""
    if path in constants:
        return constexpr_type(constants[path])
    if isinstance(text, tuple):
        parts: list[Any] = [_argument_type(part, (*path, i), constants, named) for i, part in enumerate(text)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  # a tuple of types, of tuples, and so on
        return tuple_type(parts, getattr(text, "_fields", None))  # pyright: ignore[reportUnknownArgumentType]  # a tuple of types, of tuples, and so on
    return named(text)


def _handle_attributes(
    types: Mapping[str, base_type], attrs: Mapping[Path, Sequence[Sequence[Any]]]
) -> dict[int, dict[str, int]]:
    """The facts by the position of the IR function's parameter they are about: the first handle of the argument."""
    found: dict[int, dict[str, int]] = {}
    position = 0

    def walk(type_: Any, path: Path) -> None:
        nonlocal position
        if isinstance(type_, tuple_type):
            for index, part in enumerate(type_):
                walk(part, (*path, index))
            return
        facts = attrs.get(path)
        count = len(type_.leaves())
        if facts and count:
            found[position] = {str(name): int(value) for name, value in facts}
        position += count

    for index, type_ in enumerate(types.values()):
        walk(type_, (index,))
    return found


def _symbol(
    module: ModuleGenerator, fn: KernelDeclaration, signature: Mapping[str, object], constants: Mapping[Path, object]
) -> str:
    """The kernel's symbol: what its ``repr`` says of this specialisation, without the module's path."""
    by_name = {fn.arg_names[path[0]]: value for path, value in constants.items() if len(path) == 1}
    name = str(fn.repr(SpecializationProxy(by_name, signature))).rpartition(".")[2]
    if not _IDENTIFIER.fullmatch(name):
        gen = FunctionGenerator(module, module.source_of(fn))
        raise gen.error(errors.InvalidName, gen.source.definition, f"invalid function identifier: {name}")
    return name


def _check_parameters(module: ModuleGenerator, fn: KernelDeclaration) -> None:
    for param in fn.params:
        if param.is_constexpr and (param.do_not_specialize or param.do_not_specialize_on_alignment):
            gen = FunctionGenerator(module, module.source_of(fn))
            arguments = gen.source.definition.args
            node = next(
                a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if a.arg == param.name
            )
            message = (
                f"{param.name} marked as constexpr and listed in do_not_specialize/do_not_specialize_on_alignment. "
                "Remove constexpr designation to skip specialization."
            )
            raise gen.error(errors.SpecializationConflict, node, message)
