"""Deriving our op classes from xDSL's: the same operation, but with fast creation, MLIR's text and tensors where MLIR
has them.

xDSL's `arith.cmpi`, `arith.select`, most conversions and a few others reject tensors, and its folding patterns assume
scalars (`cmpi eq, %t, %t` on tensors folds to a scalar). `@derive` makes a subclass, so that `isinstance(op,
arith.AddiOp)` still holds in xDSL's own passes, with a definition of its own: operand and result types are free, a
check that we give decides what is valid, and the canonicalisation patterns are dropped.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from xdsl.ir import OpTraits
from xdsl.irdl import AnyAttr, IRDLOperation, OpDef, PropertyDef, RangeOf
from xdsl.irdl.operations import get_accessors_from_op_def
from xdsl.traits import HasCanonicalizationPatternsTrait, OpTrait

from tritonx.ir.define import install

OpT = TypeVar("OpT", bound=type[IRDLOperation])


def derive(
    *,
    check: Callable[[Any], None] | None = None,
    properties: Mapping[str, PropertyDef] | None = None,
    traits: tuple[OpTrait, ...] = (),
    any_types: bool = True,
) -> Callable[[OpT], OpT]:
    """Class decorator for a direct subclass of an op that xDSL defines.

    Args:
        check: verifies an op, after the structure has been; raises `VerifyException`.
        properties: definitions to add, or to put in the place of xDSL's, by the name in the IR.
        traits: traits to add.
        any_types: whether the constraints on the types of operands and results are lifted.
    """

    def decorate(cls: OpT) -> OpT:
        base = cast(type[IRDLOperation], cls.__bases__[0])
        definition = _patched(base.get_irdl_definition(), properties or {}, traits, any_types)
        own = set(cls.__dict__)
        for name, value in get_accessors_from_op_def(definition, check).items():
            if name not in own:
                setattr(cls, name, value)
        install(cls)
        return cls

    return decorate


def _patched(base: OpDef, properties: Mapping[str, PropertyDef], traits: tuple[OpTrait, ...], any_types: bool) -> OpDef:
    definition = copy.copy(base)
    definition.assembly_format = None
    if any_types:
        definition.operands = [(name, _anything(d)) for name, d in base.operands]
        definition.results = [(name, _anything(d)) for name, d in base.results]
    definition.properties = {**base.properties, **properties}
    known = {name for name, _ in base.accessor_names.values()}
    definition.accessor_names = {
        **base.accessor_names,
        **{name: (name, "property") for name in properties if name not in known},
    }
    inherited = base.traits

    def generate() -> tuple[OpTrait, ...]:
        kept = tuple(t for t in inherited.traits if not isinstance(t, HasCanonicalizationPatternsTrait))
        return (*kept, *(t for t in traits if t not in kept))

    definition.traits = OpTraits(generate)
    return definition


def _anything(definition: Any) -> Any:
    """An operand or result definition of the same kind (single, optional, variadic) that takes any type."""
    single = type(definition).__name__ in ("OperandDef", "ResultDef")
    return type(definition)(AnyAttr() if single else RangeOf(AnyAttr()))
