"""What a sealed program does while it declares its kernels, so that no launch has to.

The first launch of a process otherwise imports the launch path (90 modules), looks for the installed backends, and
reads the key of the compiler: 100 ms. In a program whose ``TRITONX_SEALED`` names a folder, declaring the first kernel
does that, and declaring a kernel that has members there writes its launch. No device is touched, and what is wrong with
the folder or the kernel is told by the launch.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.kernel.params import KernelParam
    from tritonx.runtime.compiling.jit_function import JITFunction

_OF_LAUNCHES = ("async_compile", "compiling.compiler", "compiling.jit_hooks", "launch.launching", "devices.pytorch")


def prepare(kernel: JITFunction) -> None:
    """Write the launch of a kernel that the sealed folder has members of."""
    from tritonx.runtime.compiling.sealed import folder

    where = folder()
    if where is not None and not kernel.module.startswith("tritonx.") and kernel.__name__ in _sealed_names(where):
        with suppress(Exception):  # the launch raises it, with its arguments at hand
            _ = kernel.launcher
            for param in kernel.params:
                if not param.is_constexpr:
                    _find_handlers(param)


def _find_handlers(param: KernelParam) -> None:
    """How launches specialise on arrays of the libraries that are imported, read-only and overlapping ones too."""
    from tritonx.runtime.launch.binder import handlers_of
    from tritonx.runtime.launch.specialize import handing, watching

    plain = handlers_of(param)
    for handlers in (plain, watching(plain), handing(plain), watching(handing(plain))):
        for library, name in (("numpy", "ndarray"), ("torch", "Tensor")):
            kind = getattr(sys.modules.get(library), name, None)
            if isinstance(kind, type):
                _ = handlers[kind]


@lru_cache(maxsize=8)
def _sealed_names(path: str) -> frozenset[str]:
    """The names of the kernels that have members in the folder, for whose backends all is loaded that launches need."""
    from tritonx.backends.registry import available
    from tritonx.runtime.compiling.collection import without_collection
    from tritonx.runtime.compiling.keys import compiler_key
    from tritonx.runtime.compiling.sealed import read_manifest, record_compiler

    with without_collection():
        for name in _OF_LAUNCHES:
            import_module(f"tritonx.runtime.{name}")
    manifest = read_manifest(path)
    if isinstance(manifest, str):
        return frozenset()
    record_compiler(path)
    compiler_key()
    members = [member["description"] for listed in manifest["members"].values() for member in listed]
    targets = {member.get("target", "").partition(":")[0] for member in members}
    for backend in available().values():
        if backend.name in targets and backend.has_device() is not False:
            with suppress(Exception):  # as above
                backend.prepare_launch()
                backend.version_key()
    return frozenset(manifest["members"])
