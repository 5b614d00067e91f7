"""The folder of `tritonx seal`: what a refusal says of it, what is added to it, and what a process reads of it."""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.unit.tools.test_seal import run
from tests.unit.tools.test_seal_launches import PLAIN, X, package
from tritonx.runtime import knobs
from tritonx.runtime.compiling import keys
from tritonx.runtime.compiling.sealed_files import INDEX
from tritonx.runtime.errors import NotSealed
from tritonx.runtime.tuning.case import module
from tritonx.tools import seal
from tritonx.tools.command import Mistake

N = {"n": [8]}


@pytest.fixture
def folder(tmp_path: Path):
    """A sealed folder, in use."""
    made = tmp_path / "sealed"
    seal.seal(package(tmp_path, PLAIN, X | N), str(made), workers=0)
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        knobs.compilation.sealed = str(made)
        yield made


def refused(folder: Path) -> str:
    """What the launch raises. It warns of nothing, and removes nothing."""
    before = sorted(folder.rglob("*"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotSealed) as found:
            module(str(folder.parent / "kernels.py")).k[(1,)](np.zeros(8, np.float32), 8)
    assert sorted(folder.rglob("*")) == before
    return str(found.value)


@pytest.mark.parametrize("how", ["garbage", "deleted", *["others can write"] * hasattr(os, "geteuid")])
def test_damaged_files(how: str, folder: Path) -> None:
    for code in folder.glob("*/k.obj"):
        if how == "garbage":
            code.write_bytes(b"garbage")
        elif how == "deleted":
            code.unlink()
        else:
            code.chmod(0o666)
    said = refused(folder)
    assert said.startswith("k was sealed for this launch, but its files in ")
    assert said.endswith("are missing, damaged or such as others can write: seal again")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners and modes here")
def test_a_folder_that_others_can_write(folder: Path) -> None:
    folder.chmod(0o777)
    assert "because" in refused(folder) and "can be written by everybody (mode 0777)" in refused(folder)
    with pytest.raises(Mistake, match=r"code in it would not be loaded, because .* can be written by everybody"):
        seal.seal(str(folder.parent / "kernels.py"), str(folder), workers=0)


MANIFESTS = [
    ("{}", "has schema None, and this version of tritonx reads 3: seal again"),
    ('{"schema": 1, "compiler": "", "members": {}}', "has schema 1"),
    ('{"schema": 3, "compiler": "", "members": {"k": [{}]}, "launches": {}}', "is damaged: seal again"),
    ('{"schema": 3, "compiler": "", "members": 5, "launches": {}}', "is damaged: seal again"),
    ('{"schema": 3, "compiler": "", "members": {"k": []}}', "is damaged: seal again"),
    ('{"schema": 3, "compiler": "", "members": {}, "launches": {"k": {"types": {"n": [5]}}}}', "is damaged"),
    ("[]", "has schema None"),
    ("{", "cannot be read"),
]


@pytest.mark.parametrize(("text", "said"), MANIFESTS)
def test_what_is_no_manifest(text: str, said: str, folder: Path) -> None:
    for entry in folder.glob("*/*"):
        entry.unlink()
    (folder / "sealed.json").write_text(text)
    assert f"k is not loaded from {folder}: its sealed.json {said}" in refused(folder)


def test_another_text_of_the_kernel(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    package(other, PLAIN.replace("store(x, n)", "store(x, n + 1)"), X | N)
    with pytest.raises(NotSealed, match=r"k has no member in .* of this source: the kernel's text"):
        module(str(other / "kernels.py")).k[(1,)](np.zeros(8, np.float32), 8)


def test_a_second_package_is_added(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    added = package(other, PLAIN.replace("def k", "def second"), X | N, kernel="second")
    for _ in range(2):  # what is there is not listed again; each member has code for arguments that overlap, too
        manifest = seal.seal(added, str(folder), workers=0)
        assert {name: len(members) for name, members in manifest["members"].items()} == {"k": 2, "second": 2}
    x = np.zeros(8, np.float32)
    module(str(tmp_path / "kernels.py")).k[(1,)](x, 8)
    module(added).second[(1,)](x[4:], 8)
    assert x[0] == x[4] == 8


FAILS = """
@tritonx.jit
def k(x, B: tl.constexpr, C: tl.constexpr):
    tl.static_assert(B <= C)
    tl.store(x, B)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_member_that_does_not_compile_is_named(workers: int, tmp_path: Path) -> None:
    path = package(tmp_path, FAILS, X | {"B": [16, 32], "C": [16, 32]})
    said = r"the member k for cpu: x: \*fp32, multiple of 16, B: 32, C: 16 does not compile: "
    with pytest.raises(Mistake, match=said):
        seal.seal(path, str(tmp_path / "sealed"), workers=workers)


CALLS = """
@tritonx.jit
def twice(n):
    return n * 2

@tritonx.jit
def k(x, n, F: tl.constexpr, T: tl.constexpr):
    tl.store(x, F(n).to(T))
"""


def test_constants_that_are_functions(tmp_path: Path) -> None:
    """They are functions of the package's file in the processes that compile too."""
    path = Path(package(tmp_path, CALLS, X | N))
    text = path.read_text()
    path.write_text(text + 'SEALED[0]["arguments"] |= {"F": [twice], "T": [tl.float32, tl.int32]}\n')
    seal.seal(str(path), str(tmp_path / "sealed"), workers=2)
    program = "import numpy as np, tritonx.language as tl\nfrom kernels import k, twice\nx = np.zeros(4, np.float32)\n"
    launches = "k[(1,)](x, 8, twice, tl.float32)\nprint(x[0])\nk[(1,)](x, 8, twice, tl.int64)\n"
    (tmp_path / "program.py").write_text(program + launches)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stdout == "16.0\n", done.stderr
    said = "for argument T = triton.language.int64: sealed are triton.language.float32; triton.language.int32\n"
    assert done.stderr.endswith(said)


def test_a_kernel_is_listed_twice(tmp_path: Path) -> None:
    """So combinations are left out that do not compile."""
    path = Path(package(tmp_path, FAILS, X | {"B": [16], "C": [16, 32]}))
    entry = {"kernel": "k", "targets": ["cpu"], "arguments": X | {"B": [32], "C": [32]}}
    path.write_text(path.read_text() + f"SEALED.append({entry!r})\n")
    members = seal.seal(str(path), str(tmp_path / "sealed"), workers=0)["members"]["k"]
    assert [each["description"]["irregular="] for each in members] == ["False", "True"] * 3


def test_listed_members_tell_their_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, PLAIN, X | N, options={"num_warps": [2, 4]})
    assert seal.main([path, "--list"]) == 0
    line = "k for cpu: x: *fp32, multiple of 16, n: i32, multiple of 8, num_warps={}"
    assert capsys.readouterr().out.splitlines() == [line.format(2), line.format(4)]


def test_what_writes_nothing_writes_no_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path, PLAIN, X | N)
    assert seal.main([path, "--list", "--wheel", "mine==1.0"]) == 2
    assert "--list writes nothing, and --wheel mine==1.0 writes a wheel" in capsys.readouterr().err


def test_options_that_the_backend_does_not_have(tmp_path: Path) -> None:
    path = package(tmp_path, PLAIN, X | N, options={"nope": [3]})
    with pytest.raises(Mistake, match=r"k: options nope = 3: Keyword argument nope was specified but unrecognised$"):
        seal.members(path)


def test_constants_are_counted_not_made(tmp_path: Path) -> None:
    path = package(tmp_path, FAILS, X | {"B": {"range": [1, 10**12]}, "C": [1]})
    with pytest.raises(Mistake, match="k has 1000000000000 members, and --most is 4096"):
        seal.members(path)


PROGRAM = """
import os
import numpy as np
from tritonx.runtime.compiling import keys
from tritonx.runtime.compiling.sealed_files import INDEX

os.chdir("elsewhere")

def _add_sources(*given):
    raise AssertionError("the compiler's sources are read")

keys._add_sources = _add_sources
from kernels import k
x = np.zeros(8, np.float32)
k[(1,)](x, 8)
print(x[0])
"""


def test_a_relative_folder_and_the_compilers_key(tmp_path: Path) -> None:
    """A program that goes elsewhere finds its folder, and reads none of tritonx's sources for the key."""
    seal.seal(package(tmp_path, PLAIN, X | N), str(tmp_path / "sealed"), workers=0)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "program.py").write_text(PROGRAM)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stdout == "8.0\n", done.stderr
    stored = json.loads((tmp_path / "sealed" / "compiler.json").read_text())
    (tmp_path / "sealed" / "compiler.json").write_text(json.dumps({**stored, "stamp": "another"}))
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stderr.endswith("AssertionError: the compiler's sources are read\n")


@pytest.fixture
def _keys_made_again():
    made = (keys.compiler_key, keys.sources_stamp)
    for each in made:
        each.cache_clear()
    yield
    for each in made:
        each.cache_clear()


@pytest.mark.usefixtures("_keys_made_again")
def test_a_recorded_key_is_for_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another content, size or time, or one more file: it is no longer taken."""
    monkeypatch.setattr(keys, "_root", lambda: tmp_path)
    monkeypatch.setattr(keys, "_recorded", {})
    file = tmp_path / "a.py"
    file.write_text("a = 1\n")
    status = file.stat()
    keys.record_compiler_key(keys.sources_stamp(), "recorded")

    def taken() -> bool:
        keys.compiler_key.cache_clear()
        keys.sources_stamp.cache_clear()
        return keys.compiler_key() == "recorded"

    assert taken()
    file.write_text("a = 10\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not taken()
    file.write_text("a = 1\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert not taken()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert taken()
    (tmp_path / "b.py").write_text("")
    assert not taken()


STARTED = """
import sys
import numpy as np
from kernels import k

x, before = np.zeros(8, np.float32), set(sys.modules)
k[(1,)](x, 8)
print(x[0], sorted(set(sys.modules) - before), {"xdsl", "llvmlite", "subprocess"} & set(sys.modules))
"""


def test_a_first_launch_imports_nothing(tmp_path: Path) -> None:
    """All of it was loaded when the kernel was declared, without the compiler."""
    seal.seal(package(tmp_path, PLAIN, X | N), str(tmp_path / "sealed"), workers=0)
    (tmp_path / "program.py").write_text(STARTED)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stdout == "8.0 [] set()\n", done.stderr


WRITTEN = """
import sys
import numpy as np
from kernels import k

x, y, called = np.zeros(8, np.float32), np.zeros(8, np.float32), []

def hear(frame, event, what):
    if event == "c_call" and what.__name__ in ("compile", "__build_class__"):
        called.append(what.__name__)
    if event == "call" and frame.f_code.co_name == "find_dependencies":
        called.append("find_dependencies")

first, second = (int(n) for n in sys.argv[1].split())
for n in (first, second):
    sys.setprofile(hear)
    k[(1,)](x, n, *[y][: len(sys.argv) - 2], num_warps=2)
    sys.setprofile(None)
    print(x[0], called)
"""


COPIES = """
@tritonx.jit
def k(x, n, y):
    at = tl.arange(0, 8)
    tl.store(x + at, tl.load(y + at) + n)
"""


@pytest.mark.parametrize(("text", "others"), [(PLAIN, {}), (COPIES, {"y": "*fp32:16"})])
def test_a_first_launch_writes_no_code(text: str, others: dict[str, object], tmp_path: Path) -> None:
    """The launch was written when the kernel was declared, for such arguments, and its source's digest was found: for
    a kernel whose arrays are compared with each other too. Another member needs none of this either."""
    given = X | {"n": [7, 16]} | others
    seal.seal(package(tmp_path, text, given, options={"num_warps": [2]}), str(tmp_path / "sealed"), workers=0)
    (tmp_path / "program.py").write_text(WRITTEN)
    for order in ("7 16", "16 7"):
        done = run(tmp_path, "program.py", order, *others, TRITONX_SEALED="sealed")
        assert done.stdout == "".join(f"{n}.0 []\n" for n in order.split()), done.stderr


COUNTED = """
import os, sys
import numpy as np
from kernels import k

x, opened, called, on = np.zeros(8, np.float32), [], [], []

def audit(event, given):
    if on and event == "open":
        opened.append(os.path.basename(str(given[0])))

def hear(frame, event, what):
    if event == "call":
        called.append(frame.f_code.co_filename)

sys.addaudithook(audit)
for n in (7, 16):
    on.append(n)
    sys.setprofile(hear)
    k[(1,)](x, n, num_warps=2)
    sys.setprofile(None)
    on.clear()
    print(*opened, len(called), sum(each.endswith("elf.py") for each in called))
    opened.clear()
    called.clear()
"""


def test_a_first_launch_reads_one_file(tmp_path: Path) -> None:
    """The member's code; all else that a launch needs to know of members was read when the kernel was declared. Python
    functions are counted, which are most of what a first launch takes: 2,000 were called before there was an index."""
    seal.seal(package(tmp_path, PLAIN, X | {"n": [7, 16]}, options={"num_warps": [2]}), str(tmp_path / "sealed"), 0)
    (tmp_path / "program.py").write_text(COUNTED)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert not done.stderr
    for line in done.stdout.splitlines():
        file, called, linking = line.split()
        assert file == "k.obj"
        assert 0 < int(linking) < int(called) < 900
    (tmp_path / "sealed" / INDEX).unlink()
    without = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert [line.split()[:-2] for line in without.stdout.splitlines()] == [["__grp__k.json", "k.json", "k.obj"]] * 2


def test_an_index_that_was_cut(tmp_path: Path) -> None:
    """The member's own files say what a line of it would, as they do where others can write it."""
    seal.seal(package(tmp_path, PLAIN, X | N), str(tmp_path / "sealed"), workers=0)
    (tmp_path / "program.py").write_text(STARTED)
    index = tmp_path / "sealed" / INDEX
    whole = index.read_bytes()
    for text, mode in ((whole[:-1], 0o600), (whole.replace(b'"k.obj"', b'"other"'), 0o666), (b"", 0o600)):
        index.write_bytes(text)
        index.chmod(mode)
        done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
        assert done.stdout == "8.0 [] set()\n", done.stderr


def test_other_texts_of_a_member_are_checked(folder: Path) -> None:
    """They are read when a program asks for them."""
    for text in folder.glob("*/k.ttir"):
        text.write_text("module {}")
    kernel = module(str(folder.parent / "kernels.py")).k[(1,)](np.zeros(8, np.float32), 8)
    assert "define" in kernel.asm["llir"]
    with pytest.raises(OSError, match=r"k\.ttir has 9 bytes, not \d+"):
        _ = kernel.asm["ttir"]


LATE = """
@tritonx.jit
def k(x, n):
    tl.store(x, late(n) + SIZE)

SIZE = tl.constexpr(100)

@tritonx.jit
def late(n):
    return n * 2
"""


def test_names_that_are_defined_behind_the_kernel(tmp_path: Path) -> None:
    """They are part of the digest of its source, which was looked for in front of them."""
    text = LATE.replace("@tritonx.jit\ndef k", "SIZE = tl.constexpr(1)\n\n@tritonx.jit\ndef k")
    seal.seal(package(tmp_path, text, X | N), str(tmp_path / "sealed"), workers=0)
    (tmp_path / "program.py").write_text(STARTED)
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed")
    assert done.stdout == "116.0 [] set()\n", done.stderr


def test_a_wheel(tmp_path: Path) -> None:
    """What pip would install is taken by its name; two wheels of a folder are the same."""
    line = [package(tmp_path, PLAIN, X | N), "-o", str(tmp_path / "sealed"), "--workers", "0", "--draws", "0"]
    made = tmp_path / "my_kernels-1.0-py3-none-any.whl"
    contents: list[bytes] = []
    for _ in range(2):
        assert seal.main([*line, "--wheel", "my_kernels==1.0"]) == 0
        (tmp_path / "sealed" / "notes").mkdir(exist_ok=True)  # of the user, and not for others
        (tmp_path / "sealed" / "notes" / "secret.txt").write_text("mine")
        contents.append(made.read_bytes())
    assert contents[0] == contents[1]
    with zipfile.ZipFile(made) as archive:
        archive.extractall(tmp_path)
        assert "Requires-Dist: tritonx==" in archive.read("my_kernels-1.0.dist-info/METADATA").decode()
    (tmp_path / "program.py").write_text(STARTED)
    done = run(tmp_path, "program.py", TRITONX_SEALED="package:my_kernels")
    assert done.stdout == "8.0 [] set()\n", done.stderr
    done = run(tmp_path, "program.py", TRITONX_SEALED="package:no_kernels")
    assert "expected the name of an installed package behind package:, got 'no_kernels'" in done.stderr
    for name in ("my-kernels", "sys==1.0", "class==1.0", "tritonx==1.0"):
        assert seal.main([*line, "--wheel", name]) == 2


LAUNCHER = """
import sys
from tritonx.backends.nvidia.launch.launcher_builtin import object_file

print(len(object_file()) > 1000, {"xdsl", "llvmlite"} & set(sys.modules))
"""


def test_what_launches_of_a_gpu_need_is_in_the_folder(tmp_path: Path) -> None:
    """The launcher's code as well, which is not compiled again where the cache is empty."""
    package(tmp_path, PLAIN, X | N, targets=["cuda:90"])
    done = run(tmp_path, "-m", "tritonx", "seal", "kernels.py", "-o", "sealed")
    assert done.returncode == 0, done.stderr
    (tmp_path / "program.py").write_text(LAUNCHER)
    sealed = run(tmp_path, "program.py", TRITONX_SEALED="sealed", TRITONX_CACHE_DIR=str(tmp_path / "empty"))
    assert sealed.stdout == "True set()\n", sealed.stderr
    assert not (tmp_path / "empty").exists() or not any((tmp_path / "empty").iterdir())
