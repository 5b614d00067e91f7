"""Code from outside: inline assembly, and functions of a device library (``tl.extra.libdevice``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import BoolAttr, StringAttr

from tritonx.dialects.tile import ElementwiseInlineAsmOp, ExternElementwiseOp
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.casts import CastSemantics
from tritonx.frontend.semantics.library import COMPOSED
from tritonx.frontend.semantics.storage import UnsupportedExtents
from tritonx.language.extra.libdevice_table import PREDICATES
from tritonx.language.extra.libdevice_table import overloads as generic_overloads
from tritonx.language.types.dtypes import dtype, int1
from tritonx.language.types.signatures import str_to_ty
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple as language_tuple
from tritonx.runtime.compiling.targets import extern_functions

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics

Overloads = Mapping[tuple[str, ...], tuple[str, str]]
"""Argument type names (``fp32``, ``int32``) → (symbol, result type name)."""


class ExternSemantics(CastSemantics):
    _extern_functions: Mapping[str, Overloads] | None = None

    def inline_asm_elementwise(
        self, asm: Any, constraints: Any, args: Sequence[Any], dtypes: Any, is_pure: Any, pack: Any
    ) -> tensor | language_tuple:
        """Assembly applied to ``pack`` elements of the broadcast ``args`` at a time; one result for each dtype in
        ``dtypes``.

        ``constraints`` are LLVM's. A single dtype gives a tensor, a sequence of them a tuple.
        """
        dtypes = unwrap(dtypes)
        single = isinstance(dtypes, dtype)
        results = [dtypes] if single else [unwrap(t) for t in dtypes]
        if (number := unwrap(pack)) < 1 or number & (number - 1):
            raise ValueError(f"pack must be a power of two, got {number}")
        values = self._broadcast_all([self.to_tensor(a) for a in args])
        shape = values[0].type.shape if values else ()
        pure = self._pure(is_pure, values)
        given = [self.copied(v) for v in values]
        types = [given[0].type.with_element_ty(t) for t in results] if given else results
        properties = {
            "asm_string": StringAttr(_text(asm, "asm")),
            "constraints": StringAttr(_text(constraints, "constraints")),
            "pure": BoolAttr.from_bool(pure),
            "packed_element": enum_attribute(unwrap(pack)),
        }
        made = [self.cropped(v, shape) for v in self.create(ElementwiseInlineAsmOp, given, types, properties)]
        return made[0] if single else language_tuple(made)

    def _pure(self, is_pure: object, values: Sequence[tensor]) -> bool:
        """Whether code has no effects; such as it has, it would have for the padding too."""
        pure = bool(unwrap(is_pure))
        if not pure and any(v.type.padded for v in values):
            raise UnsupportedExtents(f"code with effects has no blocks of {values[0].type.shape} (is_pure=False)")
        return pure

    def _broadcast_all(self, values: list[tensor]) -> list[tensor]:
        """All values at their common shape, types unchanged."""
        if len(values) < 2:
            return values
        common = values[0]
        for value in values[1:]:
            _, common = self.broadcast(value, common)
        return [self.broadcast(value, common)[0] for value in values]

    def extern_elementwise(
        self, lib_name: Any, lib_path: Any, args: Sequence[Any], symbols: Mapping[Any, Any], is_pure: Any
    ) -> tensor:
        """A function of a device library applied to each element of the broadcast ``args``.

        ``symbols``: argument dtypes → (symbol, result dtype). If no entry has the arguments' types, they are promoted
        to a common one first. ``ValueError`` with the known types where that does not help either.
        """
        values = self._library_operands(args, symbols)
        symbol, result = symbols[tuple([v.dtype for v in values])]
        properties = {
            "libname": StringAttr(unwrap(lib_name)),
            "libpath": StringAttr(unwrap(lib_path)),
            "symbol": StringAttr(unwrap(symbol)),
            "pure": BoolAttr.from_bool(pure := self._pure(is_pure, values)),
        }
        type_ = values[0].type.with_element_ty(unwrap(result))
        if pure:
            return self.emit(ExternElementwiseOp, values, type_, properties)
        return self.create(ExternElementwiseOp, values, (type_,), properties)[0]

    def _library_operands(self, args: Sequence[object], overloads: Mapping[Any, object]) -> list[tensor]:
        """``args`` at their common shape and in the types of an overload; see ``extern_elementwise``."""
        count = len(next(iter(overloads)))
        if len(args) != count:
            raise ValueError(f"length of input args does not match. Expect {count}, got {len(args)}")
        values = [self.to_tensor(a) for a in args]
        given = tuple([v.dtype for v in values])
        if given not in overloads and len(values) > 1:
            common = values[0]
            for value in values[1:]:
                _, common = self.binary_operands(value, common)
            values = [self.cast(v, common.dtype) for v in values]
            given = tuple([v.dtype for v in values])
        if given not in overloads:
            raise ValueError(f"input arg type does not match. Expect one of {[*overloads]}, got {given}")
        return self._broadcast_all(values)

    def extern_function(self, name: str, args: Sequence[object]) -> tensor:
        """``tl.extra.libdevice.<name>``: the target's own function of that name.

        The backend's table (``Backend.extern_functions``) says which symbol each overload is; a backend without a
        table gets the plain name as the symbol. A name that a table lacks is composed of other ops where it can be
        (``tritonx.frontend.semantics.library``), otherwise an ``AttributeError``.
        Results of predicates (``isnan``, ...) are int1, that of ``signbit`` is an int32 as in the library.
        """
        table = self.extern_functions()
        if table and name not in table:
            if name not in COMPOSED:
                raise AttributeError(f"module 'libdevice' of {self.target} has no attribute '{name}'")
            generic = {tuple(map(_type, types)): result for types, result in generic_overloads(name).items()}
            values = self._library_operands(args, generic)
            composed = COMPOSED[name](cast("Semantics", self), values)
            return self.cast(composed, _type(generic[tuple([v.dtype for v in values])]))
        overloads: Overloads
        overloads = (
            table[name] if table else {types: (name, result) for types, result in generic_overloads(name).items()}
        )
        symbols = {tuple(map(_type, types)): (symbol, _type(result)) for types, (symbol, result) in overloads.items()}
        result = self.extern_elementwise("", "", args, symbols, True)
        return self.cast(result, int1) if name in PREDICATES else result

    def extern_functions(self) -> Mapping[str, Overloads]:
        """The backend's table, looked up once; empty where no installed backend serves the target (the
        interpreter's).
        """
        if self._extern_functions is None:
            self._extern_functions = extern_functions(self.target)
        return self._extern_functions


def _type(name: Any) -> dtype:
    if isinstance(name, dtype):
        return name
    return dtype(name) if dtype.is_dtype(name) else str_to_ty(name)


def _text(value: object, what: str) -> str:
    value = unwrap(value)
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a compile-time string, got {value}")
    return value
