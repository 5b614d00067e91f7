"""What code takes for a tensor descriptor among its parameters.

A kernel's source has one parameter; its code has the descriptor's parts (what `rewrite-descriptors` makes of it), or
a tensor map where the device has a unit that copies blocks, and behind either the extents and strides, which the front
end passes beside every descriptor. Text of a kernel (an `IRSource`) has all these as parameters of their own.

Nothing here imports a compiler: it is part of launching a kernel from the cache."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, cast

from tritonx.backends.api import Parameter
from tritonx.runtime.launch.parameter_values import address_of

Recipes = Iterable[Mapping[str, object]]
"""What a launch must know of each tensor map: `tensordesc_meta` of the kernel's metadata."""


class Descriptor(Protocol):
    """A `TensorDescriptor`, of whatever package."""

    base: object
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str


Flatten = Callable[[Descriptor], Sequence[object]]
"""The values that stand for a descriptor."""


@dataclass(frozen=True)
class Made:
    """Arguments that the launch makes of others and passes behind them, ``count`` of them: what ``make`` gives for the
    code's arguments of these numbers, addresses for pointers; with ``of_grid`` for the blocks in x, y and z in front of
    these. It may keep what it has made."""

    make: Callable[..., Sequence[object]]
    arguments: tuple[int, ...]
    count: int
    of_grid: bool = False


NO_MAPS: Mapping[int, Flatten] = MappingProxyType({})

SOURCE = "tensordesc<"
"""How the type of a descriptor begins in a kernel's signature."""

MAP = "!tt.tensordesc<"
"""How the type of a parameter begins that is passed as a tensor map."""


def is_descriptor(parameter: Parameter) -> bool:
    return parameter.type.startswith(SOURCE)


def mapped(recipes: Recipes) -> frozenset[int]:
    """Which of a source's descriptors are passed as tensor maps, counted from 0."""
    numbers = (recipe.get("descriptor") for recipe in recipes)
    return frozenset(number for number in numbers if isinstance(number, int))


def flat_types(type_: str, *, as_map: bool = False) -> list[str]:
    """The types that stand for a parameter of this type."""
    if not type_.startswith(SOURCE):
        return [type_]
    element, _, block = type_.removeprefix(SOURCE).partition("[")
    rank = len(block.partition("]")[0].split(","))
    own = ["!tt." + type_] if as_map else ["*" + element, *["i64"] * (2 * rank), "u1"]
    return [*own, *["i32"] * rank, *["i64"] * rank]


def flat_values(descriptor: Descriptor) -> list[object]:
    """A `TensorDescriptor` in the same form, where it is no tensor map."""
    extents = [*map(int, descriptor.shape), *map(int, descriptor.strides)]
    return [descriptor.base, *extents, int(getattr(descriptor, "padding", "zero") == "nan"), *extents]


@dataclass(frozen=True)
class FlatParameters:
    """The parameters of a kernel's code: ``maps`` says for each descriptor of the source whether it is a tensor map,
    None for a parameter that is none."""

    parameters: tuple[Parameter, ...]
    maps: tuple[bool | None, ...]

    @staticmethod
    def of(parameters: Sequence[Parameter], recipes: Recipes = ()) -> FlatParameters:
        as_maps = mapped(recipes)
        numbers = iter(range(len(parameters)))
        maps = [next(numbers) in as_maps if p.type.startswith(SOURCE) else None for p in parameters]
        return FlatParameters(tuple(parameters), tuple(maps))

    @property
    def types(self) -> list[str]:
        return [flat for owner in self.owned_types() for flat in owner]

    def owned_types(self) -> Iterator[list[str]]:
        """By parameter of the source."""
        for parameter, as_map in zip(self.parameters, self.maps, strict=True):
            yield flat_types(parameter.type, as_map=bool(as_map))

    def owners(self, places: Collection[int]) -> tuple[int, ...]:
        """The parameters of the source that those of the code at ``places`` stand for."""
        if not places:
            return ()
        owned = [i for i, types in enumerate(self.owned_types()) for _ in types]
        return tuple(sorted({owned[place] for place in places if place < len(owned)}))

    @property
    def any(self) -> bool:
        """Whether there is a descriptor: arguments are the code's own otherwise."""
        return any(as_map is not None for as_map in self.maps)

    def values(self, arguments: Sequence[object]) -> list[object]:
        """The code's arguments, where none is a tensor map."""
        flat: list[object] = []
        for as_map, value in zip(self.maps, arguments, strict=True):
            if as_map is None:
                flat.append(value)
            else:
                flat += flat_values(cast("Descriptor", value))
        return flat

    def flattening(
        self, launch: Callable[..., None], maps: Mapping[int, Flatten] = NO_MAPS, made: Made | None = None
    ) -> Callable[..., None]:
        """``launch(x, y, z, stream, *flat)`` for the source's arguments; itself without descriptors. ``maps``: what
        makes the values for a parameter, by its position, where that is a tensor map. ``made`` comes last."""
        if not self.any and not maps and made is None:
            return launch
        names = {f"flatten{i}": maps.get(i, flat_values) for i, p in enumerate(self.maps) if i in maps or p is not None}
        given = [f"a{i}" for i in range(len(self.maps))]
        flat = [f"*flatten{i}({a})" if f"flatten{i}" in names else a for i, a in enumerate(given)]
        if made is not None:
            named = self._named(flat, made)
            flat.append(f"*make({', '.join(['x', 'y', 'z', *named] if made.of_grid else named)})")
        head = "x, y, z, stream"
        code = f"lambda {', '.join((head, *given))}: launch({', '.join((head, *flat))})"
        own = {} if made is None else {"make": made.make, "address": address_of}
        return eval(code, {"launch": launch, **own, **names})

    def _named(self, flat: list[str], made: Made) -> list[str]:
        """What `Made.make` is called with, as expressions. Of ``flat``, the expressions for all arguments, those that
        are used again give themselves a name; an address is asked for once."""
        places = [(i, part) for i, types in enumerate(self.owned_types()) for part in range(len(types))]
        types, wanted = self.types, list[str]()
        for number in made.arguments:
            i, part = places[number]
            is_pointer = types[number].startswith("*")
            if self.maps[i] is None:
                if is_pointer and not flat[i].startswith("("):
                    flat[i] = f"(a{i} := address(a{i}))"
                wanted.append(f"a{i}")
            else:
                if not flat[i].startswith("*(d"):
                    flat[i] = f"*(d{i} := {flat[i].removeprefix('*')})"
                wanted.append(f"address(d{i}[{part}])" if is_pointer else f"d{i}[{part}]")
        return wanted
