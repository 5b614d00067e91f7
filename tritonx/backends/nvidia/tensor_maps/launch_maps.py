"""Tensor maps of descriptors that a kernel makes of its arguments alone: the launch makes them, and passes them behind
the arguments (`tensor_map_at_launch`).

All maps of a kernel are kept together, for the values of the arguments that they are made of, so that a launch like one
before looks in a dictionary once. Where the kernel does not say that no block of what were pointers begins below 0, the
launch finds that out for the programs of its grid, and the maps are kept for that grid. A tensor whose rows or columns
are none has no map; one of a single element stands for it that every read finds the padding in and that is not read
what is written to (`EmptyTensors`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypedDict, TypeVar

from tritonx.analysis.launch_ranges import Step, arguments_of, ranges
from tritonx.backends.nvidia.launch.launch_values import evaluate
from tritonx.backends.nvidia.tensor_maps.empty_tensors import EmptyTensors
from tritonx.backends.nvidia.tensor_maps.tensor_map import KEPT, WRITTEN_PIECE, Check, MapAddress, Recipe, encoded
from tritonx.runtime.errors import IrregularArgument, UnsupportedArgument

ALIGNMENT = 16
"""Bytes of which base and strides are multiples (CUDA driver API, cuTensorMapEncodeTiled)."""
INVALID_ADDRESS = 16
"""An address that no process has. A descriptor that breaks the rules in a branch has a map of it, and one of nothing at
address 0, where empty tensors begin: a kernel that does not come there is as it was, and one that does ends with an
illegal address."""
Kept = TypeVar("Kept")

OTHERWISE = {"describe_loads": False}
"""The options of code for pointers that are no descriptor's."""
_FURTHEST = 1 << 40
"""Bytes that a stride must be less than."""


class MadeRecipe(Recipe):
    """Of a descriptor that a kernel makes: base, extents, and strides but the last are numbers of steps.
    One that is ``conditional`` the kernel may not come to; one ``of_pointers`` the compiler made of loads through
    pointers, which may be what no descriptor is."""

    padding: str
    read: bool
    written: bool
    conditional: bool
    of_pointers: bool
    base: int
    shape: Sequence[int]
    strides: Sequence[int]


class Asked(TypedDict):
    """A question: are the steps at ``from_zero`` 0 or above in every program?"""

    steps: Sequence[Step]
    from_zero: Sequence[int]


class AtLaunch(TypedDict):
    """``tensormaps_at_launch`` of a kernel's metadata: what computes integers of its arguments, its maps, and what is
    asked before they are made."""

    steps: Sequence[Step]
    maps: Sequence[MadeRecipe]
    asked: Sequence[Asked]


class LaunchMaps:
    """The maps of a kernel, by its metadata's ``tensormaps_at_launch``. Called with the values of the ``arguments``,
    numbers of the code's, and addresses for pointers; gives the address of each map. With ``of_grid`` the programs
    along x, y and z are in front of them. Raises `UnsupportedArgument` where a descriptor breaks the rules that the
    kernel's source says it keeps, and the kernel comes to it; `IrregularArgument` where pointers are no
    descriptor's."""

    def __init__(
        self,
        cuda: ctypes.CDLL,
        described: AtLaunch,
        check: Check,
        on_device: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.cuda = cuda
        self.steps = described["steps"]
        self.recipes = described["maps"]
        self.check = check
        self.asked = described["asked"]
        self.of_grid = bool(self.asked)
        self.arguments = arguments_of([*self.steps, *(step for each in self.asked for step in each["steps"])])
        self.empty = EmptyTensors(cuda, check, on_device)
        self.kept: dict[tuple[object, ...], tuple[MapAddress, ...]] = {}
        self.refused: dict[tuple[object, ...], str] = {}
        """Why pointers are no descriptor's."""

    def __call__(self, *values: int) -> tuple[MapAddress, ...]:
        found = self.kept.get(values)
        return found if found is not None else self._made(values)

    def _made(self, values: tuple[int, ...]) -> tuple[MapAddress, ...]:
        if (reason := self.refused.get(values)) is not None:
            raise IrregularArgument(reason)
        try:
            made = self._maps(values)
        except IrregularArgument as error:
            _keep(self.refused, values, str(error))
            raise
        _keep(self.kept, values, made)
        return made

    def _maps(self, values: tuple[int, ...]) -> tuple[MapAddress, ...]:
        grid, given = (values[:3], values[3:]) if self.of_grid else ((), values)
        arguments = dict(zip(self.arguments, given, strict=True))
        for each in self.asked:
            found = ranges(each["steps"], arguments, grid)
            if any(found[place][0] < 0 for place in each["from_zero"]):
                raise IrregularArgument(
                    "blocks that the kernel reads through pointers may begin below 0, where no tensor map has any "
                    f"element, in one of {' x '.join(map(str, grid))} programs: it is to be compiled with "
                    "describe_loads=False"
                )
        computed = evaluate(self.steps, arguments)
        return tuple(self._map(recipe, computed) for recipe in self.recipes)

    def _map(self, recipe: MadeRecipe, values: Sequence[int]) -> MapAddress:
        address = values[recipe["base"]] % (1 << 64)
        shape = [values[place] for place in recipe["shape"]]
        steps = [values[place] * recipe["elem_size"] for place in recipe["strides"]]
        if min(shape) > 0:
            # No access steps along a dim of one element, whatever its stride is said to be.
            pairs = zip(shape[:-1], steps, strict=True)
            steps = [ALIGNMENT if extent == 1 and not _is_step(step) else step for extent, step in pairs]
        instead = self._instead(recipe, address, shape, steps)
        if instead is not None:
            address, shape, steps = instead, [1] * len(shape), [ALIGNMENT] * len(steps)
        return encoded(self.cuda, recipe, self.check, address, shape, steps, recipe["padding"])

    def _instead(self, recipe: MadeRecipe, address: int, shape: Sequence[int], steps: Sequence[int]) -> int | None:
        """Where the one element is that a map has in place of a tensor that no map has; None where one has it."""
        is_empty = min(shape) <= 0
        if not address and not is_empty:
            return INVALID_ADDRESS
        if recipe["of_pointers"]:
            if not is_empty and (address % ALIGNMENT or not all(step and _is_step(step) for step in steps)):
                raise IrregularArgument(
                    f"the kernel reads blocks of {list(recipe['block_shape'])} through pointers from {address:#x} on, "
                    f"by strides of {steps} bytes: it is to be compiled with describe_loads=False"
                )
        elif (fault := _fault(recipe, address, shape, steps)) is not None:
            if recipe["conditional"]:
                return INVALID_ADDRESS
            raise UnsupportedArgument(
                f"a descriptor of blocks of {list(recipe['block_shape'])} that the kernel {fault}"
            )
        if not is_empty:
            return None
        return self.empty.written() if recipe["written"] else self.empty.read(recipe["padding"])


def _keep(kept: dict[tuple[object, ...], Kept], values: tuple[object, ...], found: Kept) -> None:
    if len(kept) >= KEPT:
        kept.clear()
    kept[values] = found


def _fault(recipe: MadeRecipe, address: int, shape: Sequence[int], steps: Sequence[int]) -> str | None:
    """Why there is no such map, and nothing that stands for it."""
    if min(shape) <= 0:
        both = (
            "makes, reads and writes has no elements. Do not launch it for an empty tensor, or with launch_maps=False"
        )
        return both if recipe["read"] and recipe["written"] else None
    instead = "A kernel that does not use it is to be compiled with launch_maps=False"
    if address % ALIGNMENT:
        return f"makes begins at {address:#x}, which is no multiple of {ALIGNMENT} bytes. {instead}"
    for step in steps:
        if not _is_step(step):
            return f"makes has a stride of {step} bytes, not a multiple of {ALIGNMENT} from 0 to below 2**40. {instead}"
    if recipe["written"] and shape[-1] * recipe["elem_size"] % WRITTEN_PIECE:
        return (
            f"makes has rows of {shape[-1]} elements, and its blocks are written in pieces of {WRITTEN_PIECE} bytes: "
            f"what lies behind the rows would be overwritten. {instead}"
        )
    return None


def _is_step(nbytes: int) -> bool:
    return nbytes % ALIGNMENT == 0 and 0 <= nbytes < _FURTHEST
