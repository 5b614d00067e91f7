"""Launches that compile nothing: `TRITONX_SEALED`.

``TRITONX_SEALED=FOLDER`` takes compiled kernels from the folder that ``tritonx seal`` wrote, or from several,
``TRITONX_SEALED=1`` from the cache. A launch whose kernel is not there raises `NotSealed`, which names the argument
that no member has, or what else is the cause. Nothing is written into the folder, and nothing removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict, cast

from tritonx.kernel.source import JITCallable
from tritonx.runtime import knobs
from tritonx.runtime.compiling.keys import compiler_key, record_compiler_key
from tritonx.runtime.compiling.sealed_files import SealedFolder
from tritonx.runtime.errors import NotSealed
from tritonx.runtime.launch.arg_spec import ROUNDED_ATTRIBUTE
from tritonx.runtime.store.trusted_files import path_objection, read

if TYPE_CHECKING:
    from tritonx.backends.api import Options, Target
    from tritonx.runtime.compiling.sources import Source

MANIFEST = "sealed.json"
COMPILER = "compiler.json"
SCHEMA = 3
_MARKS = {
    "tt.divisibility": "multiple of {}",
    "tt.pointer_range": "below 2 GiB",
    "tt.negative": "negative",
    "tt.partial_end": "rows end anywhere",
    ROUNDED_ATTRIBUTE: "rounded to tf32",
}

Description = dict[str, str]
"""What a compile is specialised on: parameter, option (``num_warps=``) or ``target`` → in words."""


class Listed(TypedDict):
    """A member in `sealed.json`: the key of its compile, and what it is specialised on."""

    key: str
    description: Description


class Launches(TypedDict):
    """What is known of a kernel's launches, so that a sealed program can write them when it declares the kernel:
    parameter → the types of its arguments, the names of options, the parameters that some member stores through, and
    those whose arrays a launcher looks at."""

    types: dict[str, list[str]]
    options: list[str]
    written: list[str]
    compared: list[str]


class Winner(TypedDict):
    """The configuration of a tuner for launches with these values of its key (as Python writes them), with arrays of
    these dtypes, on this target; None: of any."""

    values: dict[str, str]
    dtypes: list[str] | None
    target: str | None
    config: str


class Winners(TypedDict):
    """The configurations of a tuned kernel, and the one for all other launches; each as `Config.meaning`."""

    chosen: list[Winner]
    fallback: str | None


class Manifest(TypedDict):
    """`sealed.json`. ``compiler``: of the tritonx that wrote it; ``members`` and ``launches``: by the names of kernels;
    ``winners``: by the name and the digest of the source."""

    schema: int
    compiler: str
    members: dict[str, list[Listed]]
    launches: dict[str, Launches]
    winners: dict[str, Winners]


class Compiler(TypedDict):
    """`compiler.json`, which a sealed program reads in the place of tritonx's sources: `compiler_key`, and what
    `sources_stamp` was."""

    key: str
    stamp: str


def folders() -> tuple[str, ...]:
    """Those that ``TRITONX_SEALED`` names."""
    return _folders_of(knobs.compilation.sealed)


@lru_cache(maxsize=8)
def _folders_of(setting: str | None) -> tuple[str, ...]:
    """They are absolute, unless a program assigned the setting."""
    return () if setting is None or setting == "1" else tuple(map(os.path.abspath, setting.split(os.pathsep)))


def sealed_files(key: str, among: Sequence[str]) -> SealedFolder | None:
    """The files of a key in the first of these folders that has some; None where there are no folders, and launches
    take theirs from the cache."""
    for each in among[:-1]:
        found = SealedFolder(key, each)
        if os.path.isdir(found.cache_dir):
            return found
    return SealedFolder(key, among[-1]) if among else None


@lru_cache(maxsize=8)
def record_compiler(path: str) -> None:
    """Take the compiler's key from the sealed folder, where tritonx's sources have the sizes and times that they had
    there; otherwise `compiler_key` reads them."""
    try:
        if path_objection(path) is None:
            stored: object = json.loads(read(os.path.join(path, COMPILER)))
            if isinstance(stored, dict):
                own = cast("Mapping[str, object]", stored)
                record_compiler_key(str(own.get("stamp")), str(own.get("key")))
    except (OSError, ValueError, RecursionError):
        pass


def describe(source: Source, target: Target, options: Options) -> Description:
    """What a compile is specialised on, in words."""
    signature: Mapping[str, object] = getattr(source, "signature", {})
    constants: Mapping[object, object] = getattr(source, "constants", {})
    attrs: Mapping[object, list[list[object]]] = getattr(source, "attrs", {})
    found: Description = {}
    for number, (name, type_) in enumerate(signature.items()):
        if type_ == "constexpr":
            found[name] = _constant(constants.get((number,)))
        else:
            marks = [_MARKS.get(str(kind), f"{kind} {{}}").format(value) for kind, value in attrs.get((number,), ())]
            found[name] = ", ".join([str(type_), *marks])
    found |= {f"{name}=": repr(value) for name, value in sorted(vars(options).items())}
    found["target"] = str(target)
    return found


def _constant(value: object) -> str:
    """A compile-time value in words that every process has: a function's module has another name where it is sealed."""
    return f"{value.__name__} ({value.cache_key[:8]})" if isinstance(value, JITCallable) else repr(value)


def read_manifest(path: str) -> Manifest | str:
    """`sealed.json` of a folder; a text that says what is wrong with it, in place of one."""
    try:
        with open(os.path.join(path, MANIFEST), "rb") as file:
            found: object = json.loads(file.read())
    except FileNotFoundError:
        return f"it holds no {MANIFEST}: it was not written by `tritonx seal`"
    except (OSError, ValueError, RecursionError) as error:
        return f"its {MANIFEST} cannot be read ({error})"
    schema = cast("Mapping[str, object]", found).get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        return f"its {MANIFEST} has schema {schema}, and this version of tritonx reads {SCHEMA}: seal again"
    if not _is_manifest(cast("Mapping[str, object]", found)):
        return f"its {MANIFEST} is damaged: seal again"
    return cast("Manifest", found)


def _is_manifest(found: Mapping[str, object]) -> bool:
    members = found.get("members")
    if not isinstance(found.get("compiler"), str) or not isinstance(members, dict):
        return False
    lists = list(cast("Mapping[str, object]", members).values())
    launches, winners = found.get("launches"), found.get("winners")
    if not all(isinstance(each, list) for each in lists) or not isinstance(launches, dict):
        return False
    if not isinstance(winners, dict) or not all(map(_is_winners, cast("Mapping[str, object]", winners).values())):
        return False
    if not all(map(_is_launches, cast("Mapping[str, object]", launches).values())):
        return False
    return all(_is_listed(entry) for each in lists for entry in cast("Sequence[object]", each))


def _is_launches(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    found = cast("Mapping[str, object]", entry)
    types = found.get("types")
    texts = [found.get(name) for name in ("options", "written", "compared")]
    texts += cast("Mapping[str, object]", types).values() if isinstance(types, dict) else [None]
    return all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in texts)  # pyright: ignore[reportUnknownVariableType]  # what JSON holds


def _is_winners(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    found = cast("Mapping[str, object]", entry)
    chosen, fallback = found.get("chosen"), found.get("fallback", 0)
    if not isinstance(chosen, list) or not isinstance(fallback, str | None):
        return False
    return all(_is_winner(each) for each in cast("Sequence[object]", chosen))


def _is_winner(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    found = cast("Mapping[str, object]", entry)
    kinds = (("values", dict), ("dtypes", (list, type(None))), ("target", (str, type(None))), ("config", str))
    return all(isinstance(found.get(name, 0), kind) for name, kind in kinds)


def _is_listed(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    found = cast("Mapping[str, object]", entry)
    return isinstance(found.get("key"), str) and isinstance(found.get("description"), dict)


def refusal(source: Source, target: Target, options: Options, key: str) -> NotSealed:
    """What a launch raises that would have to compile; ``key`` is that of the compile."""
    kernel = source.name.removeprefix("@")
    asked = describe(source, target, options)
    if not folders():
        shown = ", ".join(f"{name}: {word}" for name, word in asked.items() if not name.endswith("="))
        return NotSealed(f"{kernel} is not in the cache for {shown}, and TRITONX_SEALED=1 compiles nothing")
    said = [_said_of(where, kernel, asked, key) for where in folders()]
    return NotSealed("; ".join(text for rank, text in said if rank == min(said)[0]))


_DAMAGED, _OTHER_MEMBERS, _NOT_READ, _NO_MEMBER = range(4)
"""What a folder says of a launch that it has no code for, the most telling first."""


def _said_of(where: str, kernel: str, asked: Description, key: str) -> tuple[int, str]:
    objection = SealedFolder(key, where).objection()
    if objection is not None:
        return _NOT_READ, f"{kernel} is not loaded from {where}, because {objection}"
    manifest = read_manifest(where)
    if isinstance(manifest, str):
        return _NOT_READ, f"{kernel} is not loaded from {where}: {manifest}"
    members = manifest["members"].get(kernel, [])
    if not members:
        known = ", ".join(manifest["members"]) or "none"
        return _NO_MEMBER, f"{where} has no member of kernel {kernel}; it has members of {known}"
    if any(member["key"] == key for member in members):
        files = SealedFolder(key, where).cache_dir
        return _DAMAGED, (
            f"{kernel} was sealed for this launch, but its files in {files} are missing, damaged or such as others can "
            f"write: seal again"
        )
    return _OTHER_MEMBERS, f"{kernel} has no member in {where} {_why(asked, members, manifest)}"


def _why(asked: Description, members: Sequence[Listed], manifest: Manifest) -> str:
    if manifest["compiler"] != compiler_key():
        return "that this version of tritonx made: seal again"
    targets = list(dict.fromkeys(member["description"].get("target", "") for member in members))
    if asked["target"] not in targets:
        return f"for {asked['target']}, which this launch is for: sealed are {', '.join(targets)}"
    members = [member for member in members if member["description"].get("target") == asked["target"]]
    names, words = nearest(asked, [member["description"] for member in members])
    if not names:
        return (
            "of this source: the kernel's text, a global that it reads, the path of a file that its assertions name, "
            "or a setting that changes code differs from when it was sealed"
        )
    name = names[0]
    what = f"option {name[:-1]}" if name.endswith("=") else f"argument {name}"
    others = f" (and others for {', '.join(n.removesuffix('=') for n in names[1:])})" if names[1:] else ""
    return f"for {what} = {asked.get(name, 'nothing')}: sealed are {'; '.join(words)}{others}"


def nearest(asked: Description, members: Sequence[Description]) -> tuple[list[str], list[str]]:
    """In what the member that is most like ``asked`` differs from it (nothing, where it is the same), and which values
    members that are as much like it have of the first of these."""

    def differing(member: Description) -> list[str]:
        return [name for name in {**asked, **member} if asked.get(name) != member.get(name)]

    found = [differing(member) for member in members]
    names = min(found, key=len)
    if not names:
        return [], []
    alike = [m for m, own in zip(members, found, strict=True) if names[0] in own and len(own) == len(names)]
    return names, list(dict.fromkeys(m.get(names[0], "nothing") for m in alike[:64]))
