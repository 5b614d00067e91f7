"""The language against the Triton wheel: its names and signatures, its types, and the ops that its builtins become."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import tritonx.language as tl
from tests.peer.conftest import installed_level
from tritonx.language.extra.libdevice_table import arity, names, overloads
from tritonx.language.values.tensor import tensor, tensor_methods

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(find_spec("triton") is None, reason="the Triton wheel is not installed"),
]


LEVEL = installed_level()


@cache
def oracle(what: str) -> dict[str, Any]:
    script = Path(__file__).with_name("language_oracle.py")
    done = subprocess.run([sys.executable, str(script), what], capture_output=True, text=True, cwd=script.parent)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_every_name_is_here() -> None:
    assert set(oracle("surface")["names"]) <= set(tl.__all__)


LATER = {"cat": {"dim"}, "cumprod": {"dtype"}, "fdiv": {"approx"}, "topk": {"descending"}}
"""Parameters since 3.7 to 3.9, which are taken at every level."""


GONE = {"load": {"boundary_check", "padding_option"}, "store": {"boundary_check"}}
"""Parameters of block pointers, which 3.9 has no more."""


def test_parameters() -> None:
    """Those of 3.6 in their order, and later ones behind them; what is given by its name alone may stand elsewhere."""
    for name, (expected, count) in oracle("surface")["functions"].items():
        function = getattr(tl, name)
        parameters = inspect.signature(getattr(function, "fn", function)).parameters
        own = [p for p in parameters if p != "_semantic"]
        assert own[:count] == expected[:count] and set(expected) <= set(own), name
        assert set(own) - set(expected) <= LATER.get(name, set()) | GONE.get(name, set()), name


def test_members_of_a_tensor() -> None:
    value: Any = tensor(None, tl.float32)
    for name in oracle("surface")["members"]:
        assert name in tensor_methods() or name in ("T", "to", "logical_and", "logical_or"), name
        if name in tensor_methods():
            assert getattr(value, name).receiver is value


def test_types() -> None:
    for name, expected in oracle("surface")["types"].items():
        ty = getattr(tl, name)
        got = {f: getattr(ty, f, None) for f in expected if f not in ("repr", "str", "mangle")}
        got |= {"repr": repr(ty), "str": str(ty)} | ({"mangle": ty.mangle()} if "mangle" in expected else {})
        assert got == expected


def test_libdevice() -> None:
    expected = oracle("surface")["libdevice"]
    assert set(names()) == set(expected)
    for name, table in expected.items():
        if isinstance(table, int):  # no function of the target behind it
            assert arity(name) == table
        else:
            assert {" ".join(types): result for types, result in overloads(name).items()} == table, name


# What both lay out differently: constants and splats are folded at other times, scalar conversions of literals too.
IGNORED = {"arith.constant", "tt.splat", "tt.broadcast", "tt.func", "tt.return", "tt.make_range", "tt.expand_dims"}


DIRECT = "integers of two types become floats each by itself there, here of their common type: the same numbers"
FOLDED = "its folder makes a minimum of a comparison and a selection, here LLVM does"
CONVERTED = "one op there; here widened and narrowed: the same numbers"
SINCE: dict[str, tuple[str, str]] = {
    "div u8 u16": ("3.8", DIRECT),
    "div i64 i32": ("3.8", DIRECT),
    "where i32 i32": ("3.9", FOLDED),
    "where u32 u32": ("3.9", FOLDED),
    "where i8 i8": ("3.9", FOLDED),
    "cast fp16 bfloat16": ("3.9", CONVERTED),
    "cast bf16 float16": ("3.9", CONVERTED),
}
"""Kernels whose ops differ → since which release of Triton, and why."""


def test_ops() -> None:
    theirs, ours = oracle("ops"), oracle("our_ops")
    assert len(theirs) > 200 and set(theirs) == set(ours)
    different: list[str] = []
    for name, expected in theirs.items():
        got = ours[name]
        if isinstance(expected, str) or isinstance(got, str):
            if type(expected) is not type(got):
                different.append(f"{name}: Triton {expected}, here {got}")
            continue
        left, right = (Counter({k: n for k, n in ops.items() if k not in IGNORED}) for ops in (got, expected))
        explained = name in SINCE and SINCE[name][0] <= LEVEL
        assert (left != right) or not explained, f"{name} is the same: its reason is out of date"
        if left != right and not explained:
            different.append(f"{name}: here also {dict(left - right)}, Triton also {dict(right - left)}")
    assert not different, f"{len(different)} of {len(theirs)}:\n" + "\n".join(different)
