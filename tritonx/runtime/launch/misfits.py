"""A launch whose arguments or grid do not fit its kernel: what is missing, too much, misspelt or impossible, shown at
the kernel's ``def``. Compiled and interpreted launches say the same."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from tritonx.kernel.excerpt import shown
from tritonx.runtime.devices.dtype_names import UnsupportedDtype
from tritonx.runtime.errors import (
    ArgumentMisfit,
    DeprecatedKeyword,
    ImpossibleOption,
    UnknownKeyword,
    UnsupportedArgument,
)
from tritonx.runtime.launch.dataclass_arguments import parts_of, record_in

if TYPE_CHECKING:
    from tritonx.kernel.declaration import KernelDeclaration


class Missing:
    """The type of ``MISSING``: the value of a parameter that a launch gives none."""


MISSING = Missing()

UNFIT = (UnsupportedArgument, UnsupportedDtype, OverflowError)
"""What handlers of arguments raise about values that no kernel takes."""

_OWN_FILES = (str(Path(__file__).parents[2]) + os.sep, "<launch of ", contextlib.__file__)
"""What the names of files start with whose frames are not the user's. Interpreted launches go through contextlib."""


def check_given(kernel: KernelDeclaration, bound: Mapping[str, object], options: Mapping[str, object]) -> None:
    """Raise for parameters without a value. ``options``: what else was given by name."""
    missing = [name for name, value in bound.items() if value is MISSING]
    if not missing:
        return
    kind = "keyword-only" if all(name in _by_name_only(kernel) for name in missing) else "positional"
    message = f"{kernel.__name__}() missing {len(missing)} required {kind} argument{'s' * (len(missing) > 1)}: "
    message += _listed(missing)
    hints = [f"did you mean '{name}' by '{close}'?" for name in missing for close in _close(name, options)]
    hint = hints[0] if hints else f"the parameters are {kernel.__name__}({', '.join(kernel.arg_names)})"
    raise ArgumentMisfit(shown(kernel, missing[0], message, hint))


def impossible_option(kernel: KernelDeclaration, error: ValueError) -> ImpossibleOption:
    """What a backend says about an option's value."""
    return ImpossibleOption(shown(kernel, None, str(error)))


def deprecated_keyword(kernel: KernelDeclaration, name: str, what: str) -> DeprecatedKeyword:
    """A keyword that launches once took; ``what`` is used in its place."""
    message = f"{name} option is deprecated; current {what} will be used"
    return DeprecatedKeyword(shown(kernel, None, message, "the arguments decide where a kernel runs"))


def too_many(kernel: KernelDeclaration, extra: Sequence[object]) -> ArgumentMisfit:
    """More values by position than there are parameters."""
    count = len(kernel.params) - len(_by_name_only(kernel))
    message = f"{kernel.__name__}() takes {count} positional arguments but {count + len(extra)} were given"
    hint = f"the parameters are {kernel.__name__}({', '.join(kernel.arg_names)}); options such as num_warps go by name"
    return ArgumentMisfit(shown(kernel, None, message, hint))


def place_of(kernel: KernelDeclaration) -> str:
    """Where the kernel is written."""
    return f"{kernel.file_name}:{kernel.def_line_number}:{kernel.indentation} in {kernel.__name__}"


def twice(kernel: KernelDeclaration) -> str:
    """What ends in the kernel's name, to be put in front of Python's "() got multiple values for argument"."""
    name, position = kernel.__name__, place_of(kernel)
    hint = f"hint: the parameters are {name}({', '.join(kernel.arg_names)})"
    return f"an argument is given by position and again by name\n  --> {position}\n{hint}\n{name}"


def unfit_part(handler: Callable[[Any], Any], value: object, path: str = "") -> tuple[str, Exception] | None:
    """Where in ``value``, the argument or what is in it, is something that ``handler`` refuses, and its words."""
    try:
        handler(value)
    except UNFIT as error:
        inside = (unfit_part(handler, part, path + name) for name, part in _parts(value))
        return next((found for found in inside if found is not None), (path, error))
    return None


def _parts(value: object) -> list[tuple[str, object]]:
    """Those that the handler of the whole refuses or takes: not what is known at compile time."""
    try:
        record = record_in(value)
    except UnsupportedArgument:  # a dataclass that is refused as a whole
        return []
    static = {f".{field.name}" for field in record.fields if field.static} if record is not None else ()
    return [part for part in parts_of(value) if part[0] not in static]


def unfit(kernel: KernelDeclaration, parameter: str, path: str, error: Exception) -> Exception:
    """An argument that no kernel takes: ``error`` of ``path`` in ``parameter``, with both names and their positions."""
    text = shown(kernel, parameter, f"argument '{parameter}{path}' of {kernel.__name__}(): {error}")
    frame = _launching_frame()
    if frame is not None:
        text += f"\n  launched from {frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
    return UnsupportedDtype(error.name, text) if isinstance(error, UnsupportedDtype) else type(error)(text)


def _launching_frame() -> FrameType | None:
    """The innermost frame that runs code from outside tritonx: the launch, where it is a launch that goes wrong."""
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]  # inspect's way to it takes long to import
    while frame is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
        frame = frame.f_back
    return frame


def unknown_keyword(kernel: KernelDeclaration, name: str, options: Iterable[str]) -> UnknownKeyword:
    """A keyword that is neither a parameter nor one of the backend's ``options``."""
    close = _close(name, [*kernel.arg_names, *options])
    hint = f"did you mean '{close[0]}'?" if close else f"the options are {', '.join(sorted(options))}"
    message = f"Keyword argument {name} was specified but unrecognised"
    return UnknownKeyword(shown(kernel, None, message, hint))


def bad_grid(kernel: KernelDeclaration, reason: str) -> UnsupportedArgument:
    """A grid that is none."""
    hint = (
        f"{kernel.__name__}[(x, y, z)](...), with one to three extents, or a function of the arguments that gives them"
    )
    return UnsupportedArgument(shown(kernel, None, reason, hint))


def _by_name_only(kernel: KernelDeclaration) -> list[str]:
    return [name for name, p in kernel.signature.parameters.items() if p.kind is p.KEYWORD_ONLY]


def _close(name: str, candidates: Iterable[str]) -> list[str]:
    from difflib import get_close_matches  # only for a mistake: it takes long to import

    return get_close_matches(name, list(candidates), n=1, cutoff=0.6)


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
