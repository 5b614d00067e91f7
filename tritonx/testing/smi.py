"""Asking the system management tool of the first device, as Triton's ``triton.testing.nvsmi`` does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from tritonx.runtime.errors import TritonError

PROGRAM = "nvidia-smi"


class NoManagementTool(TritonError):
    """The tool is not on the path, or it failed; the message has its words."""


def nvsmi(attrs: Sequence[str]) -> list[int]:
    """The whole numbers that the tool reports for the first device's ``attrs`` (``clocks.current.sm``), in order.

    Raises ``NoManagementTool`` where it cannot be asked and ``ValueError`` for an attribute that is no whole number.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise NoManagementTool(f"{PROGRAM} is not on the path: it comes with the device's driver")
    command = [program, "-i", "0", f"--query-gpu={','.join(attrs)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NoManagementTool(f"{program} cannot be run: {error.strerror}") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise NoManagementTool(f"`{' '.join(command)}` failed with exit code {done.returncode}: {said}")
    answers = [answer.strip() for answer in done.stdout.strip().split(",")]
    try:
        return [int(answer) for answer in answers]
    except ValueError:
        raise ValueError(f"{PROGRAM} has no whole numbers for {', '.join(attrs)}: {', '.join(answers)}") from None
