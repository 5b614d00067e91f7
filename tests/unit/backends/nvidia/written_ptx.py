"""The PTX of a module of ``ttg`` text, for tests that execute or read it."""

from __future__ import annotations

from typing import Any

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.registry import parse_target
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module


def ptx_of(text: str, target_name: str, **options: object) -> str:
    """What the stages up to PTX make of ``text`` for a target such as ``cuda:90``: of its passes those that are left
    after the ones that the text has been through."""
    backend, target = parse_target(target_name)
    compilation = Compilation(target, backend.parse_options(target, options))
    module: Any = parse_module(text, "module.ttgir")
    for stage in backend.stages(target, compilation.options)[:4]:
        if isinstance(stage, PassStage):
            run_pass_stage(module, stage.remaining(module), compilation)
        else:
            module = run_emit_stage(stage, module, compilation)
    return module
