"""Runs the wheel's `gluon-resolve-auto-encodings` for `test_gluon_requests.py`: a script, in its own process.

stdin: a JSON list of modules as text; the file that the argument names: a JSON list of what the pass makes of each,
null where it refuses it.
"""

import json
import sys
import tempfile
from pathlib import Path

from triton._C.libtriton import ir, passes


def resolved(text: str) -> str | None:
    context = ir.context()
    ir.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    manager = ir.pass_manager(context)
    passes.gluon.add_resolve_auto_encodings(manager)
    try:
        manager.run(module, "resolve")
    except RuntimeError:
        return None
    return module.str_nodebug()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps([resolved(text) for text in json.load(sys.stdin)]))
