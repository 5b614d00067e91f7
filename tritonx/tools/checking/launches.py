"""The launches that a file gives for its kernels, drawn over sizes (docs/check.md)."""

from __future__ import annotations

import dis
import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.config import Config
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.runtime.tuning.case import INPUTS, NoCase, module
from tritonx.runtime.tuning.pruning import Pruning
from tritonx.tools.wrapped import jit_function, unwrapped

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
    """A kernel of a file, the function that gives its launches (None: the file has none), and its reference."""

    name: str
    kernel: object
    make: Make | None
    reference: Callable[..., object] | None
    wanted: str = ""
    """What the function that gives launches may be called."""
    predicted: Make | None = None
    """The function that gives launches that are predicted and not executed."""


def cases(file: str, kernel: str = "", inputs: str = "", *, predict: bool = False) -> list[Case]:
    """What the file has to check: the kernel named, or each that no other kernel calls. Raises `NoCase` where none has
    launches; those to predict count if `predict`."""
    members = vars(module(file))
    own = {name: value for name, value in members.items() if jit_function(value) is not None}
    if kernel and kernel not in own:
        raise NoCase(f"{file} has no kernel {kernel!r}; those it has: {', '.join(own) or 'none'}")
    wrappers = [v for v in members.values() if isinstance(v, Autotuner | Heuristics)]
    inner = {id(w.fn) for w in wrappers}
    called = {id(c) for v in own.values() for c in _called(v)}
    names = [n for n, v in own.items() if not {id(v), id(jit_function(v))} & called and id(v) not in inner]
    names = [kernel] if kernel else [n for n in names if _of_file(own[n], members)]
    found = [_case(members, name, own[name], inputs) for name in names]
    if all(case.make is None and (case.predicted is None or not predict) for case in found):
        wanted = inputs or (f"{INPUTS} or inputs_{kernel or 'KERNEL'}")
        option = "--inputs: " if inputs else ""
        raise NoCase(f"{option}{file} has no kernel with a function {wanted}() that gives launches")
    return found


def _case(members: Mapping[str, object], name: str, kernel: object, inputs: str) -> Case:
    wanted = (inputs,) if inputs else (f"inputs_{name}", INPUTS)
    give = _named(members, wanted)
    make = None if give is None else cast("Make", members[give])
    large = _named(members, (f"predicted_inputs_{name}", "predicted_inputs"))
    predicted = None if large is None else cast("Make", members[large])
    words = " or ".join(f"{each}()" for each in wanted)
    return Case(name, kernel, make, _reference(members, name), words, predicted)


def _named(members: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((name for name in names if callable(members.get(name))), None)


def _reference(members: Mapping[str, object], kernel: str) -> Callable[..., object] | None:
    name = _named(members, (f"reference_{kernel}", "reference"))
    return None if name is None else cast("Callable[..., object]", members[name])


def _called(value: object) -> list[object]:
    """The values of the global names that a kernel uses, but not itself."""
    found = jit_function(value)
    if found is None:
        return []
    names = {str(each.argval) for each in dis.get_instructions(found.fn) if each.opname == "LOAD_GLOBAL"}
    known = cast("Mapping[str, object]", found.fn.__globals__)
    return [v for name in names if (v := known.get(name)) is not None and jit_function(v) is not found]


def _of_file(value: object, members: Mapping[str, object]) -> bool:
    found = jit_function(value)
    return found is not None and found.fn.__globals__ is members


def drawn(make: Make, seed: int, count: int = 8) -> Iterator[Launch]:
    """Launches for up to `count` draws of the sizes, the defaults first. Raises what `make` raises, with the sizes as
    a note."""
    for sizes in _draws(make, random.Random(seed), count):
        words = ", ".join(f"{name}={value}" for name, value in sizes.items())
        try:
            yield from _made(make(**sizes), words)
        except Exception as error:
            error.add_note(words)
            raise


def _made(launches: Iterable[Sequence[object]], words: str) -> Iterator[Launch]:
    for number, (grid, args, *kwargs) in enumerate(launches):
        named = cast("Mapping[str, object]", kwargs[0] if kwargs else {})
        yield Launch(grid, tuple(cast("Sequence[object]", args)), dict(named), words or f"launch {number}")


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
    return [each for number, each in enumerate(found) if each not in found[:number]][:count]


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


def configurations(kernel: object, launch: Launch) -> int:
    """How many configurations a launch of a tuner has: those that differ in more than options, and that its
    `early_config_prune` leaves; 1 without a tuner. Raises `Misfit`."""
    tuners = (each for each in unwrapped(kernel)[0] if isinstance(each, Autotuner))
    return max([1, *(len(_configurations(tuner, launch)) for tuner in tuners)])


def _configurations(tuner: Autotuner, launch: Launch) -> list[Config]:
    known = dict(zip(tuner.arg_names, launch.args, strict=False))
    pruning = Pruning(tuner.early_config_prune, None, 1.0)
    left = asked("early_config_prune", lambda: pruning.left(tuner.configs, known, launch.kwargs))
    distinct: list[Config] = []
    for config in cast("list[Config]", left):
        if all(config.kwargs != other.kwargs for other in distinct):
            distinct.append(config)
    return distinct


def innermost(kernel: object, launch: Launch, number: int = 0) -> Unwrapped:
    """The launch of the innermost kernel: of a tuner, with the configuration of this number (counted around). Raises
    `Misfit` where the arguments do not fit."""
    given = dict(launch.kwargs)
    known: dict[str, object] = {}
    words = launch.words
    wrappers, inner = unwrapped(kernel)
    for wrapper in wrappers:
        if isinstance(wrapper, Autotuner):
            configs = _configurations(wrapper, launch)
            config = configs[number % len(configs)]
            given = {**config.all_kwargs(), **given}
            if len(configs) > 1:
                chosen = ", ".join(f"{name}={value}" for name, value in config.kwargs.items())
                words = f"{words}, {chosen}".removeprefix(", ")
        else:
            known = {**dict(zip(wrapper.arg_names, launch.args, strict=False)), **given}
            for name, compute in wrapper.values.items():
                given[name] = known[name] = asked(f"the heuristic of {name}", partial(compute, dict(known)))
    if not isinstance(inner, JITFunction):
        raise NoCase(f"{inner!r} is no kernel")
    inner = cast("JITFunction", inner)
    own = {name: value for name, value in given.items() if name in inner.arg_names}
    try:
        bound = inner.signature.bind(*launch.args, **own)
    except TypeError as error:
        raise Misfit(str(error)) from None
    bound.apply_defaults()
    options = {name: value for name, value in given.items() if name not in own}
    return Unwrapped(inner, launch.grid, dict(bound.arguments), options, words)


class Misfit(TritonError):
    """A launch's arguments do not fit the kernel's parameters."""


def asked(what: str, ask: Callable[[], object]) -> object:
    """What a function of the user's gives. Raises `Misfit` where it raises."""
    try:
        return ask()
    except Exception as error:
        raise Misfit(f"{what} raises {type(error).__name__}: {error}") from error
