"""Launches that are drawn from the domains of a package: each must ask for a member.

A drawn launch goes the way of a real one: the program's arguments and options are drawn, the tuner gives those of one
of its configurations, heuristics compute theirs of all of these, in the order in which a launch does it. What it
compiles is asked of the kernel's own launch path for the target of this machine, and put together for others. There is
no array in it, only a type and an address (`StandIn`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from tritonx.backends.api import Target
from tritonx.runtime import driver
from tritonx.runtime.compiling.sealed import Description, describe, nearest
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import TritonError
from tritonx.runtime.jit import KernelParam
from tritonx.runtime.launch.arg_spec import ArgSpec, intern
from tritonx.runtime.launch.binder import handlers_of
from tritonx.runtime.launch.computed_arguments import Heuristics
from tritonx.tools import command
from tritonx.tools.sealing.domains import StandIn
from tritonx.tools.sealing.members import Choice, Member, Sealed


class Unknown:
    """What a heuristic is handed for something that is not drawn, or only in part: it tells what is read of it."""

    def __init__(self, name: str, read: list[str], array: StandIn | None = None) -> None:
        self._name, self._read, self._array = name, read, array

    def data_ptr(self) -> int:
        """The address, which is drawn."""
        return self._array.data_ptr() if self._array is not None else self._missing("()")

    def _missing(self, what: str) -> NoReturn:
        self._read.append(self._name + what)
        raise AttributeError(f"{self._name}{what} is not drawn")

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]  # it is not set
        """What `isinstance` asks for."""
        self._read.append(f"the class of {self._name}")
        return Unknown

    def __getattr__(self, name: str) -> NoReturn:
        self._missing(f".{name}")

    def __getitem__(self, index: object) -> NoReturn:
        self._missing(f"[{index!r}]")

    def __call__(self, *args: object) -> NoReturn:
        self._missing("()")

    def __len__(self) -> int:
        self._missing(".size")


@dataclass
class Launch:
    """A drawn launch: all arguments and options by name, the computed ones among them."""

    sealed: Sealed
    given: dict[str, object] = field(default_factory=dict[str, object])

    def __str__(self) -> str:
        return f"{self.sealed.name}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    def specs(self) -> tuple[ArgSpec, ...]:
        """What it specialises on, by its own handlers; wherever an array is. Raises `Mistake`."""
        try:
            return tuple(_spec_of(p, self.given.get(p.name, p.default)) for p in self.sealed.function.params)
        except (TritonError, TypeError, OverflowError) as error:
            raise command.Mistake(f"{self}: {error}") from None

    def options(self) -> dict[str, object]:
        """Those of its arguments that are no parameters."""
        return {name: value for name, value in self.given.items() if name not in self.sealed.function.arg_names}

    def asked(self, target: Target) -> Description:
        """What it compiles for a target, by the launch path where that is this machine's. Raises `Mistake`."""
        if target != _here():
            return self.sealed.member(self.specs(), self.options(), target).description
        try:
            request, _ = self.sealed.function.launcher.request((), dict(self.given))
        except (TritonError, TypeError, ValueError, KeyError, OverflowError) as error:
            raise command.Mistake(f"{self}: {error}") from None
        wanted = request.wanted
        source = ASTSource(self.sealed.function, wanted.signature, wanted.constants, wanted.attrs)
        return describe(source, request.placement.target, request.options)


def _here() -> Target | None:
    """The target of this machine; None where its device cannot be used."""
    try:
        return driver.get_active().get_current_target()
    except TritonError:
        return None


def _spec_of(param: KernelParam, value: object) -> ArgSpec:
    if param.is_constexpr:
        return intern("constexpr", None, value)
    spec = handlers_of(param)(value)[0]
    return spec if spec.location is None else intern(spec.type, spec.attr)


def draw(sealed: Sealed, rng: random.Random) -> Launch:
    """A launch. Raises `Mistake` where a heuristic raises for what is drawn."""
    choice = sealed.choices[rng.randrange(len(sealed.choices))]
    launch = Launch(sealed)
    for name in sealed.arguments:
        if name not in sealed.computed:
            launch.given[name] = choice.domains[name].draw(rng)
    for name, values in sealed.options.items():
        if name not in sealed.computed:
            launch.given[name] = rng.choice(values)
    for wrapper in sealed.wrappers:
        if isinstance(wrapper, Heuristics):
            _compute(launch, wrapper, choice, rng)
        else:
            _look_for_a_winner(launch)
            launch.given |= choice.config
    return launch


def _look_for_a_winner(launch: Launch) -> None:
    sealed = launch.sealed
    if sealed.chosen is not None:
        values = {name: launch.given[name] for name in sealed.keys if name in launch.given}
        if not sealed.chosen.covers(values):
            sealed.without_winner = values


def _compute(launch: Launch, wrapper: Heuristics, choice: Choice, rng: random.Random) -> None:
    """Add what heuristics compute, in their order; each sees those before it."""
    for name, compute in wrapper.values.items():
        read: list[str] = []
        value = _computed(launch, name, compute, read)
        if read:
            launch.sealed.undrawn[name] = read[0]
            domain = choice.domains.get(name)
            value = rng.choice(launch.sealed.options[name]) if domain is None else domain.draw(rng)
        launch.given[name] = value


def _computed(launch: Launch, name: str, compute: Callable[[dict[str, object]], object], read: list[str]) -> object:
    given = launch.given.items()
    handed = {n: Unknown(n, read, value) if isinstance(value, StandIn) else value for n, value in given}
    handed |= {"grid": Unknown("grid", read), "warmup": False}
    try:
        return compute(handed)
    except Exception as error:
        if read:
            return None
        raise command.Mistake(
            f"the heuristic of {name} raises {type(error).__name__} ({error}) for the drawn launch {launch}"
        ) from None


def closed(sealed: Sealed, draws: int, seed: int) -> list[Member]:
    """The members, one of which each drawn launch asks for. Raises `Mistake`, which names a launch that does not."""
    rng = random.Random(seed)
    members = list(sealed.members())
    descriptions = [member.description for member in members]
    known = set(map(repr, descriptions))
    met: set[tuple[object, ...]] = set()
    for _ in range(draws):
        launch = draw(sealed, rng)
        key = (launch.specs(), repr(sorted(launch.options().items())))
        if key in met:
            continue
        met.add(key)
        for target in sealed.targets:
            asked = launch.asked(target)
            if repr(asked) not in known:
                raise command.Mistake(_objection(launch, asked, descriptions))
    return members


def _objection(launch: Launch, asked: Description, members: list[Description]) -> str:
    names, values = nearest(asked, members)
    name = names[0].removesuffix("=")
    what = "option" if names[0].endswith("=") else "argument"
    shown = launch.given.get(name, asked.get(names[0]))
    return (
        f"{what} {name} = {shown!r} has no member; widen its domain (members have {'; '.join(values)}). "
        f"The drawn launch is {launch}"
    )
