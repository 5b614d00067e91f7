"""The tests here compare with Triton 3.6, and so run at its level; one that is marked with another keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("level") is None:
            item.add_marker(pytest.mark.level("3.6"))
