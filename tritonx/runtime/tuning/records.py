"""What was measured, kept on disk: a record for each configuration.

A search that was interrupted goes on where it was, and one that two processes make at once is made by both: each looks
for the other's record before it measures. The records of a search lie in one folder, whose name is a digest of what
decides times: the kernel with all it calls, the compiler and its settings, the device, the tuning key. So a
configuration that is added to a kernel is measured, and the others are not again.

A record is written under a temporary name and renamed; it holds a digest of itself. What does not match it (a file that
was cut off, damaged, or is another's) is no record, and is replaced by one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.config import Config

FORMAT = 2
"""Of a record; in its file's name, so that versions do not read each other's."""


@dataclass(frozen=True)
class Record:
    """``times`` are milliseconds, as they were measured; none for a configuration that cannot run, with the reason."""

    times: tuple[float, ...] = ()
    reason: str = ""


class Records:
    """Of one kernel and tuning key."""

    def __init__(self, name: str, parts: Sequence[str], *, is_fresh: bool = False) -> None:
        """``parts``: what decides times, beside the configuration. ``is_fresh``: earlier records are not read."""
        self._is_fresh = is_fresh
        self._name = name[:100]
        self._manager = get_cache_manager(hashlib.sha256("\0".join(("records", *parts)).encode()).hexdigest())

    def get(self, config: Config) -> Record | None:
        path = None if self._is_fresh else self._manager.get_file(self._file(config))
        if path is None:
            return None
        try:
            with open(path, encoding="utf-8") as file:
                return _read(file.read(), _identity(config))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    def put(self, config: Config, record: Record) -> None:
        """On a disk that cannot be written: a warning, once."""
        self._manager.put(_written(record, _identity(config)), self._file(config), binary=False)

    def _file(self, config: Config) -> str:
        digest = hashlib.sha256(_identity(config).encode()).hexdigest()[:32]
        return f"{self._name}.{digest}.record{FORMAT}.json"


def _identity(config: Config) -> str:
    return config.meaning()


def _written(record: Record, identity: str) -> str:
    content = json.dumps({"config": identity, "times": record.times, "reason": record.reason})
    return json.dumps({"sha256": hashlib.sha256(content.encode()).hexdigest(), "content": content})


def _read(text: str, identity: str) -> Record | None:
    """Raises ``ValueError`` for what is no JSON."""
    outer: object = json.loads(text)
    if not isinstance(outer, Mapping):
        return None
    content: object = outer.get("content")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # what JSON holds
    if not isinstance(content, str) or hashlib.sha256(content.encode()).hexdigest() != outer.get("sha256"):  # pyright: ignore[reportUnknownMemberType]  # what JSON holds
        return None
    stored = json.loads(content)
    if stored["config"] != identity:
        return None
    times = tuple(float(time) for time in stored["times"])
    return Record(times, stored["reason"]) if all(map(math.isfinite, times)) else None
