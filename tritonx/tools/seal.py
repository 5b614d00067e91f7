"""``tritonx seal``: compile all that the launches of a program can ask for, before it runs, without a GPU.

tritonx seal package.toml -o FOLDER      every [[kernel]] of the file
tritonx seal kernels.py -o FOLDER        every entry of its list SEALED, which has the same fields
    --workers N                          processes that compile (one for each core)
    --draws N                            launches that are drawn to show that the set is complete (10000)
    --most N                             members at most (4096)
    --list                               print the members, compile nothing

    [[kernel]]
    kernel = "scale"
    file = "kernels.py"
    targets = ["cuda:90", "cpu"]                     # this machine's, if left out
    [kernel.arguments]
    x = "*fp32:16"                                   # begins at a multiple of 16 bytes; "*fp32" anywhere
    n = { range = [1, 1000000], multiple_of = 8 }    # or a list of values, "float", "bool"
    BLOCK = [128, 256]
    [kernel.options]
    num_warps = [4, 8]

A tuner's configurations are all taken; what a heuristic computes has a domain like an argument. A parameter with a
default need not be named. ``TRITONX_SEALED=FOLDER`` runs a program with these kernels and refuses to compile others.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tritonx.backends.api import Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.compiling.compiler import compile as compile_source
from tritonx.runtime.compiling.keys import compiler_key
from tritonx.runtime.compiling.sealed import MANIFEST, Manifest, Words
from tritonx.runtime.compiling.sources import ASTSource, Path_
from tritonx.runtime.tuning.case import module
from tritonx.tools import command
from tritonx.tools.checking.launches import jit_function
from tritonx.tools.sealing.members import Member, Sealed, closed
from tritonx.tools.sealing.package import Entry, entries

SCHEMA = 1
DRAWS = 10_000
MOST = 4096

Work = tuple[str, str, Mapping[str, object], Mapping[Path_, object], Mapping[Path_, object], Target, Options, str]
"""File, kernel, signature, constants, attributes, target, options, folder."""


def members(path: str, draws: int = DRAWS, seed: int = 0, most: int = MOST) -> list[tuple[Entry, list[Member]]]:
    """What launches of the kernels that the file lists compile. `draws` launches of each are drawn, and have a member.
    Raises `Mistake`, also where there are more than `most`."""
    found: list[tuple[Entry, list[Member]]] = []
    for entry in entries(path):
        count = entry.sealed.count()
        if count > most:
            raise command.Mistake(
                f"{entry.sealed.name} has {count} members, and --most is {most}: {_widest(entry.sealed)}"
            )
        closed(entry.sealed, draws, seed)
        found.append((entry, list(entry.sealed.members())))
    return found


def _widest(sealed: Sealed) -> str:
    classes = sorted(sealed.classes().items(), key=lambda item: -item[1])[:3]
    return "the most different are " + ", ".join(f"{name} ({count})" for name, count in classes)


def seal(path: str, folder: str, workers: int | None = None, draws: int = DRAWS, most: int = MOST) -> Manifest:
    """Compile the members into `folder`, in `workers` processes (0: this one); returns what `sealed.json` holds.

    Raises `Mistake`, and what a compile raises."""
    found = members(path, draws, 0, most)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    absolute = os.path.abspath(folder)
    work = [_work(entry, member, absolute) for entry, own in found for member in own]
    _compile_all(work, workers)
    listed: dict[str, list[Words]] = {}
    for entry, own in found:
        function = jit_function(entry.sealed.kernel)
        assert function is not None
        listed.setdefault(function.__name__, []).extend(member.words for member in own)
    manifest = Manifest(schema=SCHEMA, compiler=compiler_key()[:16], members=listed)
    command.write(Path(folder, MANIFEST), json.dumps(manifest, indent=1), "--out")
    return manifest


def _work(entry: Entry, member: Member, folder: str) -> Work:
    source = member.source
    return (entry.file, entry.sealed.name, source.signature, source.constants, source.attrs,
            member.target, member.options, folder)  # fmt: skip


def compile_member(work: Work) -> None:
    """In a process that compiles: one member, into the folder."""
    file, name, signature, constants, attrs, target, options, folder = work
    kernel = jit_function(getattr(module(file), name))
    assert kernel is not None
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dir, knobs.cache.max_bytes = folder, 0
        knobs.compilation.sealed = None
        compile_source(ASTSource(kernel, signature, constants, attrs), target, options)


def _compile_all(work: Sequence[Work], workers: int | None) -> None:
    count = min(len(work), (os.cpu_count() or 1) if workers is None else workers)
    if count < 2:
        for done, each in enumerate(work, 1):
            compile_member(each)
            _progress(done, len(work))
        return
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        pending = [pool.submit(compile_member, each) for each in work]
        try:
            for done, future in enumerate(as_completed(pending), 1):
                future.result()
                _progress(done, len(work))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _progress(done: int, count: int) -> None:
    if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # it is None where it was closed
        filled = 40 * done // count
        end = "\n" if done == count else ""
        print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{count}", end=end, file=sys.stderr, flush=True)


def argument_parser() -> argparse.ArgumentParser:
    assert __doc__ is not None
    parser = argparse.ArgumentParser("tritonx seal", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("package", help="a .toml, or a .py with SEALED")
    parser.add_argument("--out", "-o", default="sealed", help="the folder (default: sealed)")
    parser.add_argument("--workers", type=command.integer(0, 1024), help="processes that compile")
    parser.add_argument("--draws", type=command.integer(0, 10**7), default=DRAWS, help="launches that are drawn")
    parser.add_argument("--most", type=command.integer(1, 10**6), default=MOST, help="members at most")
    parser.add_argument("--list", action="store_true", help="print the members and compile nothing")
    return parser


def _run(given: argparse.Namespace) -> int:
    if given.list:
        for entry, own in members(given.package, given.draws, 0, given.most):
            for member in own:
                words = member.words
                shown = ", ".join(f"{n}: {w}" for n, w in words.items() if not n.endswith("=") and n != "target")
                print(f"{entry.sealed.name} for {words['target']}: {shown}")
        return 0
    if os.path.exists(given.out) and not os.path.isdir(given.out):
        raise command.Mistake(f"--out {given.out}: it is no folder")
    try:
        manifest = seal(given.package, given.out, given.workers, given.draws, given.most)
    except (KeyError, ValueError) as error:
        raise command.Mistake(f"package {given.package}: {error}") from None
    for name, own in manifest["members"].items():
        print(f"{name}: {len(own)} members; {given.draws} drawn launches have one")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx seal``; its exit status."""
    return command.run("tritonx seal", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
