"""The tests here compare with the installed Triton, at its level; one that is marked with another level keeps it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tritonx.level import DEFAULT, LEVELS

HERE = Path(__file__).parent


def installed_level() -> str:
    """The level of the installed Triton; the default where there is none, or one of no level."""
    try:
        name = ".".join(version("triton").split(".")[:2])
    except PackageNotFoundError:
        return DEFAULT
    return name if name in LEVELS else DEFAULT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("level") is None:
            item.add_marker(pytest.mark.level(installed_level()))
