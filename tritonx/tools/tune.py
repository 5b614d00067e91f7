"""``tritonx tune``: search the configurations of a file's tuned kernels before anyone waits for them.

tritonx tune FILE                    every kernel with @autotune, for the launches that tuning_inputs() gives
tritonx tune FILE:KERNEL             this one
    --inputs NAME                    another function than tuning_inputs
    --html OUT, --svg OUT            what was tried, drawn
    --workers N                      processes that compile
    --devices 0,1                    measure on several devices at once, a process for each

What is found is kept on disk; a program whose kernel has cache_results=True, or which runs under
TRITONX_CACHE_AUTOTUNING=1, takes it from there. An interrupted search goes on when it is started again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from tritonx.runtime import driver, knobs
from tritonx.runtime.config import Config
from tritonx.runtime.errors import TritonError
from tritonx.runtime.tuning.case import INPUTS, Case, NoCase, kernels, launches, see_only, tuner
from tritonx.runtime.tuning.elsewhere import Elsewhere
from tritonx.runtime.tuning.launches import TunedLaunches
from tritonx.runtime.tuning.report import Report
from tritonx.runtime.tuning.workers import CompileWorkers


def tune(case: Case, measuring: Sequence[Executor] = ()) -> Report:
    """Search for one launch; with ``measuring`` on those executors, each of which has one process with a device of its
    own. Raises what the search raises."""
    grid, args, kwargs = launches(case.file, case.inputs)[case.number]
    tuned = tuner(case)
    tuned.cache_results = True

    def elsewhere(here: TunedLaunches, configs: Sequence[Config]) -> list[Elsewhere]:
        return [Elsewhere(case, executor, here, configs) for executor in measuring]

    report = tuned.tune(grid, args, kwargs, elsewhere if measuring else None)
    assert report is not None, "a search reports"
    return report


def device_processes(devices: Sequence[str]) -> list[CompileWorkers]:
    """A process for each of the active backend's devices, which sees no other."""
    variable = driver.get_active().backend.visible_devices
    if devices and not variable:
        raise NoCase(f"backend {driver.get_active().backend.name!r} cannot give a process one of several devices")
    made = [CompileWorkers(1, modest=False) for _ in devices]
    for process, device in zip(made, devices, strict=True):
        process.submit(see_only, variable, device).result()
    return made


def _cases(given: argparse.Namespace) -> list[Case]:
    file, colon, kernel = given.what.rpartition(":")
    if not colon or not file.endswith(".py"):
        file, kernel = given.what, ""
    names = (kernel,) if kernel else kernels(file)
    if not names:
        raise NoCase(f"{file} has no kernel with @autotune")
    count = len(launches(file, given.inputs))
    return [Case(str(Path(file).resolve()), name, number, given.inputs) for name in names for number in range(count)]


def main(arguments: Sequence[str] | None = None) -> int:
    assert __doc__ is not None
    parser = argparse.ArgumentParser("tritonx tune", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", metavar="FILE[:KERNEL]")
    parser.add_argument("--inputs", default=INPUTS)
    parser.add_argument("--html")
    parser.add_argument("--svg")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--devices", default="")
    given = parser.parse_args(arguments)
    if given.workers is not None:
        knobs.autotuning.workers = given.workers
    measuring: list[CompileWorkers] = []
    try:
        measuring = device_processes([device for device in given.devices.split(",") if device])
        reports: list[Report] = []
        for case in _cases(given):
            reports.append(tune(case, measuring))
            print(reports[-1].table(), flush=True)
    except TritonError as error:
        print(f"tritonx tune: {error}", file=sys.stderr)
        return 1
    finally:
        for process in measuring:
            process.shutdown(wait=False)
    for path, texts in ((given.html, [r.html() for r in reports]), (given.svg, [r.svg() for r in reports])):
        if path:
            Path(path).write_text("".join(texts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
