"""The formats that Triton hands to ``vprintf``, in the order in which its kernels print.

python print_oracle.py < list of [kernel, type, N, M, hex] as JSON     prints a list of lists of formats as JSON
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

_STRING = re.compile(r"\.b8 (\w+)\[\d+\] = \{([^}]*)\}")


def kernels(folder: str) -> Any:
    path = Path(folder, "kernels_that_print.py")
    text = Path(__file__).with_name("print_kernels.py").read_text()
    path.write_text(f"import triton\nimport triton.language as tl\n{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def formats(ptx: str) -> list[str]:
    strings = {name: bytes(map(int, data.split(","))).rstrip(b"\0").decode() for name, data in _STRING.findall(ptx)}
    return [strings[f"printfFormat_{number}"] for number in range(len(strings))]


def main() -> None:
    made: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        module = kernels(folder)
        for name, type_, n, m, hexadecimal in json.load(sys.stdin):
            signature = {"x": type_, "N": "constexpr", "M": "constexpr", "HEX": "constexpr"}
            source = ASTSource(getattr(module, name), signature, {"N": n, "M": m, "HEX": hexadecimal})
            done = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1})
            made.append(formats(done.asm["ptx"]))
    print(json.dumps(made))


if __name__ == "__main__":
    main()
