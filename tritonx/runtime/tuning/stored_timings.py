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
    """Of a kernel, under what decides them: Config → [median, 20 %, 80 % quantile], milliseconds."""

    kernel: str
    decisive: Sequence[str]

    @property
    def _key(self) -> str:
        return hashlib.sha256("-".join(self.decisive).encode()).hexdigest()

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
                stored = json.load(file)["configs_timings"]
            timings = {Config.from_json(config): times for config, times in stored}
            min(timings, key=lambda c: timings[c])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        return timings

    def write(self, tuning_key: Sequence[object], timings: Mapping[Config, Sequence[float]]) -> None:
        """Keep what was measured."""
        text = json.dumps(
            {
                "key": [str(k) for k in tuning_key],
                "configs_timings": [(c.to_json(), times) for c, times in timings.items()],
            }
        )
        manager = get_cache_manager(self._key)
        manager.put_group(self._file_name, {self._file_name: manager.put(text, self._file_name, binary=False)})
