"""Passes that are made for a target: as text they name it, and ``tritonx-opt`` asks its backend for it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, NoReturn, Protocol, Self, TypeVar

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec


class Named(Protocol):
    """What a target says of itself in the text of a pass: ``options`` are the compile options it was made of."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> tuple[tuple[str, int | str | bool], ...]: ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True)
class TargetModulePass(ModulePass, Generic[T]):
    """As text ``name{target="backend:arch" …}``, with what it has `chosen` and the target's own options."""

    target: T
    """As text a target's name; it may be followed by the compile options that say how the target's layouts are made."""

    @abstractmethod
    def chosen(self) -> Mapping[str, int]:
        """The options of the target's that the pass goes by, beside those that the backend describes it with."""

    @classmethod
    def from_target(cls, target: T) -> Self:
        """The pass of a text, with the target that it names."""
        return cls(target)

    @classmethod
    def from_spec(cls, spec: ArgSpec) -> NoReturn:
        raise ValueError("its target is known to the backend alone: make it by from_target")

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        given = {**self.chosen(), **dict(self.target.options)}
        return ArgSpec(self.name, {"target": (self.target.name,), **{key: (value,) for key, value in given.items()}})
