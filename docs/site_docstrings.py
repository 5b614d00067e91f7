"""Examples in docstrings as Markdown: lines that start with ``>>>``, and what they print, are code."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n|$).*)*", re.MULTILINE)
"""From a prompt to the next empty line."""


def fenced(text: str) -> str:
    return EXAMPLE.sub(lambda match: f"```python\n{match.group(0)}\n```", text)


class FencedExamples(griffe.Extension):
    """For every object of the reference."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
