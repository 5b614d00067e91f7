"""docs/measurements.md, from `benchmarks/results/*.json`: one file a table, its latest run.

    python benchmarks/results_page.py

A file has ``section``, ``title``, ``date``, ``machine``, ``command``, ``about``, ``columns``, ``rows`` of texts, and
``notes``. A benchmark that writes its own says so in its docstring; other files are edited by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "measurements.md"
SECTIONS = ("NVIDIA GPUs", "CPU", "Without a GPU", "Libraries", "Correctness")

HEAD = """# Measurements

Current results, written by `python benchmarks/results_page.py` from `benchmarks/results/*.json`; do not edit by hand.
Peers run in the same call. Outputs are filled with NaN first and compared with float64. Each table names its machine,
day and command. How figures came about, what was tried and what was found on the way is in the log,
[history/measurements.md](history/measurements.md).
"""


def results() -> list[dict[str, Any]]:
    """All tables, by section and title."""
    found = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    return sorted(found, key=lambda table: (SECTIONS.index(table["section"]), table["title"]))


def markdown(table: dict[str, Any]) -> str:
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    lines = [
        f"### {table['title']}",
        f"{table['date']}, {table['machine']}; `{table['command']}`. {table['about']}",
        "\n".join(f"| {' | '.join(row)} |" for row in rows),
    ]
    if table["notes"]:
        lines.append("\n".join(f"* {note}" for note in table["notes"]))
    return "\n\n".join(lines) + "\n"


def page() -> str:
    parts, section = [HEAD], ""
    for table in results():
        if table["section"] != section:
            section = table["section"]
            parts.append(f"## {section}\n")
        parts.append(markdown(table))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
