"""A builder that runs every op the moment it is made: what the interpreter puts under the language in place of the
compiler's.

The language's semantics builds ops through a builder and passes handles on without looking inside. Under
`EagerBuilder` a handle is an `EagerValue`: an SSA value that no op defines and that carries its data. An op is
created (so that its meaning can read its attributes), run, and forgotten; one without regions is created once a launch
and bound, and run again for others of its kind. Nothing folds and nothing is merged, so the program does what its lines
say.

Regions. The combine function of a reduction is Python code too, and stays that: `python_region` makes a block stand
for a Python function on arrays, and the meaning of the op that holds the block calls it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import IsTerminator

from tritonx.dialects.arith import ConstantOp
from tritonx.interpreter.errors import UnsupportedInInterpreter
from tritonx.interpreter.execution import Execution, Function, LaneFunction
from tritonx.interpreter.meanings import meaning_of
from tritonx.interpreter.values import Value
from tritonx.ir.builder import Builder
from tritonx.ir.fold import attribute_for
from tritonx.kernel.identity import identity

OpT = TypeVar("OpT", bound=Operation)


class EagerValue(SSAValue[Attribute]):
    """A handle with its data: `type` is the IR type, `data` an ndarray, a NumPy scalar or a descriptor."""

    __slots__ = ("data",)

    def __init__(self, type_: Attribute, data: Value) -> None:
        self._type = type_
        self.data = data
        self.first_use = None
        self._name = None

    @property
    def owner(self) -> Operation | Block:
        """A block without ops: nothing can be learnt from who made the value."""
        return _NOWHERE

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


_NOWHERE = Block()


def _values(returned: Value) -> tuple[Value, ...]:
    """What a meaning's function returned, as a tuple of all results."""
    return cast(tuple[Value, ...], returned) if type(returned) is tuple else (returned,)


KINDS_KEPT = 1024
"""A builder keeps so many bound ops and constants."""


@dataclass(frozen=True, slots=True)
class _Known:
    """An op that was bound before, which is told by the objects that are its types and properties. It keeps them, so
    that their addresses stay theirs."""

    function: Function
    objects: tuple[object, ...]


class EagerBuilder(Builder):
    """The interface of `ir.builder.Builder`; every op runs on `execution` when it is made. It is also the meanings'
    binder."""

    def __init__(self, execution: Execution) -> None:
        super().__init__(_NOWHERE)
        self.execution = execution
        self._python_regions: dict[Block, LaneFunction] = {}
        self._known: dict[tuple[object, ...], _Known] = {}
        self._constants: dict[tuple[object, ...], EagerValue] = {}

    # As a builder.

    @contextmanager
    def at(self, block: Block, *, nested: bool = False) -> Generator[Builder]:
        """There is no insertion point: the ops inside run at once, in place."""
        yield self

    def create(
        self,
        cls: type[OpT],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
        successors: Sequence[Block] = (),
    ) -> OpT:
        """The op, after it ran; its results are `EagerValue`s."""
        op = cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties or {},
            attributes=attributes or {},
            regions=regions,
            successors=successors,
        )
        if op.has_trait(IsTerminator):
            return op
        values = self._run(op)
        cast(Any, op).results = tuple(
            [EagerValue(type_, value) for type_, value in zip(result_types, values, strict=True)]
        )
        return op

    def insert(self, op: OpT) -> OpT:
        raise UnsupportedInInterpreter(f"'{op.name}' was made without running it")

    def emit(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        return self.multi(cls, operands, result_types, properties)[0]

    def multi(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> tuple[SSAValue, ...]:
        types = [operand.type for operand in operands]
        given = () if properties is None else properties.items()
        names, values = [name for name, _ in given], [value for _, value in given]
        key = (cls, *map(id, types), None, *map(id, result_types), *names, *map(id, values))
        known = self._known.get(key)
        if known is None:
            known = self._remember(key, cls, types, result_types, properties)
        made: Value = known.function(*[operand.data for operand in cast(Sequence[EagerValue], operands)])
        if len(result_types) == 1:
            return (EagerValue(result_types[0], _values(made)[0]),)
        return tuple([EagerValue(type_, value) for type_, value in zip(result_types, _values(made), strict=True)])

    def _remember(
        self,
        key: tuple[object, ...],
        cls: type[Operation],
        types: Sequence[Attribute],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None,
    ) -> _Known:
        """Bind an op of this kind; its operands are stand-ins without data."""
        operands = [EagerValue(type_, None) for type_ in types]
        op = cls.create(operands=operands, result_types=result_types, properties=properties or {})
        if len(self._known) >= KINDS_KEPT:
            self._known.clear()
        known = self._known[key] = _Known(self._bind(op), (types, result_types, properties))
        return known

    def constant(self, value: int | float | bool, type: Attribute) -> SSAValue:
        key = (identity(value), id(type))
        known = self._constants.get(key)
        if known is None:
            made = cast(EagerValue, self.emit(ConstantOp, (), (type,), {"value": attribute_for(value, type)}))
            if len(self._constants) >= KINDS_KEPT:
                self._constants.clear()
            known = self._constants[key] = made
        return EagerValue(type, known.data)

    # As a binder.

    def region(self, region: Region) -> Function:
        raise UnsupportedInInterpreter("control flow is Python's own where a kernel runs line by line")

    def lanewise(self, region: Region) -> LaneFunction:
        block = region.blocks.first
        function = None if block is None else self._python_regions.pop(block, None)
        return LaneFunction(self.region(region)) if function is None else function

    def function(self, name: str) -> Function:
        raise UnsupportedInInterpreter(f"@{name}: functions are Python's own where a kernel runs line by line")

    def python_region(self, block: Block, function: LaneFunction) -> None:
        """Let `block`, which an op made next will hold, mean `function` on arrays of lanes."""
        self._python_regions[block] = function

    def _bind(self, op: Operation) -> Function:
        meaning = meaning_of(type(op))
        if meaning is None:
            raise UnsupportedInInterpreter(f"the interpreter has no meaning for '{op.name}'")
        return meaning(op, self)

    def _run(self, op: Operation) -> tuple[object, ...]:
        operands = cast(Sequence[EagerValue], op.operands)
        value = self._bind(op)(*[operand.data for operand in operands])
        for operand in operands:  # the op is done: its uses would keep it, and all before it, alive
            operand.first_use = None
        if len(op.results) == 0:
            return ()
        return _values(value)
