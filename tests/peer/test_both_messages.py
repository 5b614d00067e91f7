"""What Triton's front end takes ours takes, and what it refuses ours refuses in the same words, as far as
`both_messages` goes; where one of the two takes more, the case says why."""

from __future__ import annotations

import importlib
import re
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.peer
if find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parent))

from both_messages import CASES, HEADER, Case  # noqa: E402  # beside this file

TARGET = ("cuda", 90, 32)


def module(package: str, name: str, case: Case, folder: Path) -> ModuleType:
    path = folder / f"{name}_of_{package}.py"
    path.write_text(re.sub(r"\btriton\b", package, HEADER + case.source))
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def front_end(package: str, source: Any) -> None:
    """Through the front end alone."""
    compiler = importlib.import_module(f"{package}.compiler")
    target = importlib.import_module(f"{package}.backends.compiler").GPUTarget(*TARGET)
    backend = compiler.make_backend(target)
    ir = importlib.import_module(f"{package}._C.libtriton").ir
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options({})
    functions = backend.get_codegen_implementation(options)
    source.make_ir(target, options, functions, backend.get_module_map(), context)


def refusal(package: str, name: str, case: Case, folder: Path) -> BaseException | None:
    """What the front end of a package says against a case."""
    made = module(package, name, case, folder)
    constants = {k: made.Pair(1, 2) if v == "PAIR" else v for k, v in case.constants.items()}
    source = importlib.import_module(f"{package}.compiler").ASTSource(made.kernel, case.signature, constants)
    error = importlib.import_module(f"{package}.compiler.errors").CompilationError
    try:
        front_end(package, source)
    except error as found:
        return found
    return None


def words(error: BaseException) -> str:
    """What Triton says, without the lines of the kernel."""
    while error.__cause__ is not None:
        error = error.__cause__
    last = (str(error).splitlines() or [""])[-1]
    inner = re.fullmatch(r"\w+\(([\"'])(.*)\1\)", last)  # an exception that is shown as Python writes it
    return re.sub(r"<class '[\w.]+'>", "", last if inner is None else inner[2])


@pytest.mark.parametrize("name", CASES)
def test_both_say_the_same(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    theirs, ours = (refusal(package, name, case, tmp_path) for package in ("triton", "tritonx"))
    if case.ours:
        assert theirs is not None and ours is None
    elif case.theirs:
        assert theirs is None and ours is not None
    elif theirs is None:
        assert ours is None
    else:
        assert ours is not None
        said = re.sub(r"<class '[\w.]+'>", "", str(ours))
        assert (case.said or words(theirs)) in said
        assert not case.said or case.said not in words(theirs)
