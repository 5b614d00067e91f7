"""The page: HTML, style and script around the JSON of the facts, in one file that loads nothing."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from html import escape
from importlib.resources import files
from typing import cast

GENERATOR = '<meta name="generator" content="tritonx explain">'
"""What a page has at its start: the command replaces no other file unless it is told to."""

KEYS = (
    ("/", "search"),
    ("n N", "next, previous"),
    ("j k", "line or pass"),
    ("1–5", "views"),
    ("d", "dark"),
    ("?", "keys"),
)
"""What the page's keys do, as its footer has it."""

HELP = (
    ("/", "search in the view that is open; Enter and Shift+Enter go through what was found, Escape ends it"),
    ("n, N", "the next line that was found, the previous one"),
    ("j, k", "the next line of the source, or the next pass; the arrows do the same"),
    ("1 to 5", "code, passes, memory, layouts, time"),
    ("d", "dark or light"),
    ("Escape", "pick no line"),
)
"""The same in full."""


def page(facts: str) -> str:
    """The page of the facts that a JSON text holds (`Facts.json`), which it has compressed: the code of a kernel that
    is unrolled is megabytes. It needs a browser of 2023 or later."""
    named = cast("dict[str, str]", json.loads(facts))
    title = escape(f"{named['kernel']} · {named['target']}")
    folder = files("tritonx.explain")
    style, script = ((folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    keys = "".join(f"<span>{what}<kbd>{key}</kbd></span>" for key, what in KEYS)
    help_rows = "".join(f"<dt><kbd>{key}</kbd></dt><dd>{what}</dd>" for key, what in HELP)
    data = b64encode(zlib.compress(facts.encode())).decode()
    views = "".join(
        f'<section id="{name}"{kind}></section>'
        for name, kind in (
            ("code", ""),
            ("passes", ""),
            ("memory", ' class="doc"'),
            ("layouts", ' class="doc"'),
            ("time", ' class="doc"'),
        )
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">{GENERATOR}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
{style}</style></head><body>
<header><div class="title"><h1 id="name"></h1><span class="soft" id="target"></span><span class="grow"></span>
<span class="faint" id="count"></span><input type="search" id="search" placeholder="Search" aria-label="Search">
<button class="plain" id="theme" aria-label="Dark or light">◐</button></div>
<div class="cards" id="cards"></div><nav id="tabs" role="tablist"></nav></header>
<main>{views}</main><footer>{keys}</footer>
<dialog id="help"><dl>{help_rows}</dl><form method="dialog"><button class="plain">Close</button></form></dialog>
<script type="application/octet-stream" id="facts">{data}</script>
<script type="module">
{script}</script></body></html>
"""
