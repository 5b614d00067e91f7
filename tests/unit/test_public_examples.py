"""What the docstrings of tritonx's public names show is what happens.

Every example is a program of the host, run as doctest runs it. It has ``np``, ``tl``, ``tritonx``, the name that it is
about and the kernel ``double(x, BLOCK)``, which doubles the first elements of ``x``; ``...`` in what it prints stands
for anything. Kernels that show a name of `tl`: `tests/language/test_docstring_examples.py`.
"""

from __future__ import annotations

import ast
import contextvars
import doctest
import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.passes import ModulePass

import tritonx
import tritonx.language as tl
from tritonx.language.extra.libdevice_table import names as library_names

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from public_names import OF_THE_HOST, described, offered  # noqa: E402  # pyright: ignore[reportMissingImports]

WITHOUT: dict[str, tuple[str, ...]] = {
    "needs a server": ("runtime.RedisRemoteCacheBackend", "runtime.cache.RemoteCacheManager"),
    "needs a device that records launches": ("testing.do_bench_cudagraph",),
    "needs a GPU": (
        *("testing.get_dram_gbps", "testing.get_max_simd_tflops", "testing.get_max_tensorcore_tflops"),
        *("backends.amd.driver.HIPDriver", "backends.nvidia.driver.CudaDriver"),
    ),
    "needs a GPU's management tool, and the rights to set clocks": ("testing.nvsmi", "testing.set_gpu_clock"),
    "needs the vendor's assembler as a program": (
        *("backends.nvidia.compiler.get_ptxas", "backends.nvidia.compiler.get_ptxas_version"),
    ),
    "needs a compiler of C": ("backends.amd.driver.compile_module_from_src",),
    "works inside an emission only, which tests/unit/conversion and the backends of tests make": (
        *("backends.gpu.ModuleEmitter", "backends.gpu.call_each", "backends.gpu.call_intrinsic"),
        *("backends.gpu.emit_llvm", "backends.gpu.emitted", "backends.gpu.guarded", "backends.gpu.lanewise"),
        *("backends.gpu.gpu_stage", "backends.gpu.largest_buffers", "backends.gpu.translate"),
    ),
}
"""Why → names without an example. Entries go and none come: `MOST_WITHOUT` is lowered with them."""

MOST_WITHOUT = 23


@tritonx.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


SAMPLES = ("plugins/*/tritonx_*/**/*.py", "plugins/*/tests/made_up_*.py", "tests/plugin/tritonx_*/**/*.py")
"""The backends outside of the package, whose tests run them."""

OFFERED = offered()
KERNELS = frozenset(
    f"tritonx.language.{home}{name}" for name in vars(tl) if name not in OF_THE_HOST for home in ("", "core.")
)


def examples(name: str) -> list[doctest.Example]:
    return doctest.DocTestParser().get_examples(described(OFFERED[name]))


OPTIONAL = frozenset({"torch"})
"""Packages that an example may import and that need not be installed: it is skipped without them."""


def imported(program: list[doctest.Example]) -> set[str]:
    """The packages that an example imports at its top level."""
    nodes = [node for example in program for node in ast.parse(example.source).body if isinstance(node, ast.Import)]
    return {alias.name.partition(".")[0] for node in nodes for alias in node.names}


def shown_in_kernels(name: str) -> bool:
    """Of `tl` and of the device library: their examples are kernels' lines, which another test runs."""
    return (
        name.startswith("tritonx.language.extra.") and name.rpartition(".")[2] in library_names()
    ) or name in KERNELS


def used_by_samples() -> set[str]:
    """What the backends that stand outside of the package import of those modules that are there for them."""
    files = [file for where in SAMPLES for file in ROOT.glob(where)]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    return {f"{n.module}.{a.name}" for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}


def is_shown_by_a_file(value: Any) -> bool:
    """A pass, of which a FileCheck test shows what it does to a module."""
    is_pass = inspect.isclass(value) and issubclass(value, ModulePass)
    return is_pass and any((ROOT / "tests" / "filecheck").rglob(f"{value.__module__.rpartition('.')[2]}*.mlir"))


def is_for_others(value: Any) -> bool:
    """A protocol: what it is for has the examples."""
    return bool(getattr(value, "_is_protocol", False))


def test_every_public_name_is_described() -> None:
    assert len(OFFERED) > 650
    assert [name for name, value in OFFERED.items() if not described(value)] == []


def test_every_public_name_has_an_example() -> None:
    samples = used_by_samples()
    bare = {
        name
        for name, value in OFFERED.items()
        if not examples(name) and name not in samples and not is_shown_by_a_file(value) and not is_for_others(value)
    }
    excused = [f"tritonx.{name}" for names in WITHOUT.values() for name in names]
    assert bare == set(excused)
    assert len(excused) == MOST_WITHOUT


@pytest.mark.parametrize("name", [name for name in OFFERED if examples(name) and not shown_in_kernels(name)])
def test_the_example_is_true(name: str) -> None:
    names = {"np": np, "tl": tl, "tritonx": tritonx, "double": double, "__name__": "examples"}
    names.setdefault(name.rpartition(".")[2], OFFERED[name])
    for package in sorted(imported(examples(name)) & OPTIONAL):
        pytest.importorskip(package)
    program = doctest.DocTest(examples(name), names, name, None, None, None)
    said: list[str] = []
    # In a context of its own: an example that interprets has NumPy's arrays watched from then on.
    run = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run
    failed, tried = contextvars.copy_context().run(run, program, out=said.append)
    assert tried
    assert not failed, "".join(said)
