"""The mutation command changes what it says, nothing else, and the same draw is the same."""

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
    for name in ("mutants", "suites"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import mutants

    return mutants


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


def test_a_run_counts_restores_and_goes_on(mutants: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder whose test sees one of two functions, with the command's own parts."""
    program = runpy.run_path(str(HERE / "__main__.py"), run_name="mutation")
    folder = tmp_path / "package"
    folder.mkdir()
    source = "def seen(x):\n    return x + 2\n\n\ndef unseen(x):\n    return x + 2\n"
    (folder / "code.py").write_text(source)
    (folder / "__init__.py").write_text("")
    (tmp_path / "test_code.py").write_text("from package.code import seen\ndef test_it():\n    assert seen(3) == 5\n")
    program["SUITES"]["package"] = (("test_code.py",),)
    results = tmp_path / "results.jsonl"
    for count in (2, 4, 4):
        program["run"](tmp_path, "package", count, 8, 60.0, results)
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    assert len(lines) == 4
    assert {(r["line"], r["verdict"]) for r in lines} == {(2, "killed"), (6, "survived")}
    assert (folder / "code.py").read_text() == source
    assert "package: 2 of 4 noticed (seed 8)" in capsys.readouterr().out
