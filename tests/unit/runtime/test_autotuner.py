"""The tuner's interface and behaviour over a backend that records launches."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx import Config
from tritonx.runtime import knobs
from tritonx.runtime.autotuner import Autotuner, Heuristics
from tritonx.runtime.errors import AutotunerError, OutOfResources
from tritonx.runtime.tuning.tuning_key import tuning_key


def bench_by(times: dict[int, float]) -> Any:
    """A ``do_bench`` that knows the time of each BLOCK from what was launched."""

    def do_bench(call: Any, quantiles: Any) -> list[float]:
        call()
        return [times[do_bench.last]] * len(quantiles)

    do_bench.last = 0
    return do_bench


def make(fake: Any, bench: Any = None, **options: Any) -> Any:
    bench = bench or bench_by({16: 3.0, 32: 1.0, 64: 2.0})
    options.setdefault("configs", [Config({"BLOCK": b}, num_warps=b // 16) for b in (16, 32, 64)])

    @tritonx.autotune(key=["n"], do_bench=bench, **options)
    @tritonx.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        pass

    original = kernel.fn.run

    def spy(*args: Any, **kwargs: Any) -> Any:
        bench.last = kwargs["BLOCK"]
        return original(*args, **kwargs)

    kernel.fn.run = spy
    return kernel


def test_best_config_is_used_and_kept(fake: Any) -> None:
    kernel = make(fake)
    x = np.zeros(8, np.float32)
    compiled = kernel[lambda meta: (meta["BLOCK"],)](x, x, 7)
    assert kernel.best_config.kwargs == {"BLOCK": 32}
    assert compiled.metadata.num_warps == 2
    assert fake.own_driver.launched[-1][1] == (32, 1, 1)
    assert list(kernel.cache) == [(7, "float32", "float32")]
    assert {c.kwargs["BLOCK"]: t for c, t in kernel.configs_timings.items()} == {
        16: [3.0] * 3,
        32: [1.0] * 3,
        64: [2.0] * 3,
    }
    assert kernel.bench_time >= 0
    launches = len(fake.own_driver.launched)
    kernel[(1,)](x, x, 7)
    assert len(fake.own_driver.launched) == launches + 1
    kernel[(1,)](x.astype(np.float64), x, 7)  # another dtype: measured again
    kernel[(1,)](x, x, 9)
    assert len(kernel.cache) == 3


def test_one_config_is_not_measured(fake: Any) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    kernel = make(fake, never, configs=[Config({"BLOCK": 16})])
    kernel[(1,)](np.zeros(3), 2, 7)
    assert kernel.best_config.kwargs == {"BLOCK": 16}


def test_conflicting_keywords(fake: Any) -> None:
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        make(fake)[(1,)](np.zeros(3), 2, 7, BLOCK=4)


@pytest.mark.parametrize(
    "error", [OutOfResources(2, 1, "shared memory"), type("CompileTimeAssertionFailure", (Exception,), {})()]
)
def test_configs_that_do_not_fit_lose(fake: Any, error: Exception) -> None:
    kernel = make(fake)
    spied = kernel.fn.run

    def fails(*args: Any, **kwargs: Any) -> Any:
        if kwargs["BLOCK"] == 32:
            raise error
        return spied(*args, **kwargs)

    kernel.fn.run = fails
    kernel[(1,)](np.zeros(3), 2, 7)
    assert kernel.best_config.kwargs == {"BLOCK": 64}


def test_other_errors_propagate(fake: Any) -> None:
    kernel = make(fake)

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise ZeroDivisionError

    kernel.fn.run = fails
    with pytest.raises(ZeroDivisionError):
        kernel[(1,)](np.zeros(3), 2, 7)


def test_reset_and_restore(fake: Any) -> None:
    kernel = make(fake, reset_to_zero=["x"], restore_value=["y"])
    x, y = np.ones(3), np.full(3, 5.0)
    seen: list[Any] = []
    spied = kernel.fn.run

    def run(x: Any, y: Any, n: int, **kwargs: Any) -> Any:
        seen.append((x[0], y[0]))
        x += 1
        y += 1
        return spied(x, y, n, **kwargs)

    kernel.fn.run = run
    kernel[(1,)](x, y, 7)
    assert seen == [(0.0, 5.0)] * 4
    with pytest.raises(ValueError, match="reset_to_zero names z"):
        make(fake, reset_to_zero=["z"])


def test_pruning(fake: Any) -> None:
    seen: list[Any] = []

    def early(configs: Any, named_args: Any, **kwargs: Any) -> Any:
        seen.append((named_args["n"], kwargs))
        return configs[:2]

    kernel = make(fake, prune_configs_by={"early_config_prune": early})
    kernel[(1,)](np.zeros(3), 2, 7)
    assert seen[0][0] == 7
    assert len(kernel.configs_timings) == 2
    ranked = make(fake, prune_configs_by={"perf_model": lambda BLOCK, **_: -BLOCK, "top_k": 1})
    ranked[(1,)](np.zeros(3), 2, 7)
    assert ranked.best_config.kwargs == {"BLOCK": 64}
    nothing = make(fake, prune_configs_by={"early_config_prune": lambda configs, named, **_: []})
    with pytest.raises(AutotunerError, match="No valid autotuner configs after pruning"):
        nothing[(1,)](np.zeros(3), 2, 7)


def test_config_hook_sees_all_arguments(fake: Any) -> None:
    seen: list[Any] = []
    configs = [Config({"BLOCK": b}, pre_hook=lambda args: seen.append(dict(args))) for b in (16, 32)]
    kernel = make(fake, bench_by({16: 1.0, 32: 2.0}), configs=configs)
    kernel[(1,)](np.zeros(3), 2, 7)
    assert [s["BLOCK"] for s in seen] == [16, 32, 16]
    assert all(s["n"] == 7 and s["num_warps"] == 4 for s in seen)


def test_timings_are_found_on_disk(fake: Any) -> None:
    x = np.zeros(8, np.float32)
    first = make(fake, cache_results=True)
    first[(1,)](x, x, 7)

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("measured again")

    second = make(fake, never, cache_results=True)
    second[(1,)](x, x, 7)
    assert second.best_config == first.best_config
    assert second.configs_timings == {c: list(t) for c, t in first.configs_timings.items()}


def test_printing(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.autotuning.scope():
        knobs.autotuning.print = True
        make(fake)[(1,)](np.zeros(3), 2, 7)
    assert "Triton autotuning for function kernel" in capsys.readouterr().out


def test_heuristics_in_order_and_below_autotune(fake: Any) -> None:
    seen: list[Any] = []

    @tritonx.autotune([Config({"BLOCK": 32})], key=[])
    @tritonx.heuristics(
        {"EVEN": lambda args: args["n"] % args["BLOCK"] == 0, "BOTH": lambda a: seen.append(a) or a["EVEN"]}
    )
    @tritonx.jit
    def kernel(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, BOTH: tl.constexpr):
        pass

    assert isinstance(kernel, Autotuner)
    assert isinstance(kernel.fn, Heuristics)
    compiled = kernel[(1,)](np.zeros(3), 64)
    assert compiled.src.constants == {(2,): 32, (3,): True, (4,): True}
    assert seen[0]["n"] == 64
    assert kernel.base_fn.__name__ == "kernel"


def test_warmup_compiles_every_config(fake: Any) -> None:
    kernels = make(fake).warmup(np.zeros(3), 2, 7, grid=(1,))
    assert [k.metadata.num_warps for k in kernels] == [1, 2, 4]
    assert not fake.own_driver.launched


def test_config_is_a_value() -> None:
    a = Config({"A": 1}, num_warps=8, num_stages=2)
    assert a == pickle.loads(pickle.dumps(a)) == Config.from_json(a.to_json())
    assert hash(a) == hash(Config({"A": 1}, num_warps=8, num_stages=2))
    assert a != Config({"A": 2}, num_warps=8, num_stages=2)
    assert str(a) == "A: 1, num_warps: 8, num_ctas: 1, num_stages: 2, maxnreg: None, ir_override: None"
    assert a.all_kwargs() == {"A": 1, "num_warps": 8, "num_ctas": 1, "num_stages": 2}


def test_the_arguments_by_position_are_known_while_it_launches(fake: Any) -> None:
    """Hooks and libraries read them, and libraries set them."""
    seen: list[Any] = []
    config = Config({"BLOCK": 16}, pre_hook=lambda args: seen.append((args, kernel.nargs)))
    kernel = make(fake, configs=[config])
    x = np.zeros(3)
    kernel[(1,)](x, 2, n=7)
    (args, nargs), *_ = seen
    assert nargs == {"x": x, "y": 2} and nargs["x"] is x
    assert args == {"x": x, "y": 2, "n": 7, "grid": (1,), "warmup": False, **config.all_kwargs()}
    assert kernel.nargs is None
    kernel.nargs = {"x": 1}
    assert kernel.nargs == {"x": 1}
    assert copy.copy(kernel).nargs is None


def test_arguments_of_a_search_that_failed_are_forgotten(fake: Any) -> None:
    seen: list[Any] = []

    def prune(configs: Any, named: dict[str, Any], **_: Any) -> Any:
        seen.append(named["n"])
        return [] if named["n"] == 7 else configs

    kernel = make(fake, prune_configs_by={"early_config_prune": prune})
    with pytest.raises(AutotunerError):
        kernel[(1,)](np.zeros(3), 2, 7)
    kernel[(1,)](np.zeros(3), 2, 8)
    assert seen == [7, 8]


@pytest.mark.parametrize("given", [{"BLOCK": 32}, {"num_warps": 2}])
def test_what_a_configuration_sets_is_given_once(fake: Any, given: dict[str, int]) -> None:
    kernel = make(fake, configs=[Config({"BLOCK": 16})])
    with pytest.raises(TypeError, match=f"multiple values for keyword argument '{next(iter(given))}'"):
        kernel[(1,)](np.zeros(3), 2, 7, **given)
    assert kernel.nargs is None


def test_a_run_of_another_is_called_wherever_it_stands(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    class Counting(Autotuner):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            called.append("tuner")
            return super().run(*args, **kwargs)

    class Wrapper:
        """No interface at all, but what it stands around answers for it."""

        def __init__(self, fn: Any) -> None:
            self.fn = fn

        def __getattr__(self, name: str) -> Any:
            return getattr(self.fn, name)

        def run(self, *args: Any, **kwargs: Any) -> Any:
            called.append("wrapper")
            return self.fn.run(*args, **kwargs)

    @tritonx.jit
    def kernel(x, n, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
        pass

    computed = tritonx.heuristics({"WHOLE": lambda args: args["n"] % args["BLOCK"] == 0})(Wrapper(kernel))
    tuned = Counting(computed, kernel.arg_names, [Config({"BLOCK": 16})], [], None, None)
    x = np.zeros(3)
    tuned[(1,)](x, 48)
    assert called == ["tuner", "wrapper"]
    plain = tritonx.autotune([Config({"BLOCK": 16})], [])(Wrapper(computed))
    plain[(1,)](x, 48)
    assert called[2:] == ["wrapper", "wrapper"]
    original = Heuristics.run

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        called.append("heuristics")
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Heuristics, "run", run)
    computed[(1,)](x, 48, BLOCK=16)
    assert called[4:] == ["heuristics", "wrapper"]


def test_keys_of_arguments_without_a_dtype_or_with_an_odd_one(fake: Any) -> None:
    class Odd:
        """A dtype that cannot be hashed."""

        __hash__ = None

        def __str__(self) -> str:
            return "odd"

    class Box:
        dtype = Odd()

    names = ["x", "y", "n"]
    assert tuning_key(["n"], names, (np.zeros(3), object(), 7), {}) == (7, "float64")
    assert tuning_key(["n", "m"], names, (Box(), np.zeros(3)), {"n": 7, "m": 8}) == (7, "odd", "float64")
    assert tuning_key([], names, (), {"x": Box(), "y": np.zeros(3, np.int8), "z": np.zeros(3)}) == ("odd", "int8")


def tuned(**options: Any) -> Any:
    """A new tuner of a new kernel."""

    @tritonx.jit
    def kernel(x, n, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)

    configs = [Config({"B": 16}), Config({"B": 32})]
    return tritonx.autotune(configs, **{"key": ["n"], **options})(kernel)


@pytest.mark.level("3.9")
def test_a_key_that_names_no_argument_is_refused() -> None:
    with pytest.raises(ValueError, match="key names typo, which are not kernel arguments of kernel"):
        tuned(key=["n", "typo"])


@pytest.mark.level("3.8")
def test_a_key_that_names_no_argument_was_passed_over() -> None:
    assert tuned(key=["n", "typo"]).keys == ["n", "typo"]


def least(top_k: float, early: Any = None) -> list[int]:
    """The blocks that are measured by a model that likes small ones."""
    rules = {"perf_model": lambda **all: all["B"], "top_k": top_k, "early_config_prune": early}
    kernel = tuned(prune_configs_by=rules)
    kernel.nargs = {"x": None, "n": 3}
    return [config.kwargs["B"] for config in kernel.prune_configs({})]


@pytest.mark.level("3.9")
def test_a_share_is_of_what_pruning_leaves_and_leaves_one() -> None:
    assert (least(0.1), least(0.5), least(1.0)) == ([16], [16], [16, 32])
    assert least(0.5, lambda configs, named, **all: configs[1:]) == [32]


@pytest.mark.level("3.8")
def test_a_share_was_of_all() -> None:
    assert (least(0.1), least(0.5)) == ([], [16])


def test_an_array_that_is_none_is_neither_kept_nor_zeroed() -> None:
    @tritonx.jit
    def kernel(x, y, n, B: tl.constexpr):
        tl.store(x + tl.arange(0, B), 1.0)

    x = np.zeros(32, np.float32)
    configs = [Config({"B": 16}), Config({"B": 32})]
    tritonx.autotune(configs, key=["n"], restore_value=["x", "y"], reset_to_zero=["y"])(kernel)[(1,)](x, None, 3)
    assert x[:16].all()


def test_a_listener_hears_of_each_search() -> None:
    heard: list[dict[str, Any]] = []
    kernel, x = tuned(), np.zeros(32, np.float32)
    with knobs.autotuning.scope():
        knobs.autotuning.listener = lambda **told: heard.append(told)
        for n in (3, 3, 4):
            kernel[(1,)](x, n)
    assert len(heard) == 2
    first = heard[0]
    assert sorted(first) == ["best_config", "cache_hit", "configs_timings", "duration", "fn", "key"]
    assert first["fn"] is kernel.fn and first["best_config"] in kernel.configs and first["duration"] > 0
    assert set(first["configs_timings"]) <= set(kernel.configs) and first["cache_hit"] is False


def test_one_configuration_that_pruning_leaves_is_not_measured() -> None:
    def never(call: Any, quantiles: Any) -> Any:
        raise AssertionError("one configuration was measured")

    heard: list[Any] = []
    configs = [tritonx.Config({"B": 32}), tritonx.Config({"B": 128})]
    rules = {"early_config_prune": lambda listed, named, **kwargs: [listed[1]]}  # pyright: ignore[reportUnknownLambdaType]

    @tritonx.autotune(configs=configs, key=["N"], prune_configs_by=rules, do_bench=never)
    @tritonx.jit
    def ones(x, N, B: tl.constexpr):  # pyright: ignore
        o = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(x + o, 1.0, mask=o < N)

    kernel: Any = ones
    x = np.zeros(1000, np.float32)
    with tritonx.knobs.autotuning.scope():
        tritonx.knobs.autotuning.listener = lambda **told: heard.append(told)
        kernel[lambda meta: (tritonx.cdiv(1000, meta["B"]),)](x, 1000)
    assert kernel.best_config is configs[1] and np.all(x == 1) and heard == []
