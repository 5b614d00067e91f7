"""Launches that compile nothing: `TRITONX_SEALED`.

``TRITONX_SEALED=FOLDER`` takes compiled kernels from the folder that ``tritonx seal`` wrote, ``TRITONX_SEALED=1`` from
the cache. A launch whose kernel is not there raises `NotSealed`, which names the argument that no member has.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from tritonx.runtime import knobs
from tritonx.runtime.cache import FileCacheManager
from tritonx.runtime.compiling.keys import compiler_key
from tritonx.runtime.errors import NotSealed

if TYPE_CHECKING:
    from tritonx.backends.api import Options, Target
    from tritonx.runtime.compiling.sources import Source

MANIFEST = "sealed.json"
_MARKS = {"tt.divisibility": "multiple of {}", "tt.pointer_range": "below 2 GiB", "tt.negative": "negative"}

Words = dict[str, str]
"""What a compile is specialised on: parameter, option (``num_warps=``) or ``target`` → in words."""


class Manifest(TypedDict):
    """`sealed.json`. ``members``: of each kernel, by its name, what its members are specialised on."""

    schema: int
    compiler: str
    members: dict[str, list[Words]]


class SealedFolder(FileCacheManager):
    """The files of one hexadecimal key in a folder that was sealed."""

    def __init__(self, key: str, folder: str) -> None:
        super().__init__(base64.b32encode(bytes.fromhex(key)).decode().rstrip("="))
        self._base = folder
        self.cache_dir = os.path.join(folder, self.key)
        self.lock_path = None


def folder() -> str | None:
    """The folder that ``TRITONX_SEALED`` names; None where it names none."""
    found = knobs.compilation.sealed
    return None if found is None or found == "1" else found


def words_of(source: Source, target: Target, options: Options) -> Words:
    """What a compile is specialised on, in words."""
    signature: Mapping[str, object] = getattr(source, "signature", {})
    constants: Mapping[object, object] = getattr(source, "constants", {})
    attrs: Mapping[object, list[list[object]]] = getattr(source, "attrs", {})
    found: Words = {}
    for number, (name, type_) in enumerate(signature.items()):
        if type_ == "constexpr":
            found[name] = repr(constants.get((number,)))
        else:
            marks = [_MARKS.get(str(kind), f"{kind} {{}}").format(value) for kind, value in attrs.get((number,), ())]
            found[name] = ", ".join([str(type_), *marks])
    found |= {f"{name}=": repr(value) for name, value in sorted(vars(options).items())}
    found["target"] = str(target)
    return found


@lru_cache(maxsize=8)
def _manifest(path: str) -> Manifest | None:
    try:
        return json.loads(Path(path, MANIFEST).read_bytes())
    except (OSError, ValueError):
        return None


def refusal(kernel: str, source: Source, target: Target, options: Options) -> NotSealed:
    """What a launch raises that would have to compile."""
    words = words_of(source, target, options)
    where = folder()
    if where is None:
        asked = ", ".join(f"{name}: {word}" for name, word in words.items() if not name.endswith("="))
        return NotSealed(f"{kernel} is not in the cache for {asked}, and TRITONX_SEALED=1 compiles nothing")
    manifest = _manifest(where)
    if manifest is None:
        return NotSealed(f"{where} holds no {MANIFEST}: it was not written by `tritonx seal`")
    members = manifest["members"].get(kernel, [])
    if not members:
        known = ", ".join(manifest["members"]) or "none"
        return NotSealed(f"{where} has no member of kernel {kernel}; it has members of {known}")
    return NotSealed(f"{kernel} has no member in {where} {_missing(words, members, manifest)}")


def _missing(words: Words, members: list[Words], manifest: Manifest) -> str:
    def differing(member: Words) -> list[str]:
        return [name for name in {**words, **member} if words.get(name) != member.get(name)]

    nearest = min(map(differing, members), key=len)
    if not nearest:
        if manifest["compiler"] != compiler_key()[:16]:
            return "that this version of tritonx made: seal again"
        return "of this source: the kernel, or a setting that changes code, is another than when it was sealed"
    name = nearest[0]
    alike = [m for m in members if name in differing(m) and len(differing(m)) == len(nearest)]
    has = "; ".join(dict.fromkeys(m.get(name, "nothing") for m in alike[:64]))
    what = (
        f"option {name.removesuffix('=')}" if name.endswith("=") else name if name == "target" else f"argument {name}"
    )
    others = f" (and others for {', '.join(n.removesuffix('=') for n in nearest[1:])})" if nearest[1:] else ""
    return f"for {what} = {words.get(name, 'nothing')}: sealed are {has}{others}"
