"""Files that docs/architecture.md and CONTRIBUTING.md name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/architecture.md", "CONTRIBUTING.md", "docs/contributing/backend.md")
FOLDERS = ("tritonx", "tests", "benchmarks", "packages", "plugins", "docs", ".ci", "examples")
_NAMED = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)+/?)`")


def named(text: str) -> Iterator[str]:
    """What a page names with a folder, without the name of a function in a file (``pass/file.function``)."""
    for name in _NAMED.findall(text):
        if not re.search(r"[*]|^\.\w+$", name):
            yield name.rstrip("/")


def known() -> set[str]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)
    return {"/" + str(path.relative_to(ROOT)) for path in paths}


def missing(text: str, paths: set[str]) -> list[str]:
    def exists(name: str) -> bool:
        tails = {f"/{name}", f"/{name}.py", f"/{re.sub(r'[.][a-z_A-Z]+$', '', name)}.py"}
        return any(path.endswith(tuple(tails)) for path in paths)

    return [name for name in named(text) if not exists(name)]


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    assert missing((ROOT / page).read_text(), known()) == []


def test_a_name_without_a_file_is_found() -> None:
    text = "see `analysis/no_such_file`, `pipelining/rearrange.behind_readers` and `analysis/registers`"
    assert missing(text, known()) == ["analysis/no_such_file"]
