"""Kernels that call one function of ``tl.extra.libdevice`` each, on ``BLOCK`` elements a program, which are to be
one a thread: of tritonx, or of Triton itself, so that both can be asked for the same."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from tritonx.language.extra.libdevice_table import names, overloads

BLOCK = 128
WARPS = 4


def functions() -> dict[str, tuple[str, tuple[str, ...], str]]:
    """Kernel name → (function, argument types, result type), of every overload of every name."""
    return {
        "_".join((name, *types)): (name, types, result) for name in names() for types, result in overloads(name).items()
    }


def kernels(package: str, chosen: Sequence[str], folder: str) -> ModuleType:
    """A module of kernels written for ``package`` (triton or tritonx), in a file in ``folder``."""
    text = [f"import {package}", f"import {package}.language as tl", f"from {package}.language.extra import libdevice"]
    for kernel in chosen:
        name, types, _ = functions()[kernel]
        arguments = [f"x{i}" for i in range(len(types))]
        loads = ", ".join(f"tl.load({x} + i)" for x in arguments)
        text.append(f"@{package}.jit\ndef {kernel}({', '.join(arguments)}, out):")
        text.append(f"    i = tl.program_id(0) * {BLOCK} + tl.arange(0, {BLOCK})")
        text.append(f"    tl.store(out + i, libdevice.{name}({loads}))")
    path = Path(folder, f"kernels_of_{package}.py")
    path.write_text("\n".join(text) + "\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
