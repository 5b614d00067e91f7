"""Which folders the cache loads code from and stores it in, by owner and mode."""

from __future__ import annotations

import grp
import os
import pwd
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import cache, knobs
from tritonx.runtime.cache import CacheWarning, FileCacheManager
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.store import trusted_files

OTHER = 4242


@tritonx.jit
def kernel(x, n, BLOCK: tl.constexpr):
    pass


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fakes: Any) -> Path:
    folder = tmp_path / "above" / "store"
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(folder))
    cache._warned.clear()
    return folder


def compiled(fake: Any) -> Any:
    source = ASTSource(kernel, {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 4})
    return compile(source, target=fake.parse_target(""))


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have ``path`` belong to another user."""
    if os.geteuid() == 0:
        os.chown(path, OTHER, OTHER, follow_symlinks=False)
    else:
        user = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: user)


def entry(store: Path) -> Path:
    return next(path for path in store.iterdir() if path.is_dir())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


WRITABLE = {
    "the folder is everybody's": lambda store: store.chmod(0o777),
    "the folder is the group's": lambda store: store.chmod(0o770),
    "the folder above is everybody's": lambda store: store.parent.chmod(0o777),
    "the entry is everybody's": lambda store: entry(store).chmod(0o777),
}


@pytest.mark.parametrize("how", WRITABLE)
def test_code_is_not_taken_from_where_others_can_write(
    how: str, store: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound entry, with the digests that belong to it: anybody could have put it there."""
    monkeypatch.setattr(trusted_files, "_is_private", lambda group: False)
    first = compiled(fake)
    WRITABLE[how](store)
    before = contents(store)
    at_fault = {"folder": store, "above": store.parent, "entry": entry(store)}
    named = at_fault["entry" if "entry" in how else "above" if "above" in how else "folder"]
    with pytest.warns(CacheWarning, match=f"{named} can be written by .*TRITONX_CACHE_SHARED") as caught:
        again = compiled(fake)
        compiled(fake)
    assert len(caught) == 1
    assert len(fake.compiles) == 3 and again.image() == first.image()
    assert contents(store) == before, "something was stored there"


@pytest.mark.parametrize("of", ["folder", "entry"])
def test_code_is_not_taken_from_another_user(of: str, store: Path, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(fake)
    give_away(store if of == "folder" else entry(store), monkeypatch)
    with pytest.warns(CacheWarning, match="belongs to the user"):
        compiled(fake)
    assert len(fake.compiles) == 2


def test_files_of_others_are_made_again(store: Path, fake: Any) -> None:
    first = compiled(fake)
    Path(first.metadata_group["kernel.bin"]).chmod(0o666)
    compiled(fake)
    assert len(fake.compiles) == 2
    compiled(fake)
    assert len(fake.compiles) == 2


def test_a_temporary_folder_of_all_users_is_taken(store: Path, fake: Any) -> None:
    """As /tmp, where only its owner may rename a file."""
    store.mkdir(parents=True)
    store.chmod(0o1777)
    store.parent.chmod(0o1777)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(fake)
        compiled(fake)
    assert len(fake.compiles) == 1
    assert entry(store).stat().st_mode & 0o777 == 0o700


def test_an_entry_that_is_a_link_is_not_followed(store: Path, tmp_path: Path, fake: Any) -> None:
    compiled(fake)
    folder = entry(store)
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    (elsewhere / "kernel.bin").unlink()
    before = contents(elsewhere)
    with pytest.warns(CacheWarning, match=f"{folder} is a symbolic link"):
        assert compiled(fake).asm["bin"]
    assert contents(elsewhere) == before
    cache.clear()
    cache.prune(0)
    assert contents(elsewhere) == before


def test_a_cache_that_is_a_link_is_that_folder(
    store: Path, tmp_path: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(store)
    store.mkdir(parents=True)
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(link))
    compiled(fake)
    compiled(fake)
    assert len(fake.compiles) == 1
    store.chmod(0o777)
    with pytest.warns(CacheWarning, match=f"{store} can be written"):
        compiled(fake)


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_files_are_this_user_s_alone(mask: int, store: Path, fake: Any) -> None:
    before = os.umask(mask)
    try:
        compiled(fake)
    finally:
        os.umask(before)
    modes = {p.stat().st_mode & 0o777 for p in store.rglob("*") if p.is_file()}
    assert modes == {0o600}


def test_a_cache_of_a_group(store: Path, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_SHARED", "group")
    monkeypatch.setattr(trusted_files, "_is_private", lambda group: False)
    before = os.umask(0o077)
    try:
        compiled(fake)
    finally:
        os.umask(before)
    assert entry(store).stat().st_mode & 0o7777 == 0o2770
    assert {p.stat().st_mode & 0o777 for p in entry(store).iterdir()} == {0o660}
    compiled(fake)
    assert len(fake.compiles) == 1
    monkeypatch.setattr(trusted_files, "_is_ours", lambda group: False)
    with pytest.warns(CacheWarning, match="can be written by the group"):
        compiled(fake)
    store.chmod(0o777)
    monkeypatch.setattr(trusted_files, "_is_ours", lambda group: True)
    with pytest.warns(CacheWarning, match="can be written by everybody"):
        compiled(fake)
    monkeypatch.setenv("TRITONX_CACHE_SHARED", "anyone")
    compiled(fake)
    assert len(fake.compiles) == 3


def test_a_group_of_this_user_alone_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    me = SimpleNamespace(pw_gid=7, pw_name="me")
    groups = {
        7: SimpleNamespace(gr_name="me", gr_mem=["me"]),
        8: SimpleNamespace(gr_name="me", gr_mem=[]),
    }
    monkeypatch.setattr(pwd, "getpwuid", lambda user: me)
    monkeypatch.setattr(grp, "getgrgid", lambda group: groups[group])
    private = trusted_files._is_private.__wrapped__
    assert [private(7), private(8), private(9)] == [True, False, False]
    groups[7].gr_mem.append("other")
    assert not private(7)
    groups[7] = SimpleNamespace(gr_name="users", gr_mem=[])
    assert not private(7)


def test_a_hand_made_stage_that_others_can_write_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    monkeypatch.setenv("TRITONX_OVERRIDE_DIR", str(tmp_path / "override"))
    folder = tmp_path / "override" / "KEY"
    folder.mkdir(parents=True)
    file = folder / "kernel.ttir"
    file.write_text("by hand")
    manager = FileCacheManager("KEY", override=True)
    assert manager.get_file("kernel.ttir") == str(file)
    file.chmod(0o666)
    with pytest.warns(CacheWarning, match=f"{file} can be written by everybody"):
        assert manager.get_file("kernel.ttir") is None
    file.chmod(0o644)
    folder.chmod(0o777)
    with pytest.warns(CacheWarning, match=f"{folder} can be written by everybody"):
        assert manager.get_file("kernel.ttir") is None


def test_dumps_do_not_go_through_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    monkeypatch.setenv("TRITONX_DUMP_DIR", str(tmp_path / "dump"))
    (tmp_path / "dump").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "dump" / "KEY").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="KEY is a symbolic link"):
        FileCacheManager("KEY", dump=True).put("text", "kernel.ttir", binary=False)
    FileCacheManager("KEY2", dump=True).put("text", "kernel.ttir", binary=False)
    assert contents(tmp_path / "elsewhere") == {}
    assert contents(tmp_path / "dump") == {"KEY2/kernel.ttir": b"text"}, "a dump holds what was dumped"


def test_the_stamp_is_not_written_through_a_link(store: Path, tmp_path: Path, fake: Any) -> None:
    store.mkdir(parents=True)
    (store / ".looked").symlink_to(tmp_path / "elsewhere")
    with knobs.cache.scope():
        cache._unseen_bytes = None
        compiled(fake)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(("members", "trusted"), [([], True), (["root"], True), (["root", "guest"], False)])
def test_the_group_0_is_trusted_as_root_is(members: list[str], trusted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers that run under any user give it this group, and a home that the group may write."""
    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=members))
    trusted_files._is_private.cache_clear()
    try:
        assert trusted_files._is_private(0) == trusted
    finally:
        trusted_files._is_private.cache_clear()
