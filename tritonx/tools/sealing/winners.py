"""The tuner's winners in a package: a list of tables, or the file that ``tritonx tune --winners`` wrote.

    winners = [{ key = { n = 1024 }, config = { B = 256, num_warps = 4 } }]
    fallback = { B = 64, num_warps = 4 }

``key`` has a value for each name of the tuner's key, ``config`` what tells one of its configurations from the others.
``dtypes``, those of all arrays in the order of the arguments, and ``target`` may be left out: any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tritonx.runtime.compiling.sealed import Winner, Winners
from tritonx.runtime.config import Config
from tritonx.tools import command

_FIELDS = {"kernel", "key", "config", "dtypes", "target"}


@dataclass(frozen=True)
class Chosen:
    """What the folder says, and the configurations that are compiled."""

    winners: Winners
    configs: tuple[Config, ...]

    def covers(self, values: Mapping[str, object]) -> bool:
        """Whether there is a winner for launches whose key has these values, with arrays of some dtypes."""
        asked = {name: repr(value) for name, value in values.items()}
        return any(winner["values"] == asked for winner in self.winners["chosen"])


def read(path: Path, kernel: str) -> list[object]:
    """The tables of a file that are for this kernel. Raises `Mistake`."""
    try:
        found: object = json.loads(command.read_text(path, "winners"))
    except (ValueError, RecursionError) as error:
        raise command.Mistake(f"winners {path}: {error}") from None
    if not isinstance(found, list):
        raise command.Mistake(f"winners {path}: it is no list, as tritonx tune --winners writes it")
    tables = [each for each in cast("Sequence[object]", found) if _table(each, "winners").get("kernel") == kernel]
    if not tables:
        raise command.Mistake(f"winners {path}: it has none of {kernel}")
    return tables


def choose(keys: Sequence[str], configs: Sequence[Config], given: Sequence[object], fallback: object) -> Chosen:
    """What tables and the fallback (None: there is none) stand for. Raises `Mistake`."""
    chosen: list[Winner] = []
    used: list[Config] = []
    for number, each in enumerate(given, 1):
        table, what = _table(each, f"winner {number}"), f"winner {number}"
        if unknown := sorted(set(table) - _FIELDS):
            raise command.Mistake(f"{what}: unknown {', '.join(unknown)}")
        values = _table(table.get("key", {}), f"{what}: key")
        if set(values) != set(keys):
            raise command.Mistake(f"{what}: its key has {_names(values)}, and the tuner's key is {_names(keys)}")
        used.append(_config(table.get("config"), configs, what))
        chosen.append(
            Winner(
                values={name: repr(values[name]) for name in keys},
                dtypes=_texts(table.get("dtypes"), what),
                target=None if table.get("target") is None else str(table["target"]),
                config=used[-1].meaning(),
            )
        )
    other = None if fallback is None else _config(fallback, configs, "fallback")
    kept: dict[Config, None] = dict.fromkeys([*used, *filter(None, [other])])
    if not kept:
        raise command.Mistake("winners: there are none, and no fallback")
    return Chosen(Winners(chosen=chosen, fallback=None if other is None else other.meaning()), tuple(kept))


def _config(given: object, configs: Sequence[Config], what: str) -> Config:
    wanted = _table(given, f"{what}: config")
    missing = object()
    fitting = [c for c in configs if all(c.all_kwargs().get(name, missing) == wanted[name] for name in wanted)]
    if len(fitting) != 1:
        shown = ", ".join(f"{name} = {value!r}" for name, value in wanted.items()) or "nothing"
        known = "; ".join(map(str, fitting or configs))
        how = "is none of the tuner's configurations" if not fitting else "fits more than one of them"
        raise command.Mistake(f"{what}: {shown} {how}: {known}")
    return fitting[0]


def _table(given: object, what: str) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise command.Mistake(f"{what}: expected a table, got {given!r}")
    return cast("Mapping[str, object]", given)


def _texts(given: object, what: str) -> list[str] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        raise command.Mistake(f"{what}: dtypes: expected a list, got {given!r}")
    return [str(each) for each in cast("Sequence[object]", given)]


def _names(names: Sequence[str] | Mapping[str, object]) -> str:
    return ", ".join(names) or "nothing"
