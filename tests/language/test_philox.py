"""The random streams of Triton 3.6, measured on it, from the interpreter: words bit for bit, floats to the last bits.

Beside the stored streams, Philox-4x32 and 4x64 are compared with NumPy integers of arbitrary size, written from the
paper.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx.language as tl
from tritonx import jit
from tritonx.backends.api import Target
from tritonx.frontend.compile import make_module
from tritonx.interpreter.machine import interpret
from tritonx.interpreter.options import InterpreterOptions

STREAMS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "philox.json").read_text())
COUNT = 8


@jit
def stream(out, seed, first, function: tl.constexpr, rounds: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    tl.store(out + i, function(seed, first + i, rounds))


@jit
def stream4(out, seed, function: tl.constexpr, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    a, b, c, d = function(seed, i)
    tl.store(out + i, a)
    tl.store(out + COUNT + i, b)
    tl.store(out + 2 * COUNT + i, c)
    tl.store(out + 3 * COUNT + i, d)


@jit
def wide_philox(out, seed, first, COUNT: tl.constexpr):
    counter = first + tl.arange(0, COUNT).to(tl.int64)
    zero = counter * 0
    word, _, _, _ = tl.philox(seed, counter, zero, zero, zero)
    tl.store(out + tl.arange(0, COUNT), word)


@jit
def wide_stream4(out, seed, first, COUNT: tl.constexpr):
    i = tl.arange(0, COUNT)
    a, b, c, d = tl.randint4x(seed, first + i)
    tl.store(out + i, a)
    tl.store(out + COUNT + i, b)
    tl.store(out + 2 * COUNT + i, c)
    tl.store(out + 3 * COUNT + i, d)


def run(kernel: Any, out: np.ndarray, arguments: list[Any], types: list[str], constants: dict[str, Any]) -> np.ndarray:
    pointer = {np.dtype(np.int32): "*i32", np.dtype(np.float32): "*fp32", np.dtype(np.uint64): "*u64"}[out.dtype]
    names = kernel.arg_names
    signature = dict(zip(names, [pointer, *types], strict=False)) | dict.fromkeys(constants, "constexpr")
    module = make_module(
        kernel, signature, {(names.index(k),): v for k, v in constants.items()}, {}, InterpreterOptions(), Target("cpu")
    )
    interpret(module, (1,), [out, *arguments])
    return out


def compare(name: str, got: np.ndarray, expected: Any) -> None:
    if name.startswith("randint"):
        np.testing.assert_array_equal(got, np.asarray(expected, dtype=np.int64).astype(np.int32))
    else:
        np.testing.assert_allclose(got, np.asarray(expected, dtype=np.float32), rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("key", [k for k in STREAMS if "off=" in k])
def test_stream(key: str) -> None:
    name, seed, offset, rounds = re.findall(r"^\w+|-?\d+", key)
    out = np.zeros(COUNT, np.int32 if name == "randint" else np.float32)
    constants = {"function": getattr(tl, name), "rounds": int(rounds), "COUNT": COUNT}
    seed_type = "u64" if int(seed) >= 2**63 else "i64"
    run(stream, out, [int(seed), int(offset)], [seed_type, "i32"], constants)
    compare(name, out, STREAMS[key])


@pytest.mark.parametrize("key", [k for k in STREAMS if "4x" in k])
def test_four_at_a_time(key: str) -> None:
    name, seed = key.split(" seed=")
    expected = np.asarray(STREAMS[key])
    count = expected.shape[1] if expected.ndim == 2 else 1
    out = np.zeros(4 * count, np.int32 if name == "randint4x" else np.float32)
    run(
        stream4,
        out,
        [int(seed)],
        ["u64" if int(seed) >= 2**63 else "i64"],
        {"function": getattr(tl, name), "COUNT": count},
    )
    compare(name, out, expected.reshape(-1))


def philox(counter: list[int], key: list[int], bits: int) -> list[int]:
    """Ten rounds in Python's integers."""
    if bits == 32:
        multipliers, steps = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
    else:
        multipliers, steps = (0xD2E7470EE14C6C93, 0xCA5A826395121157), (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
    low = 2**bits - 1
    for _ in range(10):
        a, b = multipliers[0] * counter[0], multipliers[1] * counter[2]
        counter = [(b >> bits) ^ counter[1] ^ key[0], b & low, (a >> bits) ^ counter[3] ^ key[1], a & low]
        key = [(key[0] + steps[0]) & low, (key[1] + steps[1]) & low]
    return counter


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 7, 2**63 - 1])
def test_against_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed % 1000)
    first = int(rng.integers(0, 2**31 - COUNT))
    out = np.zeros(COUNT, np.int32)
    run(stream, out, [seed, first], ["i64", "i32"], {"function": tl.randint, "rounds": 10, "COUNT": COUNT})
    expected = [philox([first + i, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32], 32)[0] for i in range(COUNT)]
    np.testing.assert_array_equal(out.view(np.uint32), np.array(expected, np.uint32))
    first = int(rng.integers(0, 2**62))
    wide = run(wide_philox, np.zeros(COUNT, np.uint64), [seed, first], ["i64", "i64"], {"COUNT": COUNT})
    expected = [philox([first + i, 0, 0, 0], [seed, 0], 64)[0] for i in range(COUNT)]
    np.testing.assert_array_equal(wide, np.array(expected, np.uint64))


@pytest.mark.parametrize("type_", ["i64", "u64"])
@pytest.mark.parametrize("seed", [0, 2**40 + 7])
def test_wide_offsets_count_in_two_words(seed: int, type_: str) -> None:
    """The low half of a 64-bit offset is the first counter, the high half the second; four words and one alike."""
    rng = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
    high = int(rng.integers(0, 2**31))
    for first in (0, 2**32 - COUNT // 2, (high << 32) + 5, -3 if type_ == "i64" else 2**64 - COUNT):
        offsets = [(first + i) % 2**64 for i in range(COUNT)]
        words = [philox([o & 0xFFFFFFFF, o >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32], 32) for o in offsets]
        constants = {"function": tl.randint, "rounds": 10, "COUNT": COUNT}
        out = run(stream, np.zeros(COUNT, np.int32), [seed, first], ["i64", type_], constants)
        np.testing.assert_array_equal(out.view(np.uint32), np.array([w[0] for w in words], np.uint32), f"at {first}")
        out = run(wide_stream4, np.zeros(4 * COUNT, np.int32), [seed, first], ["i64", type_], {"COUNT": COUNT})
        expected = np.array(words, np.uint32).T.reshape(-1)
        np.testing.assert_array_equal(out.view(np.uint32), expected, f"at {first}")
