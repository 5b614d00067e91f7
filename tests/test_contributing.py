"""docs/contributing/op_or_pass.md, done as it says: its pass, its FileCheck test, its unit test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "contributing" / "op_or_pass.md").read_text()
PASS, TEST = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(FILECHECK,) = re.findall(r"^```mlir\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
IN_ITS_FOLDER = """
import sys
import pytest
import tritonx.transforms.tile
from tests.test_filecheck import directives, run_line
tritonx.transforms.tile.__path__.append(sys.argv[1])
(line,) = directives(open(sys.argv[2]).read(), "RUN")
good, said = run_line(line.replace("%s", sys.argv[2]))
assert good, said
good, said = run_line("tritonx-opt --explain shift-for-multiply")
assert good and "arith.muli" in said, said
"""


def test_the_page_works(tmp_path: Path) -> None:
    (tmp_path / "shift_for_multiply.py").write_text(PASS)
    (tmp_path / "shift_for_multiply.mlir").write_text(FILECHECK)
    command = [sys.executable, "-c", IN_ITS_FOLDER, str(tmp_path), str(tmp_path / "shift_for_multiply.mlir")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_its_unit_test_passes_and_notices(tmp_path: Path) -> None:
    """And fails for a pass that shifts by one too many."""
    for text, passes in ((PASS, True), (PASS.replace("factor.bit_length() - 1", "factor.bit_length()"), False)):
        folder = tmp_path / str(passes)
        folder.mkdir()
        (folder / "shift_for_multiply.py").write_text(text)
        (folder / "test_it.py").write_text(TEST)
        (folder / "conftest.py").write_text(
            f"import tritonx.transforms.tile\ntritonx.transforms.tile.__path__.append({str(folder)!r})\n"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
        assert (done.returncode == 0) == passes, done.stdout + done.stderr
        assert "8 passed" in done.stdout if passes else "BehaviourDiffers" in done.stdout


def test_its_code_is_as_the_linters_want_it() -> None:
    """But for the order of imports: the module is not in its folder."""
    for text, name in ((PASS, "tritonx/transforms/tile/shift_for_multiply.py"), (TEST, "tests/unit/test_it.py")):
        for command in (["check", "--ignore", "I001"], ["format", "--check"]):
            done = subprocess.run(
                [str(Path(sys.executable).parent / "ruff"), *command, "--stdin-filename", name, "-"],
                input=text, cwd=ROOT, capture_output=True, text=True, timeout=100,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout + done.stderr
