"""Reads text with a Triton wheel for `test_levels.py`: a script, in its own process, since a wheel that aborts must not
take pytest along.

    python level_oracle.py version                the wheel's version
    python level_oracle.py read DIRECTORY         {file name: "ok" or what is wrong} of the *.mlir there, as JSON
"""

import json
import sys
from pathlib import Path

import triton
from triton._C.libtriton import amd, ir, nvidia


def read(directory: Path) -> dict[str, str]:
    """What the wheel's parser and verifier say of each file."""
    found: dict[str, str] = {}
    for path in sorted(directory.glob("*.mlir")):
        context = ir.context()
        ir.load_dialects(context)
        nvidia.load_dialects(context)
        amd.load_dialects(context)
        try:
            module = ir.parse_mlir_module(str(path), context)
            found[path.name] = "ok" if module.verify() else "not verified"
        except Exception as error:
            found[path.name] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    if sys.argv[1] == "version":
        print(triton.__version__)
    else:
        print(json.dumps(read(Path(sys.argv[2]))))
