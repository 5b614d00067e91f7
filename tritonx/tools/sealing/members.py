"""The complete set of what the launches of one kernel compile, from the domains of its arguments."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from tritonx.backends import registry
from tritonx.backends.api import Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.request import specialize
from tritonx.runtime.compiling.sealed import Words, words_of
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import TritonError
from tritonx.runtime.jit import KernelParam
from tritonx.runtime.launch.arg_spec import ArgSpec, intern
from tritonx.runtime.launch.binder import handlers_of
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.tools import command
from tritonx.tools.sealing.domains import Domain, Values, parse

Specs = tuple[ArgSpec, ...]


@dataclass(frozen=True)
class Member:
    """One compile."""

    source: ASTSource
    target: Target
    options: Options

    @property
    def words(self) -> Words:
        """What it is specialised on."""
        return words_of(self.source, self.target, self.options)


@dataclass
class Sealed:
    """A kernel with the domains of its arguments and options. A tuner's configurations are each a choice of some
    arguments and options; what a heuristic computes has a domain as well.

    Raises `Mistake` where a parameter has no domain, or a domain is none of a parameter.
    """

    name: str
    kernel: object
    arguments: Mapping[str, object]
    options: Mapping[str, Sequence[object]] = field(default_factory=dict[str, "Sequence[object]"])
    targets: Sequence[Target] = ()

    def __post_init__(self) -> None:
        inner, configs = self.kernel, [dict[str, object]()]
        self.heuristics: list[Heuristics] = []
        while isinstance(inner, Autotuner | Heuristics):
            if isinstance(inner, Autotuner):
                configs = [config.all_kwargs() for config in inner.configs]
            else:
                self.heuristics.append(inner)
            inner = cast("object", inner.fn)
        if not isinstance(inner, JITFunction):
            raise command.Mistake(f"{self.name} is no kernel")
        self.function = cast("JITFunction", inner)
        names = self.function.arg_names
        unknown = [name for name in self.arguments if name not in names]
        if unknown:
            raise command.Mistake(f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(names)}")
        self.choices = [self._choice(config) for config in configs]
        self._sets: dict[tuple[int, Target], list[set[ArgSpec]]] = {}

    def _choice(self, config: dict[str, object]) -> tuple[dict[str, Domain], dict[str, Sequence[object]]]:
        """The domains of arguments, and the options, under one configuration of a tuner."""
        domains = {param.name: self._domain(param, config) for param in self.function.params}
        given = {name: (value,) for name, value in config.items() if name not in domains}
        return domains, {**given, **self.options}

    def _domain(self, param: KernelParam, config: Mapping[str, object]) -> Domain:
        if param.name in config:
            return Values((config[param.name],))
        if param.name in self.arguments:
            return parse(self.arguments[param.name], param.name, constexpr=param.is_constexpr)
        if param.has_default:
            return Values((param.default,))
        computed = any(param.name in h.values for h in self.heuristics)
        what = "a heuristic computes it: say which values it has" if computed else "say which values it has"
        raise command.Mistake(f"{self.name}: argument {param.name!r} has no domain; {what}")

    def _specs(self, choice: int, target: Target) -> list[list[ArgSpec]]:
        backend = registry.get_backend(target.backend)
        domains = self.choices[choice][0]
        found: list[list[ArgSpec]] = []
        for param in self.function.params:
            try:
                found.append(domains[param.name].specs(param, target, backend))
            except (TritonError, TypeError, OverflowError) as error:
                raise command.Mistake(f"argument {param.name}: {error}") from None
        return found

    def _options(self, choice: int, target: Target) -> Iterator[Options]:
        backend = registry.get_backend(target.backend)
        given = self.choices[choice][1]
        debug = bool(self.function.debug or knobs.runtime.debug)
        for values in itertools.product(*given.values()):
            chosen = dict(zip(given, values, strict=True))
            try:
                yield registry.launch_options(backend, target, {"check_bounds": debug, **chosen, "debug": debug})
            except (KeyError, ValueError) as error:
                raise command.Mistake(f"{self.name}: options {chosen}: {error}") from None

    def count(self) -> int:
        """How many members there are at most."""
        return sum(
            math.prod(map(len, self._specs(n, target))) * math.prod(map(len, self.choices[n][1].values()))
            for n in range(len(self.choices))
            for target in self.targets
        )

    def classes(self) -> dict[str, int]:
        """How many different specialisations each parameter has, at most."""
        target = self.targets[0]
        counted = [[len(specs) for specs in self._specs(n, target)] for n in range(len(self.choices))]
        return {p.name: max(row[i] for row in counted) for i, p in enumerate(self.function.params)}

    def members(self) -> Iterator[Member]:
        """Every compile that a launch asks for, each once."""
        seen: set[str] = set()
        for target in self.targets:
            for choice in range(len(self.choices)):
                combinations = list(itertools.product(*self._specs(choice, target)))
                for options in self._options(choice, target):
                    for specs in combinations:
                        member = Member(self.source(specs), target, options)
                        if (key := repr(member.words)) not in seen:
                            seen.add(key)
                            yield member

    def source(self, specs: Specs) -> ASTSource:
        """What a launch with arguments of these specs compiles."""
        params = self.function.params
        bound = {p.name: spec.value for p, spec in zip(params, specs, strict=True) if p.is_constexpr}
        given = [None if p.is_constexpr else spec for p, spec in zip(params, specs, strict=True)]
        wanted = specialize(self.function, given, bound)
        return ASTSource(self.function, wanted.signature, wanted.constants, wanted.attrs)

    def draw(self, rng: random.Random) -> tuple[int, dict[str, object]]:
        """The number of a choice, and arguments by name; heuristics compute theirs, of the others' values."""
        choice = rng.randrange(len(self.choices))
        drawn = {name: domain.draw(rng) for name, domain in self.choices[choice][0].items()}
        for heuristic in self.heuristics:
            for name, compute in heuristic.values.items():
                try:
                    drawn[name] = compute(dict(drawn))
                except (AttributeError, TypeError, KeyError):
                    pass  # it looks at an array, of which only the type is drawn
        return choice, drawn

    def missing(self, choice: int, drawn: Mapping[str, object], target: Target) -> str | None:
        """The argument of a launch that no member has; None where there is a member."""
        key = (choice, target)
        if key not in self._sets:
            self._sets[key] = [set(specs) for specs in self._specs(choice, target)]
        for param, specs in zip(self.function.params, self._sets[key], strict=True):
            if _spec_of(param, drawn[param.name]) not in specs:
                return param.name
        return None


def _spec_of(param: KernelParam, value: object) -> ArgSpec:
    """What a launch specialises on, by its own handlers; wherever an array is."""
    if param.is_constexpr:
        return intern("constexpr", None, value)
    spec = handlers_of(param)(value)[0]
    return spec if spec.location is None else intern(spec.type, spec.attr)


def closed(sealed: Sealed, draws: int, seed: int) -> None:
    """Draw launches; each has a member. Raises `Mistake` for one that has none."""
    rng = random.Random(seed)
    for _ in range(draws):
        choice, drawn = sealed.draw(rng)
        for target in sealed.targets:
            name = sealed.missing(choice, drawn, target)
            if name is not None:
                raise command.Mistake(
                    f"{sealed.name}: argument {name} = {drawn[name]!r} has no member; widen its domain"
                )
