"""Both tuners, ours and the wheel's, over the same recorded kernel, hooks and measurements, drawn afresh: each calls
the same things in the same order with the same arguments, chooses the same, and refuses the same."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import tritonx.runtime.autotuner as ours
from tritonx.kernel.identity import plainly

theirs = pytest.importorskip("triton.runtime.autotuner")

SEED = int(os.environ["TRITONX_SEED"])
CASES = int(os.environ.get("TRITONX_TUNERS", "60"))
NAMES = ("x", "y", "n", "m")


class Array:
    """What the default hooks use of a tensor; tells the log."""

    def __init__(self, name: str, dtype: str, log: list[Any]) -> None:
        self.name, self.dtype, self.log, self.value = name, dtype, log, 1

    def zero_(self) -> None:
        self.log.append(("zero", self.name))
        self.value = 0

    def clone(self) -> Array:
        self.log.append(("clone", self.name, self.value))
        other = Array(self.name, self.dtype, self.log)
        other.value = self.value
        return other

    def copy_(self, other: Array) -> None:
        self.log.append(("copy", self.name, other.value))
        self.value = other.value


def plain(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted((k, v.name if isinstance(v, Array) else str(v)) for k, v in values.items())


class Kernel:
    """Adds one to each array, and refuses some configurations."""

    def __init__(self, log: list[Any], refuses: dict[int, Exception]) -> None:
        self.arg_names = list(NAMES)
        self.log, self.refuses = log, refuses

    @property
    def fn(self) -> Callable[..., None]:
        def kernel() -> None: ...

        return kernel

    def run(self, *args: Any, **kwargs: Any) -> int:
        self.log.append(("run", [a.name if isinstance(a, Array) else a for a in args], plain(kwargs)))
        if kwargs.get("A") in self.refuses:
            raise self.refuses[kwargs["A"]]
        for array in args:
            if isinstance(array, Array):
                array.value += 1
        return kwargs.get("A", 0)

    def warmup(self, *args: Any, **kwargs: Any) -> int:
        self.log.append(("warmup", plain(kwargs)))
        return kwargs.get("A", 0)


def drawn(side: Any, number: int) -> list[Any]:
    """Everything that a tuner did. The draw is the same for both."""
    draw = random.Random(f"{SEED} {number}")
    log: list[Any] = []
    errors = (side.OutOfResources(2, 1, "x"), side.PTXASError("no"), ZeroDivisionError("zero"))
    weights = draw.choice(([3, 2, 0], [3, 2, 1]))
    numbers = range(draw.randint(0, 5))
    refuses = {i: draw.choices(errors, weights)[0] for i in numbers if draw.random() < 0.2}

    def hook(name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: log.append((name, plain(args[0]), plain(kwargs)))

    def config(i: int) -> Any:
        given = {"num_warps": draw.choice((1, 4, 8)), "num_stages": draw.choice((1, 3))}
        given |= {"maxnreg": 128} if draw.random() < 0.2 else {}
        given |= {"pre_hook": hook(f"config {i}")} if draw.random() < 0.3 else {}
        return side.Config({"A": i}, **given)

    times = {i: draw.choice((1.0, 2.0, 3.0)) for i in numbers}

    def bench(call: Callable[[], Any], quantiles: Any) -> Any:
        log.append(("bench", tuple(quantiles)))
        call()
        call()
        last = [dict(entry[2])["A"] for entry in log if entry[0] == "run"][-1]
        return [times[int(last)]] * 3

    options: dict[str, Any] = {"reset_to_zero": draw.choice((None, [], ["x"], ["x", "y"]))}
    options["restore_value"] = draw.choice((None, ["y"], ["x", "y"]))
    if draw.random() < 0.3:
        options["pre_hook"] = hook("before")
    if draw.random() < 0.3 and (options["restore_value"] is None or "pre_hook" not in options):
        options["post_hook"] = hook("after")
    if options["restore_value"] and "pre_hook" in options and "post_hook" not in options:
        options["restore_value"] = None  # the wheel restores what no one has copied, and fails
    if draw.random() < 0.5:
        options["prune_configs_by"] = pruning(draw, log)
    key = draw.sample(NAMES, draw.randint(0, 3)) + draw.choice(([], ["absent"]))
    tuner = side.Autotuner(Kernel(log, refuses), list(NAMES), [config(i) for i in numbers], key, do_bench=bench, **{
        "reset_to_zero": None, "restore_value": None, **options})  # fmt: skip
    for _ in range(4):
        args = [Array("x", draw.choice(("f16", "f32")), log), Array("y", "f32", log), draw.randint(1, 2), 5]
        named = draw.choice(({}, {"B": 1}, {"B": 1, "A": 7}, {"num_warps": 2}, {"m": 3}))
        positional = args[:3] if "m" in named else args
        entry = draw.choice((tuner.run, tuner.run, tuner.run, tuner.warmup))
        given = {"grid": (1,), **({"warmup": False} if entry == tuner.run else {}), **named}
        log.append("launch")
        try:
            log.append(("result", entry(*positional, **given)))
        except Exception as error:
            log.append((type(error).__name__, said(error)))
        best = getattr(tuner, "best_config", None)
        log.append(("best", best and {k: str(v) for k, v in best.all_kwargs().items()}))
        log.append([a.value for a in args[:2]])
    log.append([(plain(dict(enumerate(plainly(k)))), c.all_kwargs()) for k, c in tuner.cache.items()])
    timings = getattr(tuner, "configs_timings", None) or {}
    log.append([(c.all_kwargs(), list(t)) for c, t in timings.items()])
    return log


def said(error: Exception) -> str:
    """Python names the called function in its own errors."""
    text = str(error)
    return "twice" if "multiple values" in text else text


def pruning(draw: random.Random, log: list[Any]) -> dict[str, Any]:
    """Rules that leave none or several: one that is left is measured by Triton 3.6, and by 3.9 and tritonx not."""
    count = draw.choice((0, 2, 3, 4))

    def early(configs: Any, named: dict[str, Any], **kwargs: Any) -> Any:
        log.append(("early", len(configs), plain(named), plain(kwargs)))
        return configs[:count]

    def model(**every: Any) -> float:
        log.append(("model", plain(every)))
        return -every["A"]

    chosen: dict[str, Any] = {"early_config_prune": early} if draw.random() < 0.5 else {}
    if draw.random() < 0.7:
        chosen |= {"perf_model": model, "top_k": draw.choice((2, 1.0, 1.5))}
    return chosen


@pytest.mark.parametrize("number", range(CASES))
def test_both_do_the_same(number: int) -> None:
    assert drawn(ours, number) == drawn(theirs, number)


@pytest.mark.parametrize("number", range(20))
def test_heuristics_see_the_same(number: int) -> None:
    def seen(side: Any) -> list[Any]:
        draw = random.Random(f"{SEED} heuristics {number}")
        log: list[Any] = []

        def value(name: str) -> Callable[..., Any]:
            return lambda args: log.append((name, plain(args))) or len(args)

        names = draw.sample(("A", "B", "C", "m"), draw.randint(1, 4))
        wrapped = side.heuristics({name: value(name) for name in names})(Kernel(log, {}))
        wrapped.run(Array("x", "f32", log), 2, n=draw.randint(1, 9), grid=(1,), warmup=False)
        return log

    assert seen(ours) == seen(theirs)


def test_configurations_are_the_same_values() -> None:
    draw = random.Random(SEED)
    for _ in range(50):
        given = {"num_warps": draw.choice((1, 4)), "num_stages": draw.choice((1, 3)), "num_ctas": draw.choice((1, 2))}
        given |= draw.choice(({}, {"maxnreg": 64}, {"ir_override": "x.ttgir"}))
        made = [SimpleNamespace(c=side.Config({"A": 1, "B": "b"}, **given)) for side in (ours, theirs)]
        assert made[0].c.all_kwargs() == made[1].c.all_kwargs()
        assert list(made[0].c.all_kwargs()) == list(made[1].c.all_kwargs())
