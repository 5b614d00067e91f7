"""``tritonx COMMAND``, and ``python -m tritonx COMMAND`` where no command is installed."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = ("tune", "compile", "link", "opt", "cache", "layout", "run")
"""Each is a module of ``tritonx.tools``."""


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in COMMANDS:
        print(f"usage: tritonx {{{','.join(COMMANDS)}}} ...", file=sys.stderr)
        return 0 if name in ("-h", "--help") else 2
    del sys.argv[1]
    return import_module(f"tritonx.tools.{name}").main() or 0


if __name__ == "__main__":
    sys.exit(main())
