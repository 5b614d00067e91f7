"""Running passes: in order, in place, with one report for whatever goes wrong.

Nothing is verified between passes unless the environment variable ``TRITONX_VERIFY`` is set: verifying costs more
than most passes, and a kernel's option ``debug``, which PyTorch's compiler always sets, is about its assertions. A
failure comes out as ``PassFailure``, with a reproducer. To be exact it needs the module as it was before the pass, and
a copy of that is only kept under the same switch; otherwise the reproducer holds what the failing pass left, which is
nearly always enough to see it fail again.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tritonx.ir.context import new_context
from tritonx.ir.failure import PassError, PassFailure, failure_of
from tritonx.runtime import knobs
from tritonx.runtime.errors import TritonError

if TYPE_CHECKING:
    from tritonx.backends.api import Compilation, EmitStage, PassStage


@dataclass(frozen=True)
class PassHooks:
    """What a run of passes does besides running them; all off by default."""

    before: Callable[[ModulePass, ModuleOp], None] | None = None
    after: Callable[[ModulePass, ModuleOp], None] | None = None
    timing: Callable[[str, float], None] | None = None
    """Called with a pass's name and its seconds."""

    verify: bool = False
    """Verify after each pass; a pass that leaves invalid IR has failed."""

    exact_reproducer: bool = False
    """Keep a copy of the module before each pass for the reproducer."""


@cache
def pass_context() -> Context:
    """The context that passes get; one for the process, since passes only read it."""
    return new_context()


def run_pass_stage(module: ModuleOp, stage: PassStage, compilation: Compilation) -> None:
    """Run a stage's passes on ``module`` in place. Raises ``PassFailure``.

    ``compilation.inspect`` sees the module after every pass and after the stage; a list under the key ``pass_times`` of
    the metadata gets (pass, seconds).
    """
    careful = knobs.compilation.verify
    inspect = compilation.inspect
    times = cast("list[tuple[str, float]] | None", compilation.metadata.get("pass_times"))

    def after(done: ModulePass, module: ModuleOp) -> None:
        if inspect is not None:
            inspect(done.name, module)

    def timing(name: str, seconds: float) -> None:
        if times is not None:
            times.append((name, seconds))

    before = dump_before if is_dumped(str(compilation.metadata.get("name", ""))) else None
    run_passes(module, stage.passes, PassHooks(before, after, timing, verify=careful, exact_reproducer=careful))
    if inspect is not None:
        inspect(stage.name, module)


def is_dumped(kernel: str) -> bool:
    """Whether ``MLIR_ENABLE_DUMP`` asks for the IR before each pass: of all kernels (``1``), or of the one it names."""
    asked = knobs.getenv("MLIR_ENABLE_DUMP") or ""
    return asked == kernel != "" or asked.lower() in ("1", "on", "true")


def dump_before(current: ModulePass, module: ModuleOp) -> None:
    """Print the module to standard error, under the heading that MLIR's pass manager gives it."""
    from tritonx.ir.text import print_module

    heading = f"IR Dump Before {type(current).__name__} ({current.name}) ('{module.name}' operation)"
    print(f"// -----// {heading} //----- //\n{print_module(module, debuginfo=True)}", file=sys.stderr, flush=True)


def run_emit_stage(stage: EmitStage, value: object, compilation: Compilation) -> str | bytes:
    """What the stage makes of ``value``. Whatever goes wrong is a ``PassFailure`` that names the kernel's line, for an
    op that the target cannot do (``PassError``) as for a defect; only other errors of ``TritonError`` come out as they
    are."""
    try:
        return stage.emit(value, compilation)
    except TritonError:
        raise
    except PassError as error:
        raise failure_of(error, stage.name, "", "stage") from None
    except Exception as error:
        raise failure_of(error, stage.name, "", "stage") from error


def run_passes(module: ModuleOp, passes: Sequence[ModulePass], hooks: PassHooks = PassHooks()) -> None:
    """Run ``passes`` on ``module`` in place. Raises ``PassFailure``; other errors of ``TritonError`` come out as they
    are.
    """
    context = pass_context()
    for number, current in enumerate(passes):
        if hooks.before is not None:
            hooks.before(current, module)
        original = module.clone() if hooks.exact_reproducer else None
        start = time.perf_counter()
        try:
            current.apply(context, module)
            elapsed = time.perf_counter() - start
            if hooks.verify:
                _verify_after(current, module, original)
        except TritonError:
            raise
        except Exception as error:
            command = reproducer(original or module, passes[number : number + 1])
            raise failure_of(error, current.name, command) from (None if isinstance(error, PassError) else error)
        if hooks.timing is not None:
            hooks.timing(current.name, elapsed)
        if hooks.after is not None:
            hooks.after(current, module)


def _verify_after(current: ModulePass, module: ModuleOp, original: ModuleOp | None) -> None:
    from tritonx.ir.verify import verify

    try:
        verify(module)
    except Exception as error:
        failure = failure_of(error, current.name, reproducer(original or module, (current,)))
        failure.reason = f"left invalid IR: {getattr(error, 'reason', error)}"
        failure.internal = True
        raise failure from error


def reproducer(module: ModuleOp, passes: Sequence[ModulePass]) -> str:
    """Write the module to a file of its own; the ``tritonx-opt`` command that runs ``passes`` on it, or "" if that
    fails.
    """
    try:
        from tritonx.ir.text import print_module

        text = print_module(module, debuginfo=True)
    except Exception:  # the report on the failure matters more than its reproducer
        return ""
    pipeline = ",".join(str(p) for p in passes).replace("'", "'\\''")
    return text_reproducer(text, f"{passes[0].name}.mlir", f"tritonx-opt -p '{pipeline}' {{}}")


def text_reproducer(text: str, name: str, command: str) -> str:
    """``command`` with the path of a file that holds ``text`` in the place of its braces, or "" if that fails. The
    file lies in a fresh folder that only this user can enter: kernels are not for everyone to read, and a name that
    can be foretold is not for writing to."""
    try:
        path = Path(tempfile.mkdtemp(prefix="tritonx-")) / name
        path.write_text(text)
    except OSError:
        return ""
    before, _, after = command.partition("{}")
    return f"{before}{path}{after}"


__all__ = ["PassError", "PassFailure", "PassHooks", "reproducer", "run_pass_stage", "run_passes", "text_reproducer"]
