"""``python tests/peer/api_pages.py``: docs/triton, the state of every name of Triton's; needs the Triton wheel."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from api_inventory import Row, rows  # pyright: ignore[reportMissingImports]  # beside this file
from api_surface import Parameter  # pyright: ignore[reportMissingImports]  # beside this file

DOCS = Path(__file__).resolve().parents[2] / "docs" / "triton"
STATES = ("same", "differs", "missing", "refused")

INTRODUCTION = """# Triton's names in tritonx

Every name of Triton 3.6.0's public modules, read from its wheel and from tritonx by `python tests/peer/api_pages.py`;
do not edit by hand. `tests/peer/test_api.py` holds the pages against both. What kernels may do here that Triton
refuses (extents that are not powers of two, several axes, `break`) is in [beyond.md](../beyond.md).

* **same**: every call that Triton's signature takes is taken, by the same names and with the same defaults; or the
  value is equal.
* **differs**: it is there, and the reason says what is another.
* **missing**: it is not there.
* **refused**: using it raises `tritonx.runtime.errors.NotOffered` (an AttributeError), or in an import an ImportError,
  with the reason.
"""


def page_of(name: str) -> str:
    """The page of a name: its package, of two parts at most."""
    parts = name.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 or parts[-1] in PACKAGES else "triton"


PACKAGES = (
    *(
        "_C",
        "_filecheck",
        "_utils",
        "backends",
        "compiler",
        "errors",
        "experimental",
        "knobs",
        "language",
        "profiler",
        "runtime",
    ),
    *("testing", "tools"),
)


def parameter(one: Parameter) -> str:
    star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(one.kind, "")
    default = "" if one.default is None else f"={one.default}"
    return f"{star}{one.name}{default}"


def parameters(signature: Iterable[Parameter]) -> str:
    """As Python writes them."""
    written: list[str] = []
    for one in signature:
        if one.kind == "KEYWORD_ONLY" and "*" not in written and not any(w.startswith("*") for w in written):
            written.append("*")
        written.append(parameter(one))
    return ", ".join(written)


def line(row: Row) -> str:
    shown = row.pattern if row.pattern.endswith("*") else row.name
    called = "" if row.signature is None or shown != row.name else f"({parameters(row.signature)})"
    return f"| `{shown}{called}` | {row.state} | {row.reason} |".replace("|=", "\\|=").replace("  |", " |")


def table(chosen: Iterable[Row]) -> list[str]:
    """The lines of a table; rows of one pattern are one line."""
    return ["| name | state | why |", "|---|---|---|", *dict.fromkeys(map(line, chosen))]


def pages() -> dict[str, str]:
    """File name → text."""
    every = sorted(rows(), key=lambda row: page_of(row.name))
    grouped = {page: list(chosen) for page, chosen in groupby(every, key=lambda row: page_of(row.name))}
    counted = ["| page | " + " | ".join(STATES) + " |", "|---|" + "---|" * len(STATES)]
    made: dict[str, str] = {}
    for page, chosen in grouped.items():
        count = Counter(row.state for row in chosen)
        counted.append(f"| [{page}]({page}.md) | " + " | ".join(str(count[state]) for state in STATES) + " |")
        made[f"{page}.md"] = "\n".join([f"# `{page}`", "", *table(chosen), ""])
    return {"README.md": "\n".join([INTRODUCTION, *counted, ""]), **made}


def main() -> None:
    DOCS.mkdir(parents=True, exist_ok=True)
    for old in DOCS.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (DOCS / name).write_text(text)
        print(f"wrote {DOCS / name}")


if __name__ == "__main__":
    main()
