"""Python's collector of cycles while many objects are made that stay."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache


@contextmanager
def without_collection() -> Generator[None]:
    """Python's collector of cycles rests: a compile makes many objects and little garbage (7 % of a first compile).

    The first compile of a process imports the compiler. What there is behind it grows old without being visited, since
    modules and classes stay; the collection that would otherwise follow takes another 5 %.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _grow_old()
            gc.enable()


@cache
def _grow_old() -> None:
    """Moves all objects to the collector's oldest generation, once in a process; what others froze stays frozen."""
    if sys.implementation.name == "cpython" and gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
