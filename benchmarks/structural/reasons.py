"""Why some kernels of tritonx are worse than Triton's in a column: `reasons.json`.

A kind of finding has a sentence, and by peer, target, kernel and column what was seen. A finding that is worse than
that by more than a twentieth is a finding again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compare import TOLERANCE, Finding

FILE = Path(__file__).with_name("reasons.json")


@dataclass(frozen=True)
class Reasons:
    """``kinds``: sentences by name. ``seen``: by peer, target, kernel and column the kind and our number."""

    kinds: dict[str, str]
    seen: dict[str, dict[str, dict[str, dict[str, tuple[str, float]]]]]

    def of(self, peer: str, finding: Finding) -> str | None:
        """The kind of a finding that is no worse than it was seen."""
        known = self.seen.get(peer, {}).get(finding.target, {}).get(finding.kernel, {}).get(finding.column)
        if known is None:
            return None
        kind, ours = known
        smaller_is_worse = finding.ours < finding.theirs
        worse = finding.ours * TOLERANCE < ours if smaller_is_worse else finding.ours > ours * TOLERANCE
        return None if worse else kind


def read(path: Path = FILE) -> Reasons:
    held: dict[str, Any] = json.loads(path.read_text())
    return Reasons(held["kinds"], held["seen"])


def write(reasons: Reasons, path: Path = FILE) -> None:
    """A line for each kernel, in an order that stays."""
    lines: list[str] = []
    for peer, targets in sorted(reasons.seen.items()):
        inner = [f'  "{target}": {{\n{_rows(kernels)}\n  }}' for target, kernels in sorted(targets.items()) if kernels]
        lines.append(f' "{peer}": {{\n' + ",\n".join(inner) + "\n }")
    kinds = ",\n".join(f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in reasons.kinds.items())
    path.write_text('{"kinds": {\n' + kinds + '\n},\n"seen": {\n' + ",\n".join(lines) + "\n}}\n")


def _rows(kernels: dict[str, Any]) -> str:
    return ",\n".join(f"   {json.dumps(name)}: {json.dumps(columns)}" for name, columns in sorted(kernels.items()))


def with_seen(reasons: Reasons, peer: str, kind: str, findings: Iterable[Finding]) -> Reasons:
    """These findings are of this kind now."""
    seen = json.loads(json.dumps(reasons.seen))
    for each in findings:
        row = seen.setdefault(peer, {}).setdefault(each.target, {}).setdefault(each.kernel, {})
        row[each.column] = [kind, each.ours]
    return Reasons(reasons.kinds, seen)
