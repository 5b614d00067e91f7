"""Which dialects a text is parsed with: what is common at once, a backend's when a text has something of it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tritonx.ir import context as contexts
from tritonx.ir.context import dialect_loaders, new_context
from tritonx.ir.text import parse_module

COMMON = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func @f(%x: tensor<128xi32, #blocked>, %p: !tt.ptr<i32>) {
    %y = arith.addi %x, %x : tensor<128xi32, #blocked>
    tt.return
  }
}
"""
OP = "module {\n  ttng.fence_async_shared {bCluster = false}\n}"
ATTRIBUTE = "module attributes {memory = #ttng.tensor_memory} {}"


@pytest.fixture
def fresh() -> Iterator[None]:
    contexts._brought.cache_clear()  # pyright: ignore[reportPrivateUsage]  # what is kept for a process
    yield
    contexts._brought.cache_clear()  # pyright: ignore[reportPrivateUsage]  # as above


def test_a_text_of_common_dialects_does_not_ask_what_is_installed(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes milliseconds, which a compile need not spend."""
    monkeypatch.setattr(contexts, "entry_points", lambda **_: pytest.fail("asked"))
    context = new_context()
    parse_module(COMMON, "input.mlir", context=context)
    assert {d.name for d in context.loaded_dialects} >= {"tt", "ttg", "arith"}


@pytest.mark.parametrize("text", [OP, ATTRIBUTE], ids=["op", "attribute"])
def test_a_backends_dialect_is_loaded_with_the_first_of_it(text: str) -> None:
    context = new_context()
    assert "ttng" not in {d.name for d in context.loaded_dialects}
    parse_module(text, "input.mlir", context=context)
    assert "ttng" in {d.name for d in context.loaded_dialects}


def test_a_dialect_that_fails_says_which(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", "nowhere:Mine", contexts.DIALECT_GROUP)
    monkeypatch.setattr(contexts, "entry_points", lambda **_: [entry])
    with pytest.raises(Exception, match=r"entry point mine of tritonx.dialects \(nowhere:Mine\) cannot be imported"):
        parse_module("mine.op", "input.mlir", context=new_context())
    assert parse_module(COMMON, "input.mlir", context=new_context()) is not None


def test_no_plugin_replaces_a_dialect_of_this_package(
    fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for distribution in ("aaa-first", "zzz-last"):
        info = tmp_path / f"{distribution}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
        (info / "entry_points.txt").write_text("[tritonx.dialects]\nttng = nowhere:Mine\ntt = nowhere:Mine\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {name: load().name for name, load in dialect_loaders().items() if name in ("tt", "ttng")} == {
        "tt": "tt",
        "ttng": "ttng",
    }
    parse_module(OP, "input.mlir", context=new_context())
