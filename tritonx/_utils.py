"""Triton's helpers for nested arguments, which torch imports: a path is a tuple of positions, outermost first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

Path = tuple[int, ...]


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The element at ``path``."""
    return reduce(lambda inner, index: inner[index], path, iterable)


def set_iterable_path(iterable: Any, path: Path, value: Any) -> None:
    """Replace the element at ``path``, whose parent must be mutable."""
    if not path:
        raise ValueError("a path has at least one position")
    get_iterable_path(iterable, path[:-1])[path[-1]] = value


def find_paths_if(iterable: Sequence[Any], pred: Callable[[Path, Any], bool]) -> list[Path]:
    """The paths of the leaves for which ``pred(path, leaf)`` holds; lists and tuples are no leaves."""
    found: list[Path] = []

    def visit(value: Any, path: Path) -> None:
        if isinstance(value, list | tuple):
            for index, element in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # a tuple of anything, of tuples, and so on
                visit(element, (*path, index))
        elif pred(path, value):
            found.append(path)

    visit(list(iterable), ())
    return found
