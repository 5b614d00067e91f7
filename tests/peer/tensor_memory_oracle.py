"""What a Triton wheel makes of text for `cuda:100`, without a device: a script, in its own process.

python tensor_memory_oracle.py DIRECTORY     writes NAME.ptx for each NAME.ttgir there; prints those it fails on
"""

import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget

if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.ttgir")):
        try:
            made = triton.compile(str(path), target=GPUTarget("cuda", 100, 32))
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {str(error)[-200:]}")
            continue
        path.with_suffix(".ptx").write_text(made.asm["ptx"])
