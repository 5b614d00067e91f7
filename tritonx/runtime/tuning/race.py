"""Which of several configurations is fastest, told with few measurements.

What a measurement says is uncertain: kernels wait for clocks, caches and each other. So a configuration's time is its
median, and what is known of the median after n measurements is an interval between two of the sorted measurements: the
median lies outside the smallest and the largest of n with probability 2^(1-n), outside the next two with what the
binomial distribution says, whatever the measurements' distribution is (H. A. David, Order Statistics, 1981, 7.1).

The race goes in two parts. A configuration *enters* when its compile is done: it is measured a few times, and is out if
it is clearly slower than the best so far (its interval lies above the best's, by a margin, because they were not
measured in the same moment). When all are there, *rounds* follow: those that are left are measured by turns, twice as
often in each round; who is clearly slower is out, and of the others no more than the better half goes on, except that
none is dropped for a hundredth. The last one wins, or the best when each has had its time.

Nothing here knows a device or a clock: ``measure`` is given.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Generic, TypeVar

from tritonx.runtime.devices.benchmark import quantile

C = TypeVar("C", bound=Hashable)

Measure = Callable[[C, int], Sequence[float]]
"""(configuration, number of runs) → milliseconds of each."""

QUANTILES = (0.5, 0.2, 0.8)
"""Of a configuration's times, compared in this order."""

FAILED = (math.inf,) * len(QUANTILES)
"""The times of a configuration that cannot run."""


@dataclass(frozen=True)
class Rules:
    """``budget`` is the milliseconds of runs that a configuration gets at most, in the race's rounds."""

    first: int = 5
    """Measurements of a configuration that enters."""
    slow: float = 5.0
    """Milliseconds from which ``first_of_slow`` are enough."""
    first_of_slow: int = 3
    hopeless: float = 2.0
    """Two measurements so many times the best's time are enough; one may have been held up."""
    sure: float = 1.05
    """The best's interval should be no wider than this, since all others are compared with it; up to three times as
    many measurements make it so where something was in the way of one."""
    margin: float = 1.1
    """By how much an entering configuration must be slower than the best to be out."""
    confidence: float = 0.95
    near: float = 1.01
    """Within this none is dropped before the end."""
    round: int = 10
    """Measurements of the first round; each has twice as many as the one before."""
    most: int = 160
    """Measurements in one round at most."""
    budget: float = 100.0


@dataclass
class Runner(Generic[C]):
    """A configuration in the race. ``entered`` and ``rounds`` are its measurements in the two parts."""

    config: C
    entered: list[float] = field(default_factory=list[float])
    rounds: list[float] = field(default_factory=list[float])
    against: float | None = None
    """The median of the best when this one went out."""

    @property
    def out(self) -> bool:
        return self.against is not None

    @property
    def times(self) -> list[float]:
        """What counts: the rounds, in which all were measured by turns, where it came to them."""
        return self.rounds or self.entered

    @property
    def runs(self) -> int:
        return len(self.entered) + len(self.rounds)

    @property
    def median(self) -> float:
        return statistics.median(self.times)


@cache
def rank(count: int, confidence: float) -> int:
    """The k for which the k-th smallest and the k-th largest of ``count`` measurements hold the median with
    ``confidence``; 1 where even the extremes do not."""
    outside, k = 0.0, 0
    while k < count // 2:
        outside += 2 * math.comb(count, k) / 2**count
        if outside > 1 - confidence:
            break
        k += 1
    return max(k, 1)


def interval(times: Sequence[float], confidence: float) -> tuple[float, float]:
    """Between which values the median is."""
    ordered = sorted(times)
    k = rank(len(ordered), confidence)
    return ordered[k - 1], ordered[-k]


RULES = Rules()


class Race(Generic[C]):
    """One search."""

    def __init__(self, measure: Measure[C], rules: Rules = RULES) -> None:
        self._measure = measure
        self._rules = rules
        self.runners: dict[C, Runner[C]] = {}

    @property
    def left(self) -> list[Runner[C]]:
        """Who is still in the race, in the order of entering."""
        return [runner for runner in self.runners.values() if not runner.out]

    def best(self) -> Runner[C] | None:
        return min(self.left, key=lambda r: r.median, default=None)

    # The first part ------------------------------------------------------------------------------------------------

    def enter(self, config: C, known: Sequence[float] = ()) -> Runner[C]:
        """Measure a configuration that is ready. ``known`` are times of an earlier search. Raises what measuring it
        raises."""
        rules, best = self._rules, self.best()
        times = [*known] or [*self._measure(config, 2)]
        limit = math.inf if best is None else rules.hopeless * interval(best.times, rules.confidence)[1]
        runner = self.runners[config] = Runner(config, times)
        if min(times) <= limit:
            wanted = rules.first_of_slow if min(times) > rules.slow else rules.first
            self._until(runner, wanted)
            if best is None or runner.median < best.median:
                self._until(runner, 2 * wanted, rules.sure)
                self._until(runner, 3 * wanted, rules.sure)
        if best is not None and (min(times) > limit or self._slower(runner, best, rules.margin)):
            runner.against = best.median
        elif best is not None and self._slower(best, runner, rules.margin):
            best.against = runner.median
        return runner

    def _until(self, runner: Runner[C], wanted: int, sure: float = 1.0) -> None:
        """Measure until there are so many times, or their interval is narrow enough."""
        low, high = interval(runner.entered, self._rules.confidence)
        if len(runner.entered) < wanted and (len(runner.entered) < self._rules.first_of_slow or high > sure * low):
            runner.entered += self._measure(runner.config, wanted - len(runner.entered))

    def _slower(self, one: Runner[C], other: Runner[C], margin: float = 1.0) -> bool:
        confidence = self._rules.confidence
        return interval(one.times, confidence)[0] > margin * interval(other.times, confidence)[1]

    # The second part -----------------------------------------------------------------------------------------------

    def rounds(self, tell: Callable[[int, float], None] = lambda left, best: None) -> None:
        """Measure those that are left by turns until one is, or each has had its time. ``tell`` is called before each
        round with how many those are and the best's median."""
        wanted = self._rules.round
        self._part(self._rules.margin)
        while len(self.left) > 1:
            tell(len(self.left), min(runner.median for runner in self.left))
            turns = [self._turn(runner, wanted) for runner in self.left]
            if not any(turns):
                return
            self._part(halve=True)
            wanted = min(2 * wanted, self._rules.most)

    def _turn(self, runner: Runner[C], wanted: int) -> bool:
        """Whether it had time left, which it has used."""
        rules = self._rules
        spent = sum(runner.rounds)
        if spent >= rules.budget or len(runner.rounds) >= 2 * rules.most:
            return False
        each = max(runner.median, 1e-4)
        count = max(min(wanted, int((rules.budget - spent) / each)), 1 if runner.rounds else rules.first_of_slow)
        runner.rounds += self._measure(runner.config, count)
        return True

    def _part(self, margin: float = 1.0, halve: bool = False) -> None:
        """Who goes on: none that is clearly slower than the best, and with ``halve`` the better half."""
        ordered = sorted(self.left, key=lambda r: r.median)
        half = (len(ordered) + 1) // 2 if halve else len(ordered)
        for place, runner in enumerate(ordered[1:], 1):
            best = ordered[0]
            beyond = place >= half and runner.median > self._rules.near * best.median
            if beyond or self._slower(runner, best, margin):
                runner.against = best.median

    def add_losers(self, other: Race[C]) -> None:
        """Take in who went out of another race, measured on another device: as much behind this one's best as it was
        behind that one's."""
        for config, runner in other.runners.items():
            if config not in self.runners:
                self.runners[config] = runner

    # The end -------------------------------------------------------------------------------------------------------

    def winner(self) -> C:
        """Raises ``ValueError`` where none has entered."""
        return min(self.left, key=lambda r: _quantiles(r.times)).config

    def timings(self) -> dict[C, list[float]]:
        """The median and the 20 % and 80 % quantiles of each, in the order of entering; the winner's are the smallest.

        A device's clocks fall while it works: what went out early was measured on a faster device. Its times are given
        by what they were beside the best's of that moment.
        """
        final = self.runners[self.winner()].median
        found: dict[C, list[float]] = {}
        for config, runner in self.runners.items():
            drift = 1.0 if runner.against is None else max(1.0, final / runner.against)
            found[config] = [drift * value for value in _quantiles(runner.times)]
        return found


def _quantiles(times: Sequence[float]) -> list[float]:
    ordered = sorted(times)
    return [quantile(ordered, share) for share in QUANTILES]
