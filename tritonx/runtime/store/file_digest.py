"""What a file holds, for the keys of compiles: read again when its size or its time changes."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path


def file_digest(path: str | Path) -> str:
    """SHA-256 of a file as hexadecimal digits. Raises OSError."""
    known = os.stat(path)
    return _read(str(path), known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=64)
def _read(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
