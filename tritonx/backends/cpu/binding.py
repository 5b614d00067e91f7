"""llvmlite's binding, imported when first needed and without its types: most of them are unknown to a type checker."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def binding() -> Any:
    """``llvmlite.binding``."""
    return import_module("llvmlite.binding")
