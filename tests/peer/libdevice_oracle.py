"""What Triton makes of the kernels of ``tritonx_testing.library_kernels``.

python libdevice_oracle.py CAPABILITY < names     prints {name: {"ptx": text, "cubin": base64}} as JSON; a function
                                                  that Triton does not compile is not in it
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tritonx_testing.library_kernels import WARPS, functions, kernels

POINTERS = {"fp32": "*fp32", "fp64": "*fp64", "int32": "*i32", "int64": "*i64", "uint32": "*u32", "uint64": "*u64"}


def main() -> None:
    chosen, made = sys.stdin.read().split(), dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder:
        module = kernels("triton", chosen, folder)
        for kernel in chosen:
            _, types, result = functions()[kernel]
            signature = {f"x{i}": POINTERS[t] for i, t in enumerate(types)} | {"out": POINTERS[result]}
            source, target = ASTSource(getattr(module, kernel), signature, {}), GPUTarget("cuda", int(sys.argv[1]), 32)
            try:
                done = triton.compile(source, target=target, options={"num_warps": WARPS})
            except Exception:
                continue
            made[kernel] = {"ptx": done.asm["ptx"], "cubin": base64.b64encode(done.asm["cubin"]).decode()}
    print(json.dumps(made))


if __name__ == "__main__":
    main()
