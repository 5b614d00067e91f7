"""Arrays of any library that a measured run changes: kept, restored, zeroed."""

from __future__ import annotations

from typing import Any


def copy_of(value: Any) -> Any:
    """An array of its own with the same elements."""
    return value.clone() if hasattr(value, "clone") else value.copy()


def restore(target: Any, source: Any) -> None:
    """Write the elements of ``source`` back into ``target``."""
    if hasattr(target, "copy_"):
        target.copy_(source)
    elif hasattr(target, "copy_from"):
        target.copy_from(source.numpy())
    else:
        target[...] = source


def set_zero(target: Any) -> None:
    """Write zeros into ``target``."""
    if hasattr(target, "zero_"):
        target.zero_()
    else:
        target[...] = 0
