"""Results in a file, a line of JSON each, so that a run which was stopped goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tritonx_testing.conformance.isolated import Result


@dataclass(frozen=True)
class Record:
    """The file at ``path``, which need not be there yet."""

    path: Path

    def seed(self) -> int | None:
        """Of the run that began it; None where none has."""
        lines = self._lines()
        return int(lines[0]["seed"]) if lines else None

    def of(self, device: str, seed: int) -> dict[str, Result]:
        """Name → what is known of the case on a device. Raises ``ValueError`` where it is of another seed."""
        lines = self._lines()
        if any(line["seed"] != seed for line in lines):
            raise ValueError(f"{self.path} is of seed {lines[0]['seed']}, not {seed}")
        return {
            str(line["name"]): Result(str(line["name"]), str(line["kind"]), str(line["message"]))
            for line in lines
            if line["device"] == device
        }

    def add(self, device: str, seed: int, result: Result) -> None:
        line = {"device": device, "seed": seed, "name": result.name, "kind": result.kind, "message": result.message}
        self._end_with_a_line()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _end_with_a_line(self) -> None:
        """Take away a last line that was cut off."""
        if not self.path.exists():
            return
        with self.path.open("rb+") as file:
            size = file.seek(0, 2)
            if size and (file.seek(size - 1), file.read(1))[1] != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)

    def _lines(self) -> list[dict[str, str | int]]:
        """A last line that was cut off is none."""
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").split("\n")
        return [json.loads(line) for line in lines[:-1] if line]
