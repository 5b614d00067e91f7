"""What becomes of a program for a target: code, a refusal with its line, or something that no user should see."""

from __future__ import annotations

import hashlib
import json
import linecache
import os
import sys
from typing import Any

from tritonx.backends import registry
from tritonx.backends.api import Compilation, EmitStage, Stage, run_stages
from tritonx.ir.verify import verify
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import MissingLibrary, OutOfResources
from tritonx_testing.sweep.programs import Program, programs

NOT_PARSED = "LLVM IR parsing error"
"""What LLVM says of text that we should not have written, whatever assembly a program has in it."""


def outcome(program: Program, target: str, *, tools: bool = False) -> tuple[str, str]:
    """(kind, message): ``passed``, ``unsupported`` (a typed refusal that names the kernel's line), ``error``.

    With ``tools`` the vendor's tools, which must be here, take what was written: their refusal is an error."""
    kernel, file = _function(program)
    try:
        _compile(kernel, program, target, tools)
    except (OutOfResources, MissingLibrary) as refusal:  # about the whole kernel, or this machine
        return "unsupported", str(refusal)
    except Exception as problem:
        from tritonx_testing.conformance.isolated import is_refusal

        if not is_refusal(problem) or NOT_PARSED in str(problem):
            return "error", f"{type(problem).__name__}: {problem}"
        if (line := _line(problem, file)) is None:
            return "error", f"no line of the kernel in {type(problem).__name__}: {problem}"
        return "unsupported", f"line {line}: {getattr(problem, 'reason', None) or _last(problem)}"
    return "passed", ""


def _compile(kernel: Any, program: Program, target: str, tools: bool) -> None:
    """To the end with ``tools``, without them up to the code that takes none."""
    backend, parsed = registry.parse_target(target)
    options = backend.parse_options(parsed, {})
    module = ASTSource(kernel, program.signature, {}).make_module(parsed, options)
    verify(module)
    stages = [stage for stage in backend.stages(parsed, options) if tools or not _needs_tool(stage)]
    run_stages(module, stages, Compilation(parsed, options))


def _needs_tool(stage: Stage) -> bool:
    return isinstance(stage, EmitStage) and stage.needs_tool


def _function(program: Program) -> tuple[Any, str]:
    """The kernel and the file that its locations name."""
    file = f"<sweep {hashlib.sha256(program.source.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(program.source), None, program.source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "tritonx_sweep"}
    exec(compile(program.source, file, "exec"), namespace)
    return namespace["kernel"], file


def _line(problem: object, file: str) -> int | None:
    """The line of the kernel that an error names, by itself or as the position of a call."""
    named = getattr(problem, "position", None), *getattr(problem, "stack", ()), *getattr(problem, "positions", ())
    for position in named:
        if position is not None and position.file == file and position.line > 0:
            return position.line
    return None


def _last(problem: Exception) -> str:
    return getattr(problem, "error_message", None) or str(problem)


def serve(*, tools: bool = False) -> None:
    """In a child: compile the programs named on standard input, ``target`` and name apart by a tab, a line of JSON
    for each. ``tools`` as for ``outcome``."""
    known = programs()
    with os.fdopen(int(sys.argv[1]), "w", buffering=1) as out:
        for line in sys.stdin.read().splitlines():
            target, _, name = line.partition("\t")
            print(json.dumps((line, *outcome(known[name], target, tools=tools))), file=out)
            linecache.clearcache()
        out.flush()
        os._exit(0)  # whatever libraries do when they end is not what is tested
