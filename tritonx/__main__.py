"""``tritonx COMMAND``, and ``python -m tritonx COMMAND`` where no command is installed."""

from __future__ import annotations

import sys
from importlib import import_module

from tritonx.version import VERSION, triton_version

COMMANDS = ("tune", "check", "explain", "seal", "compile", "link", "opt", "cache", "layout", "run")
"""Each is a module of ``tritonx.tools``."""


def versions() -> str:
    """One line: the distribution's version, and that of Triton whose language and host interface it offers."""
    return f"tritonx {VERSION} (Triton {triton_version()})"


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name == "--version":
        print(versions())
        return 0
    if name not in COMMANDS:
        asked = name in ("-h", "--help")
        print(f"usage: tritonx [--version] {{{','.join(COMMANDS)}}} ...", file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    del sys.argv[1]
    try:
        return import_module(f"tritonx.tools.{name}").main()
    except KeyboardInterrupt:  # while the command is loaded
        return 130


if __name__ == "__main__":
    sys.exit(main())
