"""A sealed program takes kernels from several folders, from those for its target alone, or from the cache; and what a
member costs to compile."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

import numpy as np
import pytest

import tritonx
from tests.unit.tools import sealed_launches
from tests.unit.tools.sealed_kernels import HEAD, kernels
from tests.unit.tools.test_seal import SEED, SHARE, run
from tests.unit.tools.test_seal_launches import PLAIN, X, package
from tritonx.runtime import knobs
from tritonx.runtime.errors import NotSealed
from tritonx.runtime.tuning.case import module
from tritonx.tools import seal

TWO = """
import sys
import numpy as np
from one.kernels import k as first
from two.kernels import k as second

x = np.zeros(8, np.float32)
for kernel, n in ((first, 8), (second, 4), (first, 4), (second, 8)):
    kernel[(1,)](x, n)
    print(x[0], end=" ")
print({"xdsl", "llvmlite"} & set(sys.modules))
first[(1,)](x, 7)
"""


def two_packages(folder: Path) -> None:
    """Two kernels of one name with other texts, sealed for the integers 4 and 8, and packed as wheels."""
    for name, value in (("one", "n"), ("two", "n * 10")):
        inside = folder / name
        inside.mkdir()
        (inside / "__init__.py").write_text("")
        path = package(inside, PLAIN.replace("tl.store(x, n)", f"tl.store(x, {value})"), X | {"n": [4, 8]})
        line = [path, "-o", str(folder / f"sealed {name}"), "--workers", "0", "--draws", "0"]
        assert seal.main([*line, "--wheel", f"kernels_{name}==1.0"]) == 0
    (folder / "program.py").write_text(TWO)


def test_two_packages_in_one_process(tmp_path: Path) -> None:
    """As folders, in either order, and as a package beside a folder; a launch that neither has is refused by both."""
    import zipfile

    two_packages(tmp_path)
    with zipfile.ZipFile(tmp_path / "kernels_one-1.0-py3-none-any.whl") as archive:
        archive.extractall(tmp_path)
    for named in (("sealed one", "sealed two"), ("sealed two", "sealed one"), ("package:kernels_one", "sealed two")):
        done = run(tmp_path, "program.py", TRITONX_SEALED=os.pathsep.join(named))
        assert done.stdout == "8.0 40.0 4.0 80.0 set()\n", done.stderr
        refusal = done.stderr.splitlines()[-1]
        assert "NotSealed: k has no member in" in refusal and refusal.count("for argument n = i32: sealed are") == 2
    done = run(tmp_path, "program.py", TRITONX_SEALED="sealed two")
    assert "NotSealed: k has no member in" in done.stderr and "of this source" in done.stderr


def test_a_folder_for_another_architecture(tmp_path: Path) -> None:
    """The error names the target of the launch and those that were sealed, and no option that only follows from it."""
    path = package(tmp_path, PLAIN, X | {"n": [8]}, targets=["cuda:80", "hip:gfx942"])
    seal.seal(path, str(tmp_path / "sealed"), workers=0)
    kernel, x = module(path).k, np.zeros(8, np.float32)
    with knobs.compilation.scope(), knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        knobs.compilation.sealed = str(tmp_path / "sealed")
        where = re.escape(knobs.compilation.sealed)
        with pytest.raises(NotSealed, match=f"k has no member in {where} for cpu, .*: sealed are cuda:80, hip:gfx942$"):
            kernel[(1,)](x, 8)
        source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32", "n": "i32"}, {}, {(0,): [["tt.divisibility", 16]]})
        for asked in ("cuda:90", "hip:gfx950"):
            with pytest.raises(NotSealed, match=f"for {asked}, .*: sealed are cuda:80, hip:gfx942$"):
                tritonx.compile(source, asked)
        with pytest.raises(NotSealed, match=r"for argument n = i32: sealed are i32, multiple of 8"):
            tritonx.compile(source, "cuda:80")


def test_drawn_launches_from_the_cache(tmp_path: Path) -> None:
    """With `TRITONX_SEALED=1` a second process repeats the drawn launches of a first one, and compiles nothing."""
    (tmp_path / "kernels.py").write_text("".join([HEAD, *kernels()[SEED % SHARE :: SHARE]]))
    line = [sealed_launches.__file__, "kernels.py", "100", str(SEED)]
    refused = run(tmp_path, *line, TRITONX_SEALED="1")
    assert "NotSealed: " in refused.stderr and "is not in the cache for" in refused.stderr
    first = run(tmp_path, *line)
    assert re.fullmatch(r"100 launches, [1-9]\d* compiles, imported: llvmlite, xdsl\n", first.stdout), first.stderr
    again = run(tmp_path, *line, TRITONX_SEALED="1")
    assert again.stdout == "100 launches, 0 compiles, imported: nothing\n", again.stderr


def test_two_hundred_members_take_a_minute_of_16_cores(tmp_path: Path) -> None:
    """4.8 s of a core for one, of all members of one of the thirty kernels for cuda:90."""
    chosen = [text for text in kernels() if "B: tl.constexpr" in text][SEED % 10 :][:1]
    path = tmp_path / "kernels.py"
    path.write_text("".join([HEAD.replace('"cpu"', '"cuda:90"'), *chosen]))
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    manifest = seal.seal(str(path), str(tmp_path / "sealed"), workers=2, draws=0)
    after = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(spent, after, strict=True))
    members = sum(map(len, manifest["members"].values()))
    assert members > 2 and 200 / 16 * seconds / members < 60, (members, seconds)
