"""What a run of the suite says: a line of counts, a table for a README, JUnit's XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tritonx_testing.conformance.isolated import Result

KINDS = ("passed", "skipped", "unsupported", "failed")


@dataclass
class Tally:
    """The results on one device, of ``wanted`` cases."""

    device: str
    seed: int
    wanted: int
    results: list[tuple[Result, float]] = field(default_factory=list[tuple[Result, float]])
    """Each with the seconds that it took; 0 where it was known before."""

    def add(self, result: Result, seconds: float = 0.0) -> None:
        self.results.append((result, seconds))

    @property
    def counts(self) -> Counter[str]:
        return Counter(kind_of(result) for result, _ in self.results)

    def reasons(self) -> list[tuple[str, int]]:
        """Why cases are unsupported, the most frequent first."""
        found = (r.message.splitlines()[0] for r, _ in self.results if r.kind == "unsupported")
        return Counter(found).most_common()

    def summary(self, seconds: float) -> str:
        """One line; says so where the run was stopped."""
        counts = self.counts
        text = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)
        left = self.wanted - len(self.results)
        stopped = f", stopped with {left} of {self.wanted} left" if left else ""
        return f"{self.device}: {text} in {seconds:.1f} s (seed {self.seed}){stopped}"


def kind_of(result: Result) -> str:
    """One of ``KINDS``."""
    return "failed" if result.failed else result.kind


def table(tallies: Sequence[Tally]) -> str:
    """Markdown: what passed of each family on each device, and what else became of its cases."""
    families = sorted({family_of(result) for tally in tallies for result, _ in tally.results})
    lines = [
        "| family | " + " | ".join(f"`{tally.device}`" for tally in tallies) + " |",
        "|---" * (1 + len(tallies)) + "|",
    ]
    for family in families:
        cells = [_cell(Counter(kind_of(r) for r, _ in t.results if family_of(r) == family)) for t in tallies]
        lines.append(f"| {family} | {' | '.join(cells)} |")
    return "\n".join([*lines, f"| all | {' | '.join(_cell(tally.counts) for tally in tallies)} |"])


def family_of(result: Result) -> str:
    return result.name.partition("/")[0]


def _cell(counts: Counter[str]) -> str:
    """``12 of 15 (2 unsupported, 1 failed)``"""
    others = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS[1:] if counts[kind])
    return f"{counts['passed']} of {counts.total()}" + (f" ({others})" if others else "")


def write_junit(path: Path, tallies: Sequence[Tally]) -> None:
    """A suite a device, a test a case: unsupported ones are skipped with their reason."""
    root = ElementTree.Element("testsuites")
    for tally in tallies:
        counts, time = tally.counts, f"{sum(seconds for _, seconds in tally.results):.3f}"
        numbers = {
            "tests": str(len(tally.results)),
            "failures": str(counts["failed"]),
            "skipped": str(counts["skipped"] + counts["unsupported"]),
        }
        named = {"name": f"tritonx.{tally.device}", "time": time, **numbers}
        suite = ElementTree.SubElement(root, "testsuite", named)
        ElementTree.SubElement(
            ElementTree.SubElement(suite, "properties"), "property", name="seed", value=str(tally.seed)
        )
        for result, seconds in tally.results:
            names = {"classname": f"{tally.device}.{family_of(result)}", "name": result.name, "time": f"{seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", names)
            if kind_of(result) != "passed":
                tag = "failure" if result.failed else "skipped"
                said = _printable(result.message)
                ElementTree.SubElement(case, tag, message=(said.splitlines() or [""])[0], type=result.kind).text = said
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """Without what XML 1.0 has no characters for."""
    return _NO_CHARACTER.sub("?", text)


_NO_CHARACTER = re.compile(r"[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
