"""Importing tritonx is cheap, and its public names are all there."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from tritonx.compat.torch_level import torch_level
from tritonx.level import active

HEAVY = "{'xdsl', 'llvmlite', 'numpy', 'torch', 'ml_dtypes', 'importlib.metadata', 'hip', 'rocm'}"


def run(code: str, **environment: str) -> str:
    import os

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "module", ["tritonx", "tritonx, tritonx.language", "tritonx.runtime.jit", "tritonx.runtime.errors"]
)
def test_imports_nothing_heavy(module: str) -> None:
    run(f"import sys, {module}\nheavy = {HEAVY} & {{m.split('.')[0] for m in sys.modules}}\nassert not heavy, heavy")


def test_decorating_a_kernel_imports_nothing_heavy(tmp_path: object) -> None:
    path = f"{tmp_path}/kernels.py"
    with open(path, "w") as file:
        file.write("import tritonx\n@tritonx.jit\ndef kernel(x, n):\n    pass\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import kernels\n"
    run(code + f"heavy = {HEAVY} & set(sys.modules); assert not heavy, heavy")


@pytest.mark.parametrize("backend", ["nvidia", "amd"])
def test_a_backends_part_of_the_cache_key_imports_nothing_heavy(backend: str) -> None:
    """A launch that hits the cache asks for it."""
    code = f"import sys; from tritonx.backends.{backend} import BACKEND; BACKEND.version_key()\n"
    run(code + f"heavy = {HEAVY} & set(sys.modules); assert not heavy, heavy")


def test_import_loads_few_modules() -> None:
    """Beside those that the interpreter starts with; what they take is in docs/history/measurements.md."""
    code = "import sys; before = set(sys.modules); import tritonx; print(*sorted({*sys.modules} - before))"
    loaded = run(code).split()
    assert len(loaded) <= 12, loaded


def test_public_names() -> None:
    import tritonx

    for name in (
        *("jit", "autotune", "heuristics", "Config", "cdiv", "next_power_of_2", "compile", "language", "testing"),
        *("runtime", "KernelInterface", "JITFunction", "CompilationError", "OutOfResources", "TritonError"),
        *("InterpreterError", "constexpr_function", "must_use_result", "set_allocator", "reinterpret", "TensorWrapper"),
        *("MockTensor", "knobs", "tools", "AsyncCompileMode", "FutureKernel", "backends", "errors"),
    ):
        assert getattr(tritonx, name) is not None
        assert name in dir(tritonx)
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        _ = tritonx.nonesuch


def test_tritons_module_paths() -> None:
    code = """
import tritonx, tritonx.language as tl
from tritonx.runtime.driver import driver
from tritonx.runtime import driver as same, JITFunction, Autotuner, Heuristics, KernelInterface
assert driver is same and tritonx.runtime.driver is driver
from tritonx.runtime.autotuner import Autotuner, OutOfResources, PTXASError, Config, autotune
from tritonx.runtime.cache import FileCacheManager, CacheManager, get_cache_manager, triton_key
from tritonx.runtime.jit import JITFunction, KernelInterface, ConstexprFunction, MockTensor, JITCallable
from tritonx.runtime.errors import OutOfResources
from tritonx.compiler import CompiledKernel, ASTSource, CompilationError
from tritonx.compiler.compiler import make_backend, ASTSource, GPUTarget, triton_key
from tritonx.compiler.errors import CompilationError
from tritonx.backends.compiler import GPUTarget, BaseBackend
from tritonx.tools.tensor_descriptor import TensorDescriptor
from tritonx.tools.disasm import get_sass
from tritonx.errors import TritonError
from tritonx.runtime.autotuner import AutotunerError
from tritonx.runtime.errors import AutotunerError as same_error
from tritonx.runtime.interpreter import InterpretedFunction
from tritonx.runtime.jit import TensorWrapper, reinterpret
from tritonx.knobs import cache
import tritonx.knobs
assert tritonx.knobs.cache is cache is tritonx.runtime.knobs.cache and TritonError is tritonx.TritonError
assert same_error is AutotunerError
assert callable(tritonx.backends) and isinstance(tritonx.backends.backends, dict)
import tritonx.compiler.compiler as c
assert not hasattr(c, 'AttrsDescriptor')
"""
    run(code)


@pytest.mark.parametrize(
    "path",
    [
        *("compiler.errors.CompilationError", "compiler.compiler.ASTSource", "_utils", "runtime._allocation"),
        *("backends.compiler.GPUTarget", "backends.driver.DriverBase", "backends.nvidia.compiler.CUDABackend"),
        *("backends.amd.compiler.HIPBackend", "backends.nvidia.driver", "tools.disasm.get_sass", "_C.libtriton.ir"),
    ],
)
def test_modules_are_there_without_an_import_of_their_own(path: str) -> None:
    """As they are in Triton, whose package imports them."""
    run(f"import tritonx; assert tritonx.{path}")


def test_versions() -> None:
    """The module's is pip's; Triton's is a name of its own, and ``triton.__version__`` under compat, where it is of the
    level that PyTorch asks for."""
    code = "import tritonx; print(tritonx.__version__, tritonx.__triton_version__)"
    assert run(code).split() == [version("tritonx"), active().triton]
    assert run(code, TRITONX_REPORTED_VERSION="3.5.1").split() == [version("tritonx"), "3.5.1"]
    code = "import tritonx.compat; tritonx.compat.install(); import triton; print(triton.__version__)"
    assert run(code, TRITONX_LEVEL="3.6").strip() == "3.6.0"
    assert run(code).startswith(f"{torch_level() or active().name}.")
    assert run(code, TRITONX_REPORTED_VERSION="3.5.1").strip() == "3.5.1"


def test_integer_functions() -> None:
    import tritonx

    assert [tritonx.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tritonx.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 1024, 1025)] == [0, 1, 2, 4, 8, 1024, 2048]
