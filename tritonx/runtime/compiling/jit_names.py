"""What libraries import from ``triton.runtime.jit`` beside decorators and kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from tritonx._utils import find_paths_if as find_paths_if
from tritonx._utils import get_iterable_path as get_iterable_path
from tritonx._utils import is_namedtuple as is_namedtuple
from tritonx._utils import type_canonicalisation_dict as type_canonicalisation_dict
from tritonx.kernel.source import JITCallable
from tritonx.language.values.constexpr_function import BoundConstexprFunction as BoundConstexprFunction
from tritonx.runtime.cache import get_cache_key as get_cache_key
from tritonx.runtime.compiling.jit_hooks import JitFunctionInfo as JitFunctionInfo
from tritonx.runtime.compiling.keys import get_cache_invalidating_env_vars as get_cache_invalidating_env_vars
from tritonx.runtime.driver import driver as driver

TRITON_MODULE = "tritonx.language"
"""Where the language's own functions are from."""


def get_full_name(fn: Callable[..., object]) -> str:
    """The function's name with its module's.

    >>> get_full_name(tritonx.cdiv)
    'tritonx.runtime.integers.cdiv'
    """
    return f"{fn.__module__}.{fn.__qualname__}"


def get_jit_fn_file_line(fn: object) -> tuple[str, int]:
    """The file of a kernel, through autotuners and heuristics around it, and the line of its ``def``.

    >>> file, line = get_jit_fn_file_line(double)
    >>> file.endswith(".py"), line > 0
    (True, True)
    """
    while not isinstance(fn, JITCallable):
        fn = vars(fn)["fn"]
    return fn.file_name, fn.def_line_number


def convert_to_tuple_if_list(item: object) -> object:
    """A list, and the lists in it, as tuples; anything else as it is.

    >>> convert_to_tuple_if_list([1, [2, 3]]), convert_to_tuple_if_list("ab")
    ((1, (2, 3)), 'ab')
    """
    if not isinstance(item, list):
        return item
    return tuple(map(convert_to_tuple_if_list, item))  # pyright: ignore[reportUnknownArgumentType]  # a list of anything


def compute_cache_key(kernel_key_cache: dict[object, str], specialization: Sequence[object], options: object) -> str:
    """The text that tells variants of a kernel apart, kept in ``kernel_key_cache``. Functions go by their sources.

    >>> compute_cache_key({}, [("i32", "D")], {"num_warps": 4})
    "[('i32', 'D')]{'num_warps': 4}"
    """
    key = (tuple(specialization), str(options))
    known = kernel_key_cache.get(key)
    if known is None:
        known = kernel_key_cache[key] = f"{_by_source(list(specialization))}{options}"
    return known


def _by_source(value: object) -> object:
    if isinstance(value, JITCallable):
        return value.cache_key
    if not isinstance(value, list | tuple):
        return value
    parts = [_by_source(part) for part in cast("Sequence[object]", value)]
    if isinstance(value, list):
        return parts
    kind = cast("Callable[..., object]", type(value))  # pyright: ignore[reportUnknownArgumentType]  # a tuple of anything
    return kind(*parts) if is_namedtuple(kind) else tuple(parts)
