"""What a launch refuses because of the world around the kernel (globals that changed, what a closure holds, arguments,
configurations, results without uses): ours raises what the wheel raises, in its words, at the same step."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tritonx

triton = pytest.importorskip("triton")

sys.path.insert(0, str(Path(__file__).parent))

from refused_programs import PROGRAMS  # noqa: E402  # beside this file

HEAD = """
import {package} as T
import {package}.language as tl
from {package}.runtime import errors

class Pointer:
    dtype = "float32"
    def data_ptr(self):
        return 0

def launch(kernel, *args, **kwargs):
    return kernel.warmup(*args, grid=(1,), **kwargs)
"""

MORE: dict[str, str] = {
    "builtin_shadowed": "a global named as a builtin function is a global all the same: Triton launches the old kernel",
    "changed_of_callee": "a callee's global, where the kernel was compiled at once: Triton launches the old kernel",
    "changed_type": "1 and 1.0 are equal for Python, and two kernels: Triton launches the old one",
    "closure": "a variable of the enclosing function is a global of the kernel: Triton launches the old kernel",
    "conflict": "the kernel's own global, read after the callee: Triton takes the callee as it was",
}
"""Programs of which ours refuses a step that Triton runs, and why. Nothing that Triton refuses is run here."""

ELSEWHERE: dict[str, str] = {
    "enumeration": "PropagateNan is a class of bindings there, which prints otherwise",
    "plain_function": "Triton raises RuntimeError before it compiles, ours a CompilationError with the line and a hint",
    "preload": "the name of a kernel there is with its module",
}
"""Programs that both refuse at the same step in other words."""


@pytest.fixture(autouse=True)
def allocator() -> Iterator[None]:
    """A program may set one that is none."""
    yield
    tritonx.set_allocator(None)


@dataclass(frozen=True)
class Outcome:
    """What a step did: the names of the exception and its bases, and its text; ``()`` and a result that is a text."""

    raised: tuple[str, ...]
    text: str


class FakeDriver:
    """A device that is not there: what compiling asks of one."""

    def get_current_target(self) -> Any:
        return triton.backends.compiler.GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "theirs"))
    monkeypatch.setattr(triton.runtime.driver, "_active", FakeDriver())


def outcome(step: Any) -> Outcome:
    try:
        result = step()
    except Exception as error:
        return Outcome(tuple(cls.__name__ for cls in type(error).__mro__), str(error))
    return Outcome((), result if isinstance(result, str) else "")


def outcomes(package: str, name: str, directory: Path) -> list[Outcome]:
    path = directory / f"{name}.py"
    directory.mkdir()
    path.write_text((HEAD + PROGRAMS[name]).replace("{package}", package))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
        return [outcome(step) for step in module.steps()]
    finally:
        del sys.modules[name]


def words(text: str) -> str:
    """Without what is of one process, the length of carets, and the quotes of a KeyError."""
    return re.sub(r"<object object at 0x\w+>", "<deleted>", re.sub(r"\^~+", "^", text)).strip("'")


def agree(theirs: Outcome, ours: Outcome) -> bool:
    """Whether an ``except`` clause and a search in the text find ours where they find theirs."""
    if not theirs.raised:
        return theirs == ours
    return theirs.raised[0] in ours.raised and words(theirs.text) in words(ours.text)


@pytest.mark.peer
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_refuse_alike(name: str, tmp_path: Path, driver: None) -> None:
    theirs = outcomes("triton", name, tmp_path / "triton")
    ours = outcomes("tritonx", name, tmp_path / "tritonx")
    assert len(theirs) == len(ours) > 0
    differ = [pair for pair in zip(theirs, ours, strict=True) if not agree(*pair)]
    if name in MORE:
        assert differ
        assert all(not left.raised and "RuntimeError" in right.raised for left, right in differ)
    elif name in ELSEWHERE:
        assert differ
        assert all(left.raised and right.raised for left, right in differ)
    else:
        assert differ == []
