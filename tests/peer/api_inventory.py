"""Triton's surface held against tritonx's: each name with its state.

``same``: ours takes every call that Triton's signature takes, by the same names and with the same defaults, or is an
equal value. ``refused``: using ours raises NotOffered, whose text is the reason. ``differs`` and ``missing`` are stated
with their reason in `api_states`; what is found must agree with what is stated there. A name that has no state is a
fault.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any

from api_samples import SAMPLES
from api_states import STATED
from api_surface import Described, Parameter, bindings, describe, member, members, modules, names

from tritonx.compat.finder import REFUSED, CompatFinder
from tritonx.runtime.errors import NotOffered, NotOfferedModule

THEIRS, OURS = "triton", "tritonx"


@dataclass(frozen=True)
class Row:
    """A name of Triton's, its state and the reason; ``pattern`` is the entry of `STATED` that says so."""

    name: str
    signature: tuple[Parameter, ...] | None
    state: str
    reason: str
    pattern: str = ""


@dataclass(frozen=True)
class Found:
    """What comparing gave: whether ours is there, and how it is not the same."""

    theirs: Described
    present: bool
    difference: str = ""
    refusal: str = ""


def accepts(ours: tuple[Parameter, ...] | None, theirs: tuple[Parameter, ...] | None) -> str:
    """How ``ours`` refuses a call that ``theirs`` takes; nothing where it takes all."""
    if theirs is None:
        return ""
    if ours is None:
        return "has no signature"
    for mine, other in zip(ours, theirs, strict=False):
        if mine.kind == other.kind and mine.kind.startswith("VAR_"):  # their names do not matter
            continue
        if (mine.name, mine.kind) != (other.name, other.kind) or other.default not in (None, mine.default):
            return f"{mine} for {other}"
    if len(ours) < len(theirs):
        return f"has no {theirs[len(ours)].name}"
    return next(
        (f"needs {p.name}" for p in ours[len(theirs) :] if p.default is None and not p.kind.startswith("VAR_")), ""
    )


def _compare(theirs: Described, ours: Described) -> Found:
    if ours.kind != theirs.kind:
        return Found(theirs, True, f"is a {ours.kind}, not a {theirs.kind}")
    if ours.text != theirs.text:
        return Found(theirs, True, f"is {ours.text}, not {theirs.text}")
    return Found(theirs, True, accepts(ours.signature, theirs.signature))


def _compare_members(name: str, theirs: Any, ours: Any) -> Iterator[Found]:
    sample = SAMPLES.get(name.rpartition(".")[2])
    if sample is not None:
        theirs, ours = sample(THEIRS), sample(OURS)
    for each in members(theirs):
        one = replace(member(theirs, each), name=f"{name}.{each}")
        try:
            own = member(ours, each)
        except AttributeError:
            yield Found(one, False)
        else:
            yield _compare(one, own)


def _reason(error: Exception) -> str:
    """Of a refusal, without the name that it begins with; nothing for an error that is none."""
    return str(error).partition(": ")[2] if isinstance(error, NotOffered | NotOfferedModule) else ""


def _compare_name(full: str, theirs: Any, own: ModuleType, home: str) -> Iterator[Found]:
    described = describe(full, theirs)
    try:
        ours = getattr(own, full.rpartition(".")[2])
    except AttributeError as error:
        yield Found(described, False, refusal=_reason(error))
        return
    yield _compare(described, describe(full, ours))
    if inspect.isclass(theirs) and theirs.__module__ == home:
        yield from _compare_members(full, theirs, ours)


def _module(name: str) -> ModuleType:
    """Ours that stands for Triton's ``name``. Raises ModuleNotFoundError."""
    CompatFinder().find_spec(name)
    return importlib.import_module(OURS + name.removeprefix(THEIRS))


def _bindings() -> Iterator[Found]:
    """The modules of Triton's compiled part, each without its names: an interface of its own Python only."""
    for name in bindings(THEIRS):
        try:
            _module(name)
        except ModuleNotFoundError as error:
            yield Found(Described(name, "module"), False, refusal=_reason(error))
        else:
            yield Found(Described(name, "module"), True)


class _Empty(ModuleType):
    """A library that is not installed; each of its names is a class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


NEEDED = {f"{THEIRS}.profiler.viewer": ("hatchet", "hatchet.query", "pandas")}
"""Triton's modules that need other libraries than PyTorch to be imported."""


def _imported(name: str) -> ModuleType:
    """Triton's module; one that needs PyTorch or another library to be imported is read with an empty one where there
    is none."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name != "torch" and name not in NEEDED:
            raise
    needed = ["torch", *NEEDED.get(name, ())]
    made = {each: _Empty(each) for each in needed if each not in sys.modules}
    sys.modules.update(made)
    try:
        return importlib.import_module(name)
    finally:
        for each in made:
            del sys.modules[each]


DECLARED = f"{THEIRS}.experimental."
"""What is refused when it is launched: the module is stated, and `tests/unit/compat/test_gluon.py` holds its names."""


def found() -> Iterator[Found]:
    """Every name of Triton's surface, module after module; of a module that is not there, the module alone."""
    yield from _bindings()
    for name in modules(THEIRS):
        if name.startswith(DECLARED):
            continue
        try:
            own = _module(name)
        except ModuleNotFoundError as error:
            if not any(name.startswith(f"{outer}.") for outer in (f"{THEIRS}.{module}" for module in REFUSED)):
                yield Found(Described(name, "module"), False, refusal=_reason(error))
            continue
        yield Found(Described(name, "module"), True)
        theirs = _imported(name)
        for each in names(theirs):
            value = getattr(theirs, each)
            if not isinstance(value, ModuleType):
                yield from _compare_name(f"{name}.{each}", value, own, name)


def stated(name: str) -> tuple[str, str, str]:
    """(pattern, state, reason) of the longest entry that is for ``name``; empty texts where none is."""
    if name in STATED:
        return (name, *STATED[name])
    fitting = [p for p in STATED if p.endswith("*") and name.startswith(p[:-1])]
    if not fitting:
        return "", "", ""
    best = max(fitting, key=len)
    return (best, *STATED[best])


def row(one: Found) -> Row:
    """The row of a name; its state is empty where what was found is not stated."""
    pattern, state, reason = stated(one.theirs.name)
    name, signature = one.theirs.name, one.theirs.signature
    if one.refusal:
        return Row(name, signature, "refused", one.refusal, pattern)
    if not one.present:
        return Row(name, signature, "missing" if state == "missing" else "", reason or "is not there", pattern)
    if state == "differs":
        return Row(name, signature, state, reason, pattern)
    return Row(name, signature, "" if one.difference else "same", one.difference)


@cache
def rows() -> tuple[Row, ...]:
    """The whole table."""
    return tuple(row(one) for one in found())
