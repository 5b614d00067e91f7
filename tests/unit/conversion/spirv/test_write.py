"""SPIR-V is a module, and the same for the same text, whatever was written before it."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from tritonx.conversion.legalize import Illegal
from tritonx.conversion.spirv.forked import forked
from tritonx.conversion.spirv.write import legal_spirv
from tritonx.runtime.isolation.helper import FunctionFailed, HelperFailure
from tritonx.runtime.isolation.pool import pool

SEED = int(os.environ["TRITONX_SEED"])
WRITE = "tritonx.conversion.spirv.write:module_of"
GIVEN = {"triple": "spirv64v1.4-unknown-unknown", "vector": 16}
WITHOUT_RESULT = {3, 5, 10, 14, 15, 16, 17, 56, 62, 71, 249, 250, 253}
"""Of the instructions here: source, name, extension, model, entry point, execution mode, capability, end of a function,
store, decoration, branches, return."""
RESULT_FIRST = {11, 19, 20, 21, 22, 23, 28, 32, 33, 248}
"""Import, types, label; all others have their type before it."""


def kernel(blocks: int) -> str:
    lines = ['target triple = "spirv64v1.4-unknown-unknown"']
    lines += ["define spir_kernel void @k(ptr addrspace(1) %p, i32 %n) {", "entry:", "  br label %b0"]
    for number in range(blocks):
        lines += [f"b{number}:", f"  %c{number} = icmp sgt i32 %n, {number}"]
        lines += [f"  br i1 %c{number}, label %then{number}, label %b{number + 1}", f"then{number}:"]
        lines += [f"  store i32 {number}, ptr addrspace(1) %p, align 4", f"  br label %b{number + 1}"]
    return "\n".join([*lines, f"b{blocks}:", "  ret void", "}", ""])


def written(text: str) -> bytes:
    made = pool().run(WRITE, text, GIVEN, 60.0)["spv"]
    assert isinstance(made, bytes)
    return made


def results(module: bytes) -> Iterator[int]:
    words = np.frombuffer(module, "<u4").tolist()
    at = 5
    while at < len(words):
        count, op = words[at] >> 16, words[at] & 0xFFFF
        if op not in WITHOUT_RESULT:
            yield words[at + 1 + (op not in RESULT_FIRST)]
        at += count


def test_the_same_for_the_same_text() -> None:
    rng, sizes = Random(SEED), list(range(1, 12))
    modules = {size: written(kernel(size)) for size in sizes}
    for module in modules.values():
        counts = Counter(results(module))
        assert set(counts.values()) == {1}, "an id is defined twice"
    for _ in range(3):
        rng.shuffle(sizes)
        assert all(written(kernel(size)) == modules[size] for size in sizes)


def test_the_helper_tells_what_the_fork_could_not() -> None:
    with pytest.raises(FunctionFailed, match=r"parse|expected"):
        pool().run(WRITE, "define nothing", GIVEN, 60.0)
    vectors = "declare void @g(<32 x float>)\ndefine spir_kernel void @k() {\n"
    vectors += "  call void @g(<32 x float> zeroinitializer)\n  ret void\n}\n"
    made = pool().run(WRITE, vectors, GIVEN, 60.0)
    assert "<32 x float> crosses a call" in str(made["cannot"])


def killed(_: str) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def dies(text: str) -> dict[str, bytes]:
    """In a helper: the fork's death is the helper's."""
    return {"made": forked(killed, text)}


def test_a_death_in_the_fork_is_the_helpers() -> None:
    with pytest.raises(HelperFailure, match="SIGKILL"):
        pool().run(f"{__name__}:dies", "", {}, 60.0)


def test_vectors_over_calls_are_refused() -> None:
    text = 'target triple = "spirv64v1.4-unknown-unknown"\n'
    text += "declare void @g(<32 x float>)\ndefine spir_kernel void @k() {\n"
    text += "  call void @g(<32 x float> zeroinitializer)\n  ret void\n}\n"
    with pytest.raises(Illegal, match="<32 x float> crosses a call"):
        legal_spirv(text)
