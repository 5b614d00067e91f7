"""nvJitLink, by a stand-in for its binding: code of the user is linked in a helper process, and what ends that process
is an error with the linker's words."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tritonx.backends.nvidia.assembler import assemble as assembling
from tritonx.backends.nvidia.assembler import jit_link
from tritonx.backends.nvidia.targets import CAPABILITIES
from tritonx.runtime.errors import PTXASError
from tritonx.runtime.isolation.pool import pool

BINDING = """
import ctypes, os, sys
from types import SimpleNamespace
InputType = SimpleNamespace(PTX=1)
class nvJitLinkError(Exception): pass
def version(): return (13, 0)
def create(count, arguments):
    return {"arguments": arguments}
def add_data(handle, kind, data, size, name):
    assert kind == InputType.PTX and data.endswith(b"\\0") and size == len(data)
    handle["text"] = data[:-1].decode()
def complete(handle):
    if "refuse" in handle["text"]: raise nvJitLinkError("ERROR_PTX_COMPILE (4)")
    if "abort" in handle["text"]:
        os.write(2, b"nvJitLink: assertion failed")
        ctypes.CDLL(None).abort()
def _cubin(handle): return f"{handle['text']} by {os.getpid()} {handle['arguments']}".encode()
def get_linked_cubin_size(handle): return len(_cubin(handle))
def get_linked_cubin(handle, buffer): buffer[:] = _cubin(handle)
INFO = b"Used 24 registers\\n8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\\0"
def get_info_log_size(handle): return len(INFO)
def get_info_log(handle, buffer): buffer[:] = INFO
def get_error_log_size(handle): return 12
def get_error_log(handle, buffer): buffer[:] = b"line 3: bad\\0"
def destroy(handle): handle.clear()
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``cuda.bindings.nvjitlink`` in this process and in helpers, which get this process's search path."""
    folder = tmp_path / "cuda" / "bindings"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "nvjitlink.py").write_text(BINDING)
    for name in [n for n in sys.modules if n == "cuda" or n.startswith("cuda.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("TRITONX_ASSEMBLER", "nvjitlink")
    monkeypatch.delenv("TRITONX_ISOLATE", raising=False)
    jit_link.linker.cache_clear()
    pool().close()
    yield
    pool().close()
    jit_link.linker.cache_clear()
    for name in [n for n in sys.modules if n == "cuda" or n.startswith("cuda.")]:
        del sys.modules[name]


def made(text: str, foreign: bool) -> Any:
    return assembling.assemble(text, CAPABILITIES[90], foreign=foreign, line_info=False)


def test_our_own_code_is_linked_here(stand_in: Any) -> None:
    result = made("ours", foreign=False)
    assert f"ours by {os.getpid()} ['-arch=sm_90a', '-verbose', '-O3']" == result.cubin.decode()
    assert (result.registers, result.spills, result.local) == (24, 8, 8)


def test_code_of_the_user_is_linked_in_a_helper(stand_in: Any) -> None:
    result = made("theirs", foreign=True)
    text, _, process = result.cubin.decode().partition(" by ")
    assert text == "theirs" and int(process.split()[0]) != os.getpid()
    assert (result.registers, result.spills, result.local) == (24, 8, 8)


def test_isolation_is_for_all_where_it_is_asked_for(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_ISOLATE", "1")
    assert f" by {os.getpid()} " not in made("ours", foreign=False).cubin.decode()


@pytest.mark.parametrize("foreign", [False, True])
def test_what_it_refuses_is_an_error_with_its_words(stand_in: Any, foreign: bool) -> None:
    with pytest.raises(PTXASError, match=r"ERROR_PTX_COMPILE \(4\)\nline 3: bad"):
        made("refuse", foreign)


def test_a_death_is_an_error_and_not_ours(stand_in: Any) -> None:
    with pytest.raises(PTXASError, match=r"ended its process by SIGABRT: nvJitLink: assertion failed"):
        made("abort", foreign=True)
    assert made("theirs", foreign=True).cubin.startswith(b"theirs by ")
