"""``tritonx seal``: compile all that the launches of a program can ask for, before it runs, without a GPU.

tritonx seal package.toml -o FOLDER      every [[kernel]] of the file
tritonx seal kernels.py -o FOLDER        every entry of its list SEALED, which has the same fields
    --workers N                          processes that compile (one for each core)
    --draws N                            launches that are drawn to show that the set is complete (10000)
    --most N                             members at most (4096)
    --list                               print the members, compile nothing
    --wheel NAME==VERSION                write the folder as a wheel, too, beside it

    [[kernel]]
    kernel = "scale"
    file = "kernels.py"
    targets = ["cuda:90", "cpu"]                     # this machine's, if left out
    [kernel.arguments]
    x = "*fp32:16"                                   # begins at a multiple of 16 bytes; "*fp32" anywhere
    n = { range = [1, 1000000], multiple_of = 8 }    # or a list of values, "float", "bool", "None"
    BLOCK = [128, 256]
    [kernel.options]
    num_warps = [4, 8]

A tuner's configurations are all taken, and measured by the program, or with winners = [{ key = { n = 1024 }, config =
{ B = 256 } }] (or winners = "FILE" of tritonx tune --winners) these, without measuring; other keys are refused, or take
the configuration fallback = { B = 64 }. What a heuristic computes, be it an option, has a domain like an argument. A
parameter with a default that launches leave out is left out. A kernel may be listed more than once, each time with
other domains. ``TRITONX_SEALED=FOLDER``, or ``TRITONX_SEALED=package:NAME`` of an installed wheel, runs a program with
these kernels and refuses to compile others.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tritonx.backends.api import Options, Target
from tritonx.runtime import knobs
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.compiler import FILE_NAME_LIMIT
from tritonx.runtime.compiling.compiler import compile as compile_source
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.keys import compiler_key, sources_stamp
from tritonx.runtime.compiling.sealed import (
    COMPILER,
    MANIFEST,
    SCHEMA,
    Compiler,
    Launches,
    Listed,
    Manifest,
    Winners,
    read_manifest,
)
from tritonx.runtime.compiling.sealed_files import INDEX, SealedFolder
from tritonx.runtime.compiling.sources import ASTSource, Path_
from tritonx.runtime.errors import TritonError
from tritonx.runtime.store.trusted_files import path_objection
from tritonx.runtime.tuning.case import module
from tritonx.tools import command
from tritonx.tools.sealing import wheel
from tritonx.tools.sealing.draws import closed
from tritonx.tools.sealing.members import Member, Sealed
from tritonx.tools.sealing.package import Entry, entries
from tritonx.tools.wrapped import unwrapped

DRAWS = 10_000
MOST = 4096

Found = list[tuple[Entry, list[Member]]]

Work = tuple[str, str, Mapping[str, object], Mapping[Path_, object], Mapping[Path_, object], Target, Options, str]
"""File, kernel, signature, constants, attributes, target, options, folder."""


def members(path: str, draws: int = DRAWS, seed: int = 0, most: int = MOST) -> Found:
    """What launches of the kernels that the file lists compile. `draws` launches of each are drawn, and have a member.
    Raises `Mistake`, also where there are more than `most`."""
    found: Found = []
    for entry in entries(path):
        count = entry.sealed.count()
        if count > most:
            raise command.Mistake(
                f"{entry.sealed.name} has {count} members, and --most is {most}: {_widest(entry.sealed)}"
            )
        found.append((entry, closed(entry.sealed, draws, seed)))
    return found


def _widest(sealed: Sealed) -> str:
    classes = sorted(sealed.classes().items(), key=lambda item: -item[1])[:3]
    return "the most different are " + ", ".join(f"{name} ({count})" for name, count in classes)


def seal(path: str, folder: str, workers: int | None = None, draws: int = DRAWS, most: int = MOST) -> Manifest:
    """Compile the members into `folder`, in `workers` processes (0: this one); returns what `sealed.json` holds, with
    what the folder had before.

    Raises `Mistake`, which names the member that does not compile."""
    return compiled(members(path, draws, 0, most), folder, workers)


def compiled(found: Found, folder: str, workers: int | None = None) -> Manifest:
    """As `seal`, of members that were found."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    absolute = os.path.abspath(folder)
    objection = path_objection(absolute)
    if objection is not None:
        raise command.Mistake(f"--out {folder}: code in it would not be loaded, because {objection}")
    work = [_work(entry, member, absolute) for entry, own in found for member in own]
    made = iter(_compile_all(work, [_shown(entry, member) for entry, own in found for member in own], workers))
    manifest = _manifest(absolute)
    for entry, own in found:
        name = entry.sealed.function.__name__
        listed = manifest["members"].setdefault(name, [])
        launches = manifest["launches"].setdefault(name, Launches(types={}, options=[], written=[], compared=[]))
        there = {each["key"] for each in listed}
        for member in own:
            codes = next(made)
            for code in codes:
                if code.key not in there:
                    there.add(code.key)
                    listed.append(Listed(key=code.key, description={**member.description, **code.differs}))
            _add_launches(launches, entry.sealed, member, codes[0])
        _add_winners(manifest, entry.sealed)
    command.write(Path(folder, INDEX), b"".join(_lines(absolute, manifest)), "--out")
    command.write(Path(folder, MANIFEST), json.dumps(manifest, indent=1), "--out")
    compiler = Compiler(key=compiler_key(), stamp=sources_stamp())
    command.write(Path(folder, COMPILER), json.dumps(compiler), "--out")
    return manifest


def _manifest(folder: str) -> Manifest:
    """What the folder has of this compiler, to which is added."""
    before = read_manifest(folder)
    if not isinstance(before, str) and before["compiler"] == compiler_key():
        return before
    return Manifest(schema=SCHEMA, compiler=compiler_key(), members={}, launches={}, winners={})


def _lines(folder: str, manifest: Manifest) -> Iterator[bytes]:
    """The index of the folder's members."""
    for name, listed in manifest["members"].items():
        for each in listed:
            with suppress(OSError, ValueError, LookupError, TritonError):  # what is damaged is told by its launch
                yield SealedFolder(each["key"], folder).line(f"{name[:FILE_NAME_LIMIT]}.json")


def _add_winners(manifest: Manifest, sealed: Sealed) -> None:
    """Those of the package, in front of those that the folder has."""
    if sealed.chosen is not None:
        name, given = f"{sealed.function.__name__} {sealed.function.cache_key}", sealed.chosen.winners
        before = manifest["winners"].get(name, Winners(chosen=[], fallback=None))
        chosen = given["chosen"] + [each for each in before["chosen"] if each not in given["chosen"]]
        manifest["winners"][name] = Winners(chosen=chosen, fallback=given["fallback"] or before["fallback"])


def _add_launches(launches: Launches, sealed: Sealed, member: Member, made: Made) -> None:
    """Add what is known of launches of one more member."""

    def add(there: list[str], names: Iterable[str]) -> None:
        there += [name for name in dict.fromkeys(names) if name not in there]

    for name, type_ in member.source.signature.items():
        if isinstance(type_, str):
            add(launches["types"].setdefault(name, []), [type_])
    add(launches["options"], (name for choice in sealed.choices for name in choice.options))
    add(launches["written"], made.written)
    add(launches["compared"], made.compared)


def _work(entry: Entry, member: Member, folder: str) -> Work:
    source = member.source
    return (entry.file, entry.sealed.name, source.signature, source.constants, source.attrs,
            member.target, member.options, folder)  # fmt: skip


@dataclass(frozen=True)
class Made:
    """Code of a member: its key, the parameters that it stores through, and those whose arrays are compared; in what
    its description differs from the member's."""

    key: str
    written: tuple[str, ...]
    compared: tuple[str, ...]
    differs: Mapping[str, str]


def compile_member(work: Work) -> tuple[Made, ...]:
    """In a process that compiles: one member, into the folder. Behind its code is that to which its launches turn where
    arguments overlap in part or are null, or do not tell how large their memory is (`CompiledKernel.substitutes`)."""
    file, name, signature, constants, attrs, target, options, folder = work
    kernel = cast("JITFunction", unwrapped(getattr(module(file), name))[1])
    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.dir, knobs.cache.max_bytes = folder, 0
        knobs.compilation.sealed = None
        return tuple(_made(compile_source(ASTSource(kernel, signature, constants, attrs), target, options), {}))


def _made(kernel: CompiledKernel, differs: Mapping[str, str]) -> Iterator[Made]:
    names = [parameter.name.partition(".")[0] for parameter in kernel.parameters]
    compared = () if kernel.checks_bounds else kernel.compared
    yield Made(kernel.hash, tuple(names[i] for i in kernel.written), tuple(names[i] for i in compared), differs)
    for options, other in kernel.substitutes():
        yield from _made(other, {**differs, **{f"{name}=": repr(value) for name, value in options.items()}})


def _compile_all(work: Sequence[Work], names: Sequence[str], workers: int | None) -> list[tuple[Made, ...]]:
    """What was compiled, in the order of the work. Raises `Mistake`."""
    count = min(len(work), (os.cpu_count() or 1) if workers is None else workers)
    made: dict[int, tuple[Made, ...]] = {}
    if count < 2:
        for number, each in enumerate(work):
            made[number] = _named(names[number], lambda each=each: compile_member(each))
            _progress(number + 1, len(work))
        return list(made.values())
    context, files = multiprocessing.get_context("spawn"), sorted({each[0] for each in work})
    with ProcessPoolExecutor(count, context, _import, (files,)) as pool:
        pending = {pool.submit(compile_member, each): number for number, each in enumerate(work)}
        try:
            for done, future in enumerate(as_completed(pending), 1):
                made[pending[future]] = _named(names[pending[future]], future.result)
                _progress(done, len(work))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [made[number] for number in range(len(work))]


def _import(files: Sequence[str]) -> None:
    """In a process that compiles, first: constants of what it is sent may be functions of these files."""
    for file in files:
        module(file)


def _named(name: str, make: Callable[[], tuple[Made, ...]]) -> tuple[Made, ...]:
    try:
        return make()
    except TritonError as error:
        raise command.Mistake(f"the member {name} does not compile: {error}") from error


def _shown(entry: Entry, member: Member) -> str:
    """The member in words: of its options those that the package or a tuner names."""
    named = {name for choice in entry.sealed.choices for name in choice.options}
    words = [
        f"{name}{word}" if name.endswith("=") else f"{name}: {word}"
        for name, word in member.description.items()
        if name != "target" and (not name.endswith("=") or name[:-1] in named)
    ]
    return f"{entry.sealed.name} for {member.target}: {', '.join(words)}"


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
    parser.add_argument("--wheel", metavar="NAME==VERSION", help="write the folder as a wheel, too")
    return parser


def _run(given: argparse.Namespace) -> int:
    if given.list and given.wheel is not None:
        raise command.Mistake(f"--list writes nothing, and --wheel {given.wheel} writes a wheel: give one of them")
    named = None if given.wheel is None else wheel.parse(given.wheel)
    if not given.list and os.path.exists(given.out) and not os.path.isdir(given.out):
        raise command.Mistake(f"--out {given.out}: it is no folder")
    try:
        found = members(given.package, given.draws, 0, given.most)
    except (KeyError, ValueError) as error:
        raise command.Mistake(f"package {given.package}: {error}") from None
    if given.list:
        for entry, own in found:
            print(*[_shown(entry, member) for member in own], sep="\n")
        return 0
    compiled(found, given.out, given.workers)
    for entry, own in found:
        _print_drawn(entry.sealed, len(own), given.draws)
    if named is not None:
        folder = Path(given.out).absolute()
        print(wheel.write(folder, *named, folder.parent).name)
    return 0


def _print_drawn(sealed: Sealed, count: int, draws: int) -> None:
    drawn = f"{draws} drawn launches have one" if draws else "no launch was drawn"
    print(f"{sealed.name}: {count} member{'s' * (count != 1)}; {drawn}")
    if sealed.without_winner:
        key = ", ".join(f"{name} = {value!r}" for name, value in sealed.without_winner.items())
        what = "refused" if sealed.fallback is None else "made with the fallback"
        print(f"{sealed.name}: launches without a winner, such as {key}, are {what}")
    for name, read in sealed.undrawn.items():
        print(
            f"{sealed.name}: {name} was not computed in these launches: its heuristic reads {read}, which is not "
            f"drawn; launches have a member where it computes a value that the package names"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx seal``; its exit status."""
    return command.run("tritonx seal", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
