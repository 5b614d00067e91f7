"""Compiles that come to the same LLVM text have the stages behind it run once, and only then."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import cache, knobs
from tritonx.runtime.cache import CacheManager
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource

TARGETS = ("cuda:90", "hip:gfx942", "cpu")
TEXT = "llir"


@tritonx.jit
def scaled(x, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at * stride, tl.load(x + at * stride, mask=at < n) * 2, mask=at < n)


@tritonx.jit
def other(x, n, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at * stride, tl.load(x + at * stride, mask=at < n) * 3, mask=at < n)


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "store"))


class Compiled:
    """A compile, and which of its stages did not run."""

    def __init__(self, target: str, divisor: int, kernel: Any = scaled, **options: Any) -> None:
        """``divisor`` is what the stride is known to be divisible by: elements a stride apart are accessed one by one
        whatever it is."""
        marks = {(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", divisor]]}
        signature = {"x": "*fp32", "n": "i32", "stride": "i32", "BLOCK": "constexpr"}
        heard: list[Any] = []
        with knobs.compilation.scope():
            knobs.compilation.listener = lambda **said: heard.append(said)
            self.kernel = compile(ASTSource(kernel, signature, {"BLOCK": 64}, marks), target=target, options=options)
        [said] = heard
        self.hit: bool = said["cache_hit"]
        self.skipped = [name for name, micro in said["times"].lowering_stages if micro == 0]

    @property
    def behind(self) -> dict[str, str | bytes]:
        """What the stages behind the text made."""
        names = list(self.kernel.asm)
        return {name: self.kernel.asm[name] for name in names[names.index(TEXT) + 1 :]}

    @property
    def said(self) -> dict[str, Any]:
        """The metadata but for the entry's own name, and what the assembler printed, which has its time in it."""
        own = ("hash", "assembler_log")
        return {k: v for k, v in self.kernel.metadata._asdict().items() if k not in own}


def entries() -> dict[str, cache.Entry]:
    """By their groups: one group each."""
    return {entry.names[0]: entry for entry in cache.entries()}


def link() -> Path:
    """The file that names the entry with the code."""
    return Path(entries()["scaled.code"].path, "scaled.code.json")


@pytest.mark.parametrize("target", TARGETS)
def test_the_stages_behind_the_text_run_once(target: str) -> None:
    first, second = Compiled(target, 4), Compiled(target, 8)
    assert first.kernel.asm["ttir"] != second.kernel.asm["ttir"]
    assert first.kernel.asm[TEXT] == second.kernel.asm[TEXT]
    assert not first.skipped and second.skipped == list(first.behind)
    assert second.behind == first.behind and second.said == first.said
    assert second.kernel.hash != first.kernel.hash
    again = Compiled(target, 8)
    assert again.hit and again.behind == first.behind and again.said == first.said


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_what_the_stages_would_have_made(target: str) -> None:
    Compiled(target, 4)
    found = Compiled(target, 8)
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        made = Compiled(target, 8)
    assert found.skipped and not made.skipped
    assert made.behind == found.behind and made.said == found.said


def test_options_and_kernels_have_code_of_their_own() -> None:
    Compiled("cuda:90", 4)
    assert not Compiled("cuda:90", 8, enable_fp_fusion=False).skipped
    assert not Compiled("cuda:90", 8, kernel=other).skipped
    assert not Compiled("cuda:100", 8).skipped


def test_what_is_to_be_printed_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    Compiled("cuda:90", 4)
    with tritonx.knobs.nvidia.scope():
        tritonx.knobs.nvidia.dump_nvptx = True
        second = Compiled("cuda:90", 8)
    assert not second.skipped and str(second.kernel.asm["ptx"]) in capsys.readouterr().out


def test_entries_without_text_are_not_taken() -> None:
    with knobs.compilation.scope():
        knobs.compilation.store_binary_only = True
        Compiled("cuda:90", 4)
    second = Compiled("cuda:90", 8)
    assert not second.skipped
    third = Compiled("cuda:90", 16)  # the second one's entry has it
    assert third.skipped and third.behind == second.behind


def gone() -> None:
    for entry in list(cache.entries()):
        if entry.names == ("scaled",):
            for file in Path(entry.path).iterdir():
                file.unlink()


def rewritten(content: str) -> None:
    """With the digest that belongs to it."""
    path = link()
    manager = cache.FileCacheManager(path.parent.name)
    manager.put_group("scaled.code.json", {"scaled.code.json": manager.put(content, "scaled.code.json", binary=False)})


def names_another_kernel() -> None:
    """Whose files have the same names."""
    said = json.loads(link().read_text())
    wrong = Compiled("cuda:90", 4, num_warps=8)
    assert wrong.kernel.asm[TEXT] != Compiled("cuda:90", 4).kernel.asm[TEXT]
    for entry in list(cache.entries()):
        if entry.names == ("scaled.code",):
            cache.FileCacheManager(entry.key).discard()
    Compiled("cuda:90", 2)
    rewritten(json.dumps({**said, "entry": wrong.kernel.hash}))


DAMAGE = {
    "the entry is gone": gone,
    "it is cut off": lambda: link().write_text('{"entry": "'),
    "it is no object": lambda: rewritten("[]"),
    "it names no entry": lambda: rewritten('{"metadata": {}}'),
    "it names no digest": lambda: rewritten('{"entry": 7, "metadata": {}}'),
    "it names an entry that never was": lambda: rewritten('{"entry": "ab12", "metadata": {}}'),
    "the metadata are none": lambda: rewritten(json.dumps({**json.loads(link().read_text()), "metadata": 5})),
    "it names another kernel's": names_another_kernel,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_compiled_around(damage: str) -> None:
    first = Compiled("cuda:90", 4)
    DAMAGE[damage]()
    second = Compiled("cuda:90", 8)
    assert not second.skipped
    assert second.behind == first.behind and second.said == first.said
    third = Compiled("cuda:90", 16)  # and what was damaged is whole
    assert third.skipped and third.behind == first.behind


def test_code_that_cannot_be_loaded_is_made() -> None:
    """Under its right digest; the first kernel's is not loaded, so that it is unknown."""
    first = Compiled("cpu", 4)
    good = first.behind
    manager = cache.FileCacheManager(first.kernel.hash)
    manager.put(b"garbage", "scaled.obj")
    manager.put_group("scaled.json", dict(first.kernel.metadata_group))
    second = Compiled("cpu", 8)
    assert second.skipped
    x = np.arange(64 * 8, dtype=np.float32)
    wanted = x.copy()
    wanted[: 60 * 8 : 8] *= 2
    second.kernel[(1, 1, 1)](x, 60, 8)
    np.testing.assert_array_equal(x, wanted)
    third = Compiled("cpu", 16)  # finds what was made
    assert third.skipped and third.behind == good


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    monkeypatch.setattr(cache, "_warned", set[str]())
    with pytest.warns(cache.CacheWarning):
        first = Compiled("cuda:90", 4)
    second = Compiled("cuda:90", 8)
    assert not second.skipped and second.behind == first.behind


def test_managers_of_others_hold_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Manager(CacheManager):
        held: ClassVar[dict[tuple[str, str], Any]] = {}

        def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
            self.key = key

        def get_file(self, filename: str) -> str | None:
            return self.held.get((self.key, filename))

        def put(self, data: str | bytes, filename: str, binary: bool = True) -> str:
            path = tmp_path / f"{self.key}-{filename}"
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
            self.held[self.key, filename] = str(path)
            return str(path)

        def get_group(self, filename: str) -> dict[str, str] | None:
            return self.held.get((self.key, "group " + filename))

        def put_group(self, filename: str, group: dict[str, str]) -> None:
            self.held[self.key, "group " + filename] = dict(group)

    monkeypatch.setattr("tritonx.runtime.compiling.same_code.get_cache_manager", Manager)
    monkeypatch.setattr("tritonx.runtime.compiling.compiler.get_cache_manager", Manager)
    first, second = Compiled("cuda:90", 4), Compiled("cuda:90", 8)
    assert second.skipped and second.behind == first.behind


@pytest.mark.parametrize("strides", [(3, 5, 7), (4, 8, 16)])
def test_launches_of_all_of_them_are_right(strides: tuple[int, ...]) -> None:
    rng = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
    for stride in strides:
        x = rng.standard_normal(64 * stride).astype(np.float32)
        wanted = x.copy()
        wanted[: 50 * stride : stride] *= 2
        scaled[(1,)](x, 50, stride, BLOCK=64)
        np.testing.assert_array_equal(x, wanted)
