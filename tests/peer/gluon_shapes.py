"""A kernel of Gluon that says the layout of what an op of shapes gives: ``python gluon_shapes.py PACKAGE``, with Triton
or tritonx as the package.

stdin: a JSON list of [op, layout, shape, argument]; stdout: the layouts' texts, or null where it is refused.
"""

import importlib
import json
import sys
from typing import Any

PACKAGE = sys.argv[1] if __name__ == "__main__" else "tritonx"
gluon = importlib.import_module(f"{PACKAGE}.experimental.gluon")
gl = importlib.import_module(f"{PACKAGE}.experimental.gluon.language")
FOUND: list[str] = []


@gluon.constexpr_function
def found(layout: Any) -> int:
    FOUND.append(repr(layout))
    return 0


@gluon.jit
def kernel(op: gl.constexpr, layout: gl.constexpr, shape: gl.constexpr, argument: gl.constexpr):
    x = gl.full(shape, 1, gl.int32, layout)
    if op == "reshape":
        y = x.reshape(argument)
    elif op == "permute":
        y = x.permute(argument)
    elif op == "join":
        y = gl.join(x, x)
    elif op == "split":
        y, _ = x.split()
    elif op == "split, join":
        a, b = x.split()
        y = gl.join(a, b)
    elif op == "join, split":
        y, _ = gl.join(x, x).split()
    elif op == "sum":
        y = gl.sum(x, axis=argument)
    elif op == "scan":
        y = gl.cumsum(x, axis=argument)
    elif op == "fp4":
        y = gl.fp4_to_fp(x.to(gl.uint8), gl.float16, argument)
    said: gl.constexpr = found(y.type.layout)  # noqa: F841


def answer(op: str, layout: str, shape: list[int], argument: Any) -> str | None:
    filecheck = importlib.import_module(f"{PACKAGE}._filecheck")
    target = importlib.import_module(f"{PACKAGE}.backends.compiler").GPUTarget("cuda", 90, 32)
    FOUND.clear()
    arguments = (op, eval(layout, dict(vars(gl))), shape, argument)
    try:
        filecheck.run_parser(kernel, arguments, {"num_warps": 4}, target)
    except Exception:
        return None
    return FOUND[0]


if __name__ == "__main__":
    json.dump([answer(*case) for case in json.load(sys.stdin)], sys.stdout)
