"""``tritonx-opt --html``: a page of what the passes do to a file of IR, whose lines are the source then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tritonx.backends.api import PassStage
from tritonx.explain.collect import facts_of_module, with_lines
from tritonx.explain.facts import SourceText
from tritonx.explain.places import Places
from tritonx.explain.report import Report
from tritonx.ir.location import file_loc
from tritonx.tools.opt_diagnostics import Diagnostic

if TYPE_CHECKING:
    from tritonx.backends.api import Stage
    from tritonx.tools.opt_input import Parsed
    from tritonx.tools.opt_pipeline import TargetStages


def page_of(parsed: Parsed, target: TargetStages | None, stages: Sequence[Stage], *, whole: bool) -> str:
    """The page of running `stages` on a copy of the module; with `whole` all of their passes, else those that the input
    still needs. Raises `Diagnostic` without a target, and `PassFailure`."""
    if target is None:
        raise Diagnostic("tritonx-opt", 0, 0, "--html needs --target, and -t or --until for what it is to show")
    for op, offset in parsed.offsets.items():
        op.location = file_loc(parsed.name, 1 + parsed.text.count("\n", 0, offset))
    module = parsed.module.clone()
    needed = [stage if whole or not isinstance(stage, PassStage) else stage.remaining(module) for stage in stages]
    places = Places([SourceText(parsed.name, 1, tuple(parsed.text.splitlines()))])
    wanted, options = target.compilation.target, with_lines(target.compilation.options)
    name = parsed.name.rsplit("/", 1)[-1].partition(".")[0]
    return Report(facts_of_module(name, module, needed, target.backend, wanted, options, places)).html()
