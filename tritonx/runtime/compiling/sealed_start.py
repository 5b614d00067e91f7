"""What a sealed program does while it declares its kernels, so that no launch has to.

The first launch of a process otherwise imports the launch path (90 modules), looks for the installed backends, and
reads the key of the compiler: 100 ms. In a program whose ``TRITONX_SEALED`` names folders, declaring the first kernel
does that. Declaring a kernel that has members there finds the digest of its source (`JITCallable.find_early`) and
writes its launch, for arguments and options such as the folder's ``launches`` say. No device is touched, and what is
wrong with the folder or the kernel is told by the launch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.backends.api import Backend
    from tritonx.runtime.compiling.jit_function import JITFunction
    from tritonx.runtime.compiling.sealed import Launches
    from tritonx.runtime.launch.specialize import Specializer

_OF_LAUNCHES = ("async_compile", "compiling.compiler", "compiling.jit_hooks", "launch.launching", "devices.pytorch")


def prepare(kernel: JITFunction) -> None:
    """Write the launch of a kernel that a sealed folder has members of."""
    from tritonx.runtime.compiling.sealed import folders

    if kernel.module.startswith("tritonx."):
        return
    known = (_launches(where).get(kernel.__name__) for where in folders())
    launches = next((each for each in known if each is not None), None)
    if launches is not None:
        with suppress(Exception):  # the launch raises it, with its arguments at hand
            kernel.find_early()
        with suppress(Exception):
            _write(kernel, launches)


def _write(kernel: JITFunction, launches: Launches) -> None:
    from tritonx.runtime.launch.binder import handlers_of
    from tritonx.runtime.launch.foretold import Foretold

    launcher = kernel.launcher
    kinds = {name: kind for name, types in launches["types"].items() if (kind := _kind(types)) is not None}
    for param in kernel.params:
        if not param.is_constexpr:
            _find_handlers(handlers_of(param), launches["types"].get(param.name, ()))
    launcher.foretell(Foretold(kinds, launches["options"], launches["written"], launches["compared"]))
    if not _rehearsed:
        _rehearsed.append(kernel.__name__)
        _rehearse(kernel, kinds)


_rehearsed: list[str] = []
"""The kernel whose launch this process has rehearsed, once there is one."""


def _rehearse(kernel: JITFunction, kinds: Mapping[str, type]) -> None:
    """Ask for the code of a launch on the host, which need not be there. What the first launch executes has then been
    executed once, which is most of its time."""
    from tritonx.runtime.compiling.compiler import Compile

    numpy = sys.modules.get("numpy")
    values = {int: 16, float: 0.5}
    given = {name: values[kind] if kind in values else numpy and numpy.empty(1) for name, kind in kinds.items()}
    request, _ = kernel.launcher.request((), {param.name: given.get(param.name) for param in kernel.params})
    wanted, at = request.wanted, request.placement
    source = kernel.source_of(wanted.signature, wanted.constants, wanted.attrs)
    _ = request.key, request.hook_key
    Compile(source, at.backend, at.target, request.options, source.hash(), kernel.__name__).kept()


def _kind(types: Iterable[str]) -> type | None:
    """The class of arguments of these types; None where they are of several, or of one that launches do not inline."""
    found = {_ARRAY if each.startswith("*") else each.rstrip("0123456789") for each in types}
    if len(found) != 1:
        return None
    (only,) = found
    if only == _ARRAY:
        libraries = (getattr(sys.modules.get(library), name, None) for library, name in reversed(_CLASSES))
        return next((kind for kind in libraries if isinstance(kind, type)), None)
    return {"i": int, "fp": float}.get(only)


_ARRAY = "*"
_CLASSES = (("numpy", "ndarray"), ("torch", "Tensor"))
"""Of a program that has both, launches are taken to get the second."""


def _find_handlers(plain: Specializer, types: Iterable[str]) -> None:
    """How launches specialise on arrays of the libraries that are imported, read-only and overlapping ones too, and on
    those of these types."""
    from tritonx.runtime.devices.dtype_names import TYPE_NAMES
    from tritonx.runtime.launch.specialize import handing, watching

    dtypes = [name for type_ in types for name, short in TYPE_NAMES.items() if type_.lstrip("*k") == short]
    for handlers in (plain, watching(plain), handing(plain), watching(handing(plain))):
        for library, name in _CLASSES:
            kind = getattr(sys.modules.get(library), name, None)
            if isinstance(kind, type):
                _ = handlers[kind]
                for dtype in dtypes if library == "numpy" else ():
                    with suppress(TypeError):  # of a type that NumPy does not have
                        handlers(sys.modules["numpy"].empty(1, dtype))


@lru_cache(maxsize=8)
def _launches(path: str) -> Mapping[str, Launches]:
    """What is known of launches, by the names of the kernels that have members in the folder, for whose backends all is
    loaded that launches need."""
    from tritonx.backends.registry import available
    from tritonx.runtime.compiling.collection import without_collection
    from tritonx.runtime.compiling.keys import compiler_key
    from tritonx.runtime.compiling.sealed import read_manifest, record_compiler
    from tritonx.runtime.compiling.sealed_files import read_index

    with without_collection():
        for name in _OF_LAUNCHES:
            import_module(f"tritonx.runtime.{name}")
    manifest = read_manifest(path)
    if isinstance(manifest, str):
        return {}
    record_compiler(path)
    compiler_key()
    read_index(path)
    firsts = {member["description"].get("target", "").partition(":")[0]: (name, member["key"])
              for name, listed in manifest["members"].items() for member in listed}  # fmt: skip
    if manifest["winners"]:
        from tritonx.runtime.tuning.sealed_winners import winners_of

        winners_of(path)
    for backend in available().values():
        with suppress(Exception):  # a winner may be for the target of the active backend: each is asked for a device
            if manifest["winners"]:
                backend.has_device()
        if backend.name in firsts and backend.has_device() is not False:
            with suppress(Exception):  # as above
                backend.prepare_launch()
                backend.version_key()
                _read_one(backend, path, *firsts[backend.name])
    return manifest["launches"]


def _read_one(backend: Backend, path: str, kernel: str, key: str) -> None:
    """Read the metadata of a member, which others of its backend resemble: a class is made for them."""
    from tritonx.runtime.compiling.compiler import FILE_NAME_LIMIT, fields_of
    from tritonx.runtime.compiling.kernel_metadata import make_metadata
    from tritonx.runtime.compiling.sealed_files import SealedFolder

    name, stage = kernel[:FILE_NAME_LIMIT], backend.binary_stage
    member = SealedFolder(key, path).member(f"{name}.json", f"{name}.{stage}")
    if member is not None:
        make_metadata(fields_of(member.metadata)[0])
