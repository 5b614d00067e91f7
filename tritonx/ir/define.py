"""How tritonx declares an operation, and the fast way to create one.

`@define` replaces xDSL's `@irdl_op_definition`. The declaration reads the same (fields, traits), and besides

* `create` is installed in a version that builds the op directly: 2–3 µs instead of 7–19 µs an op, which dominates the
  time of a compile (an IR pass creates ops far more often than it does anything else with them);
* `op.lhs`, `op.mask`, ... read the operand tuple directly instead of going through a proxy object;
* `operandSegmentSizes` is filled in by `create` where the number of operands decides it, so that a caller writes
  `LoadOp.create(operands=(ptr, mask), ...)`;
* `FORMAT` (see `tritonx.ir.text.format`) is compiled on first use, not when the module is imported;
* `TYPES` states which types follow from others; parsing infers them from it and verification checks them by it.

This module and `tritonx.ir.text` are the only ones that touch xDSL's private fields. `tests/unit/ir/test_define.py`
compares what `create` builds with what xDSL's own `Operation.create` builds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, SSAValues, Use
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    OptionalDef,
    VariadicDef,
    irdl_op_definition,
)
from xdsl.irdl.operations import (
    AfterVariadicSingleAccessor,
    BeforeVariadicSingleAccessor,
    SameOptionalAccessor,
    UniqueVariadicAccessor,
    VarIRConstruct,
)
from xdsl.utils.exceptions import VerifyException

from tritonx.ir.declaration import SEGMENTS, TypeRules, sizes_of_segments
from tritonx.ir.metaclass_annotations import forget_empty

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

    from tritonx.ir.text.format import Format

OpT = TypeVar("OpT", bound=type[IRDLOperation])

_allocate = object.__new__


def create(
    cls: type[Operation],
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    location: LocationAttr | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> Any:
    """`Operation.create` without the generic machinery; see the module's docstring. Nothing is verified."""
    op: Any = _allocate(cls)
    uses: list[Any] = []
    index = 0
    for value in operands:
        use: Any = _allocate(Use)
        use._operation = op
        use._index = index
        index += 1
        first: Any = value.first_use
        use._prev_use = None
        use._next_use = first
        if first is not None:
            first._prev_use = use
        value.first_use = use
        uses.append(use)
    op._operands = SSAValues(operands)
    op._operand_uses = tuple(uses)
    results: list[Any] = []
    index = 0
    for type_ in result_types:
        result: Any = _allocate(OpResult)
        result.first_use = None
        result._name = None
        result._type = type_
        result.op = op
        result.index = index
        index += 1
        results.append(result)
    op.results = SSAValues(results)
    op.properties = dict(properties) if properties else {}
    op.attributes = dict(attributes) if attributes else {}
    op.location = UNKNOWN_LOC if location is None else location
    op.parent = op._next_op = op._prev_op = None
    op._successors = op._successor_uses = ()
    op.regions = ()
    if successors:
        op.successors = successors
    for region in regions:
        op.add_region(region)
    defaults: tuple[tuple[str, Attribute], ...] = op._default_properties
    for name, value in defaults:
        if name not in op.properties:
            op.properties[name] = value
    if op._has_segments and SEGMENTS not in op.properties:
        sizes = op.segment_sizes(len(op._operands))
        if sizes is not None:
            op.properties[SEGMENTS] = sizes_of_segments(sizes)
    return op


def append(block: Block, op: Operation) -> None:
    """`block.add_op(op)` without its walk up the ancestors; `op` must be detached and must not contain `block`."""
    tail: Any = block._last_op  # pyright: ignore[reportPrivateUsage] -- the fast path this module exists for
    node: Any = op
    owner: Any = block
    node._prev_op = tail
    if tail is None:
        owner._first_op = op
    else:
        tail._next_op = op
    owner._last_op = op
    op.parent = block


def default_segment_sizes(definition: OpDef) -> Callable[[int], tuple[int, ...] | None]:
    """How `n` operands split into the declared groups when only optional groups vary: they fill from the left."""
    required = [not isinstance(d, VariadicDef) for _, d in definition.operands]
    optional = sum(isinstance(d, OptionalDef) for _, d in definition.operands)
    decidable = all(r or isinstance(d, OptionalDef) for r, (_, d) in zip(required, definition.operands, strict=True))

    def sizes(count: int) -> tuple[int, ...] | None:
        spare = count - sum(required)
        if not decidable or spare < 0 or spare > optional:
            return None
        result: list[int] = []
        for need in required:
            if need:
                result.append(1)
            else:
                result.append(1 if spare > 0 else 0)
                spare -= 1
        return tuple(result)

    return sizes


def define(cls: OpT) -> OpT:
    """Class decorator that makes an op out of a declaration; see the module's docstring.

    Class attributes it reads, all optional:

    * `FORMAT`: the op's custom text, in the notation of `tritonx.ir.text.format`;
    * `TYPES`: `{"mask": ("ptr", mask_of)}` says that the type of `mask` is `mask_of(type of ptr)`;
    * `segment_sizes(cls, count)`: how `count` operands split into groups, where that is not "optional ones fill from
      the left".
    """
    rules = _derived_rules(cls)
    if rules:
        _check_rules_in_verifier(cls, rules)
    forget_empty(type(cls))
    cls = irdl_op_definition(cls)
    install(cls)
    return cls


def install(cls: type[IRDLOperation]) -> None:
    """Give an op class that xDSL has already defined the fast `create`, accessors and lazily compiled format."""
    definition = cls.get_irdl_definition()
    any_cls = cast(Any, cls)
    any_cls._default_properties = tuple(
        (name, d.default_value)
        for name, d in definition.properties.items()
        if d.default_value is not None and not isinstance(d, OptionalDef)
    )
    any_cls._has_segments = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    if any_cls._has_segments and "segment_sizes" not in cls.__dict__:
        any_cls.segment_sizes = staticmethod(default_segment_sizes(definition))
    any_cls.create = classmethod(create)
    _install_accessors(cls, [(name, d) for name, d in definition.operands], VarIRConstruct.OPERAND)
    _install_accessors(cls, [(name, d) for name, d in definition.results], VarIRConstruct.RESULT)
    _install_format(cls)


def _derived_rules(cls: type[IRDLOperation]) -> TypeRules:
    return cast(TypeRules, getattr(cls, "TYPES", {}))


def _check_rules_in_verifier(cls: type[IRDLOperation], rules: TypeRules) -> None:
    own: Callable[[IRDLOperation], None] | None = cls.verify_ if cls.verify_ is not IRDLOperation.verify_ else None
    # A base class that went through here before already checks its rules; only its own verifier is kept.
    own = getattr(own, "own_verifier", own)

    def verify_(self: IRDLOperation) -> None:
        for name, (source, rule) in rules.items():
            values, origins = _as_values(getattr(self, name)), _as_values(getattr(self, source))
            if len(origins) != len(values):
                origins = origins * len(values) if len(origins) == 1 else ()
            for value, origin in zip(values, origins, strict=False):
                expected = rule(origin.type)
                if value.type != expected:
                    because = f"because that of '{source}' is {origin.type}"
                    raise VerifyException(f"the type of '{name}' must be {expected}, {because}; it is {value.type}")
        if own is not None:
            own(self)

    cast(Any, verify_).own_verifier = own
    cast(Any, cls).verify_ = verify_


def _as_values(value: SSAValue | Sequence[SSAValue] | None) -> tuple[SSAValue, ...]:
    """One value, an absent one, or several, as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, SSAValue) else tuple(value)


def _install_accessors(
    cls: type[IRDLOperation], names: Sequence[tuple[str, object]], construct: VarIRConstruct
) -> None:
    for name, _ in names:
        accessor: object = next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)
        getter = _fast_getter(accessor, "_operands" if construct is VarIRConstruct.OPERAND else "results")
        if getter is not None:
            setattr(cls, name, property(getter))


def _fast_getter(accessor: object, field: str) -> Callable[[Any], Any] | None:
    index: int = getattr(accessor, "idx", 0)
    if isinstance(accessor, BeforeVariadicSingleAccessor):
        return (lambda op: op._operands[index]) if field == "_operands" else (lambda op: op.results[index])
    if isinstance(accessor, AfterVariadicSingleAccessor):
        back = index - accessor.num_defs
        return lambda op: getattr(op, field)[back]
    if isinstance(accessor, SameOptionalAccessor):
        full = accessor.num_defs

        def optional(op: Any) -> Any:
            values = getattr(op, field)
            return values[index] if len(values) == full else None

        return optional
    if isinstance(accessor, UniqueVariadicAccessor):
        others = accessor.num_defs - 1

        def variadic(op: object) -> Any:
            values = getattr(op, field)
            return values[index : index + len(values) - others]

        return variadic
    return None


def _install_format(cls: type[IRDLOperation]) -> None:
    text = getattr(cls, "FORMAT", None)
    if not isinstance(text, str):
        return
    any_cls = cast(Any, cls)

    def program() -> Format:
        from tritonx.ir.text.format import compile_format

        compiled = any_cls.__dict__.get("_compiled_format")
        if compiled is None:
            compiled = any_cls._compiled_format = compile_format(cls, text)
        return compiled

    def parse(_: type[IRDLOperation], parser: Parser) -> IRDLOperation:
        return program().parse(parser)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    any_cls.parse = classmethod(parse)
    any_cls.print = print_
