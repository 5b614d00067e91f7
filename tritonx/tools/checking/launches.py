"""The launches that a file gives for its kernels, drawn over sizes.

A file says its launches as for `tritonx tune`: by a function, `tuning_inputs` or `inputs_KERNEL`, that gives grid,
arguments and keywords. Its parameters have defaults and are drawn: an int is a size (its default, 1, 0, primes, one
more and one less), a bool is drawn both ways. Where sizes make no sense together, the function gives nothing.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.runtime.tuning.case import INPUTS, NoCase, module

PRIMES = (2, 3, 5, 7, 11, 13, 17, 31, 61, 127, 251, 509, 1021, 2039, 4093, 8191, 16381)


@dataclass(frozen=True)
class Launch:
    """Grid, arguments by position and by name, and in words the sizes that it was drawn with.

    >>> tritonx.tools.check.Launch((4,), (np.zeros(8), 8), {"BLOCK": 2}).kwargs
    {'BLOCK': 2}
    """

    grid: object
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict[str, object])
    words: str = ""


Make = Callable[..., Iterable[Sequence[object]]]
"""A function that gives launches."""


@dataclass(frozen=True)
class Case:
    """A kernel of a file, the function that gives its launches, and its reference."""

    name: str
    kernel: object
    make: Make
    reference: Callable[..., object] | None


def cases(file: str, kernel: str = "", inputs: str = "") -> list[Case]:
    """What the file has to check: the kernel named, or each that no other kernel calls and that has inputs. Raises
    `NoCase`."""
    members = vars(module(file))
    own = {name: value for name, value in members.items() if jit_function(value) is not None}
    if kernel and kernel not in own:
        raise NoCase(f"{file} has no kernel {kernel!r}; those it has: {', '.join(own) or 'none'}")
    wrappers = [v for v in members.values() if isinstance(v, Autotuner | Heuristics)]
    inner = {id(w.fn) for w in wrappers}
    called = {n for v in own.values() for n in _called(v)} | {n for n, v in own.items() if id(v) in inner}
    names = [kernel] if kernel else [n for n, v in own.items() if n not in called and _of_file(v, members)]
    found = [
        Case(name, own[name], cast("Make", members[give]), _reference(members, name))
        for name in names
        if (give := _named(members, (inputs,) if inputs else (f"inputs_{name}", INPUTS)))
    ]
    if not found:
        wanted = inputs or f"{INPUTS} or inputs_KERNEL"
        raise NoCase(f"--inputs: {file} has no kernel with a function {wanted}() that gives launches")
    return found


def _named(members: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((name for name in names if callable(members.get(name))), None)


def _reference(members: Mapping[str, object], kernel: str) -> Callable[..., object] | None:
    name = _named(members, (f"reference_{kernel}", "reference"))
    return None if name is None else cast("Callable[..., object]", members[name])


def jit_function(value: object) -> JITFunction | None:
    """The kernel that a tuner and heuristics wrap; None of anything else."""
    while isinstance(value, Autotuner | Heuristics):
        value = value.fn
    return cast("JITFunction", value) if isinstance(value, JITFunction) else None


def _called(value: object) -> Sequence[str]:
    found = jit_function(value)
    return () if found is None else cast("Sequence[str]", found.fn.__code__.co_names)


def _of_file(value: object, members: Mapping[str, object]) -> bool:
    found = jit_function(value)
    return found is not None and found.fn.__globals__ is members


def drawn(make: Make, seed: int, count: int = 8) -> Iterator[Launch]:
    """Launches for up to `count` draws of the sizes, the defaults first. Raises what `make` raises."""
    for sizes in _draws(make, random.Random(seed), count):
        words = ", ".join(f"{name}={value}" for name, value in sizes.items())
        for number, given in enumerate(make(**sizes)):
            grid, args, *kwargs = given
            shown = words or f"launch {number}"
            named = cast("Mapping[str, object]", kwargs[0] if kwargs else {})
            yield Launch(grid, tuple(cast("Sequence[object]", args)), dict(named), shown)


def _draws(make: Make, rng: random.Random, count: int) -> list[dict[str, object]]:
    defaults = {
        name: cast(object, parameter.default)
        for name, parameter in inspect.signature(make).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    sizes = {n: d for n, d in defaults.items() if isinstance(d, int) and not isinstance(d, bool)}
    flags = [n for n, d in defaults.items() if isinstance(d, bool)]
    if not sizes and not flags:
        return [{}]
    found: list[dict[str, object]] = [dict(defaults)]
    if sizes:
        found.append({**defaults, **dict.fromkeys(sizes, 1)})
        found.append({**defaults, **dict.fromkeys(sizes, 0)})
        found.append({**defaults, **{n: d + 1 for n, d in sizes.items()}})
    while len(found) < count:
        chosen = {n: _prime(rng, d) for n, d in sizes.items()}
        found.append({**defaults, **chosen, **{n: rng.random() < 0.5 for n in flags}})
    for number, each in enumerate(found[1:]):
        each.update(dict.fromkeys(flags, bool(number % 2)))
    return [each for number, each in enumerate(found) if each not in found[:number]]


def _prime(rng: random.Random, default: int) -> int:
    """A prime that is at most the default, or a little more."""
    return rng.choice([p for p in PRIMES if p <= max(default, 3) * 5 // 4])


@dataclass(frozen=True)
class Unwrapped:
    """A launch of a kernel as it is without tuner and heuristics: arguments by parameter, options by name."""

    kernel: JITFunction
    grid: object
    arguments: dict[str, object]
    options: dict[str, object]
    words: str


def unwrapped(kernel: object, launch: Launch) -> Unwrapped:
    """The launch of the innermost kernel: of a tuner with its first configuration. Raises `NoCase` where the arguments
    do not fit."""
    given = dict(launch.kwargs)
    known: dict[str, object] = {}
    while isinstance(kernel, Autotuner | Heuristics):
        if isinstance(kernel, Autotuner):
            given = {**kernel.configs[0].all_kwargs(), **given}
        else:
            known = {**dict(zip(kernel.arg_names, launch.args, strict=False)), **given}
            for name, compute in kernel.values.items():
                given[name] = known[name] = asked(f"the heuristic of {name}", partial(compute, dict(known)))
        kernel = kernel.fn
    if not isinstance(kernel, JITFunction):
        raise NoCase(f"{kernel!r} is no kernel")
    inner = cast("JITFunction", kernel)
    own = {name: value for name, value in given.items() if name in inner.arg_names}
    try:
        bound = inner.signature.bind(*launch.args, **own)
    except TypeError as error:
        raise Misfit(str(error)) from None
    bound.apply_defaults()
    options = {name: value for name, value in given.items() if name not in own}
    return Unwrapped(inner, launch.grid, dict(bound.arguments), options, launch.words)


class Misfit(TritonError):
    """A launch's arguments do not fit the kernel's parameters."""


def asked(what: str, ask: Callable[[], object]) -> object:
    """What a function of the user's gives. Raises `Misfit` where it raises."""
    try:
        return ask()
    except Exception as error:
        raise Misfit(f"{what} raises {type(error).__name__}: {error}") from error
