"""One launch of the kernel that is explained: its grid and what is known of its arguments, and what holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import tile
from tritonx.explain.facts import Facts, LaunchFacts
from tritonx.explain.places import Places
from tritonx.explain.prediction import predicted
from tritonx.explain.trips import Trips, UnknownTrips, trips_of
from tritonx.runtime.compiling.sources import Source
from tritonx.tools.tensor_descriptor import TensorDescriptor


@dataclass(frozen=True)
class Launch:
    """`integers`: arguments by parameter (`t.0` of a tuple); `descriptors`: shape and strides by parameter; `held`:
    bytes of the arrays, None where one is not there and only its type is."""

    grid: tuple[int, int, int]
    integers: Mapping[str, int]
    held: int | None
    descriptors: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    @property
    def programs(self) -> int:
        """How many the grid has."""
        return self.grid[0] * self.grid[1] * self.grid[2]


def launch_of(grid: tuple[int, int, int], arguments: Mapping[str, object]) -> Launch:
    """`arguments`: by parameter, arrays of any library, tensor descriptors, numbers, tuples of these, and dtypes."""
    integers: dict[str, int] = {}
    descriptors: dict[str, tuple[int, ...]] = {}
    held: dict[int, int] = {}
    known = True
    for name, value in _leaves(arguments):
        if isinstance(value, Integral):  # NumPy's too
            integers[name] = int(value)
            continue
        array = value
        if isinstance(value, TensorDescriptor):
            array, descriptors[name] = value.base, (*value.shape, *value.strides)
        size = getattr(array, "nbytes", None)
        if isinstance(size, int):
            held[id(array)] = size
        elif hasattr(array, "data_ptr"):  # stands in for an array
            known = False
    return Launch(grid, integers, sum(held.values()) if known else None, descriptors)


def _leaves(arguments: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in arguments.items():
        if isinstance(value, tuple | list):
            parts = cast("Sequence[object]", value)
            yield from _leaves({f"{name}.{number}": part for number, part in enumerate(parts)})
        else:
            yield name, value


def integers_of(launch: Launch, source: Source, module: ModuleOp) -> dict[int, int]:
    """The numbers that are known of the kernel's function in `tt`, by position: a descriptor has its shape and its
    strides behind it."""
    kernel = next(op for op in module.ops if isinstance(op, tile.FuncOp) and op.is_kernel)
    types = kernel.function_type.inputs.data
    found: dict[int, int] = {}
    at = 0
    for parameter in source.parameters():
        numbers: Sequence[int] = ()
        if isinstance(type_ := types[at], tile.TensorDescType):
            numbers = launch.descriptors.get(parameter.name, ())
            first, at = at + 1, at + 1 + 2 * len(type_.shape)
        else:
            first, at = at, at + 1
            if parameter.name in launch.integers:
                numbers = (launch.integers[parameter.name],)
        found.update(enumerate(numbers, first))
    return found


def known_trips(launch: Launch, source: Source, module: ModuleOp) -> Trips | UnknownTrips:
    """How often loops are executed in the launch, or of which it is not known. `module` is what the front end made."""
    try:
        return trips_of(module, integers_of(launch, source, module), launch.grid)
    except UnknownTrips as unknown:
        return unknown


def launch_facts(
    facts: Facts, target: GpuTarget | None, launch: Launch, trips: Trips | UnknownTrips, places: Places
) -> LaunchFacts:
    """By the model of `prediction`; without figures where it has none, with the reason."""
    if isinstance(trips, UnknownTrips):
        return LaunchFacts(launch.grid, text=str(trips), place=places.of(trips.loop))
    if target is None or target.chip is None:
        return LaunchFacts(
            launch.grid, text=f"no time is predicted: the figures of no chip of {facts.target} are known"
        )
    if refusal := target.chip.refusal(launch.grid, facts.threads, int(facts.options.get("num_ctas", "1"))):
        return LaunchFacts(launch.grid, text=refusal)
    held = launch.held if launch.held is not None else 2**63
    found = predicted(facts, target, launch.programs, trips, held)
    if found is None:
        return LaunchFacts(launch.grid, text="an empty grid does nothing")
    numbers = {name: value for name, value in asdict(found).items() if name not in ("target", "launch")}
    waves = f"{launch.programs} program{'s' * (launch.programs != 1)}, {found.waves:.3g} waves on {found.chip}"
    return LaunchFacts(launch.grid, text=f"held by {found.bound}, about {found.duration}: {waves}", **numbers)
