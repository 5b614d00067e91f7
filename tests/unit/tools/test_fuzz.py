"""Every command, given what is wrong: exit status 2 and a line that names the argument, never a traceback.

A draw takes a call that is right and gives one of the command's options or files a bad value. The options are read off
the parsers, so that a new option is drawn too. ``TRITONX_TOOL_FUZZ=2000`` for as many draws of each command.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.tools.test_layout import BLOCKED
from tests.unit.tools.test_run import TEXT as TTGIR
from tritonx.runtime.cache import FileCacheManager
from tritonx.runtime.tuning import case
from tritonx.tools import cache, check, compile, layout, link, opt, run, seal, tune

DRAWS = int(os.environ.get("TRITONX_TOOL_FUZZ", "14"))
SECONDS = 60

KERNELS = """
import numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

tuned = tritonx.autotune([tritonx.Config({"BLOCK": 16})], key=["n"])(scale)

def tuning_inputs():
    yield (1,), (np.ones(16, np.float32), 16), {}

SEALED = [{"kernel": "scale", "targets": "cpu", "arguments": {"x": "*fp32:16", "n": [1, 16], "BLOCK": 16}}]
"""
PACKAGE = """
[[kernel]]
kernel = "scale"
file = "kernels.py"
arguments = { x = "*fp32:16", n = { range = [1, 4] }, BLOCK = 16 }
"""
TTIR = "module { tt.func public @k(%x: !tt.ptr<f32>, %n: i32) { tt.return } }\n"
KEY = "A" * 52


@dataclass(frozen=True)
class Tool:
    """A command: the calls that are right, and whether the contents of its input have a status of their own (1)."""

    name: str
    module: ModuleType
    calls: tuple[tuple[str, ...], ...]
    reports: bool = False

    def main(self, arguments: list[str]) -> int:
        return self.module.run(arguments) if self.module is opt else self.module.main(arguments)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("cache", cache, tuple(("--directory", "store", *c.split()) for c in (
            "info", "list", f"show {KEY}", f"show {KEY} ttir", "prune", "prune --max-bytes 1M", "clear"))),
        Tool("layout", layout, ((BLOCKED, "8x8"), (BLOCKED, "8x8", "--to", BLOCKED, "--bits", "16"))),
        Tool("run", run, (("k.ttgir", "in.npz"), ("k.ttgir", "in.npz", "--grid", "1,1"), ("k.ttgir", "--random", "1")),
             reports=True),
        Tool("opt", opt, (("k.ttir",), ("k.ttir", "-p", "fold,cse"), ("k.ttir", "--target", "cpu", "-t", "llir"),
                          ("k.ttir", "--target", "cuda:90", "--until", "ttgir"), ("--explain", "fold")), reports=True),
        Tool("check", check, (("kernels.py",), ("kernels.py:tuned", "--json", "--targets", "", "--draws", "2")),
             reports=True),
        Tool("link", link, (("scale.h", "--out", "all"),)),
        Tool("compile", compile, (
            ("kernels.py", "-n", "scale", "-s", "*fp32, i32, 16", "-g", "1,1,1", "-t", "cuda:80", "-o", "made"),)),
        Tool("seal", seal, (
            ("kernels.py", "--workers", "0", "-o", "made"), ("package.toml", "--list", "--draws", "5"))),
        Tool("tune", tune, (("kernels.py", "--workers", "0"), ("kernels.py:tuned", "--workers", "0"))),
    )
}  # fmt: skip


# What is wrong -------------------------------------------------------------------------------------------------------


def archive(arrays: dict[str, Any]) -> bytes:
    made = io.BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


def member(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as held:
        held.writestr(name, content)
    return made.getvalue()


GOOD = archive({"x": np.ones(128, np.float32), "o": np.ones(128, np.float32), "by": np.int32(3)})
ONES = np.ones(128, np.float32)
HEADER = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }"

FILES: dict[str, bytes] = {
    "empty": b"",
    "binary": bytes(range(256)) * 4,
    "zeros": bytes(1000),
    "not UTF-8": b"module {\xff\xfe}\n",
    "text": b"dear diary\n",
    "huge numbers": b"module attributes {a = " + b"9" * 6000 + b" : i32} {}\n",
    "cut off": GOOD[: len(GOOD) // 2],
    "a flipped byte": GOOD[:200] + bytes([GOOD[200] ^ 0x55]) + GOOD[201:],
    "pickled": archive({"x": np.array([{}], dtype=object)}),
    "a pickle": pickle.dumps(ONES),
    "one array": archive({"x": ONES})[40:],
    "no array within": member("x.npy", b"dear"),
    "no npy within": member("x.txt", b"dear"),
    "too many elements": member("x.npy", HEADER % b"99999999999999" + b" " * 20 + b"\n"),
    "more elements than memory": member("x.npy", HEADER % b"9" * 40),
    "other byte order": archive({"x": ONES.astype(">f4"), "o": ONES, "by": np.int32(3)}),
    "complex": archive({"x": ONES.astype(complex), "o": ONES, "by": np.int32(3)}),
    "times": archive({"x": np.zeros(128, "M8[s]"), "o": ONES, "by": np.int32(3)}),
    "records": archive({"x": np.zeros(128, [("a", "f4")]), "o": ONES, "by": np.int32(3)}),
    "text arrays": archive({"x": np.array(["a"] * 128), "o": ONES, "by": np.int32(3)}),
    "half a number": archive({"x": ONES, "o": ONES, "by": np.float64(1.5)}),
    "a number too large": archive({"x": ONES, "o": ONES, "by": np.int64(2**40)}),
    "no such argument": archive({"x": ONES, "o": ONES, "by": np.int32(3), "z": ONES}),
    "a directive": b"// tritonx-kernel: {" + b"[" * 5000 + b"\n",
    "raises": b"raise OSError('no')\n",
    "leaves": b"import sys; sys.exit(0)\n",
    "no Python": b"def (:\n",
    "inputs of no form": KERNELS.replace('yield (1,), (np.ones(16, np.float32), 16), {}', "yield 5").encode(),
    "inputs that raise": KERNELS.replace("    yield (1,)", "    1 / 0; yield (1,)").encode(),
}  # fmt: skip

VALUES = (
    "", "-1", "0", "1.5", "9" * 25, "9" * 5000, "1e400", "nan", "inf", "x", "=", "x=y",
    "x=", "=1", "a b", "%s %n",
    "{", "}", "[" * 3000, "-" * 3000 + "1", "((((", "'", '"', "\\", "\n", "a\nb", "\udcff",
    "\udcff=1", "é", "x" * 5000, "/",
    "..", ".", "cuda:99999", "cuda", "cuda:", ":", "::", "cpu:x", "nosuch:1", "hip:gfx1", "ttir", "ptx",
    "num_warps=3", "num_warps=0",
    "num_warps=" + "9" * 30, "num_warps=[1]", "num_stages=-5", "BLOCK=1", "fold{", "fold{a=}", "fold{a=1}", "nosuch",
    ",", ",,",
    "fold,,cse", "1,2,3,4", "0,0,0", "1,-1", "8x", "0x8", "-8x8", "999999x999999", "3x5",
    "#ttg.blocked<{", "#nosuch<1>",
    "n=1.5", "by=1.5", "by=99999999999999999999", "by=[1]", "by='a'", "by=None", "x=5", "by=1j", "by=__import__('os')",
    "/nonexistent/file", "folder", "nosuch.py:k", "kernels.py:", "kernels.py:nosuch", "*fp32", "*fp32, i32, 3",
    "*fp99, i32, 16", "i32, i32, 16", "*fp32:7, i32, 16", "*fp32, i32, x", "1,1", "1,1,1\n}", "A" * 60,
)  # fmt: skip


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Whatever the calls name, right and wrong."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "kernels.py").write_text(KERNELS)
    args = compile.CompileArgs(
        str(folder / "kernels.py"), "scale", "*fp32, i32, 16", "1,1,1", "cuda:80", out_path=folder / "h"
    )
    [_, header] = compile.compile_kernel(args)[1]
    right = {"k.ttgir": TTGIR.encode(), "k.ttir": TTIR.encode(), "in.npz": GOOD, "kernels.py": KERNELS.encode(),
             "package.toml": PACKAGE.encode()}  # fmt: skip
    wrong = {f"{name}.{suffix}": text for name, text in FILES.items() for suffix in ("ttgir", "npz", "py", "h")}
    return {**right, **wrong, "scale.h": header.read_bytes(), "unreadable": b""}


@pytest.fixture(autouse=True)
def inside(contents: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with all files, in which a command may write."""
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "unreadable").chmod(0)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITONX_BACKEND", "cpu")
    monkeypatch.setattr(sys, "path", list(sys.path))
    case.module.cache_clear()
    case.launches.cache_clear()
    stock(tmp_path / "store")


def stock(store: Path) -> None:
    """A cache with one entry, that of a kernel."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITONX_CACHE_DIR", str(store))
        manager = FileCacheManager(KEY)
        group = {f"k.{s}": manager.put('{"a": 1}', f"k.{s}") for s in ("json", "ttir")}
        manager.put_group("k.json", group)


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All options and arguments of a command, those of its own commands too."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                found += [_of(name, inner) for inner in options_of(sub)]
        elif action.dest != "help":
            found.append(action)
    return found


def _of(command: str, action: argparse.Action) -> argparse.Action:
    action.command = command  # type: ignore[attr-defined]
    return action


class _TooSlow(BaseException):
    pass


@contextlib.contextmanager
def within(seconds: int) -> Generator[None]:
    def stop(*_: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def status_of(tool: Tool, arguments: list[str]) -> int:
    try:
        return tool.main(arguments)
    except SystemExit as left:  # as argparse ends a command
        return 0 if left.code is None else int(left.code)


def called(tool: Tool, arguments: list[str], stdin: bytes = b"") -> tuple[int, str]:
    """The exit status and standard error of a command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), errors="surrogateescape"), io.StringIO()
    given, sys.stdin = sys.stdin, SimpleNamespace(buffer=io.BytesIO(stdin))  # type: ignore[assignment]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), within(SECONDS):
            status = status_of(tool, arguments)
    except (Exception, _TooSlow):
        return -1, ascii(traceback.format_exc())
    finally:
        sys.stdin = given
    return status, err.getvalue().encode(errors="backslashreplace").decode()


def changed(rng: random.Random, tool: Tool) -> tuple[list[str], tuple[str, ...]]:
    """A call with something wrong, and the names of which a message has to have one."""
    call = list(rng.choice(tool.calls))
    files = [f"{name}.{suffix}" for name in FILES for suffix in ("ttgir", "npz", "py", "h")]
    bad = rng.choice((rng.choice(VALUES), rng.choice(files), rng.choice(("unreadable", "folder", "nosuch"))))
    if rng.random() < 0.35:  # in place of what is there
        places = [i for i, each in enumerate(call) if not each.startswith("-")]
        at = rng.choice(places)
        call[at] = bad
        before = call[at - 1] if at else ""
        named = [each for each in options_of(tool.module.argument_parser()) if not each.option_strings]
        named += [each for each in options_of(tool.module.argument_parser()) if before in each.option_strings]
        return call, (bad, before, "argument", *(each.dest for each in named))
    action = rng.choice(options_of(tool.module.argument_parser()))
    of_command = getattr(action, "command", None)
    if of_command is not None:
        call = [*call[:2], of_command]
    if not action.option_strings:
        return [*call, bad], (bad, action.dest, "argument")
    option = rng.choice(action.option_strings)
    if action.nargs == 0:
        return [*call, rng.choice((option, f"{option}={bad}"))], (option, *action.option_strings)
    given = [option, bad] if rng.random() < 0.5 else [f"{option}={bad}"]
    return [*call, *given], (bad, action.dest, *action.option_strings)


def _shown(text: str) -> Iterator[str]:
    """The beginning of what a message shows of it, as it is and as in quotes: of NAME=VALUE the name, of lines the
    first, of an empty text its quotes or (of a path) the folder, of TARGET:STAGE the stage in quotes, of blanks nothing
    that could be looked for."""
    if not text:
        yield from (".", "''")
        return
    shown = text.encode(errors="backslashreplace").decode().strip().partition("\n")[0]
    begin = (shown.partition("=")[0] or shown)[:5]
    yield from (begin, repr(begin)[1:-1], f"'{shown.rpartition(':')[2]}'")


@pytest.mark.parametrize(("name", "draw"), [(name, draw) for name in TOOLS for draw in range(DRAWS)])
def test_mistakes_are_told(name: str, draw: int) -> None:
    tool = TOOLS[name]
    rng = random.Random(f"{os.environ['TRITONX_SEED']} {name} {draw}")
    for _ in range(1 if tool.module in (check, compile, seal, tune) else 4):
        arguments, named = changed(rng, tool)
        status, said = called(tool, arguments, rng.choice(list(FILES.values())))
        told = f"{name} {ascii(arguments)[:400]}: {status}, {said}"
        assert "Traceback" not in said and "internal error" not in said, told
        assert status in ((0, 1, 2) if tool.reports else (0, 2)), told
        if status == 2:
            assert any(text in said for each in named for text in _shown(each)), told


@pytest.mark.parametrize("name", TOOLS)
def test_calls_that_are_right(name: str) -> None:
    for call in TOOLS[name].calls:
        status, said = called(TOOLS[name], list(call))
        assert status == 0, said


@pytest.mark.parametrize("name", TOOLS)
def test_every_option_is_drawn(name: str) -> None:
    """And has a line of help, which is printed without an error."""
    actions = options_of(TOOLS[name].module.argument_parser())
    assert actions
    assert called(TOOLS[name], ["--help"])[0] == 0
    assert called(TOOLS[name], ["--no-such-option"])[0] == 2
    for action in actions:
        if action.option_strings and action.nargs != 0 and not hasattr(action, "command"):
            status, said = called(TOOLS[name], [*TOOLS[name].calls[0], action.option_strings[0]])
            assert status == 2 and action.option_strings[0] in said


NAMED: list[tuple[str, list[str], str]] = [
    ("cache", ["--directory", "nosuch", "info"], "--directory"),
    ("cache", ["--directory", "store", "prune", "--max-bytes", "9" * 400], "--max-bytes"),
    ("cache", ["--directory", "store", "show", "nosuch"], "nosuch"),
    ("cache", ["--directory", "store", "clear", "--yes-remove", "folder"], "--yes-remove"),
    ("layout", [BLOCKED, "8by8"], "shape"),
    ("layout", [BLOCKED, "999999x999999"], "shape"),
    ("layout", ["#ttg.blocked<{", "8x8"], "encoding"),
    ("layout", [BLOCKED, "8x8", "--to", "#nosuch"], "--to"),
    ("layout", [BLOCKED, "8x8", "--bits", "-1"], "--bits"),
    ("layout", [BLOCKED, "8x8", "--svg", "nosuch/a.svg"], "--svg"),
    ("run", ["nosuch", "in.npz"], "nosuch"),
    ("run", ["folder", "in.npz"], "folder"),
    ("run", ["k.ttgir", "cut off.npz"], "cut off.npz"),
    ("run", ["k.ttgir", "pickled.npz"], "pickled.npz"),
    ("run", ["k.ttgir", "a flipped byte.npz"], "a flipped byte.npz"),
    ("run", ["k.ttgir", "other byte order.npz"], "argument x "),
    ("run", ["k.ttgir", "complex.npz"], "argument x "),
    ("run", ["k.ttgir", "times.npz"], "argument x "),
    ("run", ["k.ttgir", "records.npz"], "argument x "),
    ("run", ["k.ttgir", "text arrays.npz"], "argument x "),
    ("run", ["k.ttgir", "half a number.npz"], "argument by "),
    ("run", ["k.ttgir", "a number too large.npz"], "argument by "),
    ("run", ["k.ttgir", "in.npz", "--set", "by=1.5"], "argument by "),
    ("run", ["k.ttgir", "in.npz", "--set", "by=" + "-" * 5000 + "1"], "--set"),
    ("run", ["k.ttgir", "in.npz", "--grid", "99999999999"], "--grid"),
    ("run", ["k.ttgir", "in.npz", "--save", "nosuch/x.npz"], "--save"),
    ("run", ["k.ttgir", "in.npz", "--timeline", "folder"], "--timeline"),
    ("run", ["k.ttgir", "--random", "-1"], "--random"),
    ("opt", ["nosuch"], "nosuch"),
    ("opt", ["folder"], "folder"),
    ("opt", ["binary.npz"], "binary.npz"),
    ("opt", ["k.ttir", "--target", "nosuch:1"], "nosuch"),
    ("opt", ["k.ttir", "--target", "cuda:99999"], "cuda:99999"),
    ("opt", ["k.ttir", "-p", "nosuch"], "nosuch"),
    ("opt", ["k.ttir", "-o", "nosuch/x"], "--output"),
    ("opt", ["k.ttir", "--target", "cpu", "--option", "x"], "option"),
    ("link", ["nosuch.h", "-o", "all"], "nosuch.h"),
    ("link", ["not UTF-8.h", "-o", "all"], "not UTF-8.h"),
    ("link", ["scale.h", "-o", "nosuch/all"], "--out"),
    ("link", ["scale.h", "-o", ""], "--out"),
    ("check", ["nosuch.py"], "nosuch.py"),
    ("check", ["inputs that raise.py"], "inputs that raise.py:12: ZeroDivisionError"),
    ("check", ["kernels.py:nosuch"], "nosuch"),
    ("check", ["kernels.py", "--inputs", "nosuch"], "--inputs"),
    ("check", ["kernels.py", "--targets", "nosuch:1"], "--targets"),
    ("check", ["kernels.py", "--seconds", "0"], "--seconds"),
    ("compile", ["raises.py", "-n", "scale", "-s", "", "-g", "1,1,1"], "raises.py:1: OSError"),
    ("compile", ["leaves.py", "-n", "scale", "-s", "", "-g", "1,1,1"], "leaves.py:1: SystemExit"),
    ("compile", ["no Python.py", "-n", "scale", "-s", "", "-g", "1,1,1"], "no Python.py:1: SyntaxError"),
    ("seal", ["nosuch.toml"], "nosuch.toml"),
    ("seal", ["k.ttir"], "k.ttir"),
    ("seal", ["raises.py"], "raises.py:1: OSError"),
    ("seal", ["not UTF-8.py"], "not UTF-8.py"),
    ("seal", ["empty.py"], "SEALED"),
    ("seal", ["kernels.py", "-o", "k.ttir"], "--out"),
    ("seal", ["kernels.py", "--most", "1"], "--most"),
    ("tune", ["nosuch.py"], "nosuch.py"),
    ("tune", ["inputs that raise.py"], "inputs that raise.py:12: ZeroDivisionError"),
    ("tune", ["inputs of no form.py"], "inputs of no form.py"),
    ("tune", ["kernels.py", "--html", "nosuch/x"], "--html"),
    ("tune", ["kernels.py", "--workers", "-1"], "--workers"),
]


@pytest.mark.parametrize(("name", "arguments", "named"), NAMED)
def test_the_line_names_the_argument(name: str, arguments: list[str], named: str) -> None:
    status, said = called(TOOLS[name], arguments)
    assert status == 2 and named in said and "Traceback" not in said, said


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
@pytest.mark.parametrize(("name", "call"), [("opt", ["unreadable"]), ("link", ["unreadable", "-o", "all"])])
def test_files_that_may_not_be_read(name: str, call: list[str]) -> None:
    status, said = called(TOOLS[name], call)
    assert status == 2 and "unreadable" in said


class _Raising(io.TextIOBase):
    """Standard output that cannot be written."""

    def __init__(self, error: Callable[[], BaseException]) -> None:
        self.error = error

    def write(self, text: str) -> int:
        raise self.error()

    def fileno(self) -> int:
        raise OSError


ENDINGS: dict[str, tuple[Callable[[], BaseException], int]] = {
    "the reader has gone": (BrokenPipeError, 141),
    "the disk is full": (lambda: OSError(errno.ENOSPC, "No space left on device"), 2),
    "Ctrl-C": (KeyboardInterrupt, 130),
}
SAYING = {**TOOLS, "run": Tool("run", run, (("k.ttgir", "--random", "1", "--timeline", "-"),))}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", TOOLS)
def test_output_that_cannot_be_written(name: str, ending: str) -> None:
    error, wanted = ENDINGS[ending]
    err = io.StringIO()
    with contextlib.redirect_stdout(_Raising(error)), contextlib.redirect_stderr(err):
        assert SAYING[name].main(list(SAYING[name].calls[0])) == wanted
    assert "Traceback" not in err.getvalue() and "internal" not in err.getvalue()


@pytest.mark.parametrize("name", TOOLS)
def test_closed_streams(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, stream, None)
    assert SAYING[name].main(list(SAYING[name].calls[0])) == 0
    assert status_of(SAYING[name], [*SAYING[name].calls[0][:-1], "\udcff\udcfe.x"]) in (0, 2)


@pytest.mark.parametrize("name", sorted(set(TOOLS) - {"tune"}))
def test_in_a_shell(name: str) -> None:
    """As it is installed: streams that are closed, full and left; standard output has its buffer."""
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "tritonx", name, *SAYING[name].calls[0]]
    for redirection, wanted in ((">&-", 0), ("| true; exit ${PIPESTATUS[0]}", None), (">/dev/full", 2)):
        done = subprocess.run(
            ["bash", "-c", f'"$@" {redirection}', "bash", *command],
            env=buffered,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
        assert done.returncode in ((0, 141) if wanted is None else (wanted,)), (redirection, done)
