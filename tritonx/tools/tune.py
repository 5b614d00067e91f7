"""``tritonx tune``: search the configurations of a file's tuned kernels before anyone waits for them.

tritonx tune FILE                    every kernel with @autotune, for the launches that tuning_inputs() gives
tritonx tune FILE:KERNEL             this one
    --inputs NAME                    another function than tuning_inputs
    --fresh                          measure again what an earlier search has on the disk
    --winners OUT.json               the fastest ones, for `tritonx seal`
    --html OUT, --svg OUT            what was tried, drawn
    --workers N                      processes that compile
    --devices 0,1                    measure on several devices at once, a process for each

What is found is kept on disk; a program whose kernel has cache_results=True, or which runs under
TRITONX_CACHE_AUTOTUNING=1, takes it from there. An interrupted search goes on when it is started again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from tritonx.runtime import driver, knobs
from tritonx.runtime.config import Config
from tritonx.runtime.tuning.case import INPUTS, Case, NoCase, kernels, launches, see_only, tuner
from tritonx.runtime.tuning.launches import TunedLaunches
from tritonx.runtime.tuning.remote import RemoteLaunches
from tritonx.runtime.tuning.report import Report
from tritonx.runtime.tuning.sealed_winners import dtype_text
from tritonx.runtime.tuning.tuning_key import named_key, tuning_key
from tritonx.runtime.tuning.workers import CompileWorkers
from tritonx.tools import command


def tune(case: Case, measuring: Sequence[Executor] = (), *, fresh: bool = False) -> Report:
    """Search for one launch; with ``measuring`` on those executors, each of which has one process with a device of its
    own. ``fresh``: what the disk has of earlier searches is measured again. Raises what the search raises."""
    grid, args, kwargs = launches(case.file, case.inputs)[case.number]
    tuned = tuner(case)
    tuned.cache_results = True

    def remote(here: TunedLaunches, configs: Sequence[Config]) -> list[RemoteLaunches]:
        return [RemoteLaunches(case, executor, here, configs) for executor in measuring]

    report = tuned.tune(grid, args, kwargs, remote if measuring else None, fresh=fresh)
    assert report is not None, "a search reports"
    return report


def winner(case: Case) -> dict[str, object]:
    """What a search for one launch, which was made, found: a table of `tritonx.tools.sealing.winners`. Raises `Mistake`
    for a configuration or a key that JSON cannot hold."""
    _, args, kwargs = launches(case.file, case.inputs)[case.number]
    tuned = tuner(case)
    assert tuned.best_config is not None, "a search finds one"
    key = tuning_key(tuned.keys, tuned.arg_names, args, kwargs)
    values, dtypes = named_key(key, tuned.keys, tuned.arg_names, args, kwargs)
    table: dict[str, object] = {
        "kernel": case.kernel,
        "target": str(driver.get_active().get_current_target()),
        "key": values,
        "dtypes": [dtype_text(dtype) for dtype in dtypes],
        "config": tuned.best_config.all_kwargs(),
    }
    try:
        if json.loads(json.dumps(table)) == table:
            return table
    except TypeError:
        pass
    raise command.Mistake(f"--winners: {case.kernel}: JSON cannot hold {table['key']} and {table['config']}")


def device_processes(devices: Sequence[str]) -> list[CompileWorkers]:
    """A process for each of the active backend's devices, which sees no other."""
    variable = driver.get_active().backend.visible_devices
    if devices and not variable:
        name = driver.get_active().backend.name
        raise NoCase(f"--devices: backend {name!r} cannot give a process one of several devices")
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


def argument_parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser("tritonx tune", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", metavar="FILE[:KERNEL]")
    parser.add_argument("--inputs", default=INPUTS)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--winners", metavar="OUT.json")
    parser.add_argument("--html")
    parser.add_argument("--svg")
    parser.add_argument("--workers", type=command.integer(0, 1024))
    parser.add_argument("--devices", default="")
    return parser


def _run(given: argparse.Namespace) -> int:
    for path, option in ((given.html, "--html"), (given.svg, "--svg"), (given.winners, "--winners")):
        command.require_writable(path, option)
    if given.workers is not None:
        knobs.autotuning.workers = given.workers
    measuring: list[CompileWorkers] = []
    reports: list[Report] = []
    winners: list[dict[str, object]] = []
    try:
        with command.running(given.what.rpartition(":")[0] if given.what.count(".py:") else given.what):
            cases = _cases(given)
        measuring = device_processes([device for device in given.devices.split(",") if device])
        for case in cases:
            reports.append(tune(case, measuring, fresh=given.fresh))
            print(reports[-1].table(), flush=True)
            if given.winners:
                winners.append(winner(case))
    finally:
        for process in measuring:
            process.shutdown(wait=False)
    if given.html:
        command.write(given.html, "".join(report.html() for report in reports), "--html")
    if given.winners:
        command.write(given.winners, json.dumps(winners, indent=1) + "\n", "--winners")
    if given.svg:
        command.write(given.svg, "".join(report.svg() for report in reports), "--svg")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx tune``; its exit status."""
    with knobs.autotuning.scope():
        return command.run("tritonx tune", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
