"""Host time of launches as users write them, in steady state: each form of `kernels_launch.py`, one compiler a process.

    python benchmarks/gpu_launch.py measure tritonx > ours.json
    python benchmarks/gpu_launch.py measure triton > peer.json       # with PYTHONPATH for another version of Triton
    python benchmarks/gpu_launch.py compare ours.json peer.json ... [--record MACHINE]

Bursts of launches are timed on the host, all forms by turns, and the device is waited for outside of the timing. The
least time of a call is reported, and what PyTorch takes of it by itself (outputs, streams). ``compare`` prints a table,
and with ``--record`` writes it to `results/launching.json` (`results_page.py`), with the name of the machine.
``--stand-in`` measures without a GPU: on the host's memory, with a libcuda that does nothing (`stand_in_cuda.py`)."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

BURST, REPEAT, FIRST = 100, 40, 50
GOAL = 0.5
RESULT = Path(__file__).parent / "results" / "launching.json"


def microseconds(calls: Mapping[str, Callable[[], object]], wait: Callable[[], object]) -> dict[str, float]:
    """The least time of a call, by bursts of each in turns."""
    for call in calls.values():
        for _ in range(FIRST):
            call()
        wait()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(REPEAT):
        for name, call in calls.items():
            call()
            wait()
            start = time.perf_counter_ns()
            for _ in range(BURST):
                call()
            times[name].append((time.perf_counter_ns() - start) / BURST / 1e3)
            wait()
    return {name: min(each) for name, each in times.items()}


def runs(compiler: str, name: str, call: Callable[[], object]) -> bool:
    """Whether a form can be launched at all: one that cannot leaves the others their figures."""
    try:
        call()
    except Exception as error:
        print(f"{compiler}: {name}: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    return True


def measured(compiler: str, stand_in: bool, only: Sequence[str]) -> dict[str, Any]:
    """What one compiler takes for each form: microseconds of a call, and of what PyTorch does of it."""
    warnings.simplefilter("ignore", DeprecationWarning)
    if stand_in:
        from stand_in_cuda import install

        device, streams, use = install(compiler)
        wait: Callable[[], object] = int
    else:
        import torch

        device, wait = "cuda", torch.cuda.synchronize
        streams, use = [torch.cuda.Stream() for _ in range(2)], torch.cuda.set_stream
        torch.zeros(1, device=device)
    from peers import kernels_of

    forms = kernels_of(compiler, "kernels_launch").forms(device, streams, use)
    if only:
        forms = {name: form for name, form in forms.items() if any(part in name for part in only)}
    forms = {name: form for name, form in forms.items() if runs(compiler, name, form.call)}
    calls = {name: form.call for name, form in forms.items()}
    times = microseconds(calls, wait)
    rest = microseconds({name: form.rest for name, form in forms.items() if form.rest is not None}, wait)
    version = getattr(importlib.import_module(compiler), "__version__", "")
    return {
        "compiler": compiler if compiler == "tritonx" else f"Triton {'.'.join(version.split('.')[:2])}",
        "stand_in": stand_in,
        "forms": {name: {"call": times[name], "pytorch": rest.get(name)} for name in forms},
    }


def table(ours: dict[str, Any], peers: Sequence[dict[str, Any]]) -> list[str]:
    """In Markdown, a line for each form: times, and ours over that of the fastest peer. The second ratio is of what the
    compilers take, without PyTorch's part."""
    names = [ours["compiler"], *(peer["compiler"] for peer in peers)]
    lines = [
        f"| µs a call | {' | '.join(names)} | PyTorch's part | ratio | without that part |",
        "|" + "---|" * (len(names) + 4),
    ]
    for name, own in ours["forms"].items():
        found = [peer["forms"].get(name, {}).get("call") for peer in peers]
        part, best = own["pytorch"], min((each for each in found if each is not None), default=None)
        ratio = "" if best is None else f"{own['call'] / best:.2f}"
        launch = "" if best is None or part is None else f"{(own['call'] - part) / max(best - part, 0.01):.2f}"
        shown = " | ".join("–" if each is None else f"{each:.2f}" for each in (own["call"], *found))
        lines.append(f"| {name} | {shown} | {'' if part is None else f'{part:.2f}'} | {ratio} | {launch or ratio} |")
    return lines


def slower(lines: Sequence[str]) -> list[str]:
    """The forms that miss the goal by what the compilers take."""
    rows = [cells(line) for line in lines[2:]]
    return [row[0] for row in rows if row[-1] and float(row[-1]) > GOAL]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def record(path: Path, lines: Sequence[str], machine: str, date: str) -> None:
    """Put the table in place of the result's own; what it says in words stays."""
    result = json.loads(path.read_text())
    result |= {
        "machine": machine,
        "date": date,
        "columns": cells(lines[0]),
        "rows": [cells(line) for line in lines[2:]],
    }
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    measure = verbs.add_parser("measure")
    measure.add_argument("compiler", choices=("tritonx", "triton"))
    measure.add_argument("--stand-in", action="store_true")
    measure.add_argument("--only", nargs="*", default=[])
    compare = verbs.add_parser("compare")
    compare.add_argument("ours", type=Path)
    compare.add_argument("peers", type=Path, nargs="+")
    compare.add_argument("--record", metavar="MACHINE", help="what was measured on, as in 'one NVIDIA H200'")
    given = parser.parse_args()
    if given.verb == "measure":
        json.dump(measured(given.compiler, given.stand_in, given.only), sys.stdout, indent=1)
        return
    lines = table(json.loads(given.ours.read_text()), [json.loads(each.read_text()) for each in given.peers])
    print("\n".join(lines))
    missed = slower(lines)
    print(f"{len(missed)} of {len(lines) - 2} forms above {GOAL}: {', '.join(missed) or 'none'}", file=sys.stderr)
    if given.record is not None:
        record(RESULT, lines, given.record, time.strftime("%Y-%m-%d"))


if __name__ == "__main__":
    main()
