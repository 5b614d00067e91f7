"""Tests of GPUs call tritonx as it is: they run where a device is, so their calls are held against signatures here."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

GPU = sorted((Path(__file__).parent / "gpu").rglob("*.py"))


def imported(tree: ast.Module) -> dict[str, Any]:
    """What names of the module stand for, of those that it imports from tritonx."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tritonx":
            module = importlib.import_module(node.module or "")
            for name in node.names:
                found[name.asname or name.name] = getattr(module, name.name, None) or importlib.import_module(
                    f"{node.module}.{name.name}"
                )
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.partition(".")[0] == "tritonx":
                    module = importlib.import_module(name.name)
                    found[name.asname or "tritonx"] = module if name.asname else importlib.import_module("tritonx")
    return found


def called(node: ast.expr, names: dict[str, Any]) -> Any:
    """What ``name.name(...)`` calls, where the first name was imported; None where that is not known."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = called(node.value, names)
        return getattr(owner, node.attr) if inspect.ismodule(owner) else None
    return None


def calls(text: str) -> Iterator[tuple[int, Callable[..., Any], ast.Call]]:
    tree = ast.parse(text)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and inspect.isfunction(function := called(node.func, names)):
            yield node.lineno, function, node


def refusal(function: Callable[..., Any], call: ast.Call) -> str:
    """Why Python would refuse the call; empty where it would not, or where only a run can tell."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return ""
    try:
        inspect.signature(function).bind(*call.args, **{str(each.arg): each.value for each in call.keywords})
    except TypeError as error:
        return f"{function.__name__}: {error}"
    return ""


@pytest.mark.parametrize("path", GPU, ids=lambda path: path.name)
def test_calls_have_the_arguments_that_are_asked_for(path: Path) -> None:
    found = [
        f"{path}:{line} {why}" for line, function, call in calls(path.read_text()) if (why := refusal(function, call))
    ]
    assert not found


def test_a_call_that_lacks_an_argument_is_seen() -> None:
    text = "from tritonx.profiler.recorder import timer_of\nimport tritonx.profiler as p\ntimer_of(1, 'a')\np.start()\n"
    assert [(line, bool(refusal(*rest))) for line, *rest in calls(text)] == [(3, True), (4, False)]


def test_there_are_calls_to_look_at() -> None:
    assert sum(1 for path in GPU for _ in calls(path.read_text())) > 100
