"""``tritonx-cache``: look into the cache of compiled kernels, shrink it, empty it.

tritonx-cache info                      where it is, how much it holds
tritonx-cache list [NAME]               its entries, last used first
tritonx-cache show KEY [STAGE]          an entry's metadata, or one stage of it
tritonx-cache prune [--max-bytes 500M]  drop the entries used longest ago
tritonx-cache clear                     drop everything
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence

from tritonx.runtime import knobs
from tritonx.runtime.cache import GROUP_PREFIX, Entry, clear, entries, prune
from tritonx.runtime.errors import TritonError
from tritonx.runtime.setting_texts import parse_size

KEY_SHOWN = 12


class CommandError(TritonError):
    """What the user asked for cannot be done."""


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
        raise CommandError(f"no entry's key starts with {key}")
    if len(found) > 1:
        raise CommandError(f"{len(found)} entries' keys start with {key}: {', '.join(e.key[:20] for e in found)}")
    return found[0]


def _show(directory: str, key: str, stage: str | None) -> None:
    entry = _find(directory, key)
    files = sorted(f for f in os.listdir(entry.path) if not f.startswith(GROUP_PREFIX))
    if stage is not None:
        matching = [f for f in files if f.endswith(f".{stage}")]
        if not matching:
            raise CommandError(
                f"{entry.key} has no stage {stage}; it has {', '.join(f.rpartition('.')[2] for f in files)}"
            )
        with open(os.path.join(entry.path, matching[0]), "rb") as file:
            sys.stdout.buffer.write(file.read())
        return
    print(entry.path)
    for name in files:
        print(f"  {name}  {size_text(os.path.getsize(os.path.join(entry.path, name)))}")
        if name.endswith(".json"):
            with open(os.path.join(entry.path, name), "rb") as file:
                try:
                    fields = json.loads(file.read())
                except ValueError:
                    print("    (damaged)")
                    continue
            for field, value in sorted(fields.items()):
                print(f"    {field}: {value}")


def _removed(removed: Sequence[Entry]) -> None:
    print(f"removed {len(removed)} entries, {size_text(sum(e.bytes for e in removed))}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tritonx-cache", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--directory", help="instead of TRITONX_CACHE_DIR or ~/.tritonx/cache")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info")
    commands.add_parser("list").add_argument("name", nargs="?", help="only kernels whose name contains it")
    show = commands.add_parser("show")
    show.add_argument("key", help="the beginning of an entry's key")
    show.add_argument("stage", nargs="?")
    commands.add_parser("prune").add_argument("--max-bytes", type=parse_size, default=None)
    commands.add_parser("clear")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit status."""
    given = _parser().parse_args(arguments)
    directory = given.directory or knobs.cache.dir
    try:
        if given.command == "info":
            _info(directory)
        elif given.command == "list":
            _list(directory, given.name)
        elif given.command == "show":
            _show(directory, given.key, given.stage)
        elif given.command == "prune":
            _removed(prune(knobs.cache.max_bytes if given.max_bytes is None else given.max_bytes, directory))
        else:
            _removed(clear(directory))
    except BrokenPipeError:
        return 0
    except (CommandError, OSError) as error:
        print(f"tritonx-cache: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
