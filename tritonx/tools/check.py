"""``tritonx check``: what is wrong with a kernel, without a GPU.

tritonx check FILE                   every kernel of the file, for the launches that tuning_inputs() gives
tritonx check FILE:KERNEL            this one
    --json                           the report as JSON
    --inputs NAME                    another function than inputs_KERNEL or tuning_inputs
    --targets cuda:90,hip:gfx942     what to compile for besides the host; none for nothing
    --predict cuda:90,hip:gfx942     what to estimate bound and time of each launch for
    --draws N, --seed N              how many sizes to draw, and from what
    --seconds S                      that a program may take in the interpreter

The file says its launches by a function that gives grid, arguments and keywords, as for ``tritonx tune``. Its
parameters with defaults are drawn (docs/check.md says how, and what a reference may return).

    def tuning_inputs(n=1000, contiguous=True):
        x, y = np.random.rand(n).astype(np.float32), np.empty(n, np.float32)
        yield (tritonx.cdiv(n, 128),), (x, y, n), {"BLOCK": 128}

    def reference(x, y, n, BLOCK):       # optional; arrays of floats come as float64
        return np.exp(x)

    def predicted_inputs(n=2**28):       # optional; launches for --predict that are not executed
        yield (tritonx.cdiv(n, 1024),), (np.empty(n, np.float32), np.empty(n, np.float32), n), {"BLOCK": 1024}

The exit status is 0 where nothing was found, 1 where
something was, 2 for a mistake in the call.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Generator, Iterable, Sequence

from tritonx.backends import registry
from tritonx.backends.api import Target
from tritonx.interpreter import fresh_memory
from tritonx.runtime import knobs
from tritonx.runtime.errors import TritonError
from tritonx.tools import command
from tritonx.tools.checking.judge import Judge
from tritonx.tools.checking.launches import Case, Launch, cases, drawn
from tritonx.tools.checking.predictions import Predictor
from tritonx.tools.checking.reference import Reference
from tritonx.tools.checking.report import Finding, KernelReport, Report
from tritonx.tools.wrapped import jit_function

__all__ = ["Finding", "KernelReport", "Launch", "Report", "check", "check_kernel", "default_targets"]

DRAWS = 8
SECONDS = 10.0


def default_targets() -> list[Target]:
    """For each installed backend of GPUs, the target in the middle of its list."""
    found = [b for b in registry.available().values() if 1 not in b.dlpack_device_types]
    known = [registry.known_targets(backend) for backend in found]
    return [targets[len(targets) // 2] for targets in known if targets]


def check_kernel(
    kernel: object,
    launches: Iterable[Launch],
    reference: Reference | None = None,
    targets: Sequence[Target] | None = None,
    seconds: float = SECONDS,
    name: str = "",
    predict: Sequence[Target] = (),
    predicted: Iterable[Launch] = (),
) -> KernelReport:
    """Judge `kernel` (also one with a tuner or heuristics) for `launches` with arrays of the host. `reference` is
    called with the parameters by name, arrays of floats as float64. `targets`: what to compile for besides the host;
    None for `default_targets`. `seconds`: that a program may take in the interpreter; `predict`: targets
    whose bound and time are estimated (seconds, by the compiler's model, in `KernelReport.predictions`); `predicted`:
    launches of any size for which they are as well, and which are not judged. It compiles whatever TRITONX_SEALED
    says. Raises a `Mistake` for what is no kernel, and without launches.

    >>> from tritonx.tools.check import Launch, check_kernel
    >>> x = np.zeros(6, np.float32)
    >>> report = check_kernel(double, [Launch((1,), (x,), {"BLOCK": 8})], targets=[])
    >>> [finding.kind for finding in report.findings]
    ['bounds']
    """
    function = jit_function(kernel)
    if function is None:
        raise command.Mistake(f"{kernel!r} is no kernel")
    report = KernelReport(name or function.__name__)
    with knobs.compilation.scope():
        knobs.compilation.sealed = None
        chosen = default_targets() if targets is None else targets
        predictor = Predictor(predict, seconds) if predict else None
        Judge(kernel, report, reference, chosen, seconds, predictor).judge(launches)
        if predictor is not None:
            predictor.predict(kernel, predicted, report)
    if not (report.launches or report.findings or report.skipped or report.predictions):
        raise command.Mistake(f"there are no launches of {report.kernel}")
    return report


def check(
    file: str,
    kernel: str = "",
    inputs: str = "",
    targets: Sequence[Target] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    seconds: float = SECONDS,
    predict: Sequence[Target] = (),
) -> Report:
    """What ``tritonx check`` says of a file; `predict`: targets whose bound and time are estimated. Raises `NoCase`
    where it gives no kernels or launches, a `Mistake` where the file or what gives its launches raises."""
    reports: list[KernelReport] = []
    with fresh_memory.watched():
        with command.running(file):
            found = cases(file, kernel, inputs, predict=bool(predict))
        for case, launches in [(case, _launches(file, case, seed, draws)) for case in found]:
            large = _predicted(file, case) if predict else []
            if launches or large:
                reports.append(
                    check_kernel(case.kernel, launches, case.reference, targets, seconds, case.name, predict, large)
                )
            else:
                skipped = {"launches": f"the file has no function {case.wanted} that gives them"}
                reports.append(KernelReport(case.name, skipped=skipped))
    return Report(reports)


def _launches(file: str, case: Case, seed: int, draws: int) -> list[Launch]:
    """Those that are drawn; none where the file has no function that gives them. Raises a `Mistake` where there is one
    and it gives none."""
    if case.make is None:
        return []
    try:
        with command.running(file):
            found = list(drawn(case.make, seed, draws))
    except command.Mistake as error:
        sizes = [note for note in getattr(error.__cause__, "__notes__", ()) if note]
        raise command.Mistake(f"{error} [{sizes[0]}]" if sizes else str(error)) from error
    if not found:
        raise command.Mistake(f"{file}: {getattr(case.make, '__name__', 'the function')}() gives no launches")
    return found


def _predicted(file: str, case: Case) -> list[Launch]:
    """Those that are predicted alone. Their arrays are not filled: what they hold is not judged."""
    if case.predicted is None:
        return []
    with command.running(file), fresh_memory.unwatched():
        found = list(drawn(case.predicted, 0, 1))
    if not found:
        raise command.Mistake(f"{file}: {getattr(case.predicted, '__name__', 'the function')}() gives no launches")
    return found


def argument_parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        "tritonx check", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", metavar="FILE[:KERNEL]")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--inputs", default="", help="the function that gives launches")
    parser.add_argument("--targets", help="with commas between them")
    parser.add_argument("--predict", default="", help="targets to estimate times for, with commas between them")
    parser.add_argument("--draws", type=command.integer(1, 1000), default=DRAWS, help=f"of sizes (default {DRAWS})")
    parser.add_argument("--seed", type=command.integer(0, 2**63 - 1), default=0, help="of the draws")
    parser.add_argument("--seconds", type=command.integer(1, 3600), default=SECONDS, help="that a program may take")
    return parser


def _targets(text: str | None, option: str = "--targets") -> list[Target] | None:
    if text is None:
        return None
    try:
        return [registry.parse_target(each)[1] for each in text.split(",") if each]
    except (KeyError, ValueError, TritonError) as error:
        raise command.Mistake(f"{option} {text[:80]}: {error.args[0] if error.args else error}") from None


@contextlib.contextmanager
def _prints_to_stderr() -> Generator[None]:
    """What the file prints goes to standard error, and what compiled kernels write to file 1."""
    with contextlib.suppress(AttributeError):  # standard output is closed
        sys.stdout.flush()
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # one of the two is closed
            kept = os.dup(1)
            stack.callback(os.close, kept)
            os.dup2(2, 1)
            stack.callback(os.dup2, kept, 1)
        with contextlib.redirect_stdout(sys.stderr):
            yield


def _run(given: argparse.Namespace) -> int:
    file, colon, kernel = given.what.rpartition(":")
    if not colon or not file.endswith(".py"):
        file, kernel = given.what, ""
    targets = _targets(given.targets)
    predict = _targets(given.predict, "--predict") or []
    with _prints_to_stderr() if given.json else contextlib.nullcontext():
        report = check(file, kernel, given.inputs, targets, given.draws, given.seed, float(given.seconds), predict)
    print(report.json() if given.json else report)
    return report.status


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx check``; its exit status."""
    return command.run("tritonx check", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
