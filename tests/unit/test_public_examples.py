"""What the docstrings of tritonx's own names show is what happens.

Every example is a program of the host, run as doctest runs it. It has ``np``, ``tl``, ``tritonx`` and the kernel
``double(x, BLOCK)``, which doubles the first elements of ``x``.
"""

from __future__ import annotations

import contextvars
import doctest
import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl

MODULES: dict[str, tuple[str, ...]] = {
    "tritonx": tuple(tritonx.__all__),
    "tritonx.testing": tuple(importlib.import_module("tritonx.testing").__all__),
    "tritonx.compiler": tuple(importlib.import_module("tritonx.compiler").__all__),
    "tritonx.runtime.arrays": ("empty", "empty_like", "to_device", "zeros"),
    "tritonx.runtime": ("Autotuner", "Heuristics", "RedisRemoteCacheBackend", "RemoteCacheBackend"),
    "tritonx.knobs": (
        *("AutotuningKnobs", "BuildKnobs", "CacheKnobs", "CompilationKnobs", "Env", "Group", "HookChain"),
        *("LanguageKnobs", "RedisKnobs", "RuntimeKnobs"),
    ),
    "tritonx.tools.ragged_tma": ("atomic_add_ragged", "create_ragged_descriptor", "load_ragged", "store_ragged"),
    "tritonx.tools.tensor_descriptor": ("TensorDescriptor",),
    "tritonx.interpreter": ("UninitialisedArray", "interpreted"),
}
"""Module → the names that it offers."""

WITHOUT: dict[str, str] = {
    "RedisRemoteCacheBackend": "needs a server",
    "do_bench_cudagraph": "needs a device that records launches",
    "get_dram_gbps": "needs a GPU",
    "get_max_simd_tflops": "needs a GPU",
    "get_max_tensorcore_tflops": "needs a GPU",
    "nvsmi": "needs a GPU's management tool",
    "set_gpu_clock": "needs a GPU's management tool, and the rights",
}
"""Names without an example, and why."""


@tritonx.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


def offered() -> Iterator[tuple[str, Any]]:
    """The classes and functions, each by the first name that it has."""
    seen: set[int] = set()
    for module, names in MODULES.items():
        for name in names:
            value = getattr(importlib.import_module(module), name)
            plain = not isinstance(value, ModuleType) and callable(value) and not name.startswith("_")
            if plain and id(value) not in seen:
                seen.add(id(value))
                yield name, value


OFFERED = dict(offered())


def examples(name: str) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(inspect.getdoc(OFFERED[name]) or "")


def test_every_public_name_is_described_and_has_an_example() -> None:
    assert [name for name, value in OFFERED.items() if not inspect.getdoc(value)] == []
    assert {name for name in OFFERED if not examples(name)} == set(WITHOUT)


@pytest.mark.parametrize("name", [name for name in OFFERED if examples(name)])
def test_the_example_is_true(name: str) -> None:
    names = {"np": np, "tl": tl, "tritonx": tritonx, "double": double, "__name__": "examples"}
    program = doctest.DocTest(examples(name), names, name, None, None, None)
    said: list[str] = []
    # In a context of its own: an example that interprets has NumPy's arrays watched from then on.
    run = doctest.DocTestRunner(verbose=False).run
    failed, tried = contextvars.copy_context().run(run, program, out=said.append)
    assert tried
    assert not failed, "".join(said)
