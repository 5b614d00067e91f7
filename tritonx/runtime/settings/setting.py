"""A setting, and settings that belong together: each reads its environment variable until it is assigned."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast, overload

from tritonx.runtime.errors import BadSetting, NotOffered
from tritonx.runtime.settings.environment import getenv, read, setenv, toenv
from tritonx.runtime.settings.setting_texts import parse_bool, parse_folder

T = TypeVar("T")


class Env:
    """What `env` is.

    >>> import os
    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.interpret = True
    ...     os.environ["TRITON_INTERPRET"] = "0"
    ...     print(tritonx.knobs.runtime.interpret)
    ...     tritonx.knobs.runtime.interpret = tritonx.knobs.env
    ...     print(tritonx.knobs.runtime.interpret)
    True
    False
    """


env = Env()
"""``knobs.cache.dir = knobs.env`` goes back to the environment, as ``del knobs.cache.dir`` does."""


class Knob(Generic[T]):
    """One setting of a group, as a descriptor. ``default`` may be a function without arguments."""

    def __init__(self, env: str | None, default: T | Callable[[], T], parse: Callable[[str], T]) -> None:
        self.env = env
        self._default = default
        self._parse = parse

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def default(self) -> T:
        found: Any = self._default() if callable(self._default) else self._default
        return found

    @overload
    def __get__(self, group: None, owner: type) -> Knob[T]: ...
    @overload
    def __get__(self, group: Group, owner: type) -> T: ...
    def __get__(self, group: Group | None, owner: type) -> Knob[T] | T:
        if group is None:
            return self
        if self.name in group.assigned:
            return self.transform(group.assigned[self.name])
        return self.get()

    @property
    def key(self) -> str:
        """The environment variable, under Triton's name for it; of a hook, which has none, its own name."""
        return self.env or self.name

    def get(self) -> T:
        """What the environment says, else the default."""
        if self.env is not None and getenv(self.env) is not None:
            return cast(T, read(self.env, self._parse))
        return self.default

    def transform(self, val: T) -> T:
        """What is read where ``val`` was assigned."""
        return val

    def __set__(self, group: Group, value: T | Env) -> None:
        if isinstance(value, Env):
            group.assigned.pop(self.name, None)
            return
        group.assigned[self.name] = value
        text = toenv(value)
        if self.env and text is not None:
            setenv(self.env, text[0])

    def __delete__(self, group: Group) -> None:
        group.assigned.pop(self.name, None)


def flag(env: str | None, default: bool = False) -> Knob[bool]:
    return Knob(env, default, parse_bool)


def text(env: str | None, default: str | Callable[[], str]) -> Knob[str]:
    return Knob(env, default, str)


def folder(env: str, default: Callable[[], str]) -> Knob[str]:
    return Knob(env, default, parse_folder)


def optional_text(env: str | None) -> Knob[str | None]:
    return Knob[str | None](env, None, lambda s: s or None)


def hook(default: object = None) -> Knob[Any]:
    """A callable that only a program sets."""
    return Knob[Any](None, default, str)


class Refused(Knob[T]):
    """A setting of Triton's that nothing here can follow: anything but its default is refused, with the reason."""

    def __init__(self, env: str | None, default: T, parse: Callable[[str], T], why: str) -> None:
        super().__init__(env, default, parse)
        self.why = why

    def get(self) -> T:
        return self._default_only(super().get())

    def __set__(self, group: Group, value: T | Env) -> None:
        if not isinstance(value, Env):
            self._default_only(value)
        super().__set__(group, value)

    def _default_only(self, value: T) -> T:
        if value != self.default:
            raise NotOffered(f"tritonx does not offer the setting {self.env or self.name}: {self.why}")
        return value


class Fixed(Knob[str]):
    """A setting of the whole process, read when it starts: assigning it is refused."""

    def __init__(self, env: str, current: Callable[[], str]) -> None:
        super().__init__(env, current, str)

    def get(self) -> str:
        return self.default

    def __set__(self, group: Group, value: str | Env) -> None:
        if value != self.default:
            raise BadSetting(f"{self.name} is fixed when the process starts, at {self.default}: set {self.env} before")


class Group:
    """Settings that belong together.

    >>> with tritonx.knobs.runtime.scope():
    ...     tritonx.knobs.runtime.interpret = True
    ...     print(tritonx.knobs.runtime.knobs["interpret"])
    True
    """

    def __init__(self) -> None:
        self.assigned: dict[str, Any] = {}

    @property
    def knob_descriptors(self) -> dict[str, Knob[Any]]:
        """Those that an environment variable sets; hooks are no such."""
        return {
            n: k for c in type(self).__mro__ for n, k in vars(c).items() if isinstance(k, Knob) and k.env is not None
        }

    @property
    def knobs(self) -> dict[str, Any]:
        """Every setting with its present value."""
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def copy(self) -> Group:
        other = type(self)()
        other.assigned.update(self.assigned)
        return other

    def reset(self) -> Group:
        """Forget all assignments."""
        self.assigned.clear()
        return self

    @contextmanager
    def scope(self) -> Generator[None]:
        """Restore assignments and environment variables at the end of the block."""
        assigned = dict(self.assigned)
        names = [k.env for k in self.knob_descriptors.values() if k.env]
        environment = {name: os.environ.get(name) for name in names}
        try:
            yield
        finally:
            self.assigned = assigned
            for name, value in environment.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
