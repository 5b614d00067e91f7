"""A compiled kernel in a notebook: its figures, and its texts to open."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

FIGURES = ("num_warps", "num_stages", "num_ctas", "num_threads", "shared", "registers", "spills")
"""Of the metadata, those that are shown where there are any."""


def kernel_html(name: str, metadata: Mapping[str, object], texts: Mapping[str, str | bytes]) -> str:
    """The HTML of a kernel with this metadata and these stages; what is no text has its size."""
    cells = "".join(
        f"<tr><th>{figure}</th><td>{escape(str(metadata[figure]))}</td></tr>"
        for figure in FIGURES
        if figure in metadata
    )
    stages = "".join(
        f"<details><summary>{escape(stage)}, {len(text):,} bytes</summary><pre>{escape(text)}</pre></details>"
        if isinstance(text, str)
        else f"<div>{escape(stage)}, {len(text):,} bytes</div>"
        for stage, text in texts.items()
    )
    return f"<b>{escape(name)}</b> for {escape(str(metadata['target']))}<table>{cells}</table>{stages}"
