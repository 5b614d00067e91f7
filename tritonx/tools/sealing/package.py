"""The list of kernels to seal: `package.toml`, or a module with `SEALED`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tritonx.backends import registry
from tritonx.backends.api import Target
from tritonx.runtime import driver
from tritonx.runtime.errors import TritonError
from tritonx.runtime.tuning.case import module
from tritonx.tools import command
from tritonx.tools.sealing import winners
from tritonx.tools.sealing.members import Sealed

NAME = "SEALED"
_FIELDS = {"kernel", "file", "arguments", "options", "targets", "winners", "fallback"}


@dataclass(frozen=True)
class Entry:
    """One kernel of a package: the file it is in, and what the package says of it."""

    file: str
    sealed: Sealed


def entries(path: str) -> list[Entry]:
    """What the file lists. Raises `Mistake`, which names the file."""
    if path.endswith(".toml"):
        text = command.read_text(path, "package")
        try:
            listed: object = tomllib.loads(text).get("kernel", [])
        except tomllib.TOMLDecodeError as error:
            raise command.Mistake(f"package {path}: {error}") from None
        what = "[[kernel]]"
    else:
        with command.running(path):
            listed = getattr(module(path), NAME, [])
        what = NAME
    if not isinstance(listed, list | tuple) or not listed:
        raise command.Mistake(f"package {path}: it lists no kernels ({what})")
    return list(_entries(path, cast("Sequence[object]", listed), what))


def _entries(path: str, listed: Sequence[object], what: str) -> Iterator[Entry]:
    for number, each in enumerate(listed, 1):
        place = f"package {path}: {what} {number}"
        if not isinstance(each, Mapping):
            raise command.Mistake(f"{place}: expected a table, got {each!r}")
        given = cast("Mapping[str, object]", each)
        unknown = set(given) - _FIELDS
        name = given.get("kernel")
        if unknown or not isinstance(name, str):
            wrong = f"unknown {', '.join(sorted(unknown))}" if unknown else "it names no kernel"
            raise command.Mistake(f"{place}: {wrong}")
        try:
            yield _entry(path, name, given)
        except command.Mistake as error:
            raise command.Mistake(f"{place}: {error}") from None


def _entry(path: str, name: str, given: Mapping[str, object]) -> Entry:
    file = str(Path(path).parent / str(given["file"])) if "file" in given else path
    if not file.endswith(".py"):
        raise command.Mistake(f"{name}: say which file it is in (file = ...)")
    with command.running(file):
        found = getattr(module(file), name, None)
    if found is None:
        raise command.Mistake(f"{file} has no kernel {name!r}")
    options = {key: _several(value) for key, value in _table(given, "options").items()}
    targets = [_target(text) for text in _several(given.get("targets", ()))]
    own = targets or [driver.get_active().get_current_target()]
    chosen, fallback = _winners(path, name, given.get("winners")), given.get("fallback")
    arguments = _table(given, "arguments")
    return Entry(file, Sealed(name, cast("object", found), arguments, options, own, chosen, fallback))


def _winners(path: str, kernel: str, given: object) -> Sequence[object] | None:
    """The tables, of a file where its path is given."""
    if given is None or isinstance(given, list | tuple):
        return cast("Sequence[object] | None", given)
    if not isinstance(given, str):
        raise command.Mistake(f"winners: expected tables or the path of a file, got {given!r}")
    return winners.read(Path(path).parent / given, kernel)


def _table(given: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = given.get(name, {})
    if not isinstance(found, Mapping):
        raise command.Mistake(f"{name}: expected a table, got {found!r}")
    return cast("Mapping[str, object]", found)


def _several(value: object) -> Sequence[object]:
    return list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else [value]


def _target(text: object) -> Target:
    try:
        return registry.parse_target(str(text))[1]
    except (KeyError, ValueError, TritonError) as error:
        raise command.Mistake(f"targets: {error.args[0] if error.args else error}") from None
