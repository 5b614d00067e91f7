"""The ops of every dialect as they stand in the texts of the FileCheck tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.ir import Operation

from tritonx.ir.context import new_context
from tritonx.ir.text import parse_module

TEXTS = Path(__file__).parents[2] / "filecheck"


@pytest.fixture(scope="session")
def written_ops() -> list[Operation]:
    """All ops of all valid modules, one module a file."""
    found: list[Operation] = []
    for path in sorted(TEXTS.rglob("*.mlir")):
        text = path.read_text()
        if "split-input-file" not in text.splitlines()[0]:
            found += parse_module(text, str(path), context=new_context(allow_unregistered=True)).walk()
    return found
