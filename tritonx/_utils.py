"""Triton's helpers that libraries import: nested arguments (a path is a tuple of positions, outermost first), the names
of element types in signatures, and the check of a block's shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from tritonx.language.types.block_shapes import TRITON_MAX_TENSOR_NUMEL as TRITON_MAX_TENSOR_NUMEL
from tritonx.language.types.block_shapes import is_power_of_two as is_power_of_two
from tritonx.language.types.block_shapes import validate_block_shape as validate_block_shape
from tritonx.language.values.tuples import tuple as language_tuple
from tritonx.language.values.tuples import tuple_type
from tritonx.runtime.devices.dtype_names import BITWIDTH_DICT as BITWIDTH_DICT
from tritonx.runtime.devices.dtype_names import canonicalize_dtype as canonicalize_dtype
from tritonx.runtime.devices.dtype_names import canonicalize_ptr_dtype as canonicalize_ptr_dtype
from tritonx.runtime.devices.dtype_names import get_primitive_bitwidth as get_primitive_bitwidth
from tritonx.runtime.devices.dtype_names import type_canonicalisation_dict as type_canonicalisation_dict

Path = tuple[int, ...]


def is_namedtuple(val: object) -> bool:
    """Whether ``val`` is a class of named tuples.

    >>> from collections import namedtuple
    >>> is_namedtuple(namedtuple("Point", "x y")), is_namedtuple(tuple)
    (True, False)
    """
    return isinstance(val, type) and issubclass(val, tuple) and hasattr(val, "_fields")  # pyright: ignore[reportUnknownArgumentType]  # a class of tuples of anything


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The element at ``path`` of nested lists and tuples. Raises IndexError where there is none.

    >>> get_iterable_path([1, (2, [3, 4])], (1, 1, 0))
    3
    """
    return reduce(lambda inner, index: inner[index], path, iterable)


def set_iterable_path(iterable: Any, path: Path, val: Any) -> None:
    """Replace the element at ``path``, whose parent must be mutable. Raises ValueError for an empty path.

    >>> nested = [1, [2, 3]]
    >>> set_iterable_path(nested, (1, 0), 5)
    >>> nested
    [1, [5, 3]]
    """
    if not path:
        raise ValueError("a path has at least one position")
    get_iterable_path(iterable, path[:-1])[path[-1]] = val


def find_paths_if(iterable: Sequence[Any], pred: Callable[[Path, Any], bool]) -> list[Path]:
    """The paths of the leaves for which ``pred(path, leaf)`` holds; lists and tuples, the language's too, are no
    leaves.

    >>> find_paths_if([1, (2, [1, 4])], lambda path, leaf: leaf == 1)
    [(0,), (1, 1, 0)]
    """
    found: list[Path] = []

    def visit(value: Any, path: Path) -> None:
        if isinstance(value, list | tuple | language_tuple | tuple_type):
            for index, element in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # a tuple of anything, of tuples, and so on
                visit(element, (*path, index))
        elif pred(path, value):
            found.append(path)

    visit(iterable, ())
    return found
