"""Running cases in a process of their own, which may die: LLVM ends it on code that it cannot handle, and a fault on a
device makes the device unusable until the process ends. The parent notes what happened and goes on in a new process.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import tritonx
from tritonx.frontend.errors import CompilationError
from tritonx.ir.failure import PassFailure
from tritonx.runtime.errors import OutOfResources
from tritonx_testing.conformance.arranged_run import NotArranged, check_arranged
from tritonx_testing.conformance.arrangement import parted
from tritonx_testing.conformance.case import Mismatch
from tritonx_testing.conformance.device import check, find
from tritonx_testing.conformance.patience import Patience
from tritonx_testing.conformance.suite import finder

SECONDS = 120.0
"""How long one case may take: of its process's own time, however busy the machine is, or of waiting for something that
does not come (``Patience``)."""


@dataclass(frozen=True)
class Result:
    """``kind``: ``passed``; ``skipped`` (an optional case, one for types that the target says it lacks, or one that
    cannot be arranged); ``unsupported`` (a typed refusal of anything else); ``wrong`` (a mismatch), ``error`` (an
    exception), ``died``, ``hung``."""

    name: str
    kind: str
    message: str = ""

    @property
    def good(self) -> bool:
        """Whether a backend that claims the whole language may have this result."""
        return self.kind in ("passed", "skipped")

    @property
    def failed(self) -> bool:
        """Whether the backend does something wrong, rather than saying what it cannot do."""
        return not self.good and self.kind != "unsupported"


ABSENT = "absent "
"""What a line begins with by which a child says that it does not find the device; the reason follows."""

START = "from tritonx_testing.conformance.isolated import serve; serve()"


def run(
    device: str, names: Sequence[str], seed: int, start: str = START, seconds: float | None = None
) -> Iterator[Result]:
    """A result for each name, in order; ``start`` is what a child runs to serve them, and ``seconds`` how long each may
    take (``SECONDS``). Raises RuntimeError where no process comes up at all, with the reason where a device is not
    found: there is none of that name, or none here, or one that broke does not come back.
    """
    rest = list(names)
    while rest:
        done = 0
        for result in _one_process(device, rest, seed, start, SECONDS if seconds is None else seconds):
            done += 1
            yield result
        if done == 0:
            raise RuntimeError(f"no process could start on {device}")
        rest = rest[done:]


def _one_process(device: str, names: Sequence[str], seed: int, start: str, seconds: float) -> Iterator[Result]:
    reading, writing = os.pipe()
    roots = [str(Path(__file__).parents[2]), str(Path(tritonx.__file__).parents[1])]
    path = os.pathsep.join([*roots, *filter(None, [os.environ.get("PYTHONPATH")])])
    errors = tempfile.TemporaryFile("w+", errors="replace")
    command = [sys.executable, "-c", start, str(writing), device, str(seed)]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, pass_fds=(writing,),
        env={**os.environ, "PYTHONPATH": path}, text=True,
    )  # fmt: skip
    os.close(writing)
    assert child.stdin is not None
    child.stdin.write("\n".join(names))
    child.stdin.close()
    try:
        yield from _served(child, names, reading, errors, seconds)
    finally:  # whoever asked may have stopped in between
        if child.poll() is None:
            child.kill()
        child.wait()
        errors.close()


def _served(
    child: subprocess.Popen[str], names: Sequence[str], reading: int, errors: IO[str], seconds: float
) -> Iterator[Result]:
    done, stopped = 0, False
    for line in _lines(reading, Patience(child.pid, seconds)):
        if line is None:
            child.kill()
            yield Result(names[done], "hung", f"no result after {seconds:g} s")
            stopped = True
        elif line == "stop":
            stopped = True
        elif line.startswith(ABSENT):
            raise RuntimeError(line.removeprefix(ABSENT))
        else:
            done += 1
            yield Result(*json.loads(line))
    ended = child.wait()
    errors.seek(0)
    said = errors.read()
    if ended and not stopped and done < len(names):
        yield Result(names[done], "died", f"exit {ended}: {said.strip()[-600:]}")


def _lines(channel: int, patience: Patience) -> Iterator[str | None]:
    """The lines that arrive until the other end closes; None, and the end, where none does for too long."""
    rest = b""
    try:
        while True:
            if not select.select([channel], [], [], patience.interval)[0]:
                if patience.ended():
                    yield None
                    return
                continue
            patience.renew()
            data = os.read(channel, 1 << 16)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode() for line in lines)
    finally:
        os.close(channel)


def serve() -> None:
    """In the child: run the cases named on standard input, a line of JSON for each."""
    case_of = finder()
    channel, seed = int(sys.argv[1]), int(sys.argv[3])
    with os.fdopen(channel, "w", buffering=1) as out:
        try:
            device = find(sys.argv[2])
        except Exception as problem:
            print(ABSENT + f"{type(problem).__name__}: {' '.join(str(problem).split())}", file=out)
            os._exit(1)
        for name in sys.stdin.read().splitlines():
            own, arrangement = parted(name)
            kind, message = outcome(case_of(own), device, seed, arrangement)
            print(json.dumps((name, kind, message)), file=out)
            if kind == "error" and not device.usable():
                print("stop", file=out)
                os._exit(0)
        out.flush()
        os._exit(0)  # whatever libraries do when they end is not what is tested


def outcome(case: Any, device: Any, seed: int, arrangement: Any = None) -> tuple[str, str]:
    """What running ``case`` in this process gives, as it is or in an arrangement: (kind, message)."""
    try:
        reason = device.unsupported(case)
    except ValueError as refusal:  # of the options, as a backend refuses them
        return "unsupported", f"refused: {refusal}"
    if reason is not None:
        return "skipped", reason
    try:
        if arrangement is None:
            check(case, device, seed)
        else:
            check_arranged(case, device, seed, arrangement)
    except Mismatch as problem:
        return "wrong", str(problem)
    except NotArranged as reason:
        return "skipped", str(reason)
    except Exception as problem:
        if arrangement is not None and is_too_long(problem):
            return "skipped", f"arranged, it is too long: {getattr(problem, 'reason', problem)}"
        if is_refusal(problem):
            return "skipped" if case.optional else "unsupported", f"refused: {getattr(problem, 'reason', problem)}"
        return "error", f"{type(problem).__name__}: {problem}"
    return "passed", ""


def is_too_long(problem: Exception) -> bool:
    """Whether the compiler refuses a program for its length alone: fewer warps, and the arithmetic of an arrangement,
    can make one too long."""
    return isinstance(problem, PassFailure) and problem.too_long


def is_refusal(problem: Exception) -> bool:
    """Whether the compiler says that the target cannot do this, rather than failing at it."""
    if isinstance(problem, OutOfResources):
        return problem.name == "shared memory" and problem.limit < SHARED_MEMORY
    return isinstance(problem, CompilationError) or (isinstance(problem, PassFailure) and not problem.internal)


SHARED_MEMORY = 64 * 1024
"""Bytes that a case's kernel may take of a block's; a target that has less may lack some for it."""
