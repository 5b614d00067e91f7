"""Kernels whose source a library writes, and which say that they stand where their template does."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

import tritonx
import tritonx.language as tl


def template(x, start: tl.constexpr):
    tl.store(x, start)


def generated(text: str, name: str) -> Any:
    """The kernel of this text, made as libraries make them: of an empty function whose source is replaced."""
    namespace: dict[str, Any] = {"tl": tl, "__name__": __name__}
    file = f"<generated {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), namespace)
    return tritonx.JITFunction(namespace[name])


def test_a_generated_kernel_shows_the_lines_that_it_is_given() -> None:
    made = generated("def made(x):\n    tl.store(x, 1.0)\n", "made")
    shown = tritonx.JITFunction(template)
    before = made.cache_key
    made._unsafe_update_src("def made(x):\n    tl.store(x, 3.0)\n")
    made.raw_src = list(shown.raw_src)
    assert made.raw_src == shown.raw_src and made.src.endswith("3.0)\n")
    key = made.cache_key
    made.starting_line_number = shown.starting_line_number
    assert made.starting_line_number == shown.starting_line_number
    assert len({before, key, made.cache_key}) == 3
    x = np.zeros(1, np.float32)
    made[(1,)](x)
    assert x[0] == 3.0


def test_hooks_name_a_generated_kernel_as_its_function_is_named() -> None:
    made = generated("def other(x):\n    tl.store(x, 1.0)\n", "other")
    made.fn.__module__, made.fn.__qualname__ = "some.module", "exported"
    seen: list[Any] = []
    with tritonx.knobs.runtime.scope():
        tritonx.knobs.runtime.jit_cache_hook = lambda **info: seen.append(info["fn"]) and None
        made.warmup(np.float32, grid=(1,))
    assert [(s.module, s.name) for s in seen] == [("some.module", "exported")]


def test_the_range_of_python_takes_no_notice_of_keywords() -> None:
    made = generated(
        "def rounds(x, n):\n    for i in range(n, flatten=True):\n        tl.store(x + i, 1.0)\n", "rounds"
    )
    x = np.zeros(4, np.float32)
    made[(1,)](x, 3)
    assert x.tolist() == [1.0, 1.0, 1.0, 0.0]
