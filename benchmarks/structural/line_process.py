"""A process that answers a line with a line of JSON."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


class LineProcess:
    """Started when it is first needed and after it died; killed if an answer takes more than ``limit`` seconds. It runs
    in the folder of ``log``, which holds its standard error."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path, limit: float) -> None:
        self.command, self.environment, self.log, self.limit = command, environment, log, limit
        self.process: subprocess.Popen[str] | None = None

    def ask(self, question: str) -> dict[str, Any]:
        """The answer, or an error."""
        if self.process is None:
            with self.log.open("a") as log:
                self.process = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                    env=self.environment, cwd=self.log.parent,
                )  # fmt: skip
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(self.limit, process.kill)
        timer.start()
        try:
            process.stdin.write(question + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line:
            return json.loads(line)
        status = process.wait()
        self.process = None
        said = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return {"error": f"the process ended with {status}: {(said or [''])[-1][:200]}"}

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
