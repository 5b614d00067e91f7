"""Judges one kernel over its launches: runs each in several ways (`runs`), compares, and says what is wrong, where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation

from tritonx.backends import registry
from tritonx.backends.api import Target
from tritonx.dialects import tile
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter import errors
from tritonx.interpreter.memory import byte_bounds
from tritonx.interpreter.values import Poison, is_float
from tritonx.interpreter.watched import EndlessProgram, LaunchTooLarge, element_flags, user_line
from tritonx.interpreter.widen import NotWidened
from tritonx.ir.failure import PassFailure
from tritonx.runtime.compiling.compiler import compile as compile_source
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import InterpreterError, TritonError
from tritonx.tools.checking.arguments import Contents, widened_arguments
from tritonx.tools.checking.launches import Launch, Misfit, Unwrapped, configurations, innermost
from tritonx.tools.checking.numbers import difference, limit, narrow_sum, rounded
from tritonx.tools.checking.predictions import Predictor
from tritonx.tools.checking.reference import BadReference, Reference, expected
from tritonx.tools.checking.report import Finding, KernelReport
from tritonx.tools.checking.runs import Runs
from tritonx.tools.wrapped import jit_function

_FAULTS = {
    errors.OutOfBoundsAccess: "bounds",
    errors.MisalignedAccess: "alignment",
    errors.UninitialisedRead: "uninitialised",
    errors.ReadOnlyWrite: "read-only",
    errors.DeviceAssertion: "assertion",
    errors.EndlessPoll: "endless",
    EndlessProgram: "endless",
}

_POISONS: tuple[Poison, ...] = (True, float("inf"), -float("inf"))
"""What undefined lanes hold in turn: comparisons and maxima do not let a NaN through."""


@dataclass
class Judge:
    """Collects the findings of one kernel in `report`. `seconds`: that a program may take in the interpreter;
    `targets`: what the first launch is compiled for besides the host; `predictor`: what predicts launches."""

    kernel: object
    report: KernelReport
    reference: Reference | None = None
    targets: Sequence[Target] = ()
    seconds: float = 10.0
    predictor: Predictor | None = None
    _words: str = ""
    _unread: bool | None = field(default=None)
    _stored: set[str] = field(default_factory=set[str])
    """The arrays that a launch so far may write."""

    def judge(self, launches: Iterable[Launch]) -> None:
        """All launches, one after the other. Of a tuner the first one has each configuration, and the others one each,
        in turn."""
        for number, launch in enumerate(launches):
            self._words = launch.words
            try:
                count = configurations(self.kernel, launch)
            except Misfit as error:
                self._find("launch", _line(error), None)
                continue
            chosen = range(count) if number == 0 else [number % count]
            for each in chosen:
                if not self._configured(launch, each, first=number == 0, last=each == chosen[-1]):
                    return
        if self._unread:
            self._words = ""
            self._find("ignored", "the kernel stores values and reads none of the arrays that it is given", None)

    # One launch ------------------------------------------------------------------------------------------------------

    def _configured(self, launch: Launch, number: int, *, first: bool, last: bool) -> bool:
        """One configuration of a launch; its arrays are as they were, unless it is the `last`. False where the kernel
        does not compile at all."""
        try:
            found = innermost(self.kernel, launch, number)
            self._words = found.words
            runs = Runs(found, self.seconds)
        except CompilationError as error:
            self._compile_error(error, "")
            return False
        except (TritonError, TypeError, ValueError, OverflowError) as error:
            self._find("launch", _line(error), None)
            return True
        if first and number == 0:
            for target in self.targets:
                self._compile(found, target)
        if runs.waits():
            reason = "programs wait for each other (launch_cooperative_grid), and are executed one after another"
            self.report.skipped["grid"] = reason
            return True
        self._predict(runs)
        self.report.launches += 1
        given = runs.saved
        self._launch(runs, scaled=first and number == 0)
        if not last and given is not None:
            runs.memory.restore(given)
        return True

    def _launch(self, runs: Runs, *, scaled: bool) -> None:
        if unknown := runs.unknown():
            reason = "what the kernel writes there is not compared, and the reference is not asked"
            self.report.skipped["arrays"] = f"{', '.join(unknown)}: {reason}"
        given = widened_arguments(runs.launch.arguments) if self.reference is not None else {}
        got = self._recorded(runs)
        if got is None:
            return
        self._reads(runs)
        if runs.saved is None:
            self.report.skipped["contents"] = "the arrays are too large to compare"
            return
        self._unwritten(runs)
        self._undefined(runs, got)
        self._order(runs, got)
        self._backend(runs, got)
        try:
            right = self._expected(runs, given)
            self._compare(runs, got, right)
            if scaled and right is not None:
                self._scaled(runs)
        except BadReference as error:
            self._add("reference", error.reason, error.file, error.line, 1)

    def _recorded(self, runs: Runs) -> Contents | None:
        watch = runs.watch
        fault: InterpreterError | None = None
        got: Contents | None = None
        try:
            got = runs.recorded()
        except LaunchTooLarge as error:
            self.report.skipped["size"] = f"{error} [{self._words}]"
        except InterpreterError as error:
            fault = error
        for flaw in watch.flaws:
            self._find(flaw.kind, flaw.message, flaw.op)
        if fault is not None:
            self._fault(runs, fault)
        return got

    def _fault(self, runs: Runs, fault: InterpreterError) -> None:
        kind = next((k for c, k in _FAULTS.items() if isinstance(fault, c)), "fault")
        message, op = str(fault), runs.watch.op
        if isinstance(fault, errors.KernelFault):
            message = fault.message + (f" [program {fault.program}]" if fault.program else "")
            known = op is not None and isinstance(fault, tuple(_FAULTS))
            if not known and fault.position:
                file, _, line = fault.position.split(" ")[0].rpartition(":")
                self._add(kind, message, file, int(line) if line.isdigit() else 0, 0)
                return
        self._find(kind, message, op)

    def _reads(self, runs: Runs) -> None:
        """Whether no launch has read an array although there was one that it did not write."""
        if self._unread is False or not runs.programs:
            return
        stored = runs.stored()
        others = [n for n, a in runs.arrays.items() if n not in stored and a.size]
        self._unread = bool(stored and others and not runs.loads())

    def _unwritten(self, runs: Runs) -> None:
        for name, array in runs.arrays.items():
            where = next((r for r in runs.memory.ranges if _within(array, r.base, r.end)), None)
            if where is None or where.written is None or not array.size:
                continue
            low, high = byte_bounds(array)
            missing = ~where.written[low - where.base : high - where.base] & element_flags(array)
            if missing.any():
                count = int(missing.sum()) // array.itemsize
                self._find("unwritten", f"{count} of {array.size} elements of {name} are written by no program", None)

    def _undefined(self, runs: Runs, got: Contents) -> None:
        loads = runs.masked_loads()
        if not loads or not self._differs(runs, loads, got):
            return
        for op in loads:
            if self._differs(runs, [op], got):
                self._find("undefined", "the result depends on lanes that this load's mask leaves undefined", op)
                return
        self._find("undefined", "the result depends on lanes that masked loads leave undefined", loads[0])

    def _differs(self, runs: Runs, loads: Sequence[Operation], got: Contents) -> bool:
        return any(self._differs_by(runs, loads, got, poison) for poison in _POISONS)

    def _differs_by(self, runs: Runs, loads: Sequence[Operation], got: Contents, poison: Poison) -> bool:
        try:
            other = runs.poisoned(loads, poison)
        except LaunchTooLarge:
            return False
        except InterpreterError:
            return True
        return any(difference(other[name], got[name]).error > 0 for name in got)

    def _order(self, runs: Runs, got: Contents) -> None:
        if runs.programs < 2:
            return
        try:
            other = runs.backwards()
        except LaunchTooLarge:
            return
        except InterpreterError as error:
            self._find("order", f"in reverse order of the programs: {_line(error)}", runs.watch.op)
            return
        if other is None:
            return
        for name, array in got.items():
            found = difference(other[name], array)
            if found.error > limit(array.dtype, runs.ops):
                where = f"element {found.index} of {name}"
                op = self._writer(runs, name, found.index)
                self._find("order", f"{where} differs if the programs run in reverse order", op)

    # Against references ----------------------------------------------------------------------------------------------

    def _expected(self, runs: Runs, given: Mapping[str, object]) -> Contents | None:
        """What the reference gives, by array; None without one, or where not all arrays are known. Raises
        `BadReference`."""
        if self.reference is None or runs.unknown():
            return None
        self._stored.update(stored := runs.stored())
        return expected(self.reference, given, runs.arrays, stored, [n for n in runs.arrays if n in self._stored])

    def _compare(self, runs: Runs, got: Contents, right: Contents | None) -> None:
        wide: Contents | None = None
        try:
            wide = runs.wide()
        except NotWidened as error:
            if right is None:
                self.report.skipped["float64"] = str(error)
        except InterpreterError as error:
            self.report.skipped["float64"] = _line(error)
        for name in got if right is None else right:
            self._compare_array(runs, name, got[name], (right or {}).get(name), (wide or {}).get(name))

    def _compare_array(
        self, runs: Runs, name: str, got: np.ndarray, expected: np.ndarray | None, wide: np.ndarray | None
    ) -> None:
        right = wide if expected is None else expected
        if right is None:
            return
        if expected is None:
            right = rounded(right, got.dtype)
        most = limit(got.dtype, runs.ops)
        narrow = is_float(got.dtype) and got.dtype.itemsize == 1
        found = difference(rounded(got.astype(np.float64), got.dtype) if narrow else got, right)
        if is_float(got.dtype) and np.isfinite(found.error):
            self.report.error[name] = max(self.report.error.get(name, 0.0), found.error)
        if found.error <= most:
            return
        value = f"element {found.index} of {name} is {got[found.index]} instead of {_element(right, found.index)}"
        rounding = wide is not None and (expected is None or difference(wide, expected).error <= most)
        if rounding and is_float(got.dtype):
            op = narrow_sum(runs.ops) or self._writer(runs, name, found.index)
            self._find("precision", f"{value}: error {found.error:.1e}, at most {most:.0e} is rounding", op)
        else:
            self._find("wrong", f"{value}, as the reference has it", self._writer(runs, name, found.index))

    def _scaled(self, runs: Runs) -> None:
        """The launch again with half the floats that it is given: a result that was written down is wrong then."""
        assert runs.saved is not None
        left = runs.memory.save()
        assert left is not None
        runs.memory.restore(runs.saved)
        words = self._words
        try:
            stored = set(runs.stored())
            for name, array in runs.arrays.items():
                if name not in stored and is_float(array.dtype) and array.flags.writeable:
                    array *= np.array(0.5).astype(array.dtype)
            given = widened_arguments(runs.launch.arguments)
            runs.saved = runs.memory.save()
            self._words = f"{words}, floats halved".removeprefix(", ")
            got = runs.recorded()
            self._compare(runs, got, self._expected(runs, given))
        except InterpreterError as error:
            self.report.skipped["halved"] = _line(error)
        finally:
            self._words = words
            runs.memory.restore(left)

    def _backend(self, runs: Runs, got: Contents) -> None:
        kinds = {"bounds", "alignment", "endless", "view", "race", "barrier"}
        if any(f.kind in kinds and f.launch == self._words for f in self.report.findings):
            return  # what it does to memory is not known
        try:
            other = runs.compiled()
        except CompilationError as error:
            self._compile_error(error, " (host)")
            return
        except TritonError as error:
            self._pass_error(error, " (host)")
            return
        for name, array in got.items():
            found = difference(other[name], array)
            if found.error > limit(array.dtype, runs.ops):
                value = f"element {found.index} of {name} is {other[name][found.index]}"
                text = f"{value} when compiled for the host, and {array[found.index]} in the interpreter"
                self._find("backend", text, self._writer(runs, name, found.index))

    def _predict(self, runs: Runs) -> None:
        if self.predictor is not None:
            self.predictor.add(runs, self._words, self.report)

    # Compiling -------------------------------------------------------------------------------------------------------

    def _compile(self, launch: Unwrapped, target: Target) -> None:
        kernel = launch.kernel
        request, _ = kernel.launcher.request((), launch.arguments)
        wanted = request.wanted
        source = ASTSource(kernel, wanted.signature, wanted.constants, wanted.attrs)
        backend = registry.get_backend(target.backend)
        self.report.targets.append(str(target))
        try:
            compile_source(source, target, registry.launch_options(backend, target, launch.options))
        except CompilationError as error:
            self._compile_error(error, f" ({target})")
        except TritonError as error:
            self._pass_error(error, f" ({target})")

    def _compile_error(self, error: CompilationError, where: str) -> None:
        position = error.position
        text = str(error.error_message or error).strip().split("\n")[0] + where
        if position is None:
            self._find("compile", text, None)
        else:
            self._add("compile", text, position.file, position.line, position.column + 1)

    def _pass_error(self, error: TritonError, where: str) -> None:
        points = error.positions if isinstance(error, PassFailure) else ()
        text = (error.reason if isinstance(error, PassFailure) else _line(error)) + where
        if points:
            self._add("compile", text, points[0].file, points[0].line, points[0].column)
        else:
            self._find("compile", text, None)

    # Findings --------------------------------------------------------------------------------------------------------

    def _writer(self, runs: Runs, name: str, index: tuple[int, ...]) -> Operation | None:
        """The op that wrote an element of an array last, or one that may have."""
        array = runs.arrays[name]
        address = array.__array_interface__["data"][0] + sum(i * s for i, s in zip(index, array.strides, strict=True))
        found = runs.memory.writer(address)
        stores = (tile.StoreOp, tile.AtomicRMWOp, tile.DescriptorStoreOp)
        return found or next((op for op in runs.ops if isinstance(op, stores)), None)

    def _find(self, kind: str, message: str, op: Operation | None) -> None:
        place = user_line(op)
        if place is None:
            kernel = jit_function(self.kernel)
            place = (kernel.file_name, kernel.def_line_number, 1) if kernel is not None else ("", 0, 0)
        self._add(kind, message, *place)

    def _add(self, kind: str, message: str, file: str, line: int, column: int) -> None:
        self.report.add(Finding(kind, message, file, line, column, self._words))


def _within(array: np.ndarray, base: int, end: int) -> bool:
    low, high = byte_bounds(array)
    return base <= low and high <= end


def _element(array: np.ndarray, index: tuple[int, ...]) -> object:
    return array[index] if array.shape else array[()]


def _line(error: BaseException) -> str:
    """The message of one of tritonx's errors; of another one the class too."""
    text = " ".join(str(error).split())[:300]
    return text if text and isinstance(error, TritonError) else f"{type(error).__name__}: {text}"
