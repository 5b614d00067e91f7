"""Every pass there is can be named, under its own name: by the table, or by an entry point where a backend has it."""

from __future__ import annotations

import ast
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import tritonx
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


def test_every_pass_is_in_the_table() -> None:
    assert declared("transforms", "conversion").items() <= registry.PASSES.items()


def test_every_pass_of_a_backend_is_an_entry_point() -> None:
    passes = declared("backends")
    assert "use-buffer-accesses" in passes
    for name, where in passes.items():
        cls = registry.find_pass(name)
        assert f"{cls.__module__}:{cls.__name__}" == where and cls.name == name and cls.__doc__


@pytest.mark.parametrize("name", registry.PASSES)
def test_a_pass_has_the_name_it_is_listed_under(name: str) -> None:
    cls = registry.find_pass(name)
    assert cls.name == name and cls.__doc__


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(registry.UnknownPass, match="did you mean 'licm'"):
        registry.find_pass("lcim")


def test_plug_ins_add_passes_but_cannot_replace_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    where = "tritonx.transforms.tile.dce:DeadCodeElimination"
    entries = [EntryPoint(name, where, registry.ENTRY_POINTS) for name in ("my-dce", "fold")]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    registry._plugins.cache_clear()
    try:
        assert registry.find_pass("my-dce").name == "dce"
        assert registry.find_pass("fold").name == "fold"
        assert "my-dce" in registry.pass_names()
    finally:
        registry._plugins.cache_clear()
