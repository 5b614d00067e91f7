"""PTX to a cubin by nvJitLink, NVIDIA's linker as a library. Imports nothing of ours: a helper process comes up with
this."""

from __future__ import annotations

import importlib
from functools import lru_cache
from importlib.util import find_spec
from typing import Any


class LinkFailure(Exception):
    """nvJitLink refused the code; its words."""


@lru_cache(maxsize=1)
def linker() -> Any:
    """The binding of nvJitLink, or None where it or its library is missing."""
    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        return None
    try:
        nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
        nvjitlink.version()
    except Exception:  # the module raises types of its own, or OSError, where the library is missing
        return None
    return nvjitlink


def link(text: str, processor: str, line_info: bool, *, verify: bool = False) -> dict[str, str | bytes]:
    """``cubin`` and ``log`` of PTX. Raises LinkFailure; nvJitLink may end the process over code that it cannot handle.
    ``verify``: PTX has no verifier but this."""
    nvjitlink = linker()
    arguments = [f"-arch={processor}", "-verbose", "-O3", *(["-lineinfo"] if line_info else [])]
    handle = nvjitlink.create(len(arguments), arguments)
    try:
        data = text.encode() + b"\0"
        try:
            nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "kernel.ptx")
            nvjitlink.complete(handle)
        except nvjitlink.nvJitLinkError as error:
            raise LinkFailure(f"{error}\n{_log(nvjitlink, handle, 'error')}") from None
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        log = _log(nvjitlink, handle, "info") + _log(nvjitlink, handle, "error")
    finally:
        nvjitlink.destroy(handle)
    return {"cubin": bytes(cubin), "log": log}


def _log(nvjitlink: Any, handle: int, which: str) -> str:
    size = getattr(nvjitlink, f"get_{which}_log_size")(handle)
    if size <= 1:
        return ""
    buffer = bytearray(size)
    getattr(nvjitlink, f"get_{which}_log")(handle, buffer)
    return buffer.rstrip(b"\0").decode(errors="replace")
