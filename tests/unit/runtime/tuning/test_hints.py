"""What a backend from outside says of configurations: which are the same code, which lack something, which are not
worth measuring, which others to try."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Candidate, Options, Shortage, Target
from tritonx.backends.registry import parse_target
from tritonx.runtime.config import Config
from tritonx.runtime.errors import BackendContractError, Foreseen, OutOfResources
from tritonx.runtime.tuning.across_devices import search_across_devices
from tritonx.runtime.tuning.records import Records
from tritonx.runtime.tuning.report import FASTEST, IMPOSSIBLE, LEFT_OUT, MERGED, Report, Tried

SEED = int(os.environ["TRITONX_SEED"])
ROUNDS = int(os.environ.get("TRITONX_HINTS", "12"))
BLOCKS = [Config({"BLOCK": block}, num_warps=warps) for block in (64, 16, 32) for warps in (1, 2, 4)]
X = np.zeros(8, np.float32)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled where the made-up backend is known."""
    monkeypatch.setenv("TRITONX_TUNING_WORKERS", "0")


@pytest.fixture
def chip(fake: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The backend, on whose device a launch takes as many milliseconds as it has programs."""

    def time(run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        run()
        return [float(fake.own_driver.launched[-1][1][0])] * repeat

    monkeypatch.setattr(fake.own_driver, "time", time)
    return fake


def hint(chip: Any, monkeypatch: pytest.MonkeyPatch, **hints: Callable[..., Any]) -> None:
    for name, function in hints.items():
        monkeypatch.setattr(chip, name, function)


def no_warps(target: Target, options: Options) -> Options:
    return replace(options, num_warps=1)


def tuned(configs: Sequence[Config], **options: Any) -> Any:
    @tritonx.autotune([*configs], key=["n"], **options)
    @tritonx.jit
    def kernel(x, n, BLOCK: tl.constexpr):
        pass

    return kernel


def over_blocks(meta: Mapping[str, Any]) -> tuple[int]:
    return (meta["BLOCK"],)


def blocks(configs: Sequence[Config]) -> list[int]:
    return [config.kwargs["BLOCK"] for config in configs]


def fates(report: Report) -> dict[Config, tuple[str, str]]:
    return {each.config: (each.fate, each.reason) for each in report.tried}


def test_the_same_code_is_compiled_and_measured_once(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hint(chip, monkeypatch, code_options=no_warps)
    kernel = tuned(BLOCKS)
    kernel[over_blocks](X, 7)
    assert kernel.best_config == Config({"BLOCK": 16}, num_warps=1)
    assert [options.num_warps for _, options in chip.compiles] == [1, 1, 1]
    found = fates(kernel.report)
    assert list(found) == BLOCKS
    merged = {config for config, (fate, _) in found.items() if fate == MERGED}
    assert merged == {config for config in BLOCKS if config.num_warps > 1}
    assert found[BLOCKS[1]][1] == "the same code as BLOCK=64, num_warps=1, num_ctas=1, num_stages=3"
    assert {config: times[0] for config, times in kernel.configs_timings.items()} == {
        config: config.kwargs["BLOCK"] for config in BLOCKS
    }
    heading, _, *lines = kernel.report.table().splitlines()
    assert "9 configurations, 6 of which are the code of another" in heading
    assert sum(" BLOCK=" in line for line in lines) == 3
    assert lines[-1] == "not measured again: 6 configurations with other num_warps, which are the same code"
    assert kernel.report.svg().count("<rect") == 3


def test_without_hints_every_one_is(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hint(chip, monkeypatch, code_options=no_warps, prune=lambda *_: {0: "no"})
    monkeypatch.setenv("TRITONX_TUNING_HINTS", "0")
    kernel = tuned(BLOCKS)
    kernel[over_blocks](X, 7)
    assert len(chip.compiles) == 9
    assert all(reason == "" for _, reason in fates(kernel.report).values())


def test_another_grid_or_argument_is_another_launch(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user makes of ``num_warps`` is no longer the backend's to merge."""
    hint(chip, monkeypatch, code_options=no_warps)
    configs = [Config({"BLOCK": 16}, num_warps=warps) for warps in (4, 2, 8)]
    kernel = tuned(configs)
    kernel[lambda meta: (meta["num_warps"],)](X, 7)
    assert kernel.best_config == configs[1]
    assert MERGED not in {fate for fate, _ in fates(kernel.report).values()}

    @tritonx.autotune([Config({}, num_warps=warps) for warps in (4, 2, 8)], key=[])
    @tritonx.heuristics({"BLOCK": lambda args: 16 * max(args["num_warps"], 4)})
    @tritonx.jit
    def computed(x, BLOCK: tl.constexpr):
        pass

    computed[over_blocks](X)
    assert [fate for fate, _ in fates(computed.report).values()] == [FASTEST, MERGED, "slower"]


def test_a_hook_of_its_own_is_kept_apart(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hint(chip, monkeypatch, code_options=no_warps)
    hooks: list[Callable[[dict[str, Any]], None]] = [lambda _: None, lambda _: None]
    configs = [Config({"BLOCK": 16}, num_warps=w, pre_hook=hooks[w > 2]) for w in (1, 2, 4)]
    kernel = tuned(configs)
    kernel[over_blocks](X, 7)
    assert [fate == MERGED for fate, _ in fates(kernel.report).values()] == [False, True, False]


def test_what_is_predicted_is_not_compiled(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Candidate] = []

    def predict(target: Target, candidate: Candidate) -> Shortage | None:
        seen.append(candidate)
        needed = int(str(candidate.constants["BLOCK"])) * candidate.options.num_warps
        return Shortage(needed, 60, "tiles") if needed > 60 else None

    hint(chip, monkeypatch, predict=predict)
    kernel = tuned(BLOCKS[::-1])
    kernel[over_blocks](X, 1)
    assert len(seen) == 9 and len(chip.compiles) == 3
    assert sorted(grid[0] for _, grid, *_ in set(chip.own_driver.launched)) == [16, 32]
    found = fates(kernel.report)
    wanted = "predicted: out of resource: tiles, Required: 64, Hardware limit: 60"
    assert found[Config({"BLOCK": 16}, num_warps=4)][0] == IMPOSSIBLE
    assert found[Config({"BLOCK": 16}, num_warps=4)][1].startswith(wanted)
    assert math.isinf(kernel.configs_timings[Config({"BLOCK": 16}, num_warps=4)][0])
    first = seen[0]
    assert first.kernel == "kernel" and first.types == {"x": "*fp32", "n": "constexpr", "BLOCK": "constexpr"}
    assert first.constants == {"n": 1, "BLOCK": 32} and first.grid == (32, 1, 1)
    assert dict(first.given) == BLOCKS[-1].all_kwargs() and first.options.num_warps == 4


@pytest.mark.parametrize("how", ["predict", "prune"])
@pytest.mark.parametrize("own_bench", [False, True])
def test_where_nothing_else_runs_it_is_tried(
    chip: Any, monkeypatch: pytest.MonkeyPatch, how: str, own_bench: bool
) -> None:
    if how == "predict":
        hint(chip, monkeypatch, predict=lambda *_: Shortage(2, 1, "luck"))
    else:
        hint(chip, monkeypatch, prune=lambda _, candidates: dict.fromkeys(range(len(candidates)), "no luck"))

    def bench(call: Callable[[], object], quantiles: object) -> list[float]:
        call()
        return [float(chip.own_driver.launched[-1][1][0])] * 3

    kernel = tuned(BLOCKS, **({"do_bench": bench} if own_bench else {}))
    kernel[over_blocks](X, 7)
    assert kernel.best_config == Config({"BLOCK": 16}, num_warps=1)
    assert len(chip.compiles) == 9


def test_the_users_pruning_goes_first(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def prune(target: Target, candidates: Sequence[Candidate]) -> Mapping[int, str]:
        asked.extend(int(str(each.constants["BLOCK"])) for each in candidates)
        return {n: "16 fills no row" for n, each in enumerate(candidates) if each.constants["BLOCK"] == 16}

    hint(chip, monkeypatch, prune=prune, code_options=no_warps)

    def early(configs: Sequence[Config], named: object, **_: object) -> list[Config]:
        return [config for config in configs if config.kwargs["BLOCK"] < 64]

    kernel = tuned(BLOCKS, prune_configs_by={"early_config_prune": early})
    kernel[over_blocks](X, 7)
    assert asked == [16, 32]
    assert kernel.best_config == Config({"BLOCK": 32}, num_warps=1)
    found = fates(kernel.report)
    assert found[Config({"BLOCK": 16}, num_warps=1)] == (LEFT_OUT, "16 fills no row")
    assert Config({"BLOCK": 16}, num_warps=1) not in kernel.configs_timings
    assert "1 of which are left out" in kernel.report.heading()
    assert "16 fills no row" in kernel.report.table()


def halves(target: Target, candidate: Candidate) -> list[dict[str, object]]:
    return [{"BLOCK": int(str(candidate.given["BLOCK"])) // 2}, {"num_warps": 3}, {"speed": 2}]


def test_what_it_proposes_is_as_if_listed(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user asks; what cannot be launched (three warps) is none."""
    hint(chip, monkeypatch, propose=halves)
    given = [Config({"BLOCK": 64}, num_warps=2), Config({"BLOCK": 32}, num_warps=2)]
    plain = tuned(given)
    plain[over_blocks](X, 7)
    assert [each.config for each in plain.report.tried] == given
    listed: list[list[Config]] = []

    def early(configs: Sequence[Config], named: object, **_: object) -> Sequence[Config]:
        listed.append([*configs])
        return configs

    kernel = tuned(given, propose=True, prune_configs_by={"early_config_prune": early})
    kernel[over_blocks](X, 7)
    more = [Config({"BLOCK": 64, "speed": 2}, num_warps=2), Config({"BLOCK": 16}, num_warps=2)]
    more += [Config({"BLOCK": 32, "speed": 2}, num_warps=2)]
    assert listed == [[*given, *more]]
    assert kernel.best_config == Config({"BLOCK": 16}, num_warps=2)
    one = tuned(given[:1], propose=True)
    one[over_blocks](X, 7)
    assert one.best_config == Config({"BLOCK": 32}, num_warps=2)
    assert one.configs == given[:1]


@pytest.mark.parametrize("changes", [{"BLOK": 4}, {"n": 4}, {"x": 4}])
def test_what_a_configuration_cannot_give_is_the_backends_mistake(
    chip: Any, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object]
) -> None:
    hint(chip, monkeypatch, propose=lambda *_: [changes])
    with pytest.raises(BackendContractError, match=f"backend 'fake' proposes a value of '{next(iter(changes))}'"):
        tuned(BLOCKS, propose=True)[over_blocks](X, 7)


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("code_options", lambda *_: Options(), "code_options of backend 'fake' gives Options, not FakeOptions"),
        ("prune", lambda _, candidates: {len(candidates): "no"}, "leaves out number 9 of 9 configurations"),
    ],
)
def test_other_mistakes_of_a_backend(
    chip: Any, monkeypatch: pytest.MonkeyPatch, name: str, function: Callable[..., Any], message: str
) -> None:
    hint(chip, monkeypatch, **{name: function})
    with pytest.raises(BackendContractError, match=message):
        tuned(BLOCKS)[over_blocks](X, 7)


def test_a_wrapper_of_others_is_not_asked(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may do anything beside the launch."""
    hint(chip, monkeypatch, code_options=no_warps)
    kernel = tuned(BLOCKS)
    launched: list[bool] = []
    run = kernel.fn.run

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        launched.append(kwargs["warmup"])
        return run(*args, **kwargs)

    kernel.fn.run = wrapped
    kernel[over_blocks](X, 7)
    assert len(chip.compiles) == 9 and not any(launched)


def test_the_disk_gives_the_same(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """To another process with the same hints: times of what was merged, none of what was left out."""
    hint(chip, monkeypatch, code_options=no_warps, prune=lambda _, c: {0: "no"} if len(c) > 1 else {})
    first, again = tuned(BLOCKS, cache_results=True), tuned(BLOCKS, cache_results=True)
    first[over_blocks](X, 7)
    launched = len(chip.own_driver.launched)
    again[over_blocks](X, 7)
    assert len(chip.own_driver.launched) == launched + 1
    assert again.best_config == first.best_config == Config({"BLOCK": 16}, num_warps=1)
    assert again.configs_timings == first.configs_timings
    assert len(again.configs_timings) == 8
    monkeypatch.setenv("TRITONX_TUNING_HINTS", "0")
    whole = tuned(BLOCKS, cache_results=True)
    whole[over_blocks](X, 7)
    assert len(whole.configs_timings) == 9


def test_an_interrupted_search_goes_on(chip: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hint(
        chip, monkeypatch, code_options=no_warps, predict=lambda _, c: Shortage(2, 1, "x") if c.grid[0] == 32 else None
    )
    time = chip.own_driver.time

    def interrupted(run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        found = time(run, repeat)
        if found[0] == 16.0:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(chip.own_driver, "time", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tuned(BLOCKS, cache_results=True)[over_blocks](X, 7)
    monkeypatch.setattr(chip.own_driver, "time", time)
    chip.own_driver.launched.clear()
    kernel = tuned(BLOCKS, cache_results=True)
    kernel[over_blocks](X, 7)
    assert {grid[0] for _, grid, *_ in chip.own_driver.launched} == {16}
    assert kernel.best_config == Config({"BLOCK": 16}, num_warps=1)
    assert [fate for fate, _ in fates(kernel.report).values()].count(MERGED) == 6
    assert [fate for fate, _ in fates(kernel.report).values()].count(IMPOSSIBLE) == 1


@pytest.mark.parametrize("number", range(ROUNDS))
def test_any_advice_finds_the_best_of_what_it_leaves(chip: Any, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Drawn configurations, times, and advice about them, beside what it says of each taken by itself."""
    draw = random.Random(f"{SEED} {number}")
    ignored = {name for name in ("num_warps", "num_stages", "num_ctas") if draw.random() < 0.5}

    def config() -> Config:
        return Config({"BLOCK": 1 << draw.randint(0, 3)}, 1 << draw.randint(0, 3), draw.randint(1, 3))

    configs = list(dict.fromkeys([Config({"BLOCK": 16}), *(config() for _ in range(draw.randint(1, 12)))]))

    def code(each: Config) -> tuple[int, ...]:
        kept = [1 if name in ignored else getattr(each, name) for name in ("num_warps", "num_stages", "num_ctas")]
        return (each.kwargs["BLOCK"], *kept)

    codes = list(dict.fromkeys(map(code, configs)))
    grids = {each: draw.randint(1, 1000) for each in codes}
    lacking = {each for each in codes if draw.random() < 0.2}
    left_out = {each for each in codes if draw.random() < 0.2} - lacking

    def given(candidate: Candidate) -> tuple[int, ...]:
        return code(Config({"BLOCK": candidate.constants["BLOCK"]}, **{
            name: getattr(candidate.options, name) for name in ("num_warps", "num_stages", "num_ctas")}))  # fmt: skip

    def prune(target: Target, candidates: Sequence[Candidate]) -> dict[int, str]:
        return {n: "left" for n, each in enumerate(candidates) if given(each) in left_out}

    hint(
        chip,
        monkeypatch,
        code_options=lambda _, options: replace(options, **dict.fromkeys(ignored, 1)),
        predict=lambda _, each: Shortage(2, 1, "x") if given(each) in lacking else None,
        prune=prune,
    )
    kernel = tuned(configs)
    kernel[lambda meta: (grids[code(Config({"BLOCK": meta["BLOCK"]}, meta["num_warps"], meta["num_stages"]))],)](X, 7)
    eligible = set(codes) - lacking - left_out or left_out or lacking
    best = kernel.best_config
    assert code(best) in eligible
    assert grids[code(best)] == min(grids[each] for each in eligible)
    found = fates(kernel.report)
    assert list(found) == configs
    first = {each: next(c for c in configs if code(c) == each) for each in codes}
    assert {c for c in configs if found[c][0] == MERGED} == {c for c in configs if first[code(c)] is not c}
    for each in codes:
        if each not in eligible:
            fate, reason = found[first[each]]
            assert (fate, reason[:9]) == ((IMPOSSIBLE, "predicted") if each in lacking else (LEFT_OUT, "left"))
    assert len(chip.compiles) == len(eligible)


@pytest.mark.parametrize(
    ("name", "warps", "stages", "more"),
    [
        ("cuda:90", 4, 3, [(2, 3), (8, 3), (4, 2), (4, 4)]),
        ("cuda:90", 32, 1, [(16, 1), (32, 2)]),
        ("hip:gfx942", 16, 2, [(8, 2), (16, 1), (16, 3)]),
        ("hip:gfx1100", 1, 2, [(2, 2), (1, 1), (1, 3)]),
        ("cpu", 4, 3, []),
    ],
)
def test_what_the_backends_here_propose(name: str, warps: int, stages: int, more: list[tuple[int, int]]) -> None:
    """Nothing that they would refuse; on a CPU none of it is another code."""
    backend, target = parse_target(name)
    options = backend.parse_options(target, {"num_warps": warps, "num_stages": stages})
    candidate = Candidate("kernel", {"num_warps": warps, "num_stages": stages}, {}, {}, options, (1, 1, 1))
    found = [{"num_warps": warps, "num_stages": stages, **each} for each in backend.propose(target, candidate)]
    assert [(each["num_warps"], each["num_stages"]) for each in found] == more
    for each in found:
        assert backend.code_options(target, backend.parse_options(target, each)) != options


class Device:
    """What a search on several devices measures: all are foreseen to fail, and ``X`` = 1 does."""

    in_flight = 1

    def __init__(self) -> None:
        self.foreseen: set[Config] = set()

    def begin(self, config: Config) -> None:
        return None

    def on_host(self) -> bool:
        return False

    def times(self, config: Config, count: int) -> Sequence[float]:
        if config not in self.foreseen:
            self.foreseen.add(config)
            raise Foreseen(2, 1, "registers")
        if config.kwargs["X"] == 1:
            raise OutOfResources(2, 1, "registers")
        return [1.0] * count

    def refuses(self, config: Config, error: Exception) -> bool:
        return isinstance(error, OutOfResources)


def test_on_several_devices_what_was_only_foreseen_is_tried_and_not_kept(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    configs, records = [Config({"X": 0}), Config({"X": 1})], Records("kernel", ("one",))
    shared = Device()
    found: tuple[Tried, ...] = search_across_devices([shared], configs, records=records)
    assert [each.fate for each in found] == [FASTEST, IMPOSSIBLE]
    assert all(records.get(config) is None for config in configs)
