"""Every op and every pass has its FileCheck test: read from the parsed modules, the CHECK lines and the RUN lines, so
that a name in a comment, or in a line that nothing checks, counts for nothing."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tritonx.backends.api import PassStage
from tritonx.ir.text import parse_module
from tritonx.tools.irdoc import DIALECT_PAGES, operations
from tritonx.tools.opt_input import chunks
from tritonx.tools.opt_pipeline import find_target

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tritonx"
FILECHECK = ROOT / "tests" / "filecheck"

DIRECTIVE = re.compile(r"^\s*//\s*([A-Z][A-Z0-9_]*)(-[A-Z]+)?:(.*)$", re.MULTILINE)
RUN = re.compile(r"^\s*//\s*RUN:(.*)$", re.MULTILINE)
WORD = re.compile(r"(?<![\w.])[a-z]\w*(?:\.\w+)+(?![\w.])")


def checked_ops(text: str) -> set[str]:
    """The ops that stand in a module of the file, and in a line that FileCheck must find in what is made of it."""
    prefixes = {"CHECK", *re.findall(r"--check-prefix[= ](\w+)", "\n".join(RUN.findall(text)))}
    wanted: set[str] = set()
    for prefix, kind, pattern in DIRECTIVE.findall(text):
        if prefix in prefixes and kind not in ("-NOT", "-DAG-NOT"):
            wanted |= set(WORD.findall(pattern))
    return wanted & {name for module in chunks(text, True) for name in _ops(module)}


def _ops(text: str) -> Iterator[str]:
    try:
        yield from (op.name for op in parse_module(text, "filecheck").walk())
    except Exception:  # a case of what is refused: the other ones count
        return


@cache
def passes_run(text: str) -> frozenset[str]:
    """The passes that the file's RUN lines name behind ``-p``, or that the target runs which one names instead."""
    found: set[str] = set()
    for line in RUN.findall(text):
        words = shlex.split(line.replace("%", ""))
        flags = list(pairwise(words))
        named = [given for flag, given in flags if flag in ("-p", "--pipeline")]
        for given in named:
            found |= set(re.sub(r"\{[^}]*\}", "", given).split(","))
        for target in (given for flag, given in flags if flag == "--target" and not named):
            stages = find_target(target, [given for flag, given in flags if flag == "--option"]).stages
            found |= {one.name for stage in stages if isinstance(stage, PassStage) for one in stage.passes}
    return frozenset(found)


@cache
def declared_passes() -> dict[str, Path]:
    """The pass's name → its file, of every class that derives from ModulePass."""
    found: dict[str, Path] = {}
    for path in sorted(p for part in ("transforms", "conversion", "backends") for p in (PACKAGE / part).rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "ModulePass" for base in node.bases):
                assert ast.get_docstring(node), f"{path}: {node.name} has no docstring to state its contract"
                found[pass_name(node)] = path
    return found


def pass_name(node: ast.ClassDef) -> str:
    """What the class's body assigns to ``name``."""
    for statement in node.body:
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        target = statement.targets[0] if isinstance(statement, ast.Assign) else target
        if isinstance(target, ast.Name) and target.id == "name":
            return str(ast.literal_eval(statement.value))  # pyright: ignore  # of an assignment
    raise AssertionError(f"{node.name} has no name")


@pytest.mark.parametrize("name", sorted(declared_passes()))
def test_every_pass_is_run_by_its_own_file(name: str) -> None:
    mirrored = FILECHECK / declared_passes()[name].relative_to(PACKAGE).with_suffix(".mlir")
    files = [mirrored] if mirrored.exists() else sorted(mirrored.with_suffix("").glob("*.mlir"))
    assert any(name in passes_run(path.read_text()) for path in files), f"no RUN line of {mirrored} runs {name}"


def test_every_op_is_parsed_and_checked() -> None:
    texts = [path.read_text() for path in (FILECHECK / "dialects").rglob("*.mlir")]
    covered = set().union(*map(checked_ops, texts))
    declared = {name for page in DIALECT_PAGES for name in operations(page)}
    assert declared - covered == set()


# Made-up violations.

MODULE = """// RUN: tritonx-opt %s -p 'fold,unroll{factor=4}' | filecheck %s
// tt.splat is named here
module {
  tt.func @f(%x: f32, %y: tensor<8xf32>) {
    %0 = tt.splat %x : f32 -> tensor<8xf32>
    %1 = arith.addf %0, %y : tensor<8xf32>
    tt.return
  }
}
// CHECK: arith.addf
// CHECK-NOT: tt.return
// OTHER: tt.splat
// -----
"""


def test_a_name_in_a_comment_is_no_test_of_an_op() -> None:
    assert checked_ops(MODULE) == {"arith.addf"}
    assert checked_ops(MODULE.replace("OTHER", "CHECK")) == {"arith.addf", "tt.splat"}
    assert checked_ops(MODULE.replace("arith.addf %0", "arith.nonesuch %0")) == set()
    assert checked_ops(MODULE.replace("CHECK: arith.addf", "CHECK: arith.addfs")) == set()


def test_a_name_in_a_comment_runs_no_pass() -> None:
    assert passes_run(MODULE + "// dce, -p dce") == {"fold", "unroll"}
    assert "unroll" in passes_run("// RUN: tritonx-opt %s --target cuda:90")
    assert "use-buffer-accesses" not in passes_run("// RUN: tritonx-opt %s --target cuda:80")
