"""Names of a stable module, each imported from where it is when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def exporting(module: str, homes: Mapping[str, str]) -> tuple[dict[str, str], Callable[[str], Any]]:
    """Name → module, and ``__getattr__``, of a ``module`` whose names ``homes`` lists: module → names in it, or modules
    in that package, with blanks between."""
    table = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in table:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home = import_module(table[name])
        return getattr(home, name) if hasattr(home, name) else import_module(f"{table[name]}.{name}")

    return table, get
