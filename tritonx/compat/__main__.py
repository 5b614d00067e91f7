"""``python -m tritonx.compat prog.py [args]``: run a program in which ``import triton`` means tritonx.

The interpreter starts again with the folder of `tritonx.compat` on its path, so the program runs exactly as it does
without: ``-m module``, ``-c code`` and whatever else an interpreter takes."""

from __future__ import annotations

import os
import subprocess
import sys

from tritonx.compat import environment


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m tritonx.compat (prog.py | -m module | -c code) [arguments]")
    if sys.flags.ignore_environment:
        raise SystemExit("tritonx.compat passes its path in PYTHONPATH, which python -E and -I ignore")
    program = sys.argv[1:]
    own = sys.orig_argv[1 : len(sys.orig_argv) - len(program)]  # the interpreter's options, and -m tritonx.compat
    options = own[: -2 if own[-1] == "tritonx.compat" else -1]
    command = [sys.executable, *options, *program]
    os.environ.update(environment())
    if sys.platform == "win32":  # an exec there returns to the shell at once
        raise SystemExit(subprocess.call(command))
    os.execv(sys.executable, command)


if __name__ == "__main__":
    main()
