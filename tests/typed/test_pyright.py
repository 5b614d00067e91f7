"""What pyright says of kernels, where tritonx is an installed package.

The samples beside this file say behind a line what pyright is to say of it: the type for ``reveal_type``, else the
rules of its errors. Of the kernels of examples/, benchmarks/, the conformance suite and the comparisons with Triton,
which are written without a thought of types, it is to say nothing. One run of pyright sees them all.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy
import pytest
import xdsl

import tritonx
import tritonx.language as tl
from tritonx.language.values.constexpr import constexpr
from tritonx.language.values.methods import Methods

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SAMPLES = ("results", "mistakes", "host")
ORDINARY = (
    *ROOT.glob("examples/*.py"),
    *ROOT.glob("benchmarks/kernels_*.py"),
    *ROOT.glob("tests/peer/kernels_*.py"),
    *ROOT.glob("tests/peer/[lp]*e_kernels.py"),
    *ROOT.glob("packages/tritonx-testing/tritonx_testing/conformance/families/*.py"),
)
AS_TRITON = re.compile(r"^import triton$", re.MULTILINE)
OWN_RULES = re.compile(r"^# pyright: .*$", re.MULTILINE)
"""How a file is checked here, in the house, is not how a user's is."""


@dataclass(frozen=True)
class Said:
    """What pyright says of a file, by line: the types revealed, the rules of errors in order."""

    lines: dict[int, list[str]]
    texts: dict[int, list[str]]


def written(path: Path) -> str:
    """The file as its author would have it: with tritonx, and without the house's rules."""
    text = path.read_text().replace("import triton.language as tl", "import tritonx.language as tl")
    return OWN_RULES.sub("", AS_TRITON.sub("import tritonx as triton", text))


def install(site: Path) -> None:
    """The packages as an installation has them, so that ``py.typed`` and the rules of re-exports hold."""
    site.mkdir(parents=True)
    for package in (tritonx, numpy, xdsl, ml_dtypes):
        home = Path(str(package.__file__)).parent
        (site / home.name).symlink_to(home)


def said_in(directory: Path) -> dict[str, Said]:
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    found: dict[str, Said] = defaultdict(lambda: Said(defaultdict(list), defaultdict(list)))
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        path = Path(one["file"])
        said, line = found[f"{path.parent.name}/{path.stem}"], one["range"]["start"]["line"] + 1
        revealed = re.fullmatch(r'Type of ".*" is "(.*)"', one["message"], re.DOTALL)
        if one["severity"] != "warning":
            said.lines[line].append(revealed[1] if revealed else one.get("rule", one["message"]))
            said.texts[line].append(one["message"])
    return found


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    directory = tmp_path_factory.mktemp("typed")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    install(directory / "venv" / "lib" / f"python{version}" / "site-packages")
    options = {"venvPath": str(directory), "venv": "venv", "pythonVersion": version, "typeCheckingMode": "basic"}
    (directory / "pyrightconfig.json").write_text(json.dumps({**options, "include": ["user"]}))
    (directory / "user").mkdir()
    for name in SAMPLES:
        shutil.copy(HERE / f"{name}.py", directory / "user")
    for path in ORDINARY:
        folder = directory / "user" / path.parent.name
        folder.mkdir(exist_ok=True)
        (folder / path.name).write_text(written(path))
    return said_in(directory)


def expected(path: Path) -> dict[int, list[str]]:
    """Line → what stands behind it: one type, or the rules of errors."""
    wanted: dict[int, list[str]] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code, _, comment = line.partition("  # ")
        if code.lstrip().startswith("reveal_type("):
            wanted[number] = [comment]
        elif comment.startswith("report"):
            wanted[number] = comment.split()
    return wanted


@pytest.mark.parametrize("name", SAMPLES)
def test_pyright_says_what_stands_behind_the_line(said: dict[str, Said], name: str) -> None:
    wanted = expected(HERE / f"{name}.py")
    assert wanted
    assert dict(said[f"user/{name}"].lines) == wanted


def kernel_lines(tree: ast.Module) -> Iterator[range]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            yield range(node.lineno, (node.end_lineno or node.lineno) + 1)


def test_ordinary_kernels_have_no_errors(said: dict[str, Said]) -> None:
    kernels, wrong = 0, list[Any]()
    for path in ORDINARY:
        spans = list(kernel_lines(ast.parse(written(path))))
        kernels += len(spans)
        for line, texts in said[f"{path.parent.name}/{path.stem}"].texts.items():
            if path.parent.name == "examples" or any(line in span for span in spans):
                wrong.append((path.name, line, texts))
    assert wrong == []
    assert kernels > 250


def test_what_is_typed_as_a_method_is_one() -> None:
    declared = {name: value for name, value in vars(Methods).items() if not name.startswith("_")}
    assert declared == sys.modules["tritonx.language.values.tensor"].tensor_methods()


def test_a_compile_time_value_is_the_class_when_it_runs() -> None:
    assert tl.constexpr is tl.core.constexpr is constexpr
