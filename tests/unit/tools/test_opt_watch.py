"""What tritonx-opt prints between passes, and the pass that makes a command fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.unit.tools.test_opt import GOOD, run

PASSES = "cse,fold,dce,cse"
"""Of the kernel `fold` alone changes the adds, and `dce` what is left of them."""


def headings(text: str) -> list[str]:
    marked = [line for line in text.splitlines() if line.startswith("// -----// IR Dump ")]
    return [line.removeprefix("// -----// IR Dump ").removesuffix(" //----- //") for line in marked]


@pytest.mark.parametrize(
    ("asked", "printed"),
    [
        (["--print-ir-after-change"], ["After fold", "After dce"]),
        (["--print-ir-after", "cse"], ["After cse", "After cse"]),
        (["--print-ir-after", "cse", "--print-ir-after", "dce"], ["After cse", "After dce", "After cse"]),
        (["--print-ir-after", "cse", "--print-ir-after-change"], []),
        (["--print-ir-before", "dce"], ["Before dce"]),
        (["--print-ir-before", "dce", "--print-ir-after-change"], ["After fold", "Before dce", "After dce"]),
    ],
)
def test_what_is_printed(asked: list[str], printed: list[str]) -> None:
    code, _, err = run("-p", PASSES, *asked)
    assert code == 0 and headings(err) == printed


def test_a_folder_of_dumps(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    code, out, err = run("-p", PASSES, "--print-ir-tree-dir", str(folder))
    assert (code, err) == (0, "")
    names = sorted(each.name for each in folder.iterdir())
    assert names == ["001_after_cse.mlir", "002_after_fold.mlir", "003_after_dce.mlir", "004_after_cse.mlir"]
    assert (folder / names[-1]).read_text() == out
    assert run("-p", "cse", stdin=(folder / names[0]).read_text())[0] == 0, "each can be read again"
    code, _, err = run("-p", "cse", "--print-ir-tree-dir", str(folder))
    assert code == 2 and "not empty" in err and sorted(each.name for each in folder.iterdir()) == names


def script(folder: Path, condition: str) -> str:
    """A command that fails where this holds of the file's text."""
    file = folder / "judge.py"
    file.write_text(f"import sys\ntext = open(sys.argv[1]).read()\nsys.exit(1 if {condition} else 0)\n")
    return f"{sys.executable} {file}"


@pytest.mark.parametrize("passes", ["cse,fold,dce,cse", "fold", "cse,cse,cse,cse,cse,fold,cse", "fold,cse"])
def test_bisect_finds_the_pass(passes: str, tmp_path: Path) -> None:
    code, out, err = run("-p", passes, "--bisect", script(tmp_path, "'addi' not in text"))
    number, total = passes.split(",").index("fold") + 1, passes.count(",") + 1
    assert (code, err) == (0, f"--bisect: fails behind fold, pass {number} of {total}\n")
    first, _, text = out.partition("\n")
    assert first == "// tritonx-opt -p 'fold'" and "addi" in text
    assert "addi" not in run("-p", "fold", stdin=out)[1], "it is what shows the failure again"


def test_bisect_goes_over_the_stages_of_a_target(tmp_path: Path) -> None:
    code, out, err = run("--target", "cuda:90", "-t", "ttgir", "--bisect", script(tmp_path, "'addi' not in text"))
    assert code == 0 and err.startswith("--bisect: fails behind ") and "addi" in out


@pytest.mark.parametrize(
    ("condition", "said"),
    [("True", "fails on the input already"), ("False", "does not fail behind the last pass")],
)
def test_bisect_needs_both_ends(condition: str, said: str, tmp_path: Path) -> None:
    code, _, err = run("-p", PASSES, "--bisect", script(tmp_path, condition))
    assert code == 1 and said in err


@pytest.mark.parametrize("command", ["/nonexistent/command", "'", ""])
def test_bisect_refuses_what_is_no_command(command: str) -> None:
    code, _, err = run("-p", PASSES, "--bisect", command)
    assert code == 1 and f"--bisect {command}: " in err


@pytest.mark.parametrize("option", [["--print-ir-after-all"], ["--print-ir-tree-dir", "dumps"]])
def test_bisect_takes_no_dumps(option: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run("-p", PASSES, "--bisect", "true", *option)
    assert code == 2 and "--bisect" in err and not list(tmp_path.iterdir())


def test_bisect_emits_nothing(tmp_path: Path) -> None:
    code, _, err = run(
        "--target", "cuda:90", "-t", "ptx", "--time-passes", "--bisect", script(tmp_path, "'addi' not in text")
    )
    assert code == 0 and "ttgir" not in err and "llir" not in err and "ptx" not in err


def test_two_ends_of_ir_are_refused() -> None:
    code, _, err = run("--target", "cuda:90", "-t", "ttir", "--until", "ttgir")
    assert code == 2 and "-t ttir" in err and "--until ttgir" in err


def test_what_a_module_states_is_refused_at_its_line() -> None:
    stated = GOOD.replace("module {", 'module attributes {"ttg.num-ctas" = 2 : i32} {')
    code, _, err = run("--target", "cuda:80", "-t", "ttgir", stdin=stated)
    assert code == 1 and err.startswith("<stdin>:1:1: error: ") and "num_ctas" in err


def test_bisect_needs_passes() -> None:
    code, _, err = run("--bisect", "true")
    assert code == 1 and "there is no pass to run" in err


def test_emit_takes_a_stage_of_ir() -> None:
    assert run("--target", "cuda:90", "-t", "ttgir")[:2] == run("--target", "cuda:90", "--until", "ttgir")[:2]
    assert "ttg" in run("--target", "cuda:90", "-t", "ttgir")[1]
    assert run("--target", "cpu", "-t", "ttir", stdin=GOOD)[0] == 0
