"""Running passes: order, hooks, and the report on a failure."""

from __future__ import annotations

import linecache
import pickle
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from xdsl.passes import ModulePass

from tritonx.backends.api import Compilation, Options, PassStage, Target
from tritonx.dialects import arith, tile
from tritonx.ir.failure import PassError, PassFailure
from tritonx.ir.pipeline import PassHooks, run_pass_stage, run_passes, text_reproducer
from tritonx.ir.text import parse_module
from tritonx.runtime.errors import OutOfResources
from tritonx.transforms.tile.dce import DeadCodeElimination
from tritonx.transforms.tile.fold import Fold

TEXT = """
tt.func public @kernel(%x: f32, %p: !tt.ptr<f32>) {
  %a = arith.addf %x, %x : f32 loc("KERNEL":2:3)
  tt.store %p, %a : !tt.ptr<f32>
  tt.return
}
"""


def module(path: str = "kernel.py") -> Any:
    return parse_module(TEXT.replace("KERNEL", path))


def find(root: Any, cls: type) -> Any:
    return next(op for op in root.walk() if isinstance(op, cls))


@dataclass(frozen=True)
class Refuses(ModulePass):
    name = "refuses"
    size: int = 3

    def apply(self, ctx: Any, op: Any) -> None:
        raise PassError(find(op, arith.AddfOp), "cannot do sums", "try products")


@dataclass(frozen=True)
class Crashes(ModulePass):
    name = "crashes"

    def apply(self, ctx: Any, op: Any) -> None:
        module = op
        for op in module.walk():
            if isinstance(op, tile.StoreOp):
                raise KeyError("no such thing")


@dataclass(frozen=True)
class Breaks(ModulePass):
    name = "breaks"

    def apply(self, ctx: Any, op: Any) -> None:
        add = find(op, arith.AddfOp)
        add.operands = [add.operands[0], find(op, tile.FuncOp).body.blocks.first.args[1]]


@dataclass(frozen=True)
class Exhausts(ModulePass):
    name = "exhausts"

    def apply(self, ctx: Any, op: Any) -> None:
        raise OutOfResources(300, 200, "shared memory")


def test_a_refusal_names_pass_line_op_and_command(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def kernel(x, p):\n  a = x + x\n")
    assert linecache.getlines(str(kernel))  # the front end has read it
    with pytest.raises(PassFailure) as caught:
        run_passes(module(str(kernel)), (Fold(), Refuses(size=4)), PassHooks(exact_reproducer=True))
    lines = str(caught.value).splitlines()
    assert lines[0] == f"{kernel}:2:3: error: pass 'refuses': cannot do sums"
    assert lines[1:3] == ["    2 |   a = x + x", "      |   ^"]
    assert lines[3] == "  op: %a = arith.addf %x, %x : f32"
    assert lines[4] == "hint: try products"
    command = lines[5].removeprefix("reproduce: tritonx-opt -p 'refuses{size=4}' ")
    assert "arith.addf" in Path(command).read_text()
    Path(command).unlink()
    Path(command).parent.rmdir()
    assert not caught.value.internal and caught.value.__cause__ is None


def test_reproducers_are_for_this_user_only() -> None:
    """Each in a folder of its own whose name cannot be foretold: another user cannot put a link there."""
    first, second = (text_reproducer("text", "x.llir", "tritonx-opt {} -t a").split()[1] for _ in range(2))
    assert first != second
    for path in (Path(first), Path(second)):
        assert path.read_text() == "text"
        assert path.parent.stat().st_mode & 0o777 == 0o700
        path.unlink()
        path.parent.rmdir()


def test_a_reproducer_that_cannot_be_written_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    with pytest.raises(PassFailure) as caught:
        run_passes(module(), (Refuses(size=4),))
    assert caught.value.reproducer == "" and "cannot do sums" in str(caught.value)


def test_a_crash_is_internal_and_names_the_op_at_hand() -> None:
    with pytest.raises(PassFailure) as caught:
        run_passes(module(), (Crashes(),))
    assert caught.value.internal
    assert "internal error: pass 'crashes': KeyError: 'no such thing'" in str(caught.value)
    assert caught.value.op_text.startswith("tt.store")
    assert isinstance(caught.value.__cause__, KeyError)


def test_invalid_ir_is_blamed_on_the_pass_that_left_it() -> None:
    with pytest.raises(PassFailure, match="pass 'breaks': left invalid IR"):
        run_passes(module(), (Fold(), Breaks(), DeadCodeElimination()), PassHooks(verify=True))


def test_errors_that_callers_catch_by_type_come_out_as_they_are() -> None:
    with pytest.raises(OutOfResources):
        run_passes(module(), (Exhausts(),))


def test_failures_survive_pickling() -> None:
    with pytest.raises(PassFailure) as caught:
        run_passes(module(), (Refuses(),))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.pass_name == "refuses"


def test_hooks_see_every_pass_in_order() -> None:
    seen: list[str] = []
    hooks = PassHooks(
        before=lambda p, m: seen.append(f"before {p.name}"),
        after=lambda p, m: seen.append(f"after {p.name}"),
        timing=lambda name, seconds: seen.append(f"time {name}") if seconds >= 0 else None,
    )
    run_passes(module(), (Fold(), DeadCodeElimination()), hooks)
    assert seen == ["before fold", "time fold", "after fold", "before dce", "time dce", "after dce"]


def test_a_stage_reports_to_the_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITONX_VERIFY", raising=False)
    seen: list[str] = []
    times: list[tuple[str, float]] = []
    compilation = Compilation(
        Target("some"), Options(), {"pass_times": times}, inspect=lambda name, artifact: seen.append(name)
    )
    run_pass_stage(module(), PassStage("ttir", (Fold(), DeadCodeElimination())), compilation)
    assert seen == ["fold", "dce", "ttir"]
    assert [name for name, _ in times] == ["fold", "dce"]
    run_pass_stage(module(), PassStage("ttir", (Breaks(),)), compilation)
    asserting = Compilation(Target("some"), Options(debug=True), {})  # the kernel's assertions, not the compiler's
    run_pass_stage(module(), PassStage("ttir", (Breaks(),)), asserting)
    monkeypatch.setenv("TRITONX_VERIFY", "1")
    with pytest.raises(PassFailure, match="left invalid IR"):
        run_pass_stage(module(), PassStage("ttir", (Breaks(),)), compilation)


@pytest.mark.parametrize(
    ("asked", "dumped"), [("1", True), ("scaled", True), ("another", False), ("0", False), ("", False)]
)
def test_the_ir_is_printed_before_each_pass(
    asked: str, dumped: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``MLIR_ENABLE_DUMP`` says of which kernel; it is what programs of Triton are debugged with."""
    monkeypatch.setenv("MLIR_ENABLE_DUMP", asked)
    text = "tt.func public @scaled(%x: i32) {\n  %two = arith.constant 2 : i32\n  tt.return\n}\n"
    compilation = Compilation(Target("cpu"), Options(), {"name": "scaled"})
    run_pass_stage(parse_module(text), PassStage("ttir", (DeadCodeElimination(),)), compilation)
    said = capsys.readouterr().err
    heading = "// -----// IR Dump Before DeadCodeElimination (dce) ('builtin.module' operation) //----- //\n"
    assert said.startswith(heading) == dumped == ("tt.func public @scaled" in said)
    assert ("arith.constant 2" in said) == dumped
