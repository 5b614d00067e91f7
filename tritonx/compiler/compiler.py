"""Triton's module ``triton.compiler.compiler``."""

from pathlib import Path

from tritonx.backends.compiler import BaseBackend, Language, make_backend
from tritonx.ir.text import parse_module
from tritonx.runtime.cache import get_cache_key, get_cache_manager, get_dump_manager, get_override_manager
from tritonx.runtime.compiling.compiler import (
    AsmDict,
    ASTSource,
    CompiledKernel,
    GPUTarget,
    IRSource,
    LazyDict,
    compile,
    triton_key,
)
from tritonx.runtime.compiling.ir_view import ModuleView
from tritonx.runtime.compiling.keys import get_cache_invalidating_env_vars
from tritonx.runtime.driver import driver
from tritonx.runtime.errors import OutOfResources
from tritonx.runtime.refusals import refusing
from tritonx.tools.disasm import get_sass

__all__ = [
    "ASTSource",
    "AsmDict",
    "BaseBackend",
    "CompiledKernel",
    "GPUTarget",
    "IRSource",
    "Language",
    "LazyDict",
    "OutOfResources",
    "compile",
    "driver",
    "get_cache_invalidating_env_vars",
    "get_cache_key",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "get_sass",
    "make_backend",
    "max_shared_mem",
    "parse",
    "triton_key",
]


def max_shared_mem(device: int) -> int:
    """Bytes of shared memory that a block on this device of the active backend can have; 0 on the host.

    >>> max_shared_mem(0) >= 0
    True
    """
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


def parse(full_name: str, ext: str, context: object) -> object:
    """The stage ``ext`` in a file: a view of a module, text, or bytes.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "k.ptx")
    ...     size = open(path, "w").write(".version 8.4")
    ...     print(parse(path, "ptx", None))
    .version 8.4
    """
    if ext in ("ttir", "ttgir"):
        return ModuleView(parse_module(Path(full_name).read_text(), full_name))
    data = Path(full_name).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


_TEXT = "a stage's text is read by ``IRSource``"

_REASONS = {
    "CompileTimer": "the listener gets `tritonx.knobs.CompileTimes`",
    "_raise_error": "a kernel that cannot be loaded raises when it is launched",
    "arg_type_pattern": _TEXT,
    "backends": "``tritonx.backends.backends`` has them",
    "convert_type_repr": _TEXT,
    "filter_traceback": "the front end's errors carry the kernel's lines alone",
    "prototype_pattern": _TEXT,
}


def __getattr__(name: str) -> object:
    return refusing(__name__, {**_REASONS, name: _TEXT} if name.endswith("_pattern") else _REASONS)(name)
