"""Gluon is imported as Triton's is; its kernels are refused by name when they are launched."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

import tritonx
import tritonx.language as tl
from tritonx.experimental import gluon
from tritonx.experimental.gluon.modules import MODULES

IMPORTS = """
import triton
import triton.language as tl
import triton.language.extra.libdevice as tldevice
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import TensorMemoryLayout, allocate_tensor_memory, tma
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, warpgroup_mma, warpgroup_mma_init
from triton.experimental.gluon.language.amd.gfx1250.tdm import async_load
from triton.experimental.gluon.language.extra import libdevice
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor
import triton.experimental.gluon.language.nvidia.ampere.async_copy as copies
assert libdevice is tldevice and gl.float16 is tl.float16 and gl.constexpr is tl.constexpr
assert copies.wait_group.__module__.endswith("ampere.async_copy")

@gluon.jit
def kernel(x, layout: gl.constexpr):
    gl.store(x + gl.arange(0, 32, layout), 1)
"""
"""The first lines as libraries write them."""


def test_libraries_import_it_in_triton_s_place() -> None:
    subprocess.run([sys.executable, "-c", f"import tritonx.compat\ntritonx.compat.install()\n{IMPORTS}"], check=True)


@pytest.mark.parametrize("options", [{}, {"noinline": True}], ids=["plain", "options"])
def test_a_kernel_is_refused_when_it_is_launched(options: dict[str, bool]) -> None:
    def copy(x: object) -> None:
        """Copies."""

    kernel = gluon.jit(**options)(copy) if options else gluon.jit(copy)
    assert kernel.__name__ == "copy" and kernel.__doc__ == "Copies." and kernel.is_gluon()
    words = re.escape(f"`copy` is a kernel of Gluon ({__file__}:{copy.__code__.co_firstlineno})")
    for run in (
        lambda: kernel[(1,)](1, num_warps=4),
        lambda: kernel.run(1, grid=(1,), warmup=False),
        lambda: kernel.warmup(1, grid=(1,)),
        lambda: kernel(1),
    ):
        with pytest.raises(gluon.NoGluon, match=words):
            run()


def test_an_autotuned_kernel_is_refused() -> None:
    @tritonx.autotune([tritonx.Config({"BLOCK": 8}), tritonx.Config({"BLOCK": 16})], key=[])
    @gluon.jit
    def copy(x: object, BLOCK: tl.constexpr) -> None:
        pass

    with pytest.raises(gluon.NoGluon, match="`copy` is a kernel of Gluon"):
        copy[(1,)](1)


@pytest.mark.parametrize("name", MODULES)
def test_every_name_is_there_and_refuses(name: str) -> None:
    module = importlib.import_module(f"tritonx.experimental.gluon.{name}")
    assert module.__spec__ is not None and set(MODULES[name].split()) <= set(dir(module))
    for each in module.__all__:
        found = getattr(module, each)
        if found.__module__ == module.__name__:
            with pytest.raises(gluon.NoGluon, match=re.escape(f"{module.__name__}.{each}")):
                found(1)
