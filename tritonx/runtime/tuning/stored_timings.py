"""The timings of a search on disk, in Triton's form, so that another process need not search."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.config import Config


@dataclass(frozen=True)
class StoredTimings:
    """Of a kernel, under what decides them: Config → [median, 20 %, 80 % quantile], milliseconds. ``configs`` are those
    that were to be tried."""

    kernel: str
    decisive: Sequence[str]
    configs: Sequence[Config]

    @property
    def _key(self) -> str:
        meanings = [config.meaning() for config in self.configs]
        return hashlib.sha256("-".join((*self.decisive, *meanings)).encode()).hexdigest()

    @property
    def _file_name(self) -> str:
        return f"{self.kernel[:150]}.autotune.json"

    def read(self) -> dict[Config, list[float]] | None:
        """What an earlier process stored; None where there is nothing, or nothing that this version wrote."""
        group = get_cache_manager(self._key).get_group(self._file_name) or {}
        if self._file_name not in group:
            return None
        try:
            with open(group[self._file_name]) as file:
                stored = json.load(file)
            known = {config.meaning(): config for config in self.configs}
            pairs = zip(stored["meanings"], stored["configs_timings"], strict=True)
            timings = {known[said]: times for said, (_, times) in pairs}  # JSON has no tuples, and no enumerations
            min(timings, key=lambda c: timings[c])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return timings

    def write(self, tuning_key: Sequence[object], timings: Mapping[Config, Sequence[float]]) -> None:
        """Keep what was measured."""
        text = json.dumps(
            {
                "key": [str(k) for k in tuning_key],
                "meanings": [c.meaning() for c in timings],
                "configs_timings": [(c.to_json(), times) for c, times in timings.items()],
            },
            default=repr,
        )
        manager = get_cache_manager(self._key)
        manager.put_group(self._file_name, {self._file_name: manager.put(text, self._file_name, binary=False)})
