"""The command ``proton``: a program, or pytest, in a session.

proton [options] program.py [arguments]          (or pytest [arguments])
python -m tritonx.profiler.proton …"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback
from collections.abc import Sequence

from tritonx.profiler.errors import ProfilerError
from tritonx.profiler.flags import flags
from tritonx.profiler.profile import finalize, start
from tritonx.profiler.session import CONTEXTS, DATA


def parse_arguments(arguments: Sequence[str] | None = None) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the program with its own arguments.

    >>> from tritonx.profiler.proton import parse_arguments
    >>> given, program = parse_arguments(["-d", "trace", "program.py", "--its-own"])
    >>> given.data, program
    ('trace', ['program.py', '--its-own'])
    """
    parser = argparse.ArgumentParser(prog="proton", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("-n", "--name", help="the output file without its suffix")
    parser.add_argument("-b", "--backend", help="how launches are timed; by default the device's best way")
    parser.add_argument("-c", "--context", default="shadow", choices=CONTEXTS, help="what launches are counted to")
    parser.add_argument(
        "-m", "--mode", help="periodic_flushing[:format=FORMAT], or of instrumentation default[:OPTION=VALUE…]"
    )
    parser.add_argument("-d", "--data", default="tree", choices=tuple(DATA), help="sums, or every launch with its time")
    parser.add_argument("-k", "--hook", choices=("triton",), help="ask kernels' launch_metadata for names and metrics")
    parser.add_argument("target_args", nargs=argparse.REMAINDER, metavar="program", help="what runs, and its arguments")
    given = parser.parse_args(arguments)
    if not given.target_args:
        parser.error("what is to be profiled?")
    return given, given.target_args


def execute_as_main(script: str, args: Sequence[str]) -> int:
    """Run a program as Python runs it; its exit status.

    >>> import os, tempfile
    >>> from tritonx.profiler.proton import execute_as_main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(program := os.path.join(folder, "program.py"), "w") as file:
    ...         written = file.write("import sys; sys.exit(int(sys.argv[1]))")
    ...     execute_as_main(program, ["3"])
    3
    """
    before = sys.argv, list(sys.path)
    sys.argv = [script, *args]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        return _status(ended.code)
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        sys.argv, sys.path[:] = before
    return 0


def _status(code: object) -> int:
    """What Python would exit with."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status.

    >>> import os, tempfile
    >>> from tritonx.profiler.proton import main
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(program := os.path.join(folder, "program.py"), "w") as file:
    ...         written = file.write("print(5)")
    ...     main(["-n", os.path.join(folder, "example"), program])
    5
    0
    """
    given, (program, *rest) = parse_arguments(arguments)
    try:
        start(
            given.name, context=given.context, data=given.data, backend=given.backend, mode=given.mode, hook=given.hook
        )
    except ProfilerError as error:
        print(f"proton: {error}", file=sys.stderr)
        return 2
    flags.command_line = True
    try:
        if os.path.basename(program) == "pytest":
            import pytest

            status = int(pytest.main(rest))
        else:
            status = execute_as_main(program, rest)
    finally:
        flags.command_line = False
    try:
        finalize()
    except ProfilerError as error:
        print(f"proton: {error}", file=sys.stderr)
        return status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
