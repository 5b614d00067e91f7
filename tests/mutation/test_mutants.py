"""The mutation command changes what it says, nothing else, runs what reaches it, and the same draw is the same."""

from __future__ import annotations

import ast
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOURCE = '''
def f(a: "int | None" = 3, b=2) -> int:
    """Some text."""
    if not a and b < 4:
        raise ValueError(f"{a + 1} is less than {b}")
    print(a)
    return a * b if a else b[1 << 2]
'''


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(HERE))
    for name in ("mutants", "suites", "blocks", "reach", "pytests", "trees", "trial", "workers"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import mutants

    return mutants


@pytest.fixture
def blocks(mutants: Any) -> Any:
    import blocks

    return blocks


def test_every_kind_of_slip_and_nothing_in_errors_or_annotations(mutants: Any, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SOURCE)
    drawn = mutants.draw(tmp_path, "m.py", 100, 1)
    made = [mutants.change(tmp_path, m) for m in drawn]
    assert sorted((c.kind, c.before) for c in made) == [
        ("and/or", "not a and b < 4"),
        ("comparison", "b < 4"),
        ("constant", "1"),
        ("constant", "2"),
        ("constant", "2"),
        ("constant", "3"),
        ("constant", "4"),
        ("dropped call", "print(a)"),
        ("not", "not a"),
        ("operator", "1 << 2"),
        ("operator", "a * b"),
        ("sides", "a * b if a else b[1 << 2]"),
    ]
    original = ast.unparse(ast.parse(SOURCE))
    for c in made:
        assert c.before != c.after and c.text.strip() != original
        ast.parse(c.text)


def test_a_larger_draw_begins_with_the_smaller(mutants: Any, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SOURCE)
    assert mutants.draw(tmp_path, "m.py", 9, 5)[:4] == mutants.draw(tmp_path, "m.py", 4, 5)
    assert mutants.draw(tmp_path, "m.py", 9, 5) != mutants.draw(tmp_path, "m.py", 9, 6)


BRANCHES = '''
"""Some text."""
from __future__ import annotations

TABLE = {"a": lambda x: x + 1, "b": 2}


class C:
    def f(self, x):
        """Says so."""
        if x:
            return 1 if x > 2 else 2
        for y in range(x + 3):
            def inner(z=y): return -z
            x += inner()
        return x
'''


@pytest.mark.parametrize(
    ("given", "reached"),
    [(5, {"C.f()#1", "C.f()#2"}), (0, {"C.f()#1", "C.f()#3", "C.f()#4", "C.f()#5", "C.f.inner()#1"})],
)
def test_probes_say_which_blocks_are_reached(blocks: Any, given: int, reached: set[str]) -> None:
    names: list[str] = []
    text = blocks.instrumented(BRANCHES, "m.py", lambda name: names.append(name) or len(names) - 1)
    hit = bytearray(20)
    scope = {"__name__": "m", blocks.PROBE: hit}
    exec(text.replace(f"from tritonx.{blocks.PROBE} import hit as {blocks.PROBE}", ""), scope)
    assert not any(hit) and scope["__doc__"] == "Some text."
    assert scope["C"]().f.__doc__ == "Says so."
    plain: dict[str, Any] = {}
    exec(BRANCHES, plain)
    assert scope["C"]().f(given) == plain["C"]().f(given)
    assert {name.removeprefix("m.py:") for name, n in zip(names, hit, strict=False) if n} == {f".{r}" for r in reached}
    assert scope["TABLE"]["a"](-1) == 0
    assert {name for name, n in zip(names, hit, strict=False) if n} & {"m.py:.lambda()#1"}


def test_every_node_of_a_function_has_a_block(blocks: Any) -> None:
    tree = ast.parse(BRANCHES)
    owners = blocks.owners(tree)
    found = {
        ast.unparse(node): owners.get(id(node)) for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.BinOp)
    }
    assert found["x + 1"] == ".lambda()#1"
    assert found["x + 3"] == ".C.f()#3"
    assert found["'b'"] is None
    assert {owners.get(id(n)) for n in ast.walk(tree) if isinstance(n, ast.IfExp)} == {".C.f()#2"}


def test_a_run_measures_counts_restores_and_goes_on(
    mutants: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder whose test sees one of three functions and reaches another, with the command's own parts."""
    program = runpy.run_path(str(HERE / "__main__.py"), run_name="mutation")
    source = "".join(f"def {name}(x):\n    return x + 2\n\n\n" for name in ("seen", "reached", "unseen"))
    tests = "from tritonx.code import *\ndef test_it():\n    assert seen(3) == 5\n    reached(2)\n"
    for folder in ("plain", "probed"):
        (tmp_path / folder / "tritonx").mkdir(parents=True)
        (tmp_path / folder / "tritonx/code.py").write_text(source)
        (tmp_path / folder / "tritonx/__init__.py").write_text("")
        (tmp_path / folder / "test_code.py").write_text(tests + "def test_that_fails():\n    assert unseen(1) == 2\n")
    plain, kept, results = tmp_path / "plain", tmp_path / "reach.jsonl", tmp_path / "results.jsonl"
    reach = program["measure"](tmp_path / "probed", ["tritonx"], ["test_code.py"], kept, 5)
    assert {name: test["passed"] for name, test in reach.tests.items()} == {
        "test_code.py::test_it": True,
        "test_code.py::test_that_fails": False,
    }
    again = program["measure"](plain, ["tritonx"], ["test_code.py"], kept, 5)
    assert (plain / "tritonx/code.py").read_text() == source and again.tests == reach.tests
    for count in (2, 6, 6):
        program["run"](plain, reach, ["tritonx"], count, 8, results, workers=2)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(lines) == 6
    assert {(r["line"], r["verdict"], r["reaching"]) for r in lines} == {
        (2, "killed", 1),
        (6, "survived", 1),
        (10, "survived", 1),
    }
    assert {r["test"] for r in lines} == {"test_code.py::test_it", ""}
    assert (plain / "tritonx/code.py").read_text() == source
    assert "tritonx: 2 of 6 noticed, 0 not decided" in capsys.readouterr().out


def test_what_runs_once_in_a_process_is_every_tests(mutants: Any, tmp_path: Path) -> None:
    """What an import computes is noticed by tests of its file, what a memo keeps by whoever asks for it."""
    program = runpy.run_path(str(HERE / "__main__.py"), run_name="mutation")
    source = "import functools\ndef made(x):\n    return x + 2\nTABLE = made(3)\n"
    source += "def look():\n    return TABLE\n@functools.cache\ndef kept(x):\n    return x + 4\n"
    tests = "from tritonx.code import *\ndef test_others():\n    kept(1)\ndef test_table():\n    assert look() == 5\n"
    tests += "def test_memo():\n    assert kept(1) == 5\n"
    for folder in ("plain", "probed"):
        (tmp_path / folder / "tritonx").mkdir(parents=True)
        (tmp_path / folder / "tritonx/code.py").write_text(source)
        (tmp_path / folder / "tritonx/__init__.py").write_text("")
        (tmp_path / folder / "test_code.py").write_text(tests)
        (tmp_path / folder / "tritonx/limits.py").write_text("LIMIT = 7\n")
        (tmp_path / folder / "test_limits.py").write_text(
            "from tritonx import limits\ndef test_limit():\n    assert limits.LIMIT == 7\n"
        )
    files = ["test_code.py", "test_limits.py"]
    reach = program["measure"](tmp_path / "probed", ["tritonx"], files, tmp_path / "reach.jsonl", 5)
    assert reach.imported == {"tritonx/code.py:.made()#1"}
    assert {test.rpartition("::")[2] for test in reach.ordered(["tritonx/code.py:.kept()#1"])} == {
        "test_others",
        "test_memo",
    }
    results = tmp_path / "results.jsonl"
    program["run"](tmp_path / "plain", reach, ["tritonx"], 9, 8, results)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert {(r["line"], r["verdict"], r["test"].rpartition("::")[2]) for r in lines} == {
        (3, "killed", "test_table"),
        (4, "killed", "test_table"),
        (9, "killed", "test_memo"),
        (1, "killed", "test_limit"),
    }


def test_what_says_nothing_here_leaves_a_mutant_undecided(
    mutants: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tests that are skipped, or fail without the mutant as well, decide nothing; another machine goes on with them."""
    program = runpy.run_path(str(HERE / "__main__.py"), run_name="mutation")
    tests = "import os, pytest\nfrom tritonx.code import *\n"
    tests += "def test_skipped():\n    if 'POOR' in os.environ: pytest.skip()\n    assert made(3) == 5\n"
    tests += "def test_broken():\n    assert made(3) and 'POOR' not in os.environ\n"
    tests += "def test_blind():\n    assert made(3)\n"
    for folder in ("plain", "probed"):
        (tmp_path / folder / "tritonx").mkdir(parents=True)
        (tmp_path / folder / "tritonx/code.py").write_text("def made(x):\n    return x + 2\n")
        (tmp_path / folder / "tritonx/__init__.py").write_text("")
        (tmp_path / folder / "test_code.py").write_text(tests)
    plain, results = tmp_path / "plain", tmp_path / "results.jsonl"
    (tmp_path / "probed" / "test_gone.py").write_text(tests)  # and is no longer there, but in what was measured
    files = ["test_gone.py", "test_code.py"]
    reach = program["measure"](tmp_path / "probed", ["tritonx"], files, tmp_path / "reach.jsonl", 5)

    def verdicts(**limits: float) -> list[tuple[str, str, list[str]]]:
        results_before = len(results.read_text().splitlines()) if results.exists() else 0
        program["run"](plain, reach, ["tritonx"], 9, 8, results, **limits)
        lines = [json.loads(line) for line in results.read_text().splitlines()][results_before:]
        names = [sorted(name.rpartition("::")[2] for name in program["unpacked"](r["rest"])) for r in lines]
        return [(r["verdict"], r["test"].rpartition("::")[2], left) for r, left in zip(lines, names, strict=True)]

    monkeypatch.setenv("POOR", "1")
    every = ["test_blind", "test_broken", "test_skipped"]
    assert verdicts(within=0) == [("not decided", "", every)] * 2
    assert verdicts(most=0) == [("not decided", "", every)] * 2
    assert verdicts() == [("not decided", "", ["test_broken", "test_skipped"])] * 2
    assert "tritonx: 0 of 0 noticed, 2 not decided" in capsys.readouterr().out
    monkeypatch.delenv("POOR")
    assert verdicts() == [("killed", "test_skipped", [])] * 2
