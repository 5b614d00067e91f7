"""``device_print`` against Triton.

The formats in its PTX are those that kernels here are compiled with, for GPUs of both vendors and for the CPU; the
interpreter writes what C's printf makes of them."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tritonx.backends import registry
from tritonx.backends.api import Compilation, run_stages
from tritonx.interpreter.ir_launch import bind, launch

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(find_spec("triton") is None, reason="the Triton wheel is not installed"),
]

HERE = Path(__file__).parent
DTYPES = {
    "*i8": np.int8, "*u8": np.uint8, "*i16": np.int16, "*u16": np.uint16, "*i32": np.int32, "*u32": np.uint32,
    "*i64": np.int64, "*u64": np.uint64, "*fp16": np.float16, "*bf16": ml_dtypes.bfloat16, "*fp32": np.float32,
    "*fp64": np.float64, "*i1": np.bool_, "*fp8e4nv": ml_dtypes.float8_e4m3fn, "*fp8e5": ml_dtypes.float8_e5m2,
}  # fmt: skip
FLOATS = ("*fp16", "*bf16", "*fp32", "*fp64")
"""Printed by ``%a`` as of Triton 3.9, and by half of a double's bits in the one that is compared with."""
CASES = [
    *(("line", type_, 32, 1, hexadecimal) for type_ in DTYPES for hexadecimal in (False, True)),
    *(("scalar", type_, 1, 1, hexadecimal) for type_ in ("*i32", "*fp16", "*u8") for hexadecimal in (False, True)),
    ("square", "*i32", 16, 128, False), ("square", "*fp32", 2, 4, True), ("square", "*u64", 1, 16, False),
    ("pointers", "*fp32", 1024, 1, False), ("pointers", "*fp32", 4, 1, True),
    ("truths", "*i32", 64, 1, False), ("truths", "*fp32", 64, 1, True),
]  # fmt: skip


@pytest.fixture(scope="module")
def theirs() -> list[list[str]]:
    script = HERE / "print_oracle.py"
    done = subprocess.run(
        [sys.executable, str(script)], input=json.dumps(CASES), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import importlib.util

    path = tmp_path_factory.mktemp("printing") / "kernels_that_print.py"
    text = (HERE / "print_kernels.py").read_text()
    path.write_text(f"import tritonx as triton\nimport tritonx.language as tl\n{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def formats(llvm: str) -> list[str]:
    """The formats that the LLVM text mentions in its calls, in order, each once."""
    if "@tx.hostcall(" in llvm:
        return list(dict.fromkeys(sent(llvm)))
    strings = {
        name: re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text).rstrip("\0")
        for name, text in re.findall(r'(@[\w.]+) = .*?constant \[\d+ x i8\] c"(.*?)"', llvm)
    }
    code = llvm[llvm.index("define") :]
    used = dict.fromkeys(name for name in re.findall(r"@[\w.]+", code) if name in strings)
    return [strings[name] for name in used if strings[name].startswith("pid (")]


def sent(llvm: str) -> list[str]:
    """The formats of the messages to AMD's runtime: the constant words behind the packet that begins one (33)."""
    messages: list[bytes] = []
    for descriptor, words in re.findall(r"call i64 @tx\.hostcall\(i64 (\S+), (.*?)\)", llvm):
        if descriptor == "33":
            messages.append(b"")
        elif b"\0" not in messages[-1]:
            numbers = [int(word) & (1 << 64) - 1 for word in re.findall(r"i64 (-?\d+)", words)]
            messages[-1] += b"".join(number.to_bytes(8, "little") for number in numbers)
    return [message.partition(b"\0")[0].decode() for message in messages]


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "cpu"])
def test_the_formats_are_those_of_triton(kernels: Any, theirs: list[list[str]], target: str) -> None:
    backend, parsed = registry.parse_target(target)
    for (name, type_, n, m, hexadecimal), expected in zip(CASES, theirs, strict=True):
        options = backend.parse_options(parsed, {"num_warps": 1})
        constants = {"N": n, "M": m, "HEX": hexadecimal}
        module = bind(getattr(kernels, name), [np.zeros(n * m, DTYPES[type_])], constants, options, parsed).module
        stages = backend.stages(parsed, options)
        upto = [s.name for s in stages].index("llir") + 1
        made = run_stages(module, stages[:upto], Compilation(parsed, options))["llir"]
        if hexadecimal and type_ in FLOATS and name != "truths":
            expected = [text if "(operand 1)" in text else re.sub(r"0x%0\d+l*x", "%a", text) for text in expected]
        assert formats(made) == list(dict.fromkeys(expected)), (name, type_, n, m, hexadecimal)


def test_the_interpreter_writes_what_printf_does(
    kernels: Any, theirs: list[list[str]], capfd: pytest.CaptureFixture[str]
) -> None:
    """C's own printf on the values, widened as Triton widens them: every line, but for the bits of floats."""
    rng = np.random.default_rng(int(os.environ["TRITONX_SEED"]))
    for (name, type_, n, m, hexadecimal), expected in zip(CASES, theirs, strict=True):
        if name != "line":
            continue
        dtype = np.dtype(DTYPES[type_])
        x = rng.integers(0, 256, n * dtype.itemsize).astype(np.uint8).view(np.uint8)
        x = x.view(dtype) if dtype != np.bool_ else (x[:n] & 1).astype(np.bool_)
        capfd.readouterr()
        launch(kernels.line, (1,), x, N=n, M=m, HEX=hexadecimal)
        lines = capfd.readouterr().out.splitlines()
        assert len(lines) == n
        for at, got in enumerate(lines):
            value = x[at]
            if hexadecimal and type_ in FLOATS:
                assert math.isnan(value) or float.fromhex(got.rpartition(" ")[2]) == value, (type_, x[at])
                continue
            if type_.startswith("*fp8"):
                value = x.view(f"u{dtype.itemsize}")[at]
            if dtype.kind in "fV" and np.isnan(float(x[at])):
                continue  # the sign of a NaN is printed or not
            want = printf(expected[0], at, value, hexadecimal=hexadecimal)
            assert got == want, (type_, hexadecimal, x[at])


def printf(text: str, index: int, value: Any, *, hexadecimal: bool) -> str:
    """One line by the C library."""
    import ctypes

    buffer = ctypes.create_string_buffer(1024)
    numbers = [ctypes.c_uint(v) for v in (0, 0, 0, index)]
    if "%f" in text:
        argument: Any = ctypes.c_double(float(value))
    elif "ll" in text:
        argument = ctypes.c_ulonglong(int(value) & 0xFFFFFFFFFFFFFFFF)
    else:
        argument = ctypes.c_uint(int(value) & 0xFFFFFFFF)
    ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(1024), text.encode(), *numbers, argument)
    return buffer.value.decode().rstrip("\n")
