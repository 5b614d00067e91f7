"""Whatever becomes of the files of a warm cache, results are right, nothing is raised, and nothing foreign is touched.

``TRITONX_CACHE_FAULTS=2000`` for as many draws.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import cache
from tritonx.runtime.cache import FileCacheManager
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.config import Config
from tritonx.runtime.tuning.records import Record, Records
from tritonx.runtime.tuning.stored_timings import StoredTimings

DRAWS = int(os.environ.get("TRITONX_CACHE_FAULTS", "30"))
KEPT = "A" * 52
CONTENT = b"\x7fELF and more" * 50
PIXELS = b"pixels" * 5000


@tritonx.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def use() -> None:
    """Use all that the cache holds for, as a new process does: kernels, code that another compile made, timings,
    records and files of libraries. What is found has to be right; what is not found is stored."""
    for divisor in (4, 8):
        marks = {(1,): [["tt.divisibility", divisor]]}
        signature = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        x = np.arange(24, dtype=np.float32)
        made = compile(ASTSource(double, signature, {"BLOCK": 16}, marks), target="cpu")
        made[(2,)](x, 24)
        np.testing.assert_array_equal(x, np.arange(24) * 2)
        assert "@double" in made.asm["ttir"] and "define " in made.asm["llir"]
    config, times = Config({"BLOCK": 16}), [0.5, 0.25, 0.75]
    timings = StoredTimings("double", ("one", "two"), (config,))
    if (found := timings.read()) is None:
        timings.write((), {config: times})
    else:
        assert found == {config: times}
    records = Records("double", ("one", "two"))
    if (record := records.get(config)) is None:
        records.put(config, Record((0.5, 0.25)))
    else:
        assert record == Record((0.5, 0.25))
    manager = FileCacheManager(KEPT)
    if (path := manager.get_file("library.so")) is None:
        manager.put(CONTENT, "library.so")
    else:
        assert Path(path).read_bytes() == CONTENT


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Damage:
    """Ways to damage one file, all drawn."""

    def __init__(self, rng: random.Random, outside: Path) -> None:
        self.rng = rng
        self.outside = outside
        self.ways: list[Callable[[Path], None]] = [
            self.cut, self.cut, self.flip, self.flip, self.empty, self.remove, self.link, self.link_to_folder,
            self.pipe, self.folder, self.open_to_all, self.deep, self.strange, self.huge, self.other_owner, self.binary,
            self.linked_entry, self.foreign_file,
        ]  # fmt: skip

    def cut(self, path: Path) -> None:
        path.write_bytes(path.read_bytes()[: self.rng.randrange(path.stat().st_size or 1)])

    def flip(self, path: Path) -> None:
        content = bytearray(path.read_bytes() or b"\0")
        for _ in range(self.rng.choice((1, 1, 5))):
            content[self.rng.randrange(len(content))] ^= 1 << self.rng.randrange(8)
        path.write_bytes(content)

    def empty(self, path: Path) -> None:
        path.write_bytes(b"")

    def remove(self, path: Path) -> None:
        path.unlink()

    def link(self, path: Path) -> None:
        path.unlink()
        path.symlink_to(self.outside / "letter.txt")

    def link_to_folder(self, path: Path) -> None:
        path.unlink()
        path.symlink_to(self.outside)

    def pipe(self, path: Path) -> None:
        path.unlink()
        os.mkfifo(path)

    def folder(self, path: Path) -> None:
        path.unlink()
        path.mkdir()
        (path / "holiday.jpg").write_bytes(PIXELS)

    def open_to_all(self, path: Path) -> None:
        path.chmod(0o666)

    def deep(self, path: Path) -> None:
        path.write_text(self.rng.choice('[{"') * 1 + '{"child_paths":' + "[" * self.rng.choice((1000, 100_000)))

    def strange(self, path: Path) -> None:
        name = self.rng.choice(("a\0b", "\ud800", "../../outside/letter.txt", "/etc/passwd", "..", "", "x" * 5000))
        files = self.rng.choice(({name: {"bytes": 3, "sha256": "0" * 64}}, {name: 5}, [name], name, None))
        names = self.rng.choice(({name: name}, [name], [[name]], name, 7, {name: None}))
        path.write_text(json.dumps({"child_paths": names, "files": files, "entry": name, "configs_timings": names}))

    def huge(self, path: Path) -> None:
        number = self.rng.choice(("1" * 5000, "1e400", "-1e999", "NaN", "1" * 400))
        path.write_text(f'{{"child_paths": {{"a": {number}}}, "files": {{"a": {{"bytes": {number}, "sha256": "b"}}}}}}')

    def other_owner(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, 12345, 12345)

    def binary(self, path: Path) -> None:
        path.write_bytes(self.rng.randbytes(self.rng.choice((1, 500))))

    def linked_entry(self, path: Path) -> None:
        """The whole entry is moved out, and a link is left."""
        moved = self.outside / f"{path.parent.name}.{self.rng.randrange(10**9)}"
        shutil.move(path.parent, moved)
        path.parent.symlink_to(moved)

    def foreign_file(self, path: Path) -> None:
        (path.parent / "holiday.jpg").write_bytes(PIXELS)


@pytest.mark.parametrize("draw", range(DRAWS))
def test_damage_is_worked_around(draw: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{os.environ['TRITONX_SEED']} {draw}")
    store, outside = tmp_path / "store", tmp_path / "outside"
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(store))
    cache._warned.clear()
    outside.mkdir()
    (outside / "letter.txt").write_text("dear")
    use()
    (store / "photos" / "2020").mkdir(parents=True)
    (store / "photos" / "2020" / "holiday.jpg").write_bytes(PIXELS)
    (store / "holiday.jpg").write_bytes(PIXELS)
    damage = Damage(rng, outside)
    for _ in range(rng.choice((1, 2, 6))):
        every = [path for path in store.glob("*/*") if path.is_file() and not path.is_symlink()]
        files = [path for path in every if path.name != "holiday.jpg"]
        if files:  # else every entry is a link by now
            rng.choice(damage.ways)(rng.choice(sorted(files)))
    foreign = {name for name in snapshot(tmp_path) if name.endswith(("holiday.jpg", "letter.txt"))}
    before = snapshot(outside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cache.CacheWarning)
        use()
        use()
        cache.prune(1, str(store))
        use()
        cache.clear(str(store))
        use()
    assert snapshot(outside) == before
    left = snapshot(tmp_path)
    assert foreign <= set(left)
    assert all(left[name] == PIXELS for name in foreign if name.endswith("jpg"))


def test_nothing_of_a_sound_cache_stays_when_it_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    use()
    assert len(list(cache.entries())) >= 5
    cache.clear()
    assert set(os.listdir(tmp_path)) <= {".looked"}


def test_a_mark_does_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is written over and over, with other content each time."""
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    manager = FileCacheManager(KEPT)
    manager.put("kept", "kept")
    for number in range(1500):
        path = manager.put(str(number), "a")
    assert manager.get_file("a") == path and Path(path).read_text() == "1499"
    assert manager.get_file("kept") is not None
    assert (tmp_path / KEPT / ".tritonx-entry").stat().st_size < 100_000


@pytest.mark.parametrize("name", ["../a", "a/b", "/a", "..", ".", "", "a\0", "a\nb", "\ud800"])
def test_names_stay_in_the_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "store"))
    (tmp_path / "store" / KEPT).mkdir(parents=True)
    (tmp_path / "store" / "a").write_text("another's")
    manager = FileCacheManager(KEPT)
    assert manager.get_file(name) is None and manager.get_group(name) is None and not manager.has_file(name)
    with pytest.raises(cache.BadCacheName, match="is not the name of a file"):
        manager.put("x", name)
    with pytest.raises(cache.BadCacheName, match="is not the name of a file"):
        FileCacheManager(name)
    assert (tmp_path / "store" / "a").read_text() == "another's"
