"""What a launch that is checked would take on a GPU: `explain`'s facts of it, and the iterations of its loops, which
the interpreter counts in the first, the middle and the last program."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.ir import Operation

from tritonx.backends import registry
from tritonx.backends.api import Options, Target
from tritonx.dialects import scf
from tritonx.explain import explain
from tritonx.explain.facts import Facts
from tritonx.explain.prediction import Prediction, predicted
from tritonx.explain.trips import Trips, chain_of
from tritonx.interpreter.execution import Execution
from tritonx.interpreter.watched import EndlessProgram
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import InterpreterError, TritonError
from tritonx.tools.checking.launches import Launch, Unwrapped, configurations, innermost
from tritonx.tools.checking.report import KernelReport
from tritonx.tools.checking.runs import Runs
from tritonx.transforms.tile.inline import Inline


@dataclass
class Predictor:
    """Predicts launches for `targets`, each specialisation compiled once."""

    targets: Sequence[Target]
    seconds: float
    _known: dict[str, Facts] = field(default_factory=dict[str, Facts])

    def predict(self, kernel: object, launches: Iterable[Launch], report: KernelReport) -> None:
        """Launches that are not judged, however large they are: three programs of each are executed. Of a tuner each
        configuration is predicted."""
        for launch in launches:
            try:
                for number in range(configurations(kernel, launch)):
                    found = innermost(kernel, launch, number)
                    self.add(Runs(found, self.seconds, keep=False), found.words, report)
            except (TritonError, TypeError, ValueError, OverflowError) as error:
                report.skipped["prediction"] = f"{_line(error)} [{launch.words}]"

    def add(self, runs: Runs, words: str, report: KernelReport) -> None:
        """What `of` says, in the report."""
        found, why = self.of(runs, words)
        report.predictions += found
        if why:
            report.skipped["prediction"] = why

    def of(self, runs: Runs, words: str) -> tuple[list[Prediction], str]:
        """The predictions, and why there are none, of some targets or of all."""
        try:
            trips = self.trips(runs)
        except InterpreterError as error:
            return [], f"{_line(error)} [{words}]"
        held = sum(array.nbytes for array in runs.arrays.values())
        found: list[Prediction] = []
        why = ""
        for target in self.targets:
            backend = registry.get_backend(target.backend)
            options = registry.launch_options(backend, target, runs.launch.options)
            chip = backend.gpu_target(target, options)
            if chip is None or chip.chip is None:
                why = f"{target}: the figures of no chip are known"
                continue
            if refusal := chip.chip.refusal(runs.grid, target.warp_size * options.num_warps, options.num_ctas):
                why = f"{target}: {refusal} [{words}]"
                continue
            try:
                facts = self._facts(runs.launch, target, options)
            except TritonError as error:
                why = f"{target}: {_line(error)[:200]}"
                continue
            one = predicted(facts, chip, runs.programs, trips, held, words)
            found += [] if one is None else [one]
            why = "an empty grid does nothing" if one is None else why
        return found, why

    def _facts(self, launch: Unwrapped, target: Target, options: Options) -> Facts:
        request, _ = launch.kernel.launcher.request((), launch.arguments)
        wanted = request.wanted
        key = f"{target} {wanted.signature} {wanted.constants} {wanted.attrs} {options}"
        if key not in self._known:
            source = ASTSource(launch.kernel, wanted.signature, wanted.constants, wanted.attrs)
            self._known[key] = explain(source, target, options).facts
        return self._known[key]

    def trips(self, runs: Runs) -> Trips:
        """How often the body of a loop is executed, on average of the programs that are tried. Two calls of a function
        that is inlined have two loops."""
        module = runs.module.clone()
        Inline().apply(Context(), module)
        loops = [op for op in module.walk() if isinstance(op, scf.ForOp | scf.WhileOp)]
        if not loops or not runs.programs:
            return {}
        direct = {op: loop for loop in loops for block in loop.regions[-1].blocks for op in block.ops}
        counts = Counter[Operation]()
        end = time.monotonic() + self.seconds

        def watch(op: Operation, function: Callable[..., object]) -> Callable[..., object]:
            if op not in direct:
                return function

            def counted(*operands: object) -> object:
                counts[op] += 1
                if time.monotonic() > end:
                    raise EndlessProgram(f"the programs that are tried take longer than {self.seconds:g} s")
                return function(*operands)

            return counted

        chosen = sorted({0, runs.programs // 2, runs.programs - 1})
        runs.some(module, Execution(runs.grid, runs.memory, watch=watch), chosen)
        found: Trips = {}
        for loop in loops:
            times = max((counts[op] for op, own in direct.items() if own is loop), default=0)
            at = chain_of(loop)
            found[at] = found.get(at, 0.0) + times / len(chosen)
        return found


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
