"""Gluon is imported as Triton's is; names that are not there refuse to be called."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
from triton.experimental.gluon.language._core import _unwrap_if_constexpr, builtin, tensor
from triton.experimental.gluon.language._layouts import BlockedLayout, DistributedLayout
from triton.experimental.gluon.language.amd._layouts import AMDMFMALayout
from triton.compiler import max_shared_mem
assert BlockedLayout is gl.BlockedLayout and tensor is gl.tensor and _unwrap_if_constexpr(gl.constexpr(3)) == 3
assert libdevice is tldevice and gl.float16 is tl.float16 and gl.constexpr is tl.constexpr
assert copies.wait_group.__module__.endswith("ampere.async_copy")

@gluon.jit
def kernel(x, layout: gl.constexpr):
    gl.store(x + gl.arange(0, 32, layout), 1)

assert kernel.is_gluon() and isinstance(kernel, triton.JITFunction)
"""
"""The first lines as libraries write them."""


def test_libraries_import_it_in_triton_s_place(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"import tritonx.compat\ntritonx.compat.install()\n{IMPORTS}")
    subprocess.run([sys.executable, str(program)], check=True)


@pytest.mark.parametrize("name", MODULES)
def test_every_name_is_there_or_refuses(name: str) -> None:
    module = importlib.import_module(f"tritonx.experimental.gluon.{name}")
    assert module.__spec__ is not None and set(MODULES[name].split()) <= set(dir(module))
    for each in MODULES[name].split():
        found = getattr(module, each)
        if "_Refusing" in type(found).__name__:
            with pytest.raises(gluon.NoGluon, match=re.escape(f"{module.__name__}.{each}")):
                found(1)
