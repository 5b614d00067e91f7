"""`tritonx explain`, `kernel.explain`, `tritonx-opt --html` and what notebooks show."""

from __future__ import annotations

import io
import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.explain.page import GENERATOR
from tritonx.explain.report import explain_again
from tritonx.layouts import LinearLayout
from tritonx.tools import explain, opt
from tritonx.tools.checking.report import Finding, KernelReport
from tritonx.tools.checking.report import Report as CheckReport

ROOT = Path(__file__).parents[3]

PROGRAM = """
import sys
import numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def first(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)

@tritonx.jit
def second(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)

if __name__ == "__main__":
    print("printed by the program", sys.argv[1:])
    x = np.zeros(256, np.float32)
    first[(1,)](x, 200, BLOCK=256, num_warps=2)
    second[(1,)](x, BLOCK=128)
    raise SystemExit(3)
"""


@tritonx.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) * 2, at < n)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    return str(path)


def test_the_first_kernel_of_a_program(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main([program, "--target", "cuda:80", "--json", "--", "an argument"]) == 0
    said = capsys.readouterr()
    facts = json.loads(said.out)
    assert (facts["kernel"], facts["target"], facts["threads"]) == ("first", "cuda:80", 64)
    assert "printed by the program ['an argument']" in said.err
    assert not list(Path().glob("*.html"))


def test_a_kernel_by_name_as_a_page(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [program, "--kernel", "second", "--target", "hip:gfx942", "--option", "num_warps=1"]
    assert explain.main(arguments) == 0
    assert capsys.readouterr().out == "second.html\n"
    assert "second · hip:gfx942" in Path("second.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kernel", "third"], "SystemExit: 3"),
        (["--target", "cuda:1"], "compute capability 1 is not supported"),
        (["--kernel", "second", "--target", "cuda:80", "--option", "color=1"], "color"),
    ],
)
def test_mistakes(program: str, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main([program, *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_kernel_that_is_not_launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.py"
    path.write_text("x = 1\n")
    assert explain.main([str(path)]) == 2
    assert "does not launch a kernel; those that it launches: none" in capsys.readouterr().err


LAUNCHES = """
try:
    second[(1,)](np.zeros(256, np.float32), BLOCK=128)
except BaseException as error:
    raise ValueError from error
"""
IN_A_THREAD = """
import threading
thread = threading.Thread(target=lambda: second[(1,)](np.zeros(256, np.float32), BLOCK=128))
thread.start()
thread.join()
"""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # Python itself says nothing
@pytest.mark.parametrize("launches", [LAUNCHES, IN_A_THREAD])
def test_programs_that_catch_everything_or_launch_in_threads(
    program: str, launches: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(program).write_text(PROGRAM.partition("if __name__")[0] + launches)
    assert explain.main([program, "--target", "cuda:90", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["kernel"] == "second" and not said.err


@pytest.mark.parametrize("text", ["", "module {\n  this is no op\n}\n"])
def test_a_file_of_ir_that_cannot_be_read(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ttir"
    path.write_text(text)
    assert explain.main([str(path), "--target", "cuda:90"]) == 2
    assert f"tritonx explain: error: {path}:" in capsys.readouterr().err


ASSEMBLY = """
import numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def copied(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x + at)], tl.int32, True, 1)
    tl.store(x + at, value)

copied[(1,)](np.zeros(128, np.int32), BLOCK=128)
"""


def test_a_kernel_that_only_the_target_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "copied.py"
    path.write_text(ASSEMBLY)
    assert explain.main([str(path), "--target", "cuda:90", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"] == "copied"
    assert explain.main([str(path), "--target", "cpu", "--json"]) == 2
    assert "copied.py:7" in capsys.readouterr().err


def test_a_launch_is_explained_for_another_target() -> None:
    x = np.zeros(256, np.float32)
    report = double.explain(x, 200, BLOCK=256, grid=(1,), target="cuda:90", num_warps=8)
    assert report.facts.threads == 256 and not x.any()
    assert next(each.width for each in report.facts.accesses if each.kind == "load") >= 1
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_tuners_and_heuristics_are_explained() -> None:
    """By the best configuration once it is known; heuristics see what the configuration gives."""
    configs = [tritonx.Config({}, num_warps=n) for n in (2, 4)]
    computed = tritonx.heuristics({"BLOCK": lambda args: 64 * args["num_warps"]})(double)
    tuned = tritonx.autotune(configs, key=["n"])(computed)
    x = np.zeros(256, np.float32)
    facts = tuned.explain(x, 200, grid=(1,), target="cuda:90").facts
    assert (facts.kernel, facts.threads) == ("double", 64)
    assert "tensor<128xf32" in json.dumps([level.lines for level in facts.levels]) and not x.any()
    tuned[(1,)](x, 200)
    best = tuned.best_config.num_warps
    assert tuned.explain(x, 200, grid=(1,), target="cuda:90").facts.threads == 32 * best


def test_tritonx_opt_writes_a_page_whose_source_is_the_input(tmp_path: Path) -> None:
    compiled = double.warmup(np.zeros(256, np.float32), 200, BLOCK=256, grid=(1,))
    path, page = tmp_path / "k.ttir", tmp_path / "k.html"
    path.write_text(compiled.asm["ttir"])
    out, err = io.StringIO(), io.StringIO()
    arguments = [str(path), "--target", "cuda:90", "--until", "ttgir", "--html", str(page)]
    assert opt.run(arguments, io.BytesIO(), out, err) == 0, err.getvalue()
    found = re.search(r'id="facts">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None and "#blocked" in out.getvalue()
    facts = json.loads(zlib.decompress(b64decode(found[1])))
    assert facts["sources"][0]["lines"] == path.read_text().splitlines()
    number, line = facts["places"][facts["accesses"][0]["place"]]
    assert "tt.load" in facts["sources"][number]["lines"][line - 1]
    assert opt.run([str(path), "--html", str(page)], io.BytesIO(), out, err) == 1
    assert "--html needs --target" in err.getvalue()


def test_notebooks_show_kernels_layouts_and_reports() -> None:
    compiled: Any = double.warmup(np.zeros(8, np.float32), 8, BLOCK=8, grid=(1,))
    shown = compiled._repr_html_()
    assert "<b>double</b>" in shown and "<summary>ttir" in shown and "tt.func" in shown
    layout = LinearLayout.identity(8, "offset", "dim0")
    assert layout._repr_html_().count("<rect") == 8
    finding = Finding("bounds", "<outside>", "k.py", 3, 1)
    report = CheckReport([KernelReport("k", launches=1, findings=[finding])])
    assert "&lt;outside&gt;" in report._repr_html_() and "k.py:3" in report._repr_html_()


def test_the_page_of_docs() -> None:
    """Its figures are those of the example."""
    text = (ROOT / "docs" / "explain.md").read_text()
    stated = json.loads(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])
    asked = explain.launched(str(ROOT / "examples" / "flash_attention.py"), "")
    facts = explain_again(asked.source, asked.options, "cuda:90", launch=asked.launch).facts
    (plan,) = facts.plans
    assert facts.bound is not None and facts.occupancy is not None and facts.launch is not None
    occupancy = facts.occupancy
    found = {
        "bound": facts.bound.bound,
        "limiter": occupancy.limiter,
        "blocks": occupancy.blocks,
        "registers": occupancy.registers,
        "shared": occupancy.shared,
        "stages": plan.stages,
        "interval": plan.interval,
        "launch": facts.launch.text,
    }
    if occupancy.registers is None:  # there is no assembler
        for name in ("limiter", "blocks", "registers", "launch"):
            del found[name], stated[name]
    assert found == stated
    for option in re.findall(r"--[a-z]+", text):
        assert option in (explain.__doc__ or "") or option in ("--html", "--json"), option


def test_a_file_of_the_user_is_not_replaced(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A page of an earlier run is."""
    page = Path("second.html")
    for before, status in (("<html>my notes</html>", 2), (GENERATOR, 0)):
        page.write_text(before)
        assert explain.main([program, "--kernel", "second", "--target", "cuda:90"]) == status
        assert (page.read_text() == before) is (status == 2)
    assert "second.html is here and was not written by tritonx explain" in capsys.readouterr().err
