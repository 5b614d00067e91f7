"""How the arrays of a case lie in memory, and how many programs share them out: a property that is drawn or crossed for
every case, whatever its kernel says.

The kernel is rewritten for it (``rearrange``). The arrays become parts of larger ones, each in a way of its own, and
what lies between their elements must be as it was afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from tritonx_testing.conformance.case import Array, Case, Mismatch, Output, Trial, poison
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.pointer_groups import Parameter, Use
from tritonx_testing.conformance.strides import ONE_STRIDE, TWO_STRIDES, WAYS, Kind, Placement, draw


@dataclass(frozen=True)
class Arrangement:
    """``ways``: those of ``strides`` that every array draws one of. ``programs``: how many share the arrays, where the
    kernel leaves them an axis of the grid. ``masks``: masks lie in a layout of their own. ``warps``: instead of the
    case's, so that a thread holds another number of elements.
    """

    ways: tuple[str, ...] = WAYS
    programs: int = 1
    masks: bool = False
    warps: int | None = None

    def __str__(self) -> str:
        words = ["any way" if self.ways == WAYS else " or ".join(self.ways), f"programs {self.programs}"]
        words += ["masks apart"] if self.masks else []
        return ", ".join(words + ([f"{self.warps} warps"] if self.warps else []))

    def options(self, case: Case) -> dict[str, Any]:
        """The case's compile options with this one's warps, where the case may have them."""
        if self.warps is None or self.warps > case.max_warps or case.options.get("num_ctas", 1) > 1:
            return dict(case.options)
        return {**case.options, "num_warps": self.warps}


ARRANGEMENTS = (
    Arrangement(programs=3),
    Arrangement(TWO_STRIDES, programs=2, warps=1),
    Arrangement(ONE_STRIDE, masks=True, warps=2),
    Arrangement(programs=2, masks=True),
    Arrangement(("contiguous",), programs=4, warps=8),
    Arrangement(TWO_STRIDES, programs=2, masks=True, warps=4),
    Arrangement(programs=3, warps=1, masks=True),
)
"""Those that cases are tried in: every property, alone and with others."""


SEPARATOR = "@"
"""Between a case's name and the number of an arrangement."""


def arranged_names(cases: Sequence[Case], seed: int, cover: Cover) -> list[str]:
    """Every case in the arrangement that the seed draws for it, or in all, as names with the arrangement's number."""
    numbers = range(len(ARRANGEMENTS))
    made: list[str] = []
    for case in cases:
        rng = np.random.default_rng([seed, *b"arrangement", *case.name.encode()])
        drawn = int(rng.integers(len(ARRANGEMENTS)))
        made += [f"{case.name}{SEPARATOR}{number}" for number in cover.choose([drawn], list(numbers))]
    return made


def parted(name: str) -> tuple[str, Arrangement | None]:
    """A case's own name, and the arrangement that the name asks for."""
    case, _, number = name.partition(SEPARATOR)
    return case, ARRANGEMENTS[int(number)] if number else None


@dataclass(frozen=True)
class Placed:
    """An array argument in memory: ``memory`` holds the parts of all programs and what lies around them, ``places``
    says where each program's elements are, ``start`` where the kernel is told that its array begins; it is ``pitch``
    elements from there to the next program's.
    """

    placement: Placement
    memory: Array
    start: int
    pitch: int
    places: tuple[Array, ...]

    @property
    def view(self) -> Array:
        """The memory from the array's beginning on."""
        return self.memory[self.start :]

    def part(self, program: int) -> Array:
        """What a program's part holds."""
        return self.memory[self.places[program]]


def place(parts: list[Array], placement: Placement) -> Placed:
    """The arrays (one for each program) of one argument, laid out."""
    offsets = placement.strides.of(np.arange(parts[0].size))
    low, high = int(offsets.min(initial=0)), int(offsets.max(initial=0))
    pitch = high + 1 - low + placement.gap
    pitch += -pitch % placement.unit
    memory = poison(placement.lead + pitch * len(parts) + placement.lead, parts[0].dtype)
    numbers = range(len(parts))
    starts = [placement.lead - low + pitch * n for n in (reversed(numbers) if placement.downward else numbers)]
    places = tuple(start + offsets for start in starts)
    for where, part in zip(places, parts, strict=True):
        memory[where] = part.reshape(-1)
    return Placed(placement, memory, starts[0], -pitch if placement.downward else pitch, places)


@dataclass(frozen=True)
class Arranged:
    """A case in an arrangement: a trial for each program along ``axis``, the grid, and the arguments, ``Placed`` or
    numbers."""

    case: Case
    arrangement: Arrangement
    trials: tuple[Trial, ...]
    axis: int | None
    grid: tuple[int, int, int]
    args: tuple[Any, ...]

    @property
    def host_arguments(self) -> list[Any]:
        """What a launch takes, arrays as views of the host's memory."""
        return [a.view if isinstance(a, Placed) else a for a in self.args]

    def placed(self, names: Sequence[str]) -> list[Placed | None]:
        """For each run-time parameter: its array, None for a number."""
        known = dict(zip(self.case.kernel.arg_names, self.args, strict=False))
        return [known[name] if isinstance(known[name], Placed) else None for name in names]

    @property
    def description(self) -> str:
        """The arrangement and every array's placement."""
        named = zip(self.case.kernel.arg_names, self.args, strict=False)
        return "; ".join([str(self.arrangement), *(f"{n}: {a.placement}" for n, a in named if isinstance(a, Placed))])

    def check(self, memories: list[Array]) -> None:
        """What the launch left in the memory of the array arguments, in order. Raises ``Mismatch``."""
        placed = [(i, a) for i, a in enumerate(self.args) if isinstance(a, Placed)]
        for (position, before), after in zip(placed, memories, strict=True):
            between = np.ones(after.size, np.bool_)
            for number, trial in enumerate(self.trials):
                between[before.places[number]] = False
                given = trial.args[position]
                if isinstance(given, Output):
                    self._check_part(given, after[before.places[number]], number)
                elif _differ(after[before.places[number]], before.part(number)):
                    raise Mismatch(f"program {number} changed an array that it only reads ({self.description})")
            if _differ(after[between], before.memory[between]):
                raise Mismatch(f"the kernel wrote between the elements of argument {position} ({self.description})")

    def _check_part(self, output: Output, got: Array, number: int) -> None:
        try:
            output.check(got)
        except Mismatch as problem:
            raise Mismatch(f"program {number} ({self.description}): {problem}") from None


def _differ(a: Array, b: Array) -> bool:
    return np.ascontiguousarray(a).tobytes() != np.ascontiguousarray(b).tobytes()


def arrange(
    case: Case, arrangement: Arrangement, seed: int, parameters: Mapping[str, Parameter], axis: int | None
) -> Arranged | None:
    """The case's arguments in this arrangement, for a kernel that does so with its ``parameters`` and leaves ``axis``
    of the grid to several programs (None: it leaves none). None where the case takes something other than arrays and
    numbers. (Where other inputs would change its numbers, all programs have the same.)
    """
    trials = [case.trial(seed + number) for number in range(1 if axis is None else arrangement.programs)]
    if any(_numbers(t) != _numbers(trials[0]) for t in trials):
        trials = [trials[0]] * len(trials)
    if not all(isinstance(a, Output | np.ndarray | bool | int | float) for a in trials[0].args):
        return None
    grid = [*trials[0].grid, 1, 1, 1][:3]
    if axis is not None:
        grid[axis] = len(trials)
    rng = np.random.default_rng([seed, *f"{case.name} {arrangement}".encode()])
    drawn: dict[str, Placement] = {}
    args: list[Any] = []
    for name, everyone in zip(case.kernel.arg_names, zip(*(t.args for t in trials), strict=True), strict=False):
        given = everyone[0]
        if isinstance(given, bool | int | float):
            args.append(given)
            continue
        parts: list[Array] = [a.buffer() if isinstance(a, Output) else a.copy() for a in everyone]
        known = parameters.get(name, Parameter())
        drawn[name] = own = draw(rng, _kind(given, parts[0], known), arrangement.ways)
        if known.leader is not None:
            own = replace(own, strides=drawn[known.leader].strides)
        args.append(place(parts, own))
    return Arranged(case, arrangement, tuple(trials), axis, (grid[0], grid[1], grid[2]), tuple(args))


def _kind(given: Output | Array, part: Array, known: Parameter) -> Kind:
    """An array that is given in rows has those; a block pointer's are those that it steps by."""
    shape = given.parts[0].expected.shape if isinstance(given, Output) else given.shape
    columns = known.columns
    if known.use == Use.ELEMENTS and len(shape) > 1 and 1 < shape[-1] < part.size:
        columns = int(shape[-1])
    return Kind(part.size, part.itemsize, columns, known.use)


def _numbers(trial: Trial) -> Any:
    """What must be the same for all programs of one launch."""
    arrays: list[Any] = [a.buffer() if isinstance(a, Output) else a for a in trial.args]
    shapes = [(a.size, str(cast(Array, a).dtype)) if isinstance(a, np.ndarray) else a for a in arrays]
    return shapes, dict(trial.constants), trial.grid
