"""One mutant on its way through the tests that reach it."""

from __future__ import annotations

import ast
import base64
import time
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mutants import Change, Mutant, change  # pyright: ignore[reportImplicitRelativeImport]
from pytests import LATE, Said, first_failure, patience  # pyright: ignore[reportImplicitRelativeImport]
from reach import Reach  # pyright: ignore[reportImplicitRelativeImport]
from trees import replace  # pyright: ignore[reportImplicitRelativeImport]

KILLED, SURVIVED, UNDECIDED = "killed", "survived", "not decided"
PARTS = ((5, 4), (15, 8), (30, 16))
"""At most so many seconds from at most so many files in each pytest for a mutant: most mutants need the first only."""
LAST_PART = (60, 40)
FEW = 20
"""Where fewer tests reach a block, those that reach its file are tried as well."""
SUSPECT = 3
"""After so many failures that are not the mutant's, it is left undecided."""


@dataclass
class Trial:
    """``left`` are the tests that it has not met yet, in their order, ``skipped`` those that cannot run here."""

    folder: str
    mutant: Mutant
    made: Change
    left: list[str]
    reaching: int
    verdict: str = ""
    test: str = ""
    spent: float = 0.0
    """Seconds of tests, as they were measured."""
    seconds: float = 0.0
    parts: int = 0
    skipped: set[str] = field(default_factory=set)
    excused: list[str] = field(default_factory=list)
    """Tests that fail without the mutant."""

    @staticmethod
    def of(scratch: Path, reach: Reach, folder: str, mutant: Mutant, only: Iterable[str] | None = None) -> Trial:
        made = change(scratch, mutant)
        reaching = tests_for(scratch, reach, folder, mutant.path, made.block)
        tests = [test for test in reaching if (scratch / test.partition("::")[0]).exists()]
        kept = set(tests if only is None else only)
        return Trial(folder, mutant, made, [test for test in tests if test in kept], len(tests))

    def next_part(self, reach: Reach, most: float) -> list[str]:
        """The tests of the next pytest: in order, few first, as far as ``most`` seconds reach for this mutant."""
        seconds, files = PARTS[self.parts] if self.parts < len(PARTS) else LAST_PART
        budget, batch, later = min(seconds, most - self.spent), list[str](), list[str]()
        chosen, cost = set[str](), 0.0
        for test in self.left if budget > 0 else ():
            file, price = test.partition("::")[0], reach.tests[test]["seconds"]
            if (not batch or cost + price <= budget) and (file in chosen or len(chosen) < files):
                batch.append(test)
                chosen.add(file)
                cost += price
            else:
                later.append(test)
        if batch:
            self.left, self.parts, self.spent = later, self.parts + 1, self.spent + cost
        return batch

    def step(self, scratch: Path, reach: Reach, most: float, until: float) -> None:
        """Run the next part of the tests; ``verdict`` is set when no more can be run or the mutant is noticed."""
        start = time.monotonic()
        batch = self.next_part(reach, most)
        if batch:
            said, cut = self.tried(scratch, reach, batch, self.made.text, until)
            ran = said.skipped | set(batch[: batch.index(said.failed)] if said.failed in batch else ())
            if cut:
                self.left = batch + self.left
                self.verdict = UNDECIDED
            elif said.failed:
                self.judge(scratch, reach, batch, said, until)
                if not self.verdict:  # the rest of the batch is still to run
                    self.left = [test for test in batch if test not in ran and test not in self.excused] + self.left
            self.skipped |= said.skipped
        elif self.left:
            self.verdict = UNDECIDED
        if not self.left and not self.verdict:
            self.verdict = UNDECIDED if self.skipped or self.excused else SURVIVED
        self.seconds += time.monotonic() - start

    def judge(self, scratch: Path, reach: Reach, batch: list[str], said: Said, until: float) -> None:
        """What fails with the mutant must pass without: else that test says nothing about it."""
        culprits = [said.failed] if said.failed in batch else batch
        plain = ast.unparse(ast.parse((scratch / self.mutant.path).read_text())) + "\n"
        clean, cut = self.tried(scratch, reach, culprits, plain, until)
        if not clean.failed:
            self.verdict, self.test = LATE if said.failed == LATE else KILLED, said.failed
        elif cut or len(self.excused) >= SUSPECT:
            self.left, self.verdict = batch + self.left, UNDECIDED
        else:
            self.excused += culprits

    def tried(self, scratch: Path, reach: Reach, tests: list[str], text: str, until: float) -> tuple[Said, bool]:
        """Run ``tests`` with ``text`` as the file; whether the end of the whole run cut them off. The file is as before
        afterwards."""
        path, limit, end = scratch / self.mutant.path, patience(reach, tests), until - time.monotonic()
        original = path.read_text()
        try:
            replace(path, text)
            said = first_failure(scratch, reach, tests, min(limit, end))
        finally:
            replace(path, original)
        return said, said.failed == LATE and end < limit

    def record(self) -> dict[str, Any]:
        """For the report. What was not run is kept, so that another run can go on from there."""
        tests = {"tests": self.reaching - len(self.left), "reaching": self.reaching}
        rest = [*self.left, *sorted(self.skipped), *self.excused] if self.verdict == UNDECIDED else []
        kept = {"rest": packed(rest), "skipped": len(self.skipped), "excused": self.excused}
        made = self.made
        said = {"line": made.line, "kind": made.kind, "before": made.before[:160], "after": made.after[:160]}
        took = {"spent": round(self.spent, 1), "seconds": round(self.seconds, 1)}
        found = {"verdict": self.verdict, "test": self.test}
        return {"folder": self.folder, **asdict(self.mutant), **said, **found, **tests, **took, **kept}


def packed(tests: list[str]) -> str:
    return base64.b85encode(zlib.compress("\n".join(tests).encode())).decode()


def unpacked(text: str) -> list[str]:
    return zlib.decompress(base64.b85decode(text)).decode().splitlines()


def tests_for(scratch: Path, reach: Reach, folder: str, path: str, block: str | None) -> list[str]:
    """The tests that reach the block. For what an import runs, which no test reaches, those of the files that import
    the module come first. Where there are few, since a memo or an import spared the others the way: those as well,
    and those that reach its file, else its folder."""
    own = [] if block is None else reach.ordered([f"{path}:{block}"])
    at_import = block is None or f"{path}:{block}" in reach.imported
    if len(own) >= FEW and not at_import:
        return own
    of_file = reach.ordered([name for name in reach.names if name.startswith(f"{path}:")])
    near = str(Path(path).parent) if Path(path).parent != Path(folder) else folder
    around = of_file or reach.ordered([name for name in reach.names if name.startswith(f"{near}/")])
    importing = reach.importing(scratch, path)
    first, last = (importing, own) if at_import else (own, importing)
    return list(dict.fromkeys([*first, *last, *around]))
