"""How the arrays of a case lie in memory, and how many programs share them out: a property that is drawn or crossed for
every case, whatever its kernel says.

The kernel is rewritten for it (``rearrange``). The arrays become parts of larger ones, and what lies between their
elements must be as it was afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tritonx.testing.conformance.case import Array, Case, Mismatch, Output, Trial, poison
from tritonx.testing.conformance.cover import Cover


@dataclass(frozen=True)
class Arrangement:
    """``stride``: elements between neighbours, negative where the arrays lie backwards. ``lead``: elements before an
    array. ``gap``: elements between the parts of neighbouring programs. ``programs``: how many share the arrays.
    ``masks``: masks lie in a layout of their own. ``warps``: instead of the case's, so that a thread holds another
    number of elements.
    """

    stride: int = 1
    lead: int = 0
    gap: int = 0
    programs: int = 1
    masks: bool = False
    warps: int | None = None

    def __str__(self) -> str:
        named = {"stride": self.stride, "lead": self.lead, "gap": self.gap, "programs": self.programs}
        words = [f"{name} {value}" for name, value in named.items()]
        words += ["masks apart"] if self.masks else []
        return ", ".join(words + ([f"{self.warps} warps"] if self.warps else []))

    def options(self, case: Case) -> dict[str, Any]:
        """The case's compile options with this one's warps, where the case may have them."""
        if self.warps is None or self.warps > case.max_warps or case.options.get("num_ctas", 1) > 1:
            return dict(case.options)
        return {**case.options, "num_warps": self.warps}


ARRANGEMENTS = (
    Arrangement(stride=2, programs=3, gap=1),
    Arrangement(stride=-1, lead=3, programs=2, warps=1),
    Arrangement(lead=1, masks=True, warps=2),
    Arrangement(stride=3, lead=5, gap=7, programs=2, masks=True),
    Arrangement(programs=4, gap=16, warps=8),
    Arrangement(stride=-2, gap=2, programs=2, masks=True, warps=4),
    Arrangement(lead=2, gap=3, programs=3, warps=1, masks=True),
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
    """An array argument in memory: ``memory`` holds the parts of all programs and what lies around them; ``view`` is
    where the kernel is told that its array begins.
    """

    memory: Array
    view: Array
    places: tuple[Array, ...]

    def part(self, program: int) -> Array:
        """What a program's part holds."""
        return self.memory[self.places[program]]


def place(parts: list[Array], arrangement: Arrangement) -> Placed:
    """The arrays (one for each program) of one argument, laid out."""
    count, step = parts[0].size, abs(arrangement.stride)
    pitch = pitch_of(count, arrangement)
    memory = poison(arrangement.lead + pitch * len(parts) + arrangement.lead, parts[0].dtype)
    places = [arrangement.lead + number * pitch + np.arange(count) * step for number in range(len(parts))]
    view = memory[arrangement.lead :]
    if arrangement.stride < 0:
        places = [memory.size - 1 - p for p in places]
        view = memory[: memory.size - arrangement.lead][::-1]
    for where, part in zip(places, parts, strict=True):
        memory[where] = part.reshape(-1)
    return Placed(memory, view, tuple(places))


def pitch_of(count: int, arrangement: Arrangement) -> int:
    """Elements from one program's part of an array of ``count`` elements to the next one's."""
    return count * abs(arrangement.stride) + arrangement.gap


@dataclass(frozen=True)
class Arranged:
    """A case in an arrangement: a trial for each program, the grid, and the arguments, ``Placed`` or numbers."""

    case: Case
    arrangement: Arrangement
    trials: tuple[Trial, ...]
    axis: int
    grid: tuple[int, int, int]
    args: tuple[Any, ...]

    @property
    def host_arguments(self) -> list[Any]:
        """What a launch takes, arrays as views of the host's memory."""
        return [a.view if isinstance(a, Placed) else a for a in self.args]

    def pitches(self, names: list[str]) -> tuple[int, ...]:
        """For each run-time parameter: elements between the parts of two programs, 0 for a number."""
        if self.arrangement.programs == 1:
            return ()
        sign = 1 if self.arrangement.stride > 0 else -1
        known = dict(zip(self.case.kernel.arg_names, self.args, strict=False))
        given = [known[name] for name in names]
        return tuple(sign * pitch_of(a.places[0].size, self.arrangement) if isinstance(a, Placed) else 0 for a in given)

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
                    raise Mismatch(f"program {number} changed an array that it only reads ({self.arrangement})")
            if _differ(after[between], before.memory[between]):
                raise Mismatch(f"the kernel wrote between the elements of argument {position} ({self.arrangement})")

    def _check_part(self, output: Output, got: Array, number: int) -> None:
        try:
            output.check(got)
        except Mismatch as problem:
            raise Mismatch(f"program {number} ({self.arrangement}): {problem}") from None


def _differ(a: Array, b: Array) -> bool:
    return np.ascontiguousarray(a).tobytes() != np.ascontiguousarray(b).tobytes()


def arrange(case: Case, arrangement: Arrangement, seed: int) -> Arranged | None:
    """The case's arguments in this arrangement; None where it takes something other than arrays and numbers, or needs
    all axes of the grid. (Where other inputs would change its numbers, all programs have the same.)
    """
    trials = [case.trial(seed + number) for number in range(arrangement.programs)]
    if any(_numbers(t) != _numbers(trials[0]) for t in trials):
        trials = [trials[0]] * arrangement.programs
    grid = [*trials[0].grid, 1, 1, 1][:3]
    axis = next((axis for axis in (2, 1, 0) if grid[axis] == 1), None)
    if axis is None or not all(isinstance(a, Output | np.ndarray | bool | int | float) for a in trials[0].args):
        return None
    grid[axis] = arrangement.programs
    args: list[Any] = []
    for position, given in enumerate(trials[0].args):
        if isinstance(given, bool | int | float):
            args.append(given)
            continue
        everyone = [t.args[position] for t in trials]
        args.append(place([a.buffer() if isinstance(a, Output) else a.copy() for a in everyone], arrangement))
    return Arranged(case, arrangement, tuple(trials), axis, (grid[0], grid[1], grid[2]), tuple(args))


def _numbers(trial: Trial) -> Any:
    """What must be the same for all programs of one launch."""
    arrays: list[Any] = [a.buffer() if isinstance(a, Output) else a for a in trial.args]
    shapes = [(a.size, str(cast(Array, a).dtype)) if isinstance(a, np.ndarray) else a for a in arrays]
    return shapes, dict(trial.constants), trial.grid
