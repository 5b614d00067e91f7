"""What a launch asks for: its arguments as the compiler gets them, the place, the options, and the key of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tritonx.backends.api import Options
from tritonx.kernel.dependencies import plain_value
from tritonx.kernel.identity import identities
from tritonx.kernel.meaning import meaning
from tritonx.runtime.compiling.sources import Path_
from tritonx.runtime.launch.arg_spec import NEGATIVE, ArgSpec, parse_marks
from tritonx.runtime.launch.placement import Placement
from tritonx.runtime.launch.specialize import INTEGER_TYPES

if TYPE_CHECKING:
    from tritonx.runtime.compiling.jit_function import JITFunction

_SHOWN = frozenset({int, str, bool, type(None)})
"""Values of these classes are what their ``repr`` says."""


@dataclass(frozen=True)
class Specialization:
    """A launch's arguments as the compiler gets them."""

    signature: dict[str, Any]
    constants: dict[Path_, Any]
    attrs: dict[Path_, list[list[Any]]]
    run_time: tuple[str, ...]
    """Python expressions over ``a<position>`` of the values that the launcher gets."""


def specialize(kernel: JITFunction, specs: Sequence[ArgSpec | None], bound: Mapping[str, object]) -> Specialization:
    """``specs`` has None for parameters declared constexpr."""
    signature: dict[str, Any] = {}
    constants: dict[Path_, Any] = {}
    attrs: dict[Path_, list[list[Any]]] = {}
    run_time: list[str] = []

    def visit(spec: ArgSpec, path: Path_, expression: str) -> Any:
        if spec.elements is not None:
            types = tuple(visit(e, (*path, i), f"{expression}[{i}]") for i, e in enumerate(spec.elements))
            return spec.rebuild(types) if spec.rebuild is not None else types
        if spec.type == "constexpr":
            constants[path] = plain_value(spec.value)
            return "constexpr"
        marks = parse_marks(NEGATIVE if spec.attr is None and spec.type in INTEGER_TYPES else spec.attr)
        if marks:
            attrs[path] = marks
        run_time.append(expression)
        return spec.type

    for param, spec in zip(kernel.params, specs, strict=True):
        path = (param.num,)
        if spec is None:
            signature[param.name] = "constexpr"
            constants[path] = _constant(bound[param.name])
        else:
            signature[param.name] = visit(spec, path, f"a{param.num}")
    return Specialization(signature, constants, attrs, tuple(run_time))


@dataclass(frozen=True)
class Request:
    """A launch as its arguments are understood: what it compiles, for where, with which options. ``bound``: the
    arguments by name; ``specs``: what each is to the compiler, None for a parameter declared constexpr."""

    bound: dict[str, Any]
    specs: tuple[ArgSpec | None, ...]
    placement: Placement
    options: Options
    wanted: Specialization

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What two launches share that run the same code."""
        return _hashable_key(self.placement, self.wanted, self.options)

    @property
    def hook_key(self) -> str:
        """What hooks hear as the key of a compile."""
        wanted = self.wanted
        said = f"{self.placement.target}{wanted.signature}{wanted.attrs}{wanted.constants}{vars(self.options)}"
        if all(type(value) in _SHOWN for value in wanted.constants.values()):
            return said
        return said + meaning(tuple(wanted.constants.items()))


def _constant(value: Any) -> Any:
    """A compile-time value as the front end gets it: NumPy's scalars as Python's numbers."""
    value = plain_value(value)
    is_numpy = any(base.__module__ == "numpy" and base.__name__ == "generic" for base in type(value).__mro__)
    return value.item() if is_numpy else value


def _hashable_key(placement: Placement, wanted: Specialization, options: Options) -> tuple[object, ...]:
    attributes = tuple([(path, tuple(map(tuple, marks))) for path, marks in wanted.attrs.items()])
    constants = identities(wanted.constants.items())
    signature = identities(wanted.signature.items())  # named tuples are equal whatever their classes are
    chosen = identities(vars(options).items())
    return placement.target, signature, constants, attributes, type(options), chosen
