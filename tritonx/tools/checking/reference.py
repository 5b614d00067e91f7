"""What a reference says that a launch leaves in the arrays which the kernel writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from tritonx.interpreter.values import is_float
from tritonx.tools.checking.arguments import Contents, arrays_of

Reference = Callable[..., object]
"""Takes the kernel's arguments by name, arrays of floats as float64. Returns an array for each array that the kernel
writes, in the order of the parameters, one alone or in a tuple or list; or a dict by parameter; or None, and changes
its arguments."""


@dataclass(eq=False)
class BadReference(Exception):
    """A reference raises, or does not fit the kernel. `file`, `line`: of what raised; else of the function."""

    reason: str
    file: str = ""
    line: int = 0


def expected(
    reference: Reference, given: Mapping[str, object], arrays: Contents, stored: Sequence[str], ever: Sequence[str]
) -> Contents:
    """By array, what the reference gives for the arguments `given`, in the shapes of `arrays`. `stored`: the arrays
    that the kernel writes in this launch; `ever`: in any, since a kernel that is compiled for `n == 1` may have fewer
    stores. The reference gives the ones or the others. Raises `BadReference`."""
    arguments = dict(given)
    try:
        returned = reference(**arguments)
    except (Exception, SystemExit) as error:
        raise _raised(reference, error) from error
    try:
        if returned is None:
            found = {n: a for n, a in arrays_of(arguments).items() if n in ever}
        elif isinstance(returned, Mapping):
            found = dict(_named(cast("Mapping[str, object]", returned), arrays))
        else:
            values = list(_flat(returned))
            found = _in_order(values, stored if len(values) == len(stored) else ever)
        return {name: _fitted(array, name, arrays[name]) for name, array in found.items()}
    except BadReference as error:
        error.file, error.line = _place(reference)
        raise


def _named(returned: Mapping[str, object], arrays: Contents) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in returned.items():
        parts = [n for n in arrays if n.startswith(f"{name}[")]
        if name in arrays:
            yield name, _array(value, name)
        elif parts:
            yield from _in_order(list(_flat(value)), parts).items()
        else:
            raise BadReference(f"it gives {name!r}, which is no array of the kernel: {', '.join(arrays)}")


def _in_order(values: Sequence[object], names: Sequence[str]) -> Contents:
    if len(values) != len(names):
        words = f"the kernel writes {len(names)} ({', '.join(names)})" if names else "the kernel writes none"
        raise BadReference(f"it gives {len(values)} array{'s' * (len(values) != 1)}, and {words}")
    return {name: _array(value, name) for name, value in zip(names, values, strict=True)}


def _array(value: object, name: str) -> np.ndarray:
    try:
        array = np.asarray(value)
    except Exception as error:
        raise BadReference(f"it gives a {type(value).__name__} for {name}: {error}") from error
    if array.dtype.kind in "biu" or is_float(array.dtype):
        return array
    what = f"an array of {array.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    raise BadReference(f"it gives {what} for {name}")


def _flat(value: object) -> Iterator[object]:
    """The arrays of nested tuples and lists; a list of numbers is one array."""
    if not isinstance(value, tuple | list):
        yield value
        return
    parts = cast("Sequence[object]", value)
    if isinstance(value, list) and parts and all(isinstance(each, int | float | np.number) for each in parts):
        yield value
        return
    for each in parts:
        yield from _flat(each)


def _fitted(array: np.ndarray, name: str, to: np.ndarray) -> np.ndarray:
    """In the shape of `to`: axes of extent 1 may be missing, and all axes may be one."""
    if array.shape in ((), to.shape):
        return array
    axes, wanted = (tuple(n for n in shape if n != 1) for shape in (array.shape, to.shape))
    if array.size != to.size or (array.size and axes != wanted and min(len(axes), len(wanted)) != 1):
        raise BadReference(f"it gives an array of shape {array.shape} for {name}, which has the shape {to.shape}")
    return array.reshape(to.shape)


def _place(reference: Reference) -> tuple[str, int]:
    code = getattr(reference, "__code__", None)
    return ("", 0) if code is None else (code.co_filename, code.co_firstlineno)


def _raised(reference: Reference, error: BaseException) -> BadReference:
    """At the last line in the reference's file that the error passed."""
    file, line = _place(reference)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return BadReference(f"it raises {type(error).__name__}: {' '.join(str(error).split())}"[:300], file, line)
