"""What `tritonx check` says: findings by kernel, as lines and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape

from tritonx.explain.prediction import Prediction

SCHEMA = 1
"""The version of the JSON form; raised where a field goes or changes its meaning."""

KINDS = {
    "compile": "the kernel does not compile; `targets` says for what",
    "launch": "the launch's arguments do not fit the kernel",
    "bounds": "an access outside every array of the launch",
    "alignment": "an address that is no multiple of the element's size",
    "uninitialised": "a read of memory that was never written",
    "unwritten": "elements of an output (`np.empty`) that no program writes",
    "view": "an access to the gaps between the elements of a strided array",
    "read-only": "a store to an array that is not writeable",
    "race": "programs access one element, one of them writes, and nothing orders them",
    "barrier": "lanes of one program access one element, one of them writes, and no barrier is between",
    "lanes": "lanes of one store write different values to one element",
    "order": "the result depends on the order of the programs",
    "undefined": "the result depends on lanes that a masked load without `other` leaves undefined",
    "overflow": "32-bit arithmetic of an address overflows",
    "assertion": "an assertion of the kernel fails, or a promise that an access goes by",
    "endless": "a program does not end in the time that it has",
    "precision": "the error against float64 is larger than the formats explain",
    "wrong": "the result differs from the reference",
    "reference": "the reference raises, or gives arrays that do not fit what the kernel writes",
    "ignored": "the kernel writes its output and reads none of the arrays that it is given",
    "backend": "the compiled CPU code and the interpreter disagree",
    "fault": "another fault while the kernel ran",
}
"""Each kind of finding, and what it is."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, with the first launch that showed it. `line` and `column` count from 1; 0 is unknown."""

    kind: str
    message: str
    file: str
    line: int
    column: int
    launch: str = ""

    def __str__(self) -> str:
        launch = f" [{self.launch}]" if self.launch else ""
        return f"{self.file}:{self.line}:{self.column}: {self.kind}: {self.message}{launch}"


@dataclass
class KernelReport:
    """Of one kernel. `error`: the largest error of each float array against float64, relative to the largest value of
    the array; `skipped`: what could not be judged, by the name of the check, and why; `predictions`: of each launch
    on each target that they were asked for."""

    kernel: str
    launches: int = 0
    targets: list[str] = field(default_factory=list[str])
    findings: list[Finding] = field(default_factory=list[Finding])
    error: dict[str, float] = field(default_factory=dict[str, float])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    predictions: list[Prediction] = field(default_factory=list[Prediction])

    def add(self, finding: Finding) -> None:
        """Keep it, unless the same line has one of this kind."""
        key = (finding.kind, finding.file, finding.line)
        if all((f.kind, f.file, f.line) != key for f in self.findings):
            self.findings.append(finding)

    def summary(self) -> str:
        """How much was found in how many launches, and the errors, in a line."""
        count = _counted(len(self.findings), "finding") if self.findings else "clean"
        error = "".join(f", {name} {value:.1e}" for name, value in self.error.items())
        return f"{self.kernel}: {count} in {_counted(self.launches, 'launch')}{error and ', error' + error[1:]}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('ch') else 's'}"


@dataclass(frozen=True)
class Report:
    """Of one file, or of one kernel that a program passed."""

    kernels: Sequence[KernelReport]

    @property
    def findings(self) -> list[Finding]:
        """Of all kernels."""
        return [finding for kernel in self.kernels for finding in kernel.findings]

    @property
    def status(self) -> int:
        """The exit status: 0 where nothing was found, 1 otherwise."""
        return 1 if self.findings else 0

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings]
        for kernel in self.kernels:
            if kernel.launches or kernel.findings:
                lines.append(kernel.summary())
            lines += [f"{kernel.kernel}: {prediction}" for prediction in kernel.predictions]
            lines += [f"{kernel.kernel}: not judged: {name}: {why}" for name, why in kernel.skipped.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The findings as a table, for notebooks."""
        rows = [
            f"<tr><td>{escape(f.kind)}</td><td>{escape(f.file)}:{f.line}</td><td>{escape(f.message)}</td></tr>"
            for f in self.findings
        ]
        table = f"<table><tr><th>kind</th><th>line</th><th>what</th></tr>{''.join(rows)}</table>" if rows else ""
        return table + "".join(f"<p>{escape(kernel.summary())}</p>" for kernel in self.kernels)

    def json(self) -> str:
        """`{"schema": 1, "status": 0 or 1, "kernels": [...]}`; a kernel has the fields of `KernelReport`, a finding
        those of `Finding`."""
        kernels = [asdict(kernel) for kernel in self.kernels]
        return json.dumps({"schema": SCHEMA, "status": self.status, "kernels": kernels}, indent=1)
