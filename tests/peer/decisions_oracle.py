"""What Triton's interpreter gives for expressions: ``python decisions_oracle.py``, a list of them in JSON as input; the
version, and for each the dtype, or the class of the error, in JSON."""

from __future__ import annotations

import json
import linecache
import os
import sys
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import triton.language as tl

DTYPES = {
    "h": torch.float16,
    "b": torch.bfloat16,
    "s": torch.float32,
    "q": torch.float8_e5m2,
    "i": torch.int32,
    "u": torch.uint8,
    "n": torch.int8,
}
"""By the letters of tests/unit/language/test_levels.py."""

LOADS = "".join(f"    {name} = tl.load({name} + o)\n" for name in DTYPES)
KERNEL = "@triton.jit\ndef kernel(h, b, s, q, i, u, n):\n    o = tl.arange(0, 16)\n" + LOADS + "    note({})\n"


def outcome(expression: str) -> str:
    seen: list[str] = []
    file, source = f"<{expression}>", KERNEL.format(expression)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {"triton": triton, "tl": tl, "note": lambda value: seen.append(str(value.dtype))}
    exec(compile(source, file, "exec"), scope)
    try:
        scope["kernel"][(1,)](*[torch.ones(16).to(dtype) for dtype in DTYPES.values()])
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        text = str(cause)
        return text.partition("(")[0] if type(cause).__name__ == "InterpreterError" else type(cause).__name__
    return seen[0]


print(json.dumps([triton.__version__, [outcome(expression) for expression in json.load(sys.stdin)]]))
