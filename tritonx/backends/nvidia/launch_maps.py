"""Tensor maps of descriptors that a kernel makes of its arguments alone: the launch makes them, and passes them behind
the arguments (`tensor_map_at_launch`).

All maps of a kernel are kept together, for the values of the arguments that they are made of, so that a launch like one
before looks in a dictionary once. A tensor whose rows or columns are none has no map; one of a single element stands
for it that every read finds the padding in and that nobody reads what is written to (`EmptyTensors`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypedDict

from tritonx.backends.nvidia.empty_tensors import EmptyTensors
from tritonx.backends.nvidia.launch_values import Step, arguments_of, evaluate
from tritonx.backends.nvidia.tensor_map import KEPT, WRITTEN_PIECE, Check, MapAddress, Recipe, encoded
from tritonx.runtime.errors import UnsupportedArgument

ALIGNMENT = 16
"""Bytes of which base and strides are multiples (CUDA driver API, cuTensorMapEncodeTiled)."""
_FURTHEST = 1 << 40
"""Bytes that a stride must be less than."""


class MadeRecipe(Recipe):
    """Of a descriptor that a kernel makes: base, extents, and strides but the last are numbers of steps."""

    padding: str
    read: bool
    written: bool
    base: int
    shape: Sequence[int]
    strides: Sequence[int]


class AtLaunch(TypedDict):
    """``tensormaps_at_launch`` of a kernel's metadata: what computes integers of its arguments, and its maps."""

    steps: Sequence[Step]
    maps: Sequence[MadeRecipe]


class LaunchMaps:
    """The maps of a kernel, by its metadata's ``tensormaps_at_launch``. Called with the values of the ``arguments``,
    numbers of the code's, and addresses for pointers; gives the address of each map. Raises `UnsupportedArgument` where
    a descriptor breaks the rules that the kernel's source says it keeps."""

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
        self.arguments = arguments_of(self.steps)
        self.empty = EmptyTensors(cuda, check, on_device)
        self.kept: dict[tuple[object, ...], tuple[MapAddress, ...]] = {}

    def __call__(self, *values: int) -> tuple[MapAddress, ...]:
        found = self.kept.get(values)
        return found if found is not None else self._made(values)

    def _made(self, values: tuple[int, ...]) -> tuple[MapAddress, ...]:
        arguments = dict(zip(self.arguments, values, strict=True))
        computed = evaluate(self.steps, arguments)
        made = tuple(self._map(recipe, computed) for recipe in self.recipes)
        if len(self.kept) >= KEPT:
            self.kept.clear()
        self.kept[values] = made
        return made

    def _map(self, recipe: MadeRecipe, values: Sequence[int]) -> MapAddress:
        address = values[recipe["base"]] % (1 << 64)
        shape = [values[place] for place in recipe["shape"]]
        steps = [values[place] * recipe["elem_size"] for place in recipe["strides"]]
        if min(shape) <= 0:
            if recipe["read"] and recipe["written"]:
                raise UnsupportedArgument(
                    f"{_name(recipe)}, reads and writes has no elements. Do not launch the kernel for an empty tensor, "
                    "or compile it with launch_maps=False"
                )
            address = self.empty.written() if recipe["written"] else self.empty.read(recipe["padding"])
            shape, steps = [1] * len(shape), [ALIGNMENT] * len(steps)
        else:
            # Nobody steps along a dim of one element, whatever its stride is said to be.
            pairs = zip(shape[:-1], steps, strict=True)
            steps = [ALIGNMENT if extent == 1 and not _is_step(step) else step for extent, step in pairs]
            _check(recipe, address, shape, steps)
        return encoded(self.cuda, recipe, self.check, address, shape, steps, recipe["padding"])


def _check(recipe: MadeRecipe, address: int, shape: Sequence[int], steps: Sequence[int]) -> None:
    what, instead = _name(recipe), "A kernel that does not come to it is to be compiled with launch_maps=False"
    if address % ALIGNMENT:
        raise UnsupportedArgument(
            f"{what} begins at {address:#x}, which is no multiple of {ALIGNMENT} bytes. {instead}"
        )
    for step in steps:
        if not _is_step(step):
            raise UnsupportedArgument(
                f"{what} has a stride of {step} bytes, not a multiple of {ALIGNMENT} from 0 to below 2**40. {instead}"
            )
    if recipe["written"] and shape[-1] * recipe["elem_size"] % WRITTEN_PIECE:
        raise UnsupportedArgument(
            f"{what} has rows of {shape[-1]} elements, and its blocks are written in pieces of {WRITTEN_PIECE} "
            f"bytes: what lies behind the rows would be overwritten. {instead}"
        )


def _name(recipe: MadeRecipe) -> str:
    return f"a descriptor of blocks of {list(recipe['block_shape'])} that the kernel makes"


def _is_step(nbytes: int) -> bool:
    return nbytes % ALIGNMENT == 0 and 0 <= nbytes < _FURTHEST
