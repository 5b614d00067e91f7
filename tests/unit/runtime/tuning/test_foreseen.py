"""What cannot run is told before code is made: by options, by shared memory as it is placed, by what loops carry."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Compilation, Target, run_stages
from tritonx.backends.registry import get_backend
from tritonx.ir.failure import PassFailure
from tritonx.runtime.compiling.compile_job import perform
from tritonx.runtime.compiling.compiler import Compile, begin
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.config import Config
from tritonx.runtime.errors import Foreseen, ImpossibleOption, OutOfResources
from tritonx.runtime.launch.placement import Placement
from tritonx.runtime.tuning.race import FAILED
from tritonx.runtime.tuning.refusals import is_impossible
from tritonx.runtime.tuning.report import Tried
from tritonx.runtime.tuning.search import search


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


@tritonx.jit
def product(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, n, K):
        x = tl.load(a + rows[:, None] * n + (k + depth)[None, :])
        y = tl.load(b + (k + depth)[:, None] * N + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


def begun(target: str, m: int, n: int, k: int, **options: int) -> Compile:
    names = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32"}
    source = ASTSource(product, {**names, **dict.fromkeys("MNK", "constexpr")}, {"M": m, "N": n, "K": k})
    found = begin(source, target, options)
    assert isinstance(found, Compile)
    return found


@pytest.mark.parametrize(
    ("target", "tile", "warps", "wanted"),
    [
        ("cuda:90", (128, 256), 4, ("registers", 256, 255)),
        ("cuda:90", (256, 256), 4, ("registers", 512, 255)),
        ("cuda:90", (128, 128), 4, None),
        ("cuda:90", (128, 256), 8, None),
        ("cuda:80", (256, 256), 32, None),
        ("cuda:80", (512, 256), 32, ("registers", 128, 64)),
        ("hip:gfx942", (128, 128), 4, None),
        ("hip:gfx942", (256, 256), 4, None),
        ("hip:gfx942", (256, 512), 8, None),  # converted in rounds
        ("hip:gfx942", (128, 128), 1, None),
        ("hip:gfx1100", (128, 128), 1, ("registers", 512, 256)),
    ],
)
def test_what_will_be_missing(
    target: str, tile: tuple[int, int], warps: int, wanted: tuple[str, int, int] | None
) -> None:
    """The sum of a product is in registers while the loop runs, its elements over the threads; stored by rows, it goes
    through shared memory."""
    compiling = begun(target, *tile, 32, num_warps=warps)
    job = compiling.job()
    assert job is not None
    backend = get_backend(compiling.target.backend)
    stages = [stage for stage in backend.stages(job.target, job.options) if stage.kind == "ir"]
    module = compiling.source.make_module(job.target, job.options)
    run_stages(module, stages, Compilation(job.target, job.options, {"name": "product"}))
    short = backend.foresee(job.target, job.options, module)
    assert (short and (short.name, short.required, short.limit)) == wanted


def test_no_code_is_made_for_what_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []
    monkeypatch.setattr("tritonx.backends.nvidia.pipeline.emit_llvm", lambda *_: reached.append("llir") or "")
    job = begun("cuda:90", 256, 256, 32, num_warps=4).job()
    assert job is not None
    with pytest.raises(Foreseen, match="registers, Required: 512, Hardware limit: 255"):
        perform(job)
    assert reached == []


def test_more_threads_than_a_block_may_have_are_one_configurations_fault() -> None:
    refused = {warps: is_impossible(error) for warps in (32, 64) if (error := options_error(warps))}
    assert refused == {64: True}
    assert not is_impossible(ValueError("x"))


def options_error(warps: int) -> Exception | None:
    """What a launch for compute capability 9.0 says."""
    try:
        product.launcher._options(Placement(get_backend("cuda"), 0, Target("cuda", 90, 32)), {"num_warps": warps})
    except ImpossibleOption as error:
        return error
    return None


def times_of(tried: Sequence[Tried]) -> dict[Config, list[float]]:
    return {each.config: [*each.times] for each in tried}


class Launches:
    """Known times; ``errors`` are raised for a configuration, once each."""

    in_flight = 4

    def __init__(self, times: dict[Config, float], errors: dict[Config, list[Exception]]) -> None:
        self.known, self.errors = times, errors
        self.measured: list[Config] = []

    def begin(self, config: Config) -> None:
        return None

    def on_host(self) -> bool:
        return False

    def times(self, config: Config, count: int) -> Sequence[float]:
        if self.errors.get(config):
            raise self.errors[config].pop(0)
        self.measured.append(config)
        return [self.known[config]] * count

    def refuses(self, config: Config, error: Exception) -> bool:
        return isinstance(error, OutOfResources)


A, B = Config({"X": 1}), Config({"X": 2})


def test_what_was_foreseen_is_infinitely_slow() -> None:
    launches = Launches({A: 2.0, B: 1.0}, {B: [Foreseen(2, 1, "registers")]})
    found = times_of(search(launches, [A, B]))
    assert found == {A: [2.0] * 3, B: [*FAILED]}
    assert B not in launches.measured


def test_where_nothing_else_is_left_it_is_tried() -> None:
    launches = Launches({A: 2.0, B: 1.0}, {A: [OutOfResources(2, 1, "threads")], B: [Foreseen(2, 1, "registers")]})
    found = times_of(search(launches, [A, B]))
    assert np.isinf(found[A]).all()
    assert found[B] == [1.0] * 3


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_a_program_that_is_too_long_is_one_that_cannot_run(target: str) -> None:
    """Fewer elements a thread, in another configuration, may do: the search goes on."""
    with pytest.raises(PassFailure, match="more than 300 instructions") as refused:
        begun(target, 64, 64, 32, max_instructions=300).here()
    assert is_impossible(refused.value) and is_impossible(pickle.loads(pickle.dumps(refused.value)))
    assert not is_impossible(PassFailure("llir", "something else"))
