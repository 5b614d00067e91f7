"""How deep the calls of a kernel may be nested, whoever walks them: so that a recursion without an end always gives the
same message, wherever Python's own stack happens to end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

CALLS_NESTED = 200
"""So many calls may be under way in each other; a recursion deeper than that is taken for one without an end."""

FRAMES = 60 * CALLS_NESTED
"""Python's frames for that: about ten a call, and more where the call is deep in blocks and expressions."""


@dataclass
class _Limit:
    """Python's limit is the process's: the first thread that needs room raises it, the last one puts it back."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    before: int = 0


_limit = _Limit()


@contextmanager
def room_for_calls() -> Generator[None]:
    """While this lasts, Python's stack holds ``CALLS_NESTED`` nested calls."""
    with _limit.lock:
        if _limit.users == 0:
            _limit.before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_limit.before, FRAMES))
        _limit.users += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.users -= 1
            if _limit.users == 0:
                sys.setrecursionlimit(_limit.before)
