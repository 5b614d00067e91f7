"""``tritonx-cache``: look into the cache of compiled kernels, shrink it, empty it.

tritonx-cache info                      where it is, how much it holds
tritonx-cache list [NAME]               its entries, last used first
tritonx-cache show KEY [STAGE]          an entry's metadata, or one stage of it
tritonx-cache prune [--max-bytes 500M]  drop the entries used longest ago
tritonx-cache clear                     drop all entries

Only what the cache stored is ever removed. Whatever else lies in its directory is named and stays. Folders that look
like entries but do not have the cache's mark are Triton's, or those of a version of tritonx before there was a mark;
they are removed as well if the directory is named a second time: tritonx-cache clear --yes-remove DIRECTORY.

The exit status is 2 for a mistake, such as a key that no entry has.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import cast

from tritonx.runtime import knobs
from tritonx.runtime.settings.setting_texts import parse_size
from tritonx.runtime.store.cache_entries import (
    GROUP_PREFIX,
    MARK,
    Entry,
    clear,
    clear_unmarked,
    entries,
    foreign,
    prune,
)
from tritonx.runtime.store.trusted_files import read
from tritonx.tools import command

KEY_SHOWN = 12
NAMES_SHOWN = 5


def size_text(nbytes: float) -> str:
    """``1.5 MiB``."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if nbytes < 1024 or unit == "GiB":
            break
        nbytes /= 1024
    return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _info(directory: str) -> None:
    every = list(entries(directory))
    limit = knobs.cache.max_bytes
    print(f"directory  {directory}")
    print(f"entries    {len(every)}")
    print(f"size       {size_text(sum(e.bytes for e in every))} of {size_text(limit) if limit > 0 else 'any size'}")
    if every:
        now = time.time()
        first, last = min(e.used for e in every), max(e.used for e in every)
        print(f"used       between {_age(now - first)} and {_age(now - last)} ago")


def _list(directory: str, name: str | None) -> None:
    chosen = [e for e in entries(directory) if name is None or any(name in n for n in e.names)]
    now = time.time()
    for entry in sorted(chosen, key=lambda e: -e.used):
        names = ", ".join(entry.names) or "(incomplete)"
        print(f"{entry.key[:KEY_SHOWN]}  {size_text(entry.bytes):>10}  {_age(now - entry.used):>6} ago  {names}")


def _find(directory: str, key: str) -> Entry:
    found = [e for e in entries(directory) if e.key.startswith(key)]
    if not found:
        raise command.Mistake(f"key {key}: no entry's key starts with {key}")
    if len(found) > 1:
        names = ", ".join(e.key[:20] for e in found)
        raise command.Mistake(f"key {key}: {len(found)} entries' keys start with {key}: {names}")
    return found[0]


def _show(directory: str, key: str, stage: str | None) -> None:
    entry = _find(directory, key)
    files = sorted(f for f in os.listdir(entry.path) if not f.startswith(GROUP_PREFIX) and f != MARK)
    if stage is not None:
        matching = [f for f in files if f.endswith(f".{stage}")]
        if not matching:
            stages = ", ".join(f.rpartition(".")[2] for f in files)
            raise command.Mistake(f"stage {stage}: {entry.key} has no stage {stage}; it has {stages}")
        content = read(os.path.join(entry.path, matching[0]))
        getattr(sys.stdout, "buffer", io.BytesIO()).write(content)
        return
    print(entry.path)
    for name in files:
        print(f"  {name}  {size_text(os.lstat(os.path.join(entry.path, name)).st_size)}")
        if name.endswith(".json"):
            for field, value in sorted(_fields(os.path.join(entry.path, name)).items()):
                print(f"    {field}: {value}")


def _fields(path: str) -> dict[str, object]:
    """What a JSON file of an entry says."""
    try:
        found: object = json.loads(read(path))
    except (OSError, ValueError, RecursionError) as error:
        return {"(damaged)": error}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {"(no metadata)": found}


def _removed(removed: Sequence[Entry]) -> None:
    print(f"removed {len(removed)} entries, {size_text(sum(e.bytes for e in removed))}")


def _clear(directory: str, named_again: str | None) -> None:
    """Remove all entries, and name what stays."""
    if named_again is not None and os.path.realpath(named_again) != os.path.realpath(directory):
        raise command.Mistake(f"--yes-remove {named_again}: the directory is {directory}")
    _removed(clear(directory))
    if named_again is not None:
        print(f"removed {len(clear_unmarked(directory))} folders that look like entries and have no mark")
    stays = foreign(directory)
    if stays:
        shown = ", ".join(stays[:NAMES_SHOWN]) + (", ..." if len(stays) > NAMES_SHOWN else "")
        print(f"left {len(stays)} that are not the cache's in {directory}: {shown}")


def _folder(text: str) -> str:
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"there is no folder '{text}'")
    return text


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tritonx-cache", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--directory", type=_folder, help="instead of TRITONX_CACHE_DIR or ~/.tritonx/cache")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info")
    commands.add_parser("list").add_argument("name", nargs="?", help="only kernels whose name contains it")
    show = commands.add_parser("show")
    show.add_argument("key", help="the beginning of an entry's key")
    show.add_argument("stage", nargs="?")
    commands.add_parser("prune").add_argument("--max-bytes", type=_size, default=None)
    commands.add_parser("clear").add_argument(
        "--yes-remove",
        metavar="DIRECTORY",
        help="the directory again: what looks like an entry without a mark goes, too",
    )
    return parser


def _run(given: argparse.Namespace) -> int:
    directory: str = given.directory or knobs.cache.dir
    if given.command == "info":
        _info(directory)
    elif given.command == "list":
        _list(directory, given.name)
    elif given.command == "show":
        _show(directory, given.key, given.stage)
    elif given.command == "prune":
        _removed(prune(knobs.cache.max_bytes if given.max_bytes is None else given.max_bytes, directory))
    else:
        _clear(directory, given.yes_remove)
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    return command.run("tritonx-cache", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
