"""What a user says before anything is measured: which configurations are worth it (``prune_configs_by``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tritonx import level
from tritonx.runtime.config import Config
from tritonx.runtime.errors import AutotunerError


@dataclass(frozen=True)
class Pruning:
    """``early(configs, named arguments, **keywords)`` gives those that are left, ``model(**all)`` an estimated time, of
    which the ``top_k`` least are measured: a share of the list, or a number (`Level.keeps_a_configuration`)."""

    early: Callable[..., Sequence[Config]] | None
    model: Callable[..., float] | None
    top_k: float | int

    def left(
        self, listed: Sequence[Config], named: Mapping[str, object], keywords: Mapping[str, object]
    ) -> list[Config]:
        """Those of ``listed`` that are measured. Raises AutotunerError where ``early`` leaves none, TypeError for a
        share above 1."""
        pruned = list(listed)
        if self.early is not None:
            pruned = list(self.early(listed, named, **keywords))
            if not pruned:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should return at least one config."
                )
        if self.model is None:
            return pruned
        top_k = self.top_k
        if isinstance(top_k, float):
            if not top_k <= 1.0:
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            keeps_one = level.active().keeps_a_configuration
            top_k = max(1, int(len(pruned) * top_k)) if keeps_one else int(len(listed) * top_k)
        if len(pruned) > top_k:
            model = self.model
            estimated = {config: model(**named, **keywords, **config.all_kwargs()) for config in pruned}
            pruned = sorted(estimated, key=lambda c: estimated[c])[:top_k]
        return pruned
