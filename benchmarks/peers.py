"""The same kernel source for both compilers, and interleaved timing.

``load("kernels_memory")`` gives two modules: one that imports Triton, and one in which the import has been changed,
as a user would change it."""

from __future__ import annotations

import importlib.util
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple


class Pair(NamedTuple):
    """``peer`` is None where Triton is not installed."""

    ours: ModuleType
    peer: ModuleType | None


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def _changed() -> Path:
    """A folder with every ``kernels_<name>.py``, its imports changed, as ``kernels_<name>_tritonx.py``."""
    folder = Path(tempfile.mkdtemp(prefix="tritonx-bench-"))
    for source in Path(__file__).parent.glob("kernels_*.py"):
        text = source.read_text().replace("import triton.language", "import tritonx.language")
        text = text.replace("import triton\n", "import tritonx as triton\n").replace("from triton.", "from tritonx.")
        text = re.sub(r"^from (kernels_\w+) import", r"from \1_tritonx import", text, flags=re.MULTILINE)
        (folder / f"{source.stem}_tritonx.py").write_text(text)
    sys.path.append(str(folder))
    return folder


def kernels_of(compiler: str, stem: str) -> ModuleType:
    """``benchmarks/<stem>.py`` for one of the compilers, ``tritonx`` or ``triton``; the other is not imported."""
    if compiler == "tritonx":
        return _module(_changed() / f"{stem}_tritonx.py", f"{stem}_tritonx")
    return _module(Path(__file__).with_name(f"{stem}.py"), stem)


@cache
def load(stem: str) -> Pair:
    """Both versions of ``benchmarks/<stem>.py``."""
    ours = kernels_of("tritonx", stem)
    return Pair(ours, None if importlib.util.find_spec("triton") is None else kernels_of("triton", stem))


def gpu_milliseconds(runs: Sequence[Callable[[], Any]], repeat: int = 25) -> list[float]:
    """Median of event-timed runs of each candidate, interleaved, with the level-2 cache overwritten before every
    run.
    """
    return [statistics.median(times) for times in _event_times(runs, repeat)]


class Mean(NamedTuple):
    """Mean of the middle four fifths of the runs, and its standard error."""

    ms: float
    error: float


def gpu_race(runs: Sequence[Callable[[], Any]], repeat: int = 400) -> list[Mean]:
    """As ``gpu_milliseconds``, but to one part in a thousand: many runs, the order turned round each time."""
    means: list[Mean] = []
    for times in _event_times(runs, repeat):
        middle = sorted(times)[repeat // 10 : -(repeat // 10)]
        means.append(Mean(statistics.mean(middle), statistics.stdev(middle) / len(middle) ** 0.5))
    return means


def _event_times(runs: Sequence[Callable[[], Any]], repeat: int) -> list[list[float]]:
    import torch

    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    for run in runs:
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    events = [
        [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeat)]
        for _ in runs
    ]
    for i in range(repeat):
        turn = list(zip(runs, events, strict=True))
        for run, pairs in turn if i % 2 else reversed(turn):
            start, stop = pairs[i]
            flush.zero_()
            start.record()
            run()
            stop.record()
        if i % 50 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return [[a.elapsed_time(b) for a, b in pairs] for pairs in events]
