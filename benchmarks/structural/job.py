"""A compile that both compilers are asked for: where the kernel's source is, and what it is compiled with."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

SMALL = ["tt.pointer_range", 32]
WITH_TF32 = ("cuda:", "hip:gfx942")


@dataclass(frozen=True)
class Job:
    """The kernel ``function`` of ``file``, which is imported with ``paths`` on ``sys.path``.

    ``signature`` is by parameter, with ``constexpr`` for constants. ``constants`` and ``attrs`` are by the position of
    the parameter. ``targets`` are prefixes of the targets that it is for; all, if empty."""

    name: str
    file: str
    function: str
    signature: dict[str, str]
    constants: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    attrs: list[tuple[int, list[list[Any]]]] = field(default_factory=list[tuple[int, list[list[Any]]]])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    paths: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    target: str = ""

    def runs_on(self, target: str) -> bool:
        return not self.targets or target.startswith(self.targets)

    def on(self, target: str) -> Job:
        """For AMD's processors pointers are marked as a launch marks tensors of less than 2 GiB, which buffer
        instructions access. A product in tf32 is one in f32 where the target has no tf32."""
        if not target.startswith("hip:"):
            return replace(self, target=target)
        marks = dict(self.attrs)
        pointers = [i for i, type_ in enumerate(self.signature.values()) if type_.startswith("*")]
        small = [(i, [*marks.pop(i, []), SMALL]) for i in pointers]
        constants = self.constants
        if not target.startswith(WITH_TF32):
            constants = [(i, "ieee" if value == "tf32" else value) for i, value in constants]
        return replace(self, target=target, constants=constants, attrs=sorted([*marks.items(), *small]))

    def line(self) -> str:
        return json.dumps(asdict(self))

    @property
    def content(self) -> str:
        """Of two jobs the same if they compile the same."""
        return json.dumps({**asdict(self), "name": ""}, sort_keys=True)


def read(line: str) -> Job:
    given = json.loads(line)
    return Job(**{**given, "paths": tuple(given["paths"]), "targets": tuple(given["targets"])})


def distinct(jobs: Iterable[Job]) -> list[Job]:
    """Without those that compile the same as an earlier one. A name that several jobs have gets a number."""
    found: dict[str, Job] = {}
    taken: dict[str, int] = {}
    for job in jobs:
        if job.content in found:
            continue
        taken[job.name] = taken.get(job.name, 0) + 1
        number = taken[job.name]
        found[job.content] = job if number == 1 else replace(job, name=f"{job.name} ({number})")
    return list(found.values())
