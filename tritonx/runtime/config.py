"""One configuration of an autotuned kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from tritonx import level
from tritonx.kernel.identity import loose
from tritonx.kernel.meaning import meaning

_OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg", "ir_override")


class Config:
    """Values of compile-time parameters and of compile options.

    ``kwargs``: the kernel's parameters; ``pre_hook(args)`` is called before every run with this configuration.

    >>> print(tritonx.Config({"BLOCK": 128}, num_warps=8))
    BLOCK: 128, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None, ir_override: None
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.num_stages = num_stages
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OPTIONS}

    def all_kwargs(self) -> dict[str, Any]:
        """Everything that a launch with it is given; options that are None are left out."""
        found = self.kwargs.copy()
        if self.num_warps is not None:  # pyright: ignore[reportUnnecessaryComparison]  # libraries leave it out
            found["num_warps"] = self.num_warps
        if self.num_ctas is not None:  # pyright: ignore[reportUnnecessaryComparison]  # as above
            found["num_ctas"] = self.num_ctas
        if self.num_stages is not None:  # pyright: ignore[reportUnnecessaryComparison]  # as above
            found["num_stages"] = self.num_stages
        if self.maxnreg is not None:
            found["maxnreg"] = self.maxnreg
        if self.ir_override is not None:
            found["ir_override"] = self.ir_override
        return found

    def varied(self, changes: Mapping[str, object]) -> Config:
        """This configuration with other values; a name that it does not have is one more keyword of the launch."""
        other = copy(self)
        other.kwargs = dict(self.kwargs)
        for name, value in changes.items():
            if name in _OPTIONS:
                setattr(other, name, value)
            else:
                other.kwargs[name] = value
        return other

    def to_json(self) -> dict[str, Any]:
        return {"kwargs": self.kwargs, **self._options()}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> Config:
        return Config(**stored)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__(
            state.get("kwargs", {}),
            state.get("num_warps", 4),
            state.get("num_stages", 3),
            state.get("num_ctas", 1),
            state.get("maxnreg"),
            state.get("pre_hook"),
            state.get("ir_override"),
        )

    def __str__(self) -> str:
        options = self._options()
        if options["ir_override"] is None and not level.active().names_overrides:
            del options["ir_override"]
        return ", ".join(f"{name}: {value}" for name, value in [*self.kwargs.items(), *options.items()])

    def __repr__(self) -> str:
        return f"Config({self})"

    def _identity(self) -> tuple[Any, ...]:
        values = self.all_kwargs()
        return (*zip(values, map(loose, values.values()), strict=True), self.pre_hook)

    def meaning(self) -> str:
        """What tells it from other configurations, as a text that every process has."""
        return meaning(list(self.all_kwargs().items()))

    def __hash__(self) -> int:
        return hash(self._identity())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()
