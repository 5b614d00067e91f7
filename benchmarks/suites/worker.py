"""A process that runs tests of a library with whatever ``triton`` is, as it is told by lines of JSON.

    python suites/worker.py EVENTS SETTINGS < requests        (``python -m tritonx.compat suites/worker.py …`` likewise)

EVENTS is the number of an open file to which a line of JSON is written for everything that happens. A request names a
file and which of its tests: ``span`` (from, to) in the order that the seed gives, or ``ids``; those that SETTINGS'
``done`` names, a file of lines, are in no span. With ``timed`` each test runs three times, and the kernels'
time on the device is taken in the last two, when everything is compiled and tuned.

It ends when a test leaves the CUDA context unusable, and whoever started it starts another."""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import threading
import time
import types
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

POISON = (
    "illegal memory access", "device-side assert", "unspecified launch failure", "misaligned address",
    "illegal instruction", "CUDA_ERROR_", "an illegal", "CUDA error",
)  # fmt: skip
"""What an exception says after which no call of the process to the device works."""


def bare_package(name: str, names: str, paths: list[str]) -> None:
    """Make ``name`` importable without its ``__init__``; it has the names of the module ``names`` if that is one."""
    module = types.ModuleType(name)
    module.__path__ = [str(Path(p, name)) for p in paths if Path(p, name).is_dir()]
    if names:
        module.__getattr__ = lambda name: getattr(importlib.import_module(names), name)  # type: ignore[method-assign]
    sys.modules[name] = module


def plain(value: Any) -> Any:
    """A constant or an attribute as JSON has it; what is no number, text, truth value or none, by its name."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if hasattr(value, "value"):  # a constexpr
        return plain(value.value)
    name = getattr(value, "__name__", None)
    return {"name": str(value) if name is None else f"{getattr(value, '__module__', '')}:{name}"}


def recorded(src: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """What a kernel was compiled from, the same for both peers: ``suites/recorded.py`` compiles it again."""
    fn = getattr(src, "fn", None)
    if fn is None:  # from the text of IR
        return {}
    return {
        "fn": f"{fn.__module__}:{getattr(fn, '__qualname__', fn.__name__)}",
        "signature": {k: str(v) for k, v in src.signature.items()},
        "constants": [[list(k), plain(v)] for k, v in sorted(src.constants.items(), key=lambda item: item[0])],
        "attrs": [[list(k), plain(v)] for k, v in sorted(src.attrs.items(), key=lambda item: item[0])],
        "options": {k: plain(metadata.get(k)) for k in ("num_warps", "num_stages", "num_ctas", "maxnreg")},
    }


class Compiles:
    """What the compiler's listener heard since `take`: kernels compiled, those found in the cache, seconds."""

    def __init__(self) -> None:
        self.count = self.hits = 0
        self.seconds = 0.0
        self.kernels: list[dict[str, Any]] = []

    def __call__(self, *, src: Any, metadata: Any, metadata_group: Any, times: Any, cache_hit: bool) -> None:
        if cache_hit:
            self.hits += 1
        else:
            self.count += 1
            self.seconds += times.total / 1e6
            self.kernels.append({**recorded(src, metadata), "seconds": round(times.total / 1e6, 4)})

    def take(self) -> dict[str, Any]:
        taken = {"compiled": self.count, "compile_s": round(self.seconds, 4), "found": self.hits}
        if self.kernels:
            taken["kernels"] = self.kernels
        self.__init__()
        return taken


class KernelTimes:
    """CUDA events around each launch while it is on. The device is kept busy first, so that the time the host takes for
    a launch is not between them. Launches that threads make at the same time are left out."""

    BUSY = 400_000
    """Cycles of the device, about 0.2 ms: more than a launch takes."""

    def __init__(self, knobs: Any, torch: Any) -> None:
        self.torch = torch
        self.on = False
        self.launches: list[list[Any]] = []
        """The thread, the kernel's name, the event in front of it and the one behind it."""
        knobs.runtime.launch_enter_hook.add(self.enter)
        knobs.runtime.launch_exit_hook.add(self.leave)

    def _event(self) -> Any:
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def enter(self, metadata: Any) -> None:
        if self.on and not self.torch.cuda.is_current_stream_capturing():
            self.torch.cuda._sleep(self.BUSY)
            self.launches.append([threading.get_ident(), metadata.data["name"], self._event()])

    def leave(self, _: Any) -> None:
        if self.launches and len(self.launches[-1]) == 3 and self.launches[-1][0] == threading.get_ident():
            self.launches[-1].append(self._event())

    def take(self) -> dict[str, Any]:
        """How many launches since the last time, their µs in all and by kernel."""
        self.torch.cuda.synchronize()
        by_kernel: dict[str, float] = {}
        ended = [launch for launch in self.launches if len(launch) == 4]
        for _, name, before, after in ended:
            by_kernel[name] = by_kernel.get(name, 0) + before.elapsed_time(after) * 1e3
        self.launches = []
        times = {name: round(us, 1) for name, us in by_kernel.items()}
        return {"launches": len(ended), "kernel_us": round(sum(by_kernel.values()), 1), "kernel_times": times}


def last_line(text: str) -> str:
    """The line of a report that says what was wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith("E ")]
    return (marked or lines or [""])[-1][:400]


def said(report: Any) -> tuple[str, str]:
    """A failure in a line, and the end of its report."""
    text = str(report.longrepr)
    crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", "")
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    first = (crash.splitlines() or marked or [""])[0]
    line = " | ".join(dict.fromkeys(part for part in (first, *marked[-2:]) if part)) or last_line(text)
    return line[:600], text[-3000:]


class Plugin:
    """Chooses the tests of a file that were asked for and says what became of each."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.wanted: dict[str, Any] = {}
        self.poisoned = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, session: Any, config: Any, items: list[Any]) -> None:
        there = {item.nodeid: item for item in items}
        order = sorted(there.keys() - self.worker.done)
        random.Random(f"{self.wanted['seed']} {self.wanted['file']}").shuffle(order)
        self.worker.tell(event="collected", count=len(order))
        if "ids" in self.wanted:
            order = [i for i in self.wanted["ids"] if i in there]
        else:
            order = order[slice(*self.wanted["span"])]
        items[:] = [there[i] for i in order]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            line, tail = said(report)
            self.worker.tell(event="end", id=report.nodeid or self.wanted["file"], outcome="not collected",
                             reason=line, tail=tail, seconds=0.0)  # fmt: skip
        elif report.skipped and report.nodeid:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.worker.tell(event="end", id=report.nodeid, outcome="skipped", reason=reason[:300], seconds=0.0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        worker = self.worker
        worker.tell(event="start", id=item.nodeid)
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        start, cpu = time.perf_counter(), sum(os.times()[:4])
        worker.compiles.take()
        reports = runtestprotocol(item, nextitem=None if self.wanted.get("timed") else nextitem, log=False)
        late = worker.synchronize()
        measured = {
            "seconds": round(time.perf_counter() - start, 3),
            "cpu_s": round(sum(os.times()[:4]) - cpu, 3),
            **worker.compiles.take(),
        }
        if self.wanted.get("timed") and all(r.passed for r in reports) and not late:
            reports, times = self.timed(item, nextitem)
            measured |= times
        outcome, reason, tail = self.outcome(reports, late)
        properties = {k: v for r in reports for k, v in r.user_properties}
        worker.tell(event="end", id=item.nodeid, outcome=outcome, reason=reason, tail=tail, **measured, **properties)
        if late or (outcome in ("failed", "error") and any(p in tail for p in POISON)):
            os._exit(77)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def timed(self, item: Any, nextitem: Any) -> tuple[list[Any], dict[str, Any]]:
        """Run it twice more: the last reports, and the times of the run whose kernels took less."""
        times = self.worker.times
        taken: list[dict[str, Any]] = []
        reports: list[Any] = []
        for following in (None, nextitem):
            times.on = True
            reports = runtestprotocol(item, nextitem=following, log=False)
            times.on = False
            taken.append(times.take())
            if not all(r.passed for r in reports):
                break
        return reports, min(taken, key=lambda t: t["kernel_us"])

    @staticmethod
    def outcome(reports: list[Any], late: str) -> tuple[str, str, str]:
        """In one word, why, and the end of the report."""
        for report in reports:
            if hasattr(report, "wasxfail"):
                return ("xfailed" if report.skipped else "xpassed"), str(report.wasxfail)[:300], ""
            if report.skipped:
                reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
                return "skipped", reason[:300], ""
            if report.failed:
                line, tail = said(report)
                return ("failed" if report.when == "call" else "error"), line, tail
        return ("failed", late, late) if late else ("passed", "", "")


class Worker:
    """The device's share, the listener, and the loop over requests."""

    def __init__(self, events: int, settings: dict[str, Any]) -> None:
        self.events = os.fdopen(events, "w", buffering=1)
        self.arguments: list[str] = settings["arguments"]
        self.done = set(Path(settings["done"]).read_text().splitlines())
        import torch
        import triton

        self.cuda = torch.cuda if torch.cuda.is_available() else None
        if self.cuda and settings["memory"]:
            self.cuda.set_per_process_memory_fraction(settings["memory"])
        self.compiles = Compiles()
        triton.knobs.compilation.listener = self.compiles
        if settings["timed"]:
            self.times = KernelTimes(triton.knobs, torch)
        for name, names in settings["bare"]:
            bare_package(name, names, sys.path)
        self.tell(event="ready", triton=triton.__version__, file=str(triton.__file__))

    def tell(self, **event: Any) -> None:
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()

    def synchronize(self) -> str:
        """What the device says that no call said, or nothing."""
        if self.cuda and self.cuda.is_initialized():
            try:
                self.cuda.synchronize()
            except Exception as error:
                return f"after the test: {error}".splitlines()[0]
        return ""

    def serve(self) -> None:
        plugin = Plugin(self)
        for line in sys.stdin:
            plugin.wanted = json.loads(line)
            arguments = ["-q", "--no-header", "-p", "no:cacheprovider", *self.arguments, plugin.wanted["file"]]
            status = pytest.main(arguments, plugins=[plugin])
            if self.cuda:
                self.cuda.empty_cache()
            self.tell(event="done", status=int(status))


if __name__ == "__main__":
    settings = json.loads(sys.argv[2])
    sys.path[:1] = settings["paths"]  # this file's folder is not wanted
    os.chdir(settings["root"])
    Worker(int(sys.argv[1]), settings).serve()
