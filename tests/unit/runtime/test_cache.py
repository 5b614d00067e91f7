"""The cache on disk: hits, damage, many processes, full disks, its bound, its command."""

from __future__ import annotations

import concurrent.futures
import errno
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.frontend.errors import PlainFunctionCalled
from tritonx.runtime import cache, knobs
from tritonx.runtime.cache import CacheWarning, FileCacheManager
from tritonx.runtime.compiling import keys
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.store.cache_entries import MARK
from tritonx.tools.cache import main as command


@tritonx.jit
def kernel(x, n, BLOCK: tl.constexpr):
    pass


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, no_bytecode: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "store"))
    cache._warned.clear()


def source(**changes: Any) -> ASTSource:
    constants = {"BLOCK": changes.get("block", 4)}
    return ASTSource(kernel, {"x": changes.get("type", "*fp32"), "n": "i32", "BLOCK": "constexpr"}, constants)


def compiled(fake: Any, **changes: Any) -> Any:
    return compile(source(**changes), target=fake.parse_target(""), options=changes.get("options"))


def test_a_hit_gives_the_same_kernel(fake: Any) -> None:
    first, second = compiled(fake), compiled(fake)
    assert len(fake.compiles) == 1
    assert second.hash == first.hash
    assert second.metadata == first.metadata
    assert dict(second.asm.items()) == dict(first.asm.items())
    assert second.image() == first.image()
    assert second.metadata.target == fake.parse_target("")


def copy_at(path: Path) -> Any:
    """A module of kernels, the second of which calls the first."""
    path.parent.mkdir()
    path.write_text(
        textwrap.dedent("""
        import tritonx
        import tritonx.language as tl

        @tritonx.jit
        def checked(x):
            tl.device_assert(tl.load(x) > 3, "small")
            tl.store(x, 1)

        @tritonx.jit
        def kernel(x):
            checked(x)

        @tritonx.jit
        def plain(x):
            tl.store(x, 1)
        """)
    )
    spec = importlib.util.spec_from_file_location("copied", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("target", "options"),
    [("cuda:90", {"debug": True}), ("cuda:90", {"line_info": True}), ("hip:gfx942", {"line_info": True})],
)
def test_code_that_names_files_names_its_own(tmp_path: Path, target: str, options: dict[str, bool]) -> None:
    """A copy of a program elsewhere is another entry, but only where the code says where it stands."""
    one, two = (copy_at(tmp_path / name / "kernels.py") for name in ("one", "two"))

    def made(module: Any, **options: bool) -> Any:
        return compile(ASTSource(module.kernel, {"x": "*i32"}), target, options)

    def named(module: Any) -> list[bool]:
        return [f"{tmp_path / name}" in made(module, **options).asm["llir"] for name in ("one", "two")]

    assert named(one) == [True, False] and named(two) == [False, True]
    assert made(one).hash == made(two).hash
    plain = [compile(ASTSource(m.plain, {"x": "*i32"}), target, options) for m in (one, two)]
    assert (plain[0].hash == plain[1].hash) == ("line_info" not in options)  # what asserts nothing names no file
    one.checked = two.checked  # what is called stands there
    one.kernel.hash = None
    assert named(one)[1]


def test_what_the_key_covers(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = {
        compiled(fake).hash,
        compiled(fake, type="*fp16").hash,
        compiled(fake, block=8).hash,
        compiled(fake, block=True).hash,
        compiled(fake, options={"num_warps": 8}).hash,
        compiled(fake, options={"speed": 2}).hash,
        compile(source(), target=fake.parse_target("v2")).hash,
    }
    monkeypatch.setattr(type(fake), "version_key", lambda self: "newer assembler")
    hashes.add(compiled(fake).hash)
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")
    hashes.add(compiled(fake).hash)
    monkeypatch.setattr(keys, "compiler_key", lambda: "another tritonx")
    hashes.add(compiled(fake).hash)
    assert len(hashes) == len(fake.compiles) == 10


def module_of(tmp_path: Path, name: str, text: str) -> Any:
    import importlib.util

    path = tmp_path / f"{name}.py"
    path.write_text("import tritonx\nfrom tritonx.language.values.constexpr import constexpr\n" + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(f"{name}_{path.stat().st_mtime_ns}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import linecache

    linecache.checkcache()
    spec.loader.exec_module(module)
    return module


def test_source_keys_cover_callees_globals_and_place(tmp_path: Path) -> None:
    text = """
    WIDTH = constexpr(4)
    @tritonx.jit
    def inner(x):
        return x + 1
    @tritonx.jit
    def middle(x):
        return inner(x)
    @tritonx.jit
    def outer(x):
        return middle(x) + WIDTH
    """
    variants = {
        "same": text,
        "inner": text.replace("x + 1", "x + 2"),
        "width": text.replace("constexpr(4)", "constexpr(5)"),
        "noinline": text.replace("@tritonx.jit\n    def inner", "@tritonx.jit(noinline=True)\n    def inner"),
        "moved": "\n" + text,
        "renamed": text.replace("x", "z").replace("tritonz", "tritonx").replace("constezpr", "constexpr"),
    }
    hashes = {name: module_of(tmp_path, name, variant).outer.cache_key for name, variant in variants.items()}
    assert len(set(hashes.values())) == len(variants)
    assert module_of(tmp_path, "again", text).outer.cache_key == hashes["same"]


def test_recursion_has_a_key(tmp_path: Path) -> None:
    text = "@tritonx.jit\ndef a(x):\n    return b(x)\n@tritonx.jit\ndef b(x):\n    return a(x)\n"
    assert module_of(tmp_path, "cycle", text).a.cache_key


def test_plain_functions_are_refused(tmp_path: Path) -> None:
    text = "def plain(x):\n    return x\n@tritonx.jit\ndef a(x):\n    return plain(x)\n"
    kernel = module_of(tmp_path, "plain", text).a
    assert kernel.cache_key
    with pytest.raises(PlainFunctionCalled, match="plain is a plain Python function"):
        kernel.warmup(1.0, grid=(1,))


@pytest.mark.parametrize("suffix", [".bin", ".ttir", ".json", "group"])
@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "remove", "foreign"])
def test_damaged_entries_are_compiled_again(fake: Any, suffix: str, damage: str) -> None:
    first = compiled(fake)
    folder = Path(next(iter(first.metadata_group.values()))).parent
    path = folder / ("__grp__kernel.json" if suffix == "group" else f"kernel{suffix}")
    content = path.read_bytes()
    if damage == "remove":
        path.unlink()
    else:
        new = {
            "truncate": content[:-1],
            "flip": bytes([content[0] ^ 1]) + content[1:],
            "empty": b"",
            "foreign": b'{"hello": [1, 2]}',
        }[damage]
        path.write_bytes(new)
    again = compiled(fake)
    assert len(fake.compiles) == 2
    assert again.asm["bin"] == first.asm["bin"]
    assert compiled(fake).asm["ttir"] == first.asm["ttir"]
    assert len(fake.compiles) == 2


def test_a_foreign_group_of_the_right_form(fake: Any) -> None:
    first = compiled(fake)
    manager = cache.get_cache_manager(first.hash)
    manager.put_group("kernel.json", {"kernel.json": manager.put('{"name": "kernel"}', "kernel.json")})
    compiled(fake)
    assert len(fake.compiles) == 2


def restore(made: Any, name: str, content: str | bytes) -> None:
    """Put ``content`` in the place of a file of the entry, with its digest."""
    manager = cache.get_cache_manager(made.hash)
    manager.put(content, name)
    manager.put_group("kernel.json", made.metadata_group)


def without(key: str) -> Any:
    return lambda stored: {name: value for name, value in stored.items() if name != key}


CHANGES: dict[str, Any] = {
    "no object": lambda stored: [stored],
    "null": lambda stored: None,
    "another entry's": lambda stored: {**stored, "hash": "0" * 64},
    "another version's": lambda stored: {**stored, "triton_version": "3.1.0"},
    "no version": without("triton_version"),
    "a name of another kind": lambda stored: {**stored, "name": 5},
    "numbers as text": lambda stored: {**stored, "shared": "none"},
    "stages as text": lambda stored: {**stored, "stages": "bin"},
    "no such stage": lambda stored: {**stored, "stages": ["ttir", "cubin"]},
    "other members of the target": lambda stored: {**stored, "target": {"chip": "v1"}},
    "parameters without types": lambda stored: {**stored, "parameters": [["x"]]},
    "parameters as a number": lambda stored: {**stored, "parameters": 7},
    **{f"no {key}": without(key) for key in ("name", "shared", "num_warps", "stages", "binary_stages", "target")},
}


@pytest.mark.parametrize("change", CHANGES)
def test_metadata_with_the_right_digest_and_the_wrong_content(fake: Any, change: str) -> None:
    first = compiled(fake)
    stored = json.loads(Path(first.metadata_group["kernel.json"]).read_text())
    restore(first, "kernel.json", json.dumps(CHANGES[change](stored)))
    again = compiled(fake)
    assert len(fake.compiles) == 2
    assert again.image() == first.image() and again.metadata == first.metadata
    assert compiled(fake).image() == first.image() and len(fake.compiles) == 2


@pytest.mark.parametrize("content", ['{"name": "ker', "", "[" * 100_000, "\0"])
def test_metadata_that_are_no_json_with_the_right_digest(fake: Any, content: str) -> None:
    first = compiled(fake)
    restore(first, "kernel.json", content)
    assert compiled(fake).image() == first.image()
    assert len(fake.compiles) == 2


def test_a_binary_that_cannot_be_loaded_is_made_again(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled(fake)
    restore(first, "kernel.bin", b"no code")
    load = fake.own_driver.load

    def careful(image: Any, device: int) -> Any:
        if not image.binary.startswith(b"\x00binary"):
            raise RuntimeError("not an object")
        return load(image, device)

    monkeypatch.setattr(fake.own_driver, "load", careful)
    again = compiled(fake)
    assert len(fake.compiles) == 1
    assert again.n_regs == 11 and again.image() == first.image()
    assert len(fake.compiles) == 2
    compiled(fake).load()
    assert len(fake.compiles) == 2, "the entry was not mended"


def test_what_cannot_be_loaded_at_all_is_not_compiled_again_and_again(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(image: Any, device: int) -> Any:
        raise RuntimeError("no such device any more")

    compiled(fake)
    monkeypatch.setattr(fake.own_driver, "load", fails)
    again = compiled(fake)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="no such device any more"):
            again.load()
    assert len(fake.compiles) == 2


def test_stages_that_are_no_text_or_have_gone_are_made_again(fake: Any) -> None:
    first = compiled(fake)
    restore(first, "kernel.ttir", b"\xff\xfe")
    assert compiled(fake).asm["ttir"] == first.asm["ttir"]
    held = compiled(fake)
    cache.clear()
    assert held.asm["ttir"] == first.asm["ttir"] and held.image() == first.image()


@tritonx.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x7fELF" + bytes(500)])
def test_an_object_of_the_host_that_is_none(content: bytes) -> None:
    """As far as the computed numbers: a process finds such an object with its right digest, and runs the kernel."""
    signature = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    first = compile(ASTSource(double, signature, {"BLOCK": 16}), target="cpu")
    manager = cache.get_cache_manager(first.hash)
    manager.put(content, "double.obj")
    manager.put_group("double.json", first.metadata_group)
    x = np.arange(20, dtype=np.float32)
    compile(ASTSource(double, signature, {"BLOCK": 16}), target="cpu")[(2,)](x, 20)
    assert (x == np.arange(20) * 2).all()


def test_folders_are_this_user_s_alone(fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "not" / "yet" / "there"))
    before = os.umask(0)
    try:
        made = compiled(fake)
    finally:
        os.umask(before)
    folder = Path(made.metadata_group["kernel.json"]).parent
    while folder != tmp_path:
        assert folder.stat().st_mode & 0o777 == 0o700, folder
        folder = folder.parent


def test_a_folder_that_was_there_keeps_its_mode(fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "shared"))
    (tmp_path / "shared").mkdir(mode=0o755)
    compiled(fake)
    assert (tmp_path / "shared").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EACCES, errno.EROFS])
def test_unwritable_cache_is_one_warning(fake: Any, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(cache.os, "replace", fails)
    with pytest.warns(CacheWarning, match="cannot be written") as caught:
        first = compiled(fake)
        compiled(fake, block=8)
    assert len([w for w in caught if w.category is CacheWarning]) == 1
    assert first.asm["bin"]
    assert {f for _, _, files in os.walk(knobs.cache.dir) for f in files} == {MARK}


def test_a_file_in_place_of_the_directory(fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(CacheWarning):
        assert compiled(fake).asm["bin"]


def test_least_recently_used_entries_go_first(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(6):
        made = compiled(fake, block=1 << i)
        for path in (*made.metadata_group.values(), os.path.dirname(made.metadata_group["kernel.json"])):
            os.utime(path, (1000 + i, 1000 + i))
        group = os.path.join(os.path.dirname(made.metadata_group["kernel.json"]), "__grp__kernel.json")
        os.utime(group, (1000 + i, 1000 + i))
    compiled(fake, block=1)  # a hit: used now
    every = sorted(cache.entries(), key=lambda e: e.used)
    total = sum(e.bytes for e in every)
    assert cache.prune(total) == []
    removed = cache.prune(total - 1)
    assert [e.used for e in removed] == [1001.0]
    assert sum(e.bytes for e in cache.entries()) <= 0.9 * total


def test_the_bound_is_kept_while_writing(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_MAX_BYTES", "20K")
    monkeypatch.setattr(cache, "_PRUNE_EVERY_BYTES", 1000)
    for i in range(40):
        compiled(fake, block=i)
    assert sum(e.bytes for e in cache.entries()) < 25 << 10


def test_the_first_write_of_a_process_looks_unless_another_has_lately(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(cache, "prune", looks.append)
    stamp = Path(knobs.cache.dir) / ".looked"

    def first_write(block: int) -> int:
        monkeypatch.setattr(cache, "_unseen_bytes", None)
        before = len(looks)
        compiled(fake, block=block)
        return len(looks) - before

    assert first_write(1) == 1 and stamp.exists()
    assert first_write(2) == 0
    for moment in (time.time() - 3600, time.time() + 3600):
        os.utime(stamp, (moment, moment))
        assert first_write(int(moment)) == 1
        assert abs(stamp.stat().st_mtime - time.time()) < 60
    monkeypatch.setattr(cache, "_PRUNE_EVERY_BYTES", 10)
    assert first_write(5) > 1
    assert not [e for e in cache.entries() if e.key == ".looked"]


def test_storing_only_the_binary_and_always_compiling(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_STORE_BINARY_ONLY", "1")
    assert set(compiled(fake).asm) == {"ttir", "bin"}
    assert set(compiled(fake).asm) == {"bin"}
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    compiled(fake)
    assert len(fake.compiles) == 2


def test_backends_that_break_the_contract(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from tritonx.backends.api import EmitStage
    from tritonx.runtime.errors import BackendContractError

    def stages(*made: Any) -> Any:
        monkeypatch.setattr(type(fake), "stages", lambda self, target, options: made)
        with pytest.raises(BackendContractError) as caught:
            compiled(fake)
        return str(caught.value)

    assert "made a int, not text or bytes" in stages(EmitStage("ttir", lambda value, _: 5))
    assert "its last stage is 'bin', but its stages are ttir" in stages(EmitStage("ttir", lambda value, _: "text"))

    def unspeakable(value: Any, compilation: Any) -> bytes:
        compilation.metadata["thing"] = object()
        return b""

    assert "that JSON cannot hold" in stages(EmitStage("bin", unspeakable))


def test_managers_are_replaceable(fake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stored: list[str] = []

    class Mine(FileCacheManager):
        def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
            stored.append(filename)
            return super().put(data, filename, binary)

    with knobs.cache.scope():
        knobs.cache.manager_class = Mine
        compiled(fake)
        compiled(fake)
    assert stored == ["kernel.ttir", "kernel.bin", "kernel.json", "__grp__kernel.json"]
    assert len(fake.compiles) == 1


def test_tritons_manager_interface(tmp_path: Path) -> None:
    manager = cache.get_cache_manager("ab" * 32)
    assert manager.get_file("x") is None
    path = manager.put("text", "x.txt", binary=False)
    assert manager.get_file("x.txt") == path
    assert manager.has_file("x.txt")
    manager.put_group("g", {"x.txt": path})
    assert manager.get_group("g") == {"x.txt": path}
    assert Path(manager.cache_dir).name == cache._base32("ab" * 32)


def _write(arguments: tuple[str, int]) -> None:
    directory, seed = arguments
    os.environ["TRITONX_CACHE_DIR"] = directory
    rng = np.random.default_rng(seed)
    for _ in range(60):
        key = f"{rng.integers(4):02x}" * 32
        content = key.encode() * 500
        manager = FileCacheManager(key)
        group = manager.get_group("g")
        if group is not None:
            assert Path(group["a"]).read_bytes() == content
        elif rng.random() < 0.1:
            manager.discard()
        manager.put_group("g", {n: manager.put(content, n) for n in ("a", "b")})


def test_many_processes_at_once(tmp_path: Path) -> None:
    with concurrent.futures.ProcessPoolExecutor(4) as pool:
        list(pool.map(_write, [(str(tmp_path / "shared"), seed) for seed in range(4)]))
    left = [f for _, _, files in os.walk(tmp_path / "shared") for f in files if f.startswith("tmp.")]
    assert not left


def test_a_hit_imports_neither_xdsl_nor_llvm(tmp_path: Path) -> None:
    """Twice the same program: the second finds its kernel on disk."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import sys, numpy as np, tritonx, tritonx.language as tl
        @tritonx.jit
        def double(x, n, BLOCK: tl.constexpr):
            at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
        x = np.arange(10, dtype=np.float32)
        double[(1,)](x, 10, BLOCK=16)
        assert (x == np.arange(10) * 2).all(), x
        print(sorted({"xdsl", "llvmlite"} & set(sys.modules)))
        """)
    )
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(tmp_path / "cache"), "TRITONX_BACKEND": "cpu"}
    outputs = [
        subprocess.run([sys.executable, program], capture_output=True, text=True, env=environment, timeout=100)
        for _ in range(2)
    ]
    assert outputs[0].returncode == 0, outputs[0].stderr
    assert outputs[0].stdout.strip() == "['llvmlite', 'xdsl']"
    assert outputs[1].returncode == 0, outputs[1].stderr
    assert outputs[1].stdout.strip() == "[]"


def test_command(fake: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made = compiled(fake)
    compiled(fake, block=8)

    def output(*arguments: str) -> str:
        assert command(arguments) == 0
        return capsys.readouterr().out

    assert "entries    2" in output("info")
    assert output("list", "kernel").count("kernel") == 2
    assert output("list", "nonesuch") == ""
    key = cache._base32(made.hash)
    assert "num_warps: 4" in output("show", key[:20])
    assert output("show", key, "ttir").startswith("ttir {")
    assert command(["show", "nonesuch"]) == 2
    assert "no entry's key starts with nonesuch" in capsys.readouterr().err
    assert command(["show", key, "nonesuch"]) == 2
    assert "removed 0 entries" in output("prune")
    assert "removed 1 entries" in output("prune", "--max-bytes", str(sum(e.bytes for e in cache.entries()) - 1))
    assert "removed 1 entries" in output("clear")
    assert "entries    0" in output("info")


def test_only_the_caches_own_is_cleared(
    fake: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's folders stay, whatever is asked; Triton's entries, which have no mark, until it is asked twice."""
    compiled(fake)
    store = Path(knobs.cache.dir)
    (store / "photos" / "2020").mkdir(parents=True)
    (store / "photos" / "holiday.jpg").write_bytes(b"x" * 2_000_000)
    os.utime(store / "photos" / "holiday.jpg", (1, 1))
    triton, named = store / ("T" * 52), store / ("P" * 52)
    triton.mkdir()
    (triton / "__grp__kernel.json").write_text("{}")
    (named / "album").mkdir(parents=True)
    (named / "__grp__a").write_text("")
    monkeypatch.setattr(cache, "_unseen_bytes", None)
    monkeypatch.setenv("TRITONX_CACHE_MAX_BYTES", "1")
    compiled(fake, block=8)  # which looks, and prunes
    compiled(fake, block=16)
    assert (store / "photos" / "holiday.jpg").exists() and (triton / "__grp__kernel.json").exists()
    assert command(["clear"]) == 0
    said = capsys.readouterr().out
    assert "left 3 that are not the cache's" in said and "photos" in said
    assert command(["clear", "--yes-remove", str(store.parent)]) == 2
    assert "--yes-remove" in capsys.readouterr().err
    assert triton.exists()
    assert command(["--directory", str(store), "clear", "--yes-remove", str(store)]) == 0
    assert not triton.exists()
    assert (named / "album").exists() and (named / "__grp__a").exists()
    assert (store / "photos" / "holiday.jpg").exists() and (store / "photos" / "2020").exists()


def test_groups_list_what_triton_lists(fake: Any) -> None:
    made = compiled(fake)
    folder = Path(made.metadata_group["kernel.json"]).parent
    group = json.loads((folder / "__grp__kernel.json").read_text())
    assert group["child_paths"] == made.metadata_group
