"""Asking the system management tool of the first device, as Triton's ``triton.testing.nvsmi`` does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tritonx.runtime.errors import TritonError

PROGRAM = "nvidia-smi"


class NoManagementTool(TritonError):
    """The tool is not on the path, or it failed; the message has its words.

    >>> print(tritonx.testing.NoManagementTool("the tool is not on the path"))
    the tool is not on the path
    """


def _ask(*options: str) -> str:
    """What the tool says about, or does to, the first device. Raises ``NoManagementTool``."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoManagementTool(f"{PROGRAM} is not on the path: it comes with the device's driver")
    command = [program, "-i", "0", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoManagementTool(f"{program} cannot be run: {error.strerror}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise NoManagementTool(f"`{' '.join(command)}` failed with exit code {done.returncode}: {said}")
    return done.stdout.strip()


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """The whole numbers that the tool reports for the first device's ``attrs`` (``clocks.current.sm``), in order.

    Raises ``NoManagementTool`` where it cannot be asked and ``ValueError`` for an attribute that is no whole number.
    """
    said = _ask(f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits")
    answers = [answer.strip() for answer in said.split(",")]
    try:
        return [int(answer) for answer in answers]
    except ValueError:
        raise ValueError(f"{PROGRAM} has no whole numbers for {', '.join(attrs)}: {', '.join(answers)}") from None


@contextmanager
def set_gpu_clock(ref_sm_clock: int = 1350, ref_mem_clock: int = 1215) -> Generator[tuple[float, float]]:
    """Hold the first device's clocks (MHz) inside the block, which gets the peak of an A100 at them, as Triton's does:
    (TFLOP/s of f16 products, GB/s). Needs the rights to; raises ``NoManagementTool``, also where a clock is not
    held."""
    try:
        _ask("-pm", "1")
        _ask(f"--lock-gpu-clocks={ref_sm_clock},{ref_sm_clock}")
        _ask(f"--lock-memory-clocks={ref_mem_clock},{ref_mem_clock}")
        for name, wanted in (("sm", ref_sm_clock), ("memory", ref_mem_clock)):
            (found,) = nvsmi([f"clocks.current.{name}"])
            if abs(found - wanted) >= CLOCK_TOLERANCE:
                raise NoManagementTool(f"the {name} clock is {found} MHz and not {wanted}")
        yield 1e-6 * 2 * 108 * 4 * 256 * ref_sm_clock, 640 * 2 * ref_mem_clock * 1e-3
    finally:
        for option in ("-rgc", "-rmc"):
            _ask(option)
        _ask("-pm", "0")


CLOCK_TOLERANCE = 10
"""MHz by which a clock that is held may be off."""
