"""A cache on a server: what one machine compiles another finds, and what was damaged on the way is a miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from tritonx.runtime import knobs
from tritonx.runtime.cache import RemoteCacheBackend, RemoteCacheManager
from tritonx.runtime.errors import BadSetting


class Shelf(RemoteCacheBackend):
    files: ClassVar[dict[tuple[str, str], bytes]] = {}

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        return {name: self.files[self.key, name] for name in filenames if (self.key, name) in self.files}

    def put(self, filename: str, data: bytes) -> None:
        self.files[self.key, filename] = data


@pytest.fixture(autouse=True)
def shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shelf, "files", {})


def machine(path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteCacheManager:
    """A manager with an empty cache on disk, and the same server."""
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(path))
    return RemoteCacheManager("ABC")


def test_what_one_stores_another_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Shelf
        first = machine(tmp_path / "a", monkeypatch)
        first.put_group("k.json", {name: first.put(data, name) for name, data in (("k.x", b"\0\1"), ("k.y", "text"))})
        second = machine(tmp_path / "b", monkeypatch)
        found = second.get_group("k.json")
        assert found is not None and {n: Path(p).read_bytes() for n, p in found.items()} == {
            "k.x": b"\0\1",
            "k.y": b"text",
        }
        assert str(tmp_path / "b") in found["k.x"]
        assert second.get_file("nothing") is None and second.get_group("nothing.json") is None


@pytest.mark.parametrize("damaged", ["k.x", "__grp__k.json"])
def test_what_is_damaged_is_no_entry(damaged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Shelf
        first = machine(tmp_path / "a", monkeypatch)
        first.put_group("k.json", {"k.x": first.put(b"code", "k.x")})
        Shelf.files["ABC", damaged] = b"{"
        assert machine(tmp_path / "b", monkeypatch).get_group("k.json") is None


GROUPS = {
    "names that leave the folder": {"child_paths": {"../../x": ""}, "files": {"../../x": {"bytes": 1, "sha256": "0"}}},
    "no text": {"child_paths": {"a": ""}, "files": {"a": {"bytes": "1", "sha256": 5}}},
    "a list": [1],
}


@pytest.mark.parametrize("group", [*map(json.dumps, GROUPS.values()), "[" * 100_000, "\0"])
def test_a_group_of_a_server_is_not_trusted(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Shelf
        manager = machine(tmp_path / "a", monkeypatch)
        manager.put(b"code", "../../x".rpartition("/")[2])
        manager.put(group, "__grp__k.json")
        assert machine(tmp_path / "b", monkeypatch).get_group("k.json") is None
        assert not (tmp_path / "x").exists()


def test_a_file_without_its_digest_is_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = Shelf
        first = machine(tmp_path / "a", monkeypatch)
        first.put(b"whole", "k.x")
        found = machine(tmp_path / "b", monkeypatch).get_file("k.x")
        assert found is not None and Path(found).read_bytes() == b"whole"
        Shelf.files["ABC", "k.x"] = b"who"
        assert machine(tmp_path / "c", monkeypatch).get_file("k.x") is None
        del Shelf.files["ABC", "__sha256__k.x"]
        assert machine(tmp_path / "d", monkeypatch).get_file("k.x") is None


def test_without_a_server() -> None:
    with knobs.cache.scope():
        knobs.cache.remote_manager_class = None
        with pytest.raises(BadSetting, match="TRITON_REMOTE_CACHE_BACKEND"):
            RemoteCacheManager("ABC")


def test_a_kernel_comes_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled on one machine, not compiled on another."""
    import tritonx
    from tritonx.backends.api import Target
    from tritonx.compiler import ASTSource

    heard: list[bool] = []

    @tritonx.jit
    def kernel(x):
        pass

    with knobs.cache.scope(), knobs.compilation.scope():
        knobs.cache.manager_class, knobs.cache.remote_manager_class = RemoteCacheManager, Shelf
        knobs.compilation.listener = lambda **facts: heard.append(facts["cache_hit"])
        for name in "ab":
            monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / name))
            tritonx.compile(ASTSource(kernel, {"x": "*fp32"}), target=Target("cpu"))
    assert heard == [False, True]
