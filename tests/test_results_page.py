"""docs/measurements.md is what `benchmarks/results_page.py` writes; ``TRITONX_ACCEPT=1`` writes it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def results_page(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import results_page  # pyright: ignore[reportMissingImports]

    yield results_page
    del sys.modules["results_page"]


def test_the_page_is_current(results_page: Any) -> None:
    if os.environ.get("TRITONX_ACCEPT"):
        results_page.PAGE.write_text(results_page.page())
    assert results_page.PAGE.read_text() == results_page.page()


def test_every_table_says_where_it_comes_from(results_page: Any) -> None:
    for table in results_page.results():
        empty = [key for key in ("date", "machine", "command", "about", "columns", "rows") if not table[key]]
        assert not empty, (table["title"], empty)
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}, table["title"]
        assert all(isinstance(cell, str) for row in table["rows"] for cell in row), table["title"]
