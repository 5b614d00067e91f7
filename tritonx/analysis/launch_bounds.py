"""Which scalars of a kernel a launch can bound: those made of its arguments, of the numbers of its programs and of the
counters of its loops.

    pid = tl.program_id(0)                           0 to grid - 1
    rows = min(cdiv(M, 128) - pid // n * 8, 8)       cdiv(M, 128) - (grid - 1) // n * 8, or 8, to 8
    pid_n = pid % n // rows                          0 to n - 1, if that is 1 or more

What a pass needs to know of a scalar and the source does not say, the launch finds out for its arguments and its grid,
by interval arithmetic (`tritonx.analysis.launch_ranges`): the pass puts a `Question` on the kernel."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tritonx.analysis.axis_info import NEGATIVE
from tritonx.analysis.launch_ranges import ranges
from tritonx.analysis.launch_values import ADDRESS_BITS, RULES, Formula, Step, launch_values, scalar_bits
from tritonx.analysis.polynomials import Polynomial, atom
from tritonx.analysis.tile_indices import Indices, Round, Trips, scalar_of
from tritonx.dialects import scf, tile
from tritonx.ir.data_flow import sources_first
from tritonx.ir.fold.constants import constant_of
from tritonx.ir.types import i64, type_of

ASKED = "tt.asked_at_launch"
"""On a kernel: the questions that its launch answers before it makes the tensor maps of what was pointers."""

USUAL = 1 << 12
"""An argument of a usual launch. A question whose answer is no even there is not worth asking."""

Ordered = Callable[[Iterable[Polynomial]], list[Polynomial]]
"""Puts polynomials into an order that does not change from run to run."""


@dataclass(frozen=True)
class Question:
    """Whether the steps at ``from_zero`` are 0 or above in every program of a launch."""

    steps: tuple[Step, ...]
    from_zero: tuple[int, ...]

    def holds(self, arguments: Mapping[int, int], grid: Sequence[int]) -> bool:
        """Whether that is known, for the kernel's arguments by their numbers and the programs along x, y and z."""
        found = ranges(self.steps, arguments, grid)
        return all(found[place][0] >= 0 for place in self.from_zero)

    def to_attribute(self) -> DictionaryAttr:
        steps = [ArrayAttr([StringAttr(str(name)), _array(map(int, numbers))]) for name, *numbers in self.steps]
        return DictionaryAttr({"from_zero": _array(self.from_zero), "steps": ArrayAttr(steps)})

    @staticmethod
    def from_attribute(attribute: Attribute) -> Question:
        assert isinstance(attribute, DictionaryAttr)
        listed = cast("ArrayAttr[Attribute]", attribute.data["steps"])
        return Question(tuple(map(_step, listed)), _numbers(attribute.data["from_zero"]))


def questions_of(function: tile.FuncOp) -> list[Question]:
    """What the launch of a kernel is asked."""
    if ASKED not in function.attributes:
        return []
    return list(map(Question.from_attribute, cast("ArrayAttr[Attribute]", function.attributes[ASKED])))


def ask(function: tile.FuncOp, question: Question) -> None:
    """Asks the launch of a kernel, beside what it is asked already."""
    asked = [*questions_of(function), question]
    function.attributes[ASKED] = ArrayAttr([each.to_attribute() for each in asked])


def _array(numbers: Iterable[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, [*numbers])


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    assert isinstance(attribute, DenseArrayBase)
    return tuple(int(number) for number in attribute.get_values())


def _step(attribute: Attribute) -> Step:
    name, numbers = cast("ArrayAttr[Attribute]", attribute)
    assert isinstance(name, StringAttr)
    return name.data, *_numbers(numbers)


def atoms_in_order(numbers: Iterable[Polynomial], ordered: Ordered) -> list[Hashable]:
    """What polynomials are of."""
    every = {each for number in numbers for each in number.atoms()}
    return [single for each in ordered(map(atom, every)) for single in each.atoms()]


class LaunchBounds:
    """Of a kernel's scalars, those that its launch can bound; `values` are those that it can compute."""

    def __init__(self, function: tile.FuncOp, indices: Indices, ordered: Ordered) -> None:
        self.values = launch_values(function)
        self._function = function
        self._indices = indices
        self._ordered = ordered
        self._made: dict[Hashable, Formula | Polynomial | None] = {}
        """How a scalar or an iteration number is made of others; None where a launch cannot bound it."""

    def question(self, wanted: Iterable[Polynomial]) -> Question | None:
        """Whether these are 0 or above; None where a launch cannot bound one of them."""
        numbers = self._ordered(wanted)
        atoms = atoms_in_order(numbers, self._ordered)
        for each in sources_first(atoms, self._sources):
            self._make(each)
        if any(self._made[each] is None for each in atoms):
            return None
        steps = _Steps(self._ordered)
        for each in sources_first(atoms, self._sources):
            made = self._made[each]
            assert made is not None, "what is bounded is made of what is"
            steps.add(each, made)
        from_zero = tuple(map(steps.polynomial, numbers))
        return Question(tuple(steps.listed), from_zero)

    def is_usual(self, question: Question) -> bool:
        """Whether the answer is yes in a launch of one program for arguments of a usual size."""
        attributes = self._function.arg_attrs.data if self._function.arg_attrs is not None else ()
        arguments: dict[int, int] = {}
        for name, bits, *rest in question.steps:
            if name == "argument":
                number, size = int(rest[0]), min(USUAL, (1 << (int(bits) - 1)) - 1)
                is_negative = number < len(attributes) and NEGATIVE in attributes[number].data
                arguments[number] = -size if is_negative else size
        return question.holds(arguments, (1, 1, 1))

    def _sources(self, node: Hashable) -> Sequence[Hashable]:
        made = self._made[node] if node in self._made else self._found(node)
        if isinstance(made, Polynomial):
            return atoms_in_order([made], self._ordered)
        return () if made is None else made.operands

    def _make(self, node: Hashable) -> None:
        """Behind its sources: of one that cannot be bounded nothing can, unless it is known not to be below 0."""
        if node in self._made:
            return
        made = self._found(node)
        if made is None or any(self._made.get(each) is None for each in self._sources(node)):
            value = scalar_of(node)
            is_natural = value is not None and self._indices.facts.of(value).non_negative
            bits = scalar_bits(type_of(value)) if value is not None and is_natural else 0
            made = Formula("natural", bits) if bits > 1 else None
        self._made[node] = made

    def _found(self, node: Hashable) -> Formula | Polynomial | None:
        if isinstance(node, Round | Trips):
            return _counted("rounds" if isinstance(node, Round) else "trips", ADDRESS_BITS, node.loop)
        value = scalar_of(node)
        assert value is not None, "the others are numbers of rounds"
        bits = scalar_bits(type_of(value))
        if not bits:
            return None
        constant = constant_of(value)
        if constant is not None:
            return Formula("constant", bits, numbers=(int(constant),))
        if isinstance(value, BlockArgument):
            return self._argument(value, bits) or self._carried(value)
        assert isinstance(value, OpResult)
        return self._result(value, value.op, bits)

    def _argument(self, argument: BlockArgument, bits: int) -> Formula | None:
        around = argument.block.parent_op()
        if around is self._function:
            return Formula("argument", bits, numbers=(argument.index,))
        if isinstance(around, scf.ForOp) and argument is around.body.block.args[0]:
            return _counted("counter", bits, around)
        return None

    def _result(self, result: OpResult, op: Operation, bits: int) -> Formula | Polynomial | None:
        match op:
            case tile.GetProgramIdOp() | tile.GetNumProgramsOp():
                name = "program_id" if isinstance(op, tile.GetProgramIdOp) else "num_programs"
                return Formula(name, bits, numbers=(op.axis.value.data,))
            case scf.ForOp():
                return self._carried(result)
            case scf.IfOp():
                ends = [_last(region.block) for region in op.regions if region.blocks]
                chosen = [end.operands[result.index] for end in ends]
                return Formula("select", bits, (op.cond, *chosen)) if len(chosen) == 2 else None
            case _:
                rule = RULES.get(type(op))
                return None if rule is None else rule(op, bits)

    def _carried(self, value: SSAValue) -> Polynomial | None:
        """A loop-carried value to which the same is added in each iteration."""
        found = self._indices.of(value)
        return None if found == atom(value) else found


def _last(block: Block) -> Operation:
    assert block.last_op is not None, "a branch with results yields"
    return block.last_op


def _counted(name: str, bits: int, loop: scf.ForOp) -> Formula | None:
    return Formula(name, bits, (loop.lb, loop.ub, loop.step)) if loop.unsigned is None else None


class _Steps:
    """Steps being written, each behind those that it names."""

    def __init__(self, ordered: Ordered) -> None:
        self.listed: list[Step] = []
        self._ordered = ordered
        self._places: dict[Hashable, int] = {}

    def add(self, node: Hashable, made: Formula | Polynomial) -> None:
        """What the steps behind may name."""
        if isinstance(made, Polynomial):
            value = scalar_of(node)
            assert value is not None, "numbers of rounds are no polynomials"
            place = self._step("trunci", scalar_bits(type_of(value)), self.polynomial(made), ADDRESS_BITS)
        else:
            places = [self._places[each] for each in made.operands]
            place = self._step(made.name, made.bits, *places, *made.numbers)
        self._places[node] = place

    def polynomial(self, number: Polynomial) -> int:
        """The step that gives it."""
        terms = [self._term(each) for each in self._ordered(number.each())]
        total = terms[0] if terms else self._step("constant", ADDRESS_BITS, 0)
        for term in terms[1:]:
            total = self._step("addi", ADDRESS_BITS, total, term)
        return total

    def _term(self, term: Polynomial) -> int:
        ((monomial, factor),) = term.terms
        exponents = dict(monomial)
        atoms = atoms_in_order([term], self._ordered)
        places = [self._places[each] for each in atoms for _ in range(exponents[each])]
        if factor != 1 or not places:
            places.append(self._step("constant", ADDRESS_BITS, factor))
        product = places[0]
        for place in places[1:]:
            product = self._step("muli", ADDRESS_BITS, product, place)
        return product

    def _step(self, name: str, bits: int, *numbers: int) -> int:
        self.listed.append((name, bits, *numbers))
        return len(self.listed) - 1
