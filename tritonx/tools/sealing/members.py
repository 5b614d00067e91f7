"""The complete set of what the launches of one kernel compile, from the domains of its arguments and options."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import cast

from tritonx.backends import registry
from tritonx.backends.api import Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.request import specialize
from tritonx.runtime.compiling.sealed import Description, describe
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.compiling.targets import target_named
from tritonx.runtime.errors import TritonError
from tritonx.runtime.jit import KernelParam
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.tools import command
from tritonx.tools.sealing.domain_texts import parse
from tritonx.tools.sealing.domains import Domain, Values
from tritonx.tools.sealing.winners import Chosen, choose
from tritonx.tools.wrapped import Wrapper, unwrapped

Specs = tuple[ArgSpec, ...]
Given = dict[str, object]
"""Options of a launch by name."""


@dataclass(frozen=True)
class Member:
    """One compile."""

    source: ASTSource
    target: Target
    options: Options

    @cached_property
    def description(self) -> Description:
        """What it is specialised on."""
        return describe(self.source, self.target, self.options)


@dataclass(frozen=True)
class Choice:
    """What launches have under one configuration of a tuner: ``config`` is what it gives them."""

    config: Mapping[str, object]
    domains: Mapping[str, Domain]
    options: Mapping[str, Sequence[object]]

    def given(self) -> Iterator[Given]:
        """Every combination of options."""
        for values in itertools.product(*self.options.values()):
            yield dict(zip(self.options, values, strict=True))


@dataclass
class Sealed:
    """A kernel with the domains of its arguments and options. A tuner's configurations are each a choice of some
    arguments and options; what a heuristic computes has a domain as well.

    Raises `Mistake` where a parameter or a computed option has no domain, or a domain is none of a parameter.
    """

    name: str
    kernel: object
    arguments: Mapping[str, object]
    options: Mapping[str, Sequence[object]] = field(default_factory=dict[str, "Sequence[object]"])
    targets: Sequence[Target] = ()
    winners: Sequence[object] | None = None
    """What the package says of a tuner's winners: see `tritonx.tools.sealing.winners`."""
    fallback: object = None
    without_winner: dict[str, object] = field(default_factory=dict[str, object])
    """The values of the tuner's key of a drawn launch that has no winner."""
    undrawn: dict[str, str] = field(default_factory=dict[str, str])
    """What a heuristic computes, where drawn launches have a value of its domain instead → what the heuristic reads."""

    def __post_init__(self) -> None:
        self.wrappers, inner = unwrapped(self.kernel)
        if not isinstance(inner, JITFunction):
            raise command.Mistake(f"{self.name} is no kernel")
        self.function = cast("JITFunction", inner)
        tuners = [number for number, each in enumerate(self.wrappers) if isinstance(each, Autotuner)]
        if len(tuners) > 1:
            raise command.Mistake(
                f"{self.name} has {len(tuners)} tuners around it: no launch can have both give num_warps"
            )
        around = tuners[0] if tuners else 0
        self._over = self._computed_by(self.wrappers[around:])
        """What is computed inside the tuner, where it takes the place of what a configuration gives."""
        self.computed = self._over | self._computed_by(self.wrappers[:around])
        self._require_known_names()
        tuner = self.wrappers[around] if tuners else None
        self.chosen = self._chosen(tuner if isinstance(tuner, Autotuner) else None)
        self.keys = tuner.keys if isinstance(tuner, Autotuner) else []
        configs = [Given()]
        if isinstance(tuner, Autotuner):
            listed = tuner.configs if self.chosen is None else self.chosen.configs
            configs = [config.all_kwargs() for config in listed]
        self.choices = [self._choice(cast("Given", config)) for config in configs]

    def _chosen(self, tuner: Autotuner | None) -> Chosen | None:
        if self.winners is None and self.fallback is None:
            return None
        if tuner is None:
            raise command.Mistake(f"{self.name}: it has winners, and no tuner around it")
        try:
            return choose(tuner.keys, tuner.configs, self.winners or (), self.fallback)
        except command.Mistake as error:
            raise command.Mistake(f"{self.name}: {error}") from None

    @staticmethod
    def _computed_by(wrappers: Sequence[Wrapper]) -> set[str]:
        return {name for each in wrappers if isinstance(each, Heuristics) for name in each.values}

    def _require_known_names(self) -> None:
        names = self.function.arg_names
        unknown = [name for name in self.arguments if name not in names]
        if unknown:
            raise command.Mistake(f"{self.name} has no parameter {unknown[0]!r}; it has {', '.join(names)}")
        for name, values in self.options.items():
            if name in names:
                raise command.Mistake(f"{self.name}: option {name} is a parameter as well: name its values as such")
            if not values:
                raise command.Mistake(f"{self.name}: option {name}: there is no value")
        for name in sorted(self.computed - {*names, *self.options}):
            raise command.Mistake(f"{self.name}: a heuristic computes option {name}: say which values it has")

    def _choice(self, config: Given) -> Choice:
        """The domains of arguments, and the options, under one configuration of a tuner."""
        twice = sorted(config.keys() & ({*self.arguments, *self.options, *self.computed} - self._over))
        if twice:
            raise command.Mistake(
                f"{self.name}: {twice[0]} is what the tuner's configurations give, and no launch may give it too; "
                f"leave it out"
            )
        domains = {param.name: self._domain(param, config) for param in self.function.params}
        own = {name: (value,) for name, value in config.items() if name not in domains}
        return Choice(config, domains, {**own, **self.options})

    def _domain(self, param: KernelParam, config: Mapping[str, object]) -> Domain:
        if param.name in self.arguments:
            return parse(self.arguments[param.name], param.name, constexpr=param.is_constexpr)
        if param.name in config and param.name not in self._over:
            return Values((config[param.name],))
        if param.has_default and param.name not in self.computed:
            return Values((param.default,))
        what = "a heuristic computes it: say" if param.name in self.computed else "say"
        raise command.Mistake(f"{self.name}: argument {param.name!r} has no domain; {what} which values it has")

    @contextmanager
    def _of(self, param: KernelParam) -> Generator[None]:
        """While values of a parameter are specialised: what does not fit is a `Mistake`."""
        try:
            yield
        except (TritonError, TypeError, OverflowError) as error:
            raise command.Mistake(f"{self.name}: argument {param.name}: {error}") from None

    def _specs(self, choice: Choice, target: Target) -> list[list[ArgSpec]]:
        backend = registry.get_backend(target.backend)
        found: list[list[ArgSpec]] = []
        for param in self.function.params:
            with self._of(param):
                found.append(choice.domains[param.name].specs(param, target, backend))
        return found

    def _counts(self, choice: Choice, target: Target) -> list[int]:
        backend = registry.get_backend(target.backend)
        found: list[int] = []
        for param in self.function.params:
            with self._of(param):
                found.append(choice.domains[param.name].count(param, target, backend))
        return found

    def count(self) -> int:
        """How many members there are at most."""
        return sum(
            math.prod(self._counts(choice, target)) * math.prod(map(len, choice.options.values()))
            for choice in self.choices
            for target in self.targets
        )

    def classes(self) -> dict[str, int]:
        """How many different specialisations each parameter has, at most."""
        counted = [self._counts(choice, self.targets[0]) for choice in self.choices]
        return {p.name: max(row[i] for row in counted) for i, p in enumerate(self.function.params)}

    def members(self) -> Iterator[Member]:
        """Every compile that a launch asks for, each once."""
        seen: set[str] = set()
        for target in self.targets:
            for choice in self.choices:
                combinations = list(itertools.product(*self._specs(choice, target)))
                for given in choice.given():
                    for specs in combinations:
                        member = self.member(specs, given, target)
                        if (key := repr(member.description)) not in seen:
                            seen.add(key)
                            yield member

    def member(self, specs: Specs, given: Given, target: Target) -> Member:
        """What a launch with arguments of these specs and these options compiles. Raises `Mistake`."""
        backend = registry.get_backend(target.backend)
        names = {f.name for f in fields(backend.options_type)} | registry.portable_options()
        shared = {
            param.name: spec.value
            for param, spec in zip(self.function.params, specs, strict=True)
            if param.is_constexpr and param.name in names and param.name != "debug" and spec.value is not None
        }  # a parameter that is an option as well: one value for both
        given = {**given, **shared}
        debug = bool(given.get("debug", self.function.debug) or knobs.runtime.debug)
        try:
            wanted = target_named(backend, target, given)
            options = registry.launch_options(backend, wanted, {"check_bounds": debug, **given, "debug": debug})
        except (KeyError, ValueError, TypeError) as error:
            said = error.args[0] if isinstance(error, KeyError) and error.args else error
            shown = ", ".join(f"{name} = {value!r}" for name, value in given.items())
            raise command.Mistake(f"{self.name}: options {shown}: {said}") from None
        return Member(self._source(specs), wanted, options)

    def _source(self, specs: Specs) -> ASTSource:
        params = self.function.params
        bound = {p.name: spec.value for p, spec in zip(params, specs, strict=True) if p.is_constexpr}
        given = [None if p.is_constexpr else spec for p, spec in zip(params, specs, strict=True)]
        wanted = specialize(self.function, given, bound)
        return ASTSource(self.function, wanted.signature, wanted.constants, wanted.attrs)
