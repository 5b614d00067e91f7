"""What the key of the compiler covers."""

from __future__ import annotations

from pathlib import Path

import pytest

import tritonx
from tritonx.runtime.compiling import keys


def test_the_compilers_key_covers_the_whole_package(monkeypatch: pytest.MonkeyPatch) -> None:
    roots: list[Path] = []
    monkeypatch.setattr(keys, "_add_sources", lambda digest, root, *_: roots.append(root))
    keys.compiler_key.__wrapped__()
    assert roots == [Path(tritonx.__file__).resolve().parent]


def test_a_changed_source_changes_the_digest(tmp_path: Path) -> None:
    import hashlib

    def digest() -> str:
        made = hashlib.sha256()
        keys._add_sources(made, tmp_path, ("tools",))
        return made.hexdigest()

    (tmp_path / "tools").mkdir()
    (tmp_path / "a.py").write_text("x = 1")
    (tmp_path / "tools" / "b.py").write_text("x = 1")
    first = digest()
    (tmp_path / "tools" / "b.py").write_text("x = 2")
    assert digest() == first
    (tmp_path / "a.py").write_text("x = 2")
    assert digest() != first
