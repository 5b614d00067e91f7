"""`make accept`: expected text is mended where a change explains it, and by nothing that weakens a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.accept_filecheck import accept, first_failure

OUTPUT = """module {
  tt.func @f(%a: i32) {
    %c = arith.constant 1 : i32
    %0 = arith.addi %a, %c : i32
    ttg.local_barrier
    %1 = arith.muli %0, %0 : i32
    "use"(%1) : (i32) -> ()
    tt.return
  }
}
"""


def run(tmp_path: Path, directives: str, output: str = OUTPUT) -> tuple[str, list[str]]:
    """(what is left to the author, the directives afterwards); what was accepted passes."""
    path = tmp_path / "test.mlir"
    path.write_text("".join(f"  // {line}\n" for line in directives.splitlines()) + "kept\n")
    argv = ["filecheck", str(path)]
    left = accept(argv, output)
    assert bool(left) == (first_failure(argv, output) is not None)
    assert path.read_text().endswith("kept\n")
    return left, [line.removeprefix("  // ") for line in path.read_text().splitlines()[:-1]]


@pytest.mark.parametrize(
    ("directives", "wanted"),
    [
        (["CHECK-LABEL: @f", "CHECK: arith.addi", "CHECK-NEXT: arith.muli", "CHECK-NEXT: \"use\""],
         ["CHECK-LABEL: @f", "CHECK: arith.addi", "CHECK-NEXT: ttg.local_barrier", "CHECK-NEXT: arith.muli",
          "CHECK-NEXT: \"use\""]),
        (["CHECK: arith.addi", "CHECK-NEXT: arith.subi", "CHECK-NEXT: ttg.local_barrier"],
         ["CHECK: arith.addi", "CHECK-NEXT: ttg.local_barrier"]),
        (["CHECK: [[C:%.+]] = arith.constant 1", "CHECK-NEXT: [[S:%.+]] = arith.subi %a, [[C]] : i32",
          "CHECK: arith.muli [[S]], [[S]]"],
         ["CHECK: [[C:%.+]] = arith.constant 1", "CHECK-NEXT: [[S:%.+]] = arith.addi %{{[^ ,:)]+}}, [[C]] : i32",
          "CHECK: arith.muli [[S]], [[S]]"]),
        (["CHECK: arith.muli %{{.*}}, %{{.*}} : i64"], ["CHECK: arith.muli %{{[^ ,:)]+}}, %{{[^ ,:)]+}} : i32"]),
        (["CHECK-COUNT-3: arith.{{addi|muli}}", "CHECK: tt.return"],
         ["CHECK-COUNT-2: arith.{{addi|muli}}", "CHECK: tt.return"]),
        (["CHECK-LABEL: @f", "CHECK: tt.return"], ["CHECK-LABEL: @f", "CHECK: tt.return"]),
    ],
    ids=["a line came in between", "a line went", "a line changed", "alike", "fewer", "nothing to do"],
)  # fmt: skip
def test_mended(tmp_path: Path, directives: list[str], wanted: list[str]) -> None:
    assert run(tmp_path, "\n".join(directives)) == ("", wanted)


@pytest.mark.parametrize(
    "directives",
    [
        ["CHECK-LABEL: @g", "CHECK: arith.addi"],
        ["CHECK: arith.addi", "CHECK-NOT: local_barrier", "CHECK: arith.muli"],
        ["CHECK: llvm.call_intrinsic"],
        ["CHECK-COUNT-2: tt.load"],
    ],
    ids=["a label", "what must not be", "nothing like it", "none"],
)
def test_left_to_the_author(tmp_path: Path, directives: list[str]) -> None:
    left, after = run(tmp_path, "\n".join(directives))
    assert left.endswith("left to its author") and after == directives
