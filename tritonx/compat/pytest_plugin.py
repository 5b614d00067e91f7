"""``pytest -p tritonx.compat.pytest_plugin``: the tests' ``import triton`` means tritonx, in xdist's workers too.

It has no entry point: a plug-in that comes with an installation would change every test run of the environment."""

from __future__ import annotations

import pytest

from tritonx.compat import install


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: object, parser: object, args: list[str]) -> None:
    """Before the first conftest imports anything."""
    install()
