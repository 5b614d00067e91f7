"""The race on a device whose times are known, with noise, drifting clocks and stalls drawn afresh."""

from __future__ import annotations

import math
import os
import random
import statistics
from itertools import pairwise

import pytest

from tritonx.runtime.tuning.race import RULES, Race, Rules, interval, rank

SEED = int(os.environ["TRITONX_SEED"])


class Device:
    """``true`` milliseconds of each configuration. What is measured has noise upwards, and now and then a stall; the
    clocks fall by ``fall`` over the first 300 ms."""

    def __init__(
        self, true: dict[int, float], seed: int, noise: float = 0.003, fall: float = 0.0, stalls: float = 0.02
    ) -> None:
        self.true = true
        self.draw = random.Random(seed)
        self.noise, self.fall, self.stalls = noise, fall, stalls
        self.runs = dict.fromkeys(true, 0)
        self.spent = 0.0

    def measure(self, config: int, count: int) -> list[float]:
        found = [self._once(config) for _ in range(count)]
        self.runs[config] += count
        return found

    def _once(self, config: int) -> float:
        clocks = 1 + self.fall * min(self.spent / 300, 1)
        stall = self.draw.uniform(1, 3) if self.draw.random() < self.stalls else 1
        time = self.true[config] * clocks * stall * (1 + abs(self.draw.gauss(0, self.noise)))
        self.spent += time
        return time


def run(device: Device, rules: Rules = RULES) -> Race[int]:
    race = Race(device.measure, rules)
    for config in device.true:
        race.enter(config)
    race.rounds()
    return race


@pytest.mark.parametrize("number", range(20))
def test_what_is_found_is_within_two_percent_of_the_best(number: int) -> None:
    draw = random.Random(f"{SEED} {number}")
    count = draw.randint(1, 60)
    true = {i: draw.choice((0.01, 0.3, 2.0)) * draw.uniform(1, 4) for i in range(count)}
    device = Device(true, draw.randrange(1 << 30), fall=draw.choice((0.0, 0.15)))
    race = run(device)
    assert true[race.winner()] <= 1.02 * min(true.values())


@pytest.mark.parametrize("number", range(20))
def test_losers_stop_early(number: int) -> None:
    draw = random.Random(f"{SEED} losers {number}")
    true = {0: 1.0, **{i: draw.uniform(1.3, 6) for i in range(1, 36)}}
    items = list(true.items())
    draw.shuffle(items)
    device = Device(dict(items), draw.randrange(1 << 30))
    race = run(device)
    assert race.winner() == 0
    clear = [i for i in true if true[i] > 2.2 and _behind(items, i, 0)]
    assert sum(device.runs[i] for i in clear) <= 3 * len(clear) + 10
    assert sum(device.runs.values()) < 36 * 10


def _behind(items: list[tuple[int, float]], one: int, other: int) -> bool:
    order = [config for config, _ in items]
    return order.index(one) > order.index(other)


def test_what_is_hopeless_is_measured_twice() -> None:
    device = Device({0: 1.0, 1: 8.0, 2: 0.9}, SEED, noise=0.0, stalls=0.0)
    run(device)
    assert device.runs[1] == 2


@pytest.mark.parametrize("number", range(20))
def test_the_winner_has_the_smallest_times(number: int) -> None:
    """Also where the clocks fell after others went out: who reads the table finds the same winner."""
    draw = random.Random(f"{SEED} table {number}")
    true = {i: draw.uniform(1, 1.3) for i in range(24)}
    race = run(Device(true, draw.randrange(1 << 30), fall=0.3))
    timings = race.timings()
    assert min(timings, key=lambda c: timings[c][0]) == race.winner() or math.isclose(
        timings[race.winner()][0], min(t[0] for t in timings.values())
    )
    assert list(timings) == list(true)
    assert all(low <= middle <= high for middle, low, high in timings.values())


def test_equals_all_stay_and_the_first_wins() -> None:
    device = Device(dict.fromkeys(range(4), 1.0), SEED, noise=0.0, stalls=0.0)
    race = run(device)
    assert race.winner() == 0
    assert len(race.left) == 4
    assert all(90 <= n <= 120 for n in device.runs.values())  # 100 ms each, and no more


def test_the_budget_is_kept() -> None:
    device = Device({0: 30.0, 1: 30.1}, SEED, stalls=0.0)
    run(device, Rules(budget=60.0))
    assert all(runs <= 3 + 3 for runs in device.runs.values())


def test_known_times_are_not_measured_again() -> None:
    device = Device({0: 1.0, 1: 1.0}, SEED, stalls=0.0)
    race = Race(device.measure)
    race.enter(0, [1.0, 1.01, 1.0, 1.0, 1.02])
    assert device.runs[0] == 0
    race.enter(1, [1.0])
    assert device.runs[1] == 4


def test_ranks_are_those_of_the_binomial() -> None:
    """Tables of distribution-free confidence intervals for a median at 95 %: k = 1 for 6 to 8, 2 for 9 to 11, 10 for
    30, 40 for 100."""
    assert [rank(n, 0.95) for n in (1, 2, 5, 6, 8, 9, 11, 12, 30, 100)] == [1, 1, 1, 1, 1, 2, 2, 3, 10, 40]
    for n in range(6, 60):
        assert all(a <= b for a, b in pairwise([rank(n, 0.99), rank(n, 0.95), rank(n, 0.5)]))


@pytest.mark.parametrize("count", [6, 15, 40])
def test_the_interval_holds_the_median(count: int) -> None:
    draw = random.Random(f"{SEED} {count}")
    held = 0
    for _ in range(600):
        low, high = interval([draw.expovariate(1.0) for _ in range(count)], 0.95)
        held += low <= math.log(2) <= high
    assert held >= 0.92 * 600  # 95 % at least, and 5 standard errors of the count below it


def test_medians_are_of_the_rounds() -> None:
    race = run(Device({0: 1.0, 1: 1.001}, SEED, stalls=0.0))
    runner = race.runners[0]
    assert runner.median == statistics.median(runner.rounds)
