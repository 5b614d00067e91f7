"""``python -m tritonx.tools.irdoc``: one page of docs/ir a dialect, written from the op and attribute declarations."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from xdsl.ir import Attribute, Dialect

from tritonx.ir.spelling import TextLevel, spellings_of

DIALECT_PAGES: dict[str, str] = {
    "tt": "The Tile dialect: whole tiles and pointers, no hardware. Its text is that of Triton 3.6's `tt`.",
    "ttg": "The GPU-layout dialect: tiles with the layout that spreads them over registers, lanes, warps and blocks; "
    "shared memory and asynchronous copies.",
    "ttng": "What Hopper and later add: mbarriers, the tensor memory accelerator, warp-group products.",
    "proton": "Regions that a profiler measures: Triton's `proton`.",
    "gluon": "Encodings of tensors whose layouts passes determine, and what asks for a layout: Triton's `gluon`.",
    "amdg": "What CDNA and RDNA add: buffer accesses, direct-to-LDS copies, scheduling hints.",
}

DOCS = Path(__file__).resolve().parents[2] / "docs" / "ir"


def dialect(page: str) -> Dialect:
    """The dialect object that ``page`` describes."""
    from tritonx.ir.context import dialect_loaders

    return dialect_loaders()[page]()


def operations(page: str) -> list[str]:
    """The names of the dialect's ops, sorted."""
    return sorted(op.name for op in dialect(page).operations)


def first_paragraph(thing: type[Any]) -> str:
    """The docstring of ``thing`` itself up to the first blank line, on one line."""
    own = thing.__dict__.get("__doc__") or ""
    return " ".join(inspect.cleandoc(own).split("\n\n")[0].split()).replace("|", "\\|")


def fields(definition: Any) -> tuple[str, str, str, str]:
    """Operands, properties, regions and results of an op definition, as code separated by commas."""

    def names(items: Any) -> str:
        return ", ".join(f"`{name}`" for name, _ in items) or "·"

    properties = names(sorted((k, v) for k, v in definition.properties.items() if "egmentSizes" not in k))
    return names(definition.operands), properties, names(definition.regions), names(definition.results)


def op_row(op: Any) -> str:
    definition = op.get_irdl_definition()
    operands, properties, regions, results = fields(definition)
    family = op.__module__.rsplit(".", 1)[-1]
    body = operands if regions == "·" else f"{operands}; region {regions}"
    return f"| `{op.name}` | {family} | {body} | {properties} | {results} | {first_paragraph(op)} |"


def attribute_row(attribute: type[Attribute]) -> str:
    return f"| `{attribute.name}` | `{attribute.__name__}` | {first_paragraph(attribute)} |"


def code(text: str | None) -> str:
    """An example in a cell of a table."""
    return "·" if text is None else "<br>".join(f"`{line}`" for line in text.replace("|", "\\|").split("\n"))


def spelling_lines(found: Dialect) -> list[str]:
    """What Triton's versions write differently, an example a level; nothing where there is none."""
    kinds = [*found.attributes, *found.operations]
    rows = [(kind.name, declared) for kind in kinds if (declared := spellings_of(kind)) is not None and declared.shown]
    if not rows:
        return []
    levels = list(TextLevel)
    return [
        "## Spellings",
        "",
        "What versions of Triton write differently; each is read, and `tritonx-opt --print-level` writes one.",
        "",
        f"| name | {' | '.join(map(str, levels))} |",
        "|---|" + "---|" * len(levels),
        *(f"| `{name}` | {' | '.join(code(one.text(level)) for level in levels)} |" for name, one in sorted(rows)),
        "",
    ]


def render(page: str) -> str:
    """The whole page as Markdown."""
    found = dialect(page)
    lines = [
        f"# The `{page}` dialect",
        "",
        DIALECT_PAGES[page],
        "",
        "Written by `python -m tritonx.tools.irdoc` from the declarations; do not edit by hand.",
        "",
        "## Types and attributes",
        "",
        "| name | class | meaning |",
        "|---|---|---|",
        *(attribute_row(a) for a in sorted(found.attributes, key=lambda a: a.name)),
        "",
        "## Operations",
        "",
        "| op | family | operands | properties | results | meaning |",
        "|---|---|---|---|---|---|",
        *(op_row(op) for op in sorted(found.operations, key=lambda op: op.name)),
        "",
        *spelling_lines(found),
    ]
    return re.sub(r"[ \t]+\n", "\n", "\n".join(lines))


def main() -> None:
    DOCS.mkdir(parents=True, exist_ok=True)
    for page in DIALECT_PAGES:
        (DOCS / f"{page}.md").write_text(render(page))
        print(f"wrote {DOCS / page}.md")


if __name__ == "__main__":
    main()
