"""Every pass there is can be named, under its own name: by its file, or by an entry point where a package has it
elsewhere."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import tritonx
from tritonx.tools.opt_diagnostics import Diagnostic
from tritonx.tools.opt_explain import explain
from tritonx.tools.opt_pipeline import parse_passes
from tritonx.transforms import registry

ROOT = Path(tritonx.__file__).parent


def declared(*packages: str) -> dict[str, str]:
    """Name → module:class of every ModulePass of ``packages``, read off the source."""
    found: dict[str, str] = {}
    for path in [p for package in packages for p in (ROOT / package).rglob("*.py")]:
        module = "tritonx." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and any("ModulePass" in ast.unparse(b) for b in node.bases):
                for line in node.body:
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "name":
                        found[ast.literal_eval(line.value)] = f"{module}:{node.name}"
    return found


def test_every_pass_has_the_name_of_its_file() -> None:
    passes = declared("transforms", "conversion")
    assert {"cse", "insert-barriers", "assign-layouts"} <= passes.keys()
    for name, where in passes.items():
        cls = registry.find_pass(name)
        assert f"{cls.__module__}:{cls.__name__}" == where and cls.name == name and cls.__doc__
    assert {*passes, *declared("backends")} <= {*registry.pass_names()}


def test_what_lies_beside_the_passes_is_none() -> None:
    assert "pipeline" in registry._modules() and "pipeline" not in registry.pass_names()
    with pytest.raises(registry.UnknownPass):
        registry.find_pass("forward-flow")


def test_finding_one_pass_imports_no_other() -> None:
    program = """
import sys
from tritonx.transforms.registry import find_pass
assert not any(m.startswith("tritonx.transforms.") and m != "tritonx.transforms.registry" for m in sys.modules)
assert find_pass("dce").__name__ == "DeadCodeElimination" and "tritonx.transforms.tile.cse" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_no_two_modules_would_hold_a_pass_of_one_name() -> None:
    """A name stands for one file, in whichever package."""
    stems = [p.stem for package in registry.PACKAGES for p in (ROOT.parent / package.replace(".", "/")).glob("*.py")]
    passes = {name.replace("-", "_") for name in declared("transforms", "conversion")}
    assert all(stems.count(stem) == 1 for stem in passes)


def test_every_pass_of_a_backend_has_the_name_of_its_file() -> None:
    passes = declared("backends")
    assert "use-buffer-accesses" in passes
    for name, where in passes.items():
        cls = registry.find_pass(name)
        assert f"{cls.__module__}:{cls.__name__}" == where and cls.name == name and cls.__doc__


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(registry.UnknownPass, match="did you mean 'licm'"):
        registry.find_pass("lcim")


def bring(monkeypatch: pytest.MonkeyPatch, entries: Sequence[EntryPoint], asked: str = registry.ENTRY_POINTS) -> None:
    """Have these entries of a group be installed."""
    real = registry.entry_points
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == asked else real(group=group))


PASS = """
from dataclasses import dataclass
from xdsl.passes import ModulePass

@dataclass(frozen=True)
class Shout(ModulePass):
    name = "shout"
"""


def test_an_outside_backends_passes_are_found_in_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside helpers and what cannot be imported, and whatever else another backend is."""
    passes = tmp_path / "outside_chip" / "passes"
    passes.mkdir(parents=True)
    for path, text in (
        (passes.parent / "__init__.py", ""),
        (passes / "__init__.py", ""),
        (passes / "shout.py", PASS),
        (passes / "helper.py", ""),
        (passes / "broken.py", "1 / 0"),
    ):
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    places = {"chip": "outside_chip:BACKEND", "none": "nonesuch:BACKEND", "file": "tritonx.errors:BACKEND"}
    bring(monkeypatch, [EntryPoint(*each, registry.BACKENDS) for each in places.items()], registry.BACKENDS)
    registry._of_backends.cache_clear()
    try:
        assert registry.find_pass("shout").__module__ == "outside_chip.passes.shout"
        assert {"shout", "broken"} < {*registry.pass_names()} and "helper" not in registry.pass_names()
        with pytest.raises(registry.UnusablePass, match=r"pass 'broken' .*ZeroDivisionError"):
            registry.find_pass("broken")
        with pytest.raises(registry.UnknownPass, match="unknown pass 'helper'"):
            registry.find_pass("helper")
    finally:
        registry._of_backends.cache_clear()


def test_a_plug_ins_pass_that_is_none_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    wheres = {
        "missing": "nonesuch:X",
        "nothing": "tritonx.transforms.registry:X",
        "number": f"{registry.__name__}:PACKAGES",
    }
    entries = [EntryPoint(name, where, registry.ENTRY_POINTS) for name, where in wheres.items()]
    bring(monkeypatch, entries)
    registry._plugins.cache_clear()
    try:
        for name, reason in (
            ("missing", r"\(nonesuch:X\) cannot be used: ModuleNotFoundError: No module named 'nonesuch'"),
            ("nothing", "cannot be used: AttributeError: module .* has no attribute 'X'"),
            ("number", "cannot be used: it is .*, and no class derived from ModulePass"),
        ):
            with pytest.raises(registry.UnusablePass, match=f"pass '{name}' .*{reason}"):
                registry.find_pass(name)
            with pytest.raises(Diagnostic, match=reason):
                parse_passes(name)
            with pytest.raises(Diagnostic, match=reason):
                explain(name)
        assert "inline: " in next(iter(explain("inline")))
    finally:
        registry._plugins.cache_clear()


def test_plug_ins_add_passes_but_cannot_replace_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "tritonx.transforms.tile.dce:DeadCodeElimination"
    entries = [EntryPoint(name, where, registry.ENTRY_POINTS) for name in ("my-dce", "fold", "copy-blocks")]
    bring(monkeypatch, entries)
    registry._plugins.cache_clear()
    try:
        assert registry.find_pass("my-dce").name == "dce"
        assert registry.find_pass("fold").name == "fold"
        assert "my-dce" in registry.pass_names()
        assert registry.find_pass("copy-blocks").name == "copy-blocks"
        entry = registry.entry_of("copy-blocks")
        assert entry is not None and entry.module == "tritonx.backends.nvidia.passes.copy_blocks"
    finally:
        registry._plugins.cache_clear()
