"""What can be wrong with a kernel's source: one exception class for each mistake a user can make.

``str(error)`` begins as Triton's does (``at LINE:COL:``, lines counted from the ``def``, up to twelve lines of source
that end in the failing one, a caret) and goes on where Triton stops: the caret underlines the whole expression, then
come the message, the position as an editor understands it, the calls through which it was reached, and a hint::

    at 3:15:
    def scale(x, factor):
        y = x * 2
        return y * facotr
                   ^~~~~~
    NameError('facotr is not defined')
      --> kernels.py:12:15 in scale
      called from kernels.py:30:8 in kernel
    hint: did you mean 'factor'?

An error inside a called jit function is raised once for each call: the exception the user catches points at the call
in the kernel, has the class of the innermost one, quotes it, and has it as ``__cause__``. Every error survives
pickling, cause included, because kernels are compiled in worker processes. This module imports no IR.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from typing import Any

from tritonx.kernel.excerpt import SOURCE_LINES_SHOWN, SourcePosition, excerpt
from tritonx.runtime.errors import TritonError

LIBRARY = os.path.join(os.path.dirname(os.path.dirname(__file__)), "language") + os.sep
"""The folder of the functions of `tl` that are written in the language."""


class CompilationError(TritonError):
    """Base of all errors in a kernel's source. ``CompilationError(src, node, message)`` is Triton's constructor.

    ``src`` is the function's source without decorators, ``node`` the failing AST node of it. ``position`` and ``stack``
    (call sites, innermost first) are there when the code generator raised the error. ``hint``: None for the one of the
    class, "" for none.

    >>> @tritonx.jit
    ... def wrong(x):
    ...     tl.store(x, nothing)
    >>> try:
    ...     wrong.warmup(np.zeros(4), grid=(1,))
    ... except tritonx.CompilationError as error:
    ...     print(str(error).splitlines()[4])
    NameError('nothing is not defined')
    """

    default_hint: str | None = None
    source_lines_shown = SOURCE_LINES_SHOWN
    calls_shown: int | None = None

    def __init__(
        self,
        src: str | None,
        node: ast.AST | None,
        error_message: str | None = None,
        *,
        hint: str | None = None,
        position: SourcePosition | None = None,
        stack: tuple[SourcePosition, ...] = (),
    ) -> None:
        super().__init__(src, node, error_message)
        self.src = src
        self.node = node
        self.error_message = error_message
        self.hint = hint if hint is not None else self.default_hint
        self.position = position
        self.stack = stack

    @property
    def message(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [self._own_text()]
        lines += _calls(self.stack, self.calls_shown)
        lines += [f"hint: {hint}" for hint in self._hints()]
        return "\n".join(lines)

    def _own_text(self) -> str:
        """Everything but the calls that led here and the hint."""
        lines = [excerpt(self.src, self.node, 1 if self._is_in_library() else self.source_lines_shown)]
        if self.error_message:
            lines.append(self.error_message)
        if self.position is not None:
            lines.append(f"  --> {self.position}")
        if isinstance(self.__cause__, CompilationError):
            lines.append(self.__cause__._own_text())
        return "\n".join(lines)

    def _is_in_library(self) -> bool:
        """Whether the error is in a function of `tl`, whose source says little to the author of a kernel."""
        return self.position is not None and self.position.file.startswith(LIBRARY)

    def _hints(self) -> list[str]:
        inner = self.__cause__._hints() if isinstance(self.__cause__, CompilationError) else []
        return [self.hint] if self.hint and self.hint not in inner else inner

    def __reduce__(self) -> tuple[Any, ...]:
        state = {"hint": self.hint, "position": self.position, "stack": self.stack, "cause": _picklable(self.__cause__)}
        return type(self), (self.src, self.node, self.error_message), state

    def __setstate__(self, state: dict[str, Any] | None) -> None:
        state = dict(state or {})
        self.__cause__ = state.pop("cause", None)
        self.__dict__.update(state)


def _picklable(cause: BaseException | None) -> BaseException | None:
    """``cause`` if it survives a round trip, else an exception that says the same: a builtin may raise anything."""
    import pickle

    if cause is None or isinstance(cause, CompilationError):
        return cause
    try:
        pickle.loads(pickle.dumps(cause))
        return cause
    except Exception:
        return RuntimeError(f"{type(cause).__name__}: {cause}")


def _calls(stack: tuple[SourcePosition, ...], limit: int | None) -> list[str]:
    """A line for each position, with how often it is there; where ``limit`` is less, the innermost ones and the
    outermost."""
    lines = [f"  called from {position}" + (f" ({n} times)" if n > 1 else "") for position, n in Counter(stack).items()]
    if limit is None or len(lines) <= limit:
        return lines
    left_out = len(lines) - limit + 1
    return [*lines[: limit - 2], f"  called from {left_out} other places", lines[-1]]


class CompileTimeAssertionFailure(CompilationError):
    """``tl.static_assert`` of something false.

    >>> issubclass(CompileTimeAssertionFailure, tritonx.CompilationError)
    True
    """


class UnsupportedLanguageConstruct(CompilationError):
    """Python that kernels cannot contain.

    >>> issubclass(UnsupportedLanguageConstruct, tritonx.CompilationError)
    True
    """


class ReturnInLoop(UnsupportedLanguageConstruct):
    """``return`` inside a ``for`` or ``while`` that exists at run time."""

    default_hint = "assign what is to be returned, `break`, and return it behind the loop"


class AmbiguousCondition(UnsupportedLanguageConstruct):
    """A block of more than one value where a truth value is needed."""

    default_hint = "select element-wise with tl.where, or reduce the block to one value first"


class InvalidCondition(UnsupportedLanguageConstruct):
    """A compile-time condition that is neither bool, int nor None."""


class CompileTimeLimit(UnsupportedLanguageConstruct):
    """A value at compile time that would be larger than any use of it needs, as ``10**10**8``."""

    default_hint = "compute it on the host, and pass what the kernel needs as a tl.constexpr"


class NoinlineArgument(UnsupportedLanguageConstruct):
    """A block passed to a function that is marked ``noinline``."""


class UndefinedName(CompilationError):
    """A name that nothing defines at this point."""

    carrying: tuple[ast.AST, str] | None = None
    """The loop that would have had to carry the name."""


class GlobalNotConstexpr(UndefinedName):
    """A global that is not known to stay what it is."""

    default_hint = "make it a tl.constexpr(...), or pass it as an argument"


class ConstexprReassigned(CompilationError):
    """A second assignment to a name declared ``tl.constexpr``."""

    default_hint = "a constexpr keeps its value: give the second one a name of its own"


class LoopCarriedMismatch(CompilationError):
    """A variable that does not keep one type through the iterations of a loop."""

    default_hint = (
        "initialise the variable with the type it has in the loop, or convert it with .to(...) where it is assigned"
    )


class BranchMismatch(CompilationError):
    """A variable, or a conditional expression, that has another type after each branch of a run-time ``if``."""

    default_hint = "convert one side with .to(...), so that both branches give one type"


class ReturnMismatch(CompilationError):
    """``return`` statements of one function that give different types."""


class LoopBoundsError(CompilationError):
    """Bounds or a step of a ``for`` loop that are not integer scalars."""


class InvalidIterable(CompilationError):
    """A ``for`` loop over something that kernels cannot iterate."""

    default_hint = "iterate over range, tl.range, tl.static_range or a tuple"


class EndlessLoop(CompilationError):
    """A ``while`` whose condition is true at compile time, and which nothing breaks."""


class UnpackMismatch(CompilationError):
    """A tuple assigned to another number of names."""


class ImmutableValue(CompilationError):
    """An assignment to an element or an attribute."""

    default_hint = (
        "blocks and tuples are values: build a new one (tl.where, tuple + tuple), or write to memory with tl.store"
    )


class InvalidCall(CompilationError):
    """Arguments that do not fit a function's parameters, or a call of something that cannot be called in a kernel."""


class PlainFunctionCalled(InvalidCall):
    """A function that is neither of the language nor decorated with ``@jit`` or ``@constexpr_function``."""


class RecursionUnsupported(CompilationError):
    """A jit function that calls itself without an end known at compile time."""

    source_lines_shown = 2
    calls_shown = 3

    default_hint = "recursion works where a constexpr argument decides its depth; else write a loop"


class UnusedResult(CompilationError):
    """A call for nothing: the function has no effect but its result."""


class StaticAssertUndecided(CompilationError):
    """``tl.static_assert`` of something known at run time only."""

    default_hint = "use tl.device_assert for what only the device knows"


class SpecializationConflict(CompilationError):
    """A parameter that is constexpr and do_not_specialize at once."""


class InvalidName(CompilationError):
    """A kernel whose name is no identifier."""


class LanguageError(CompilationError):
    """A language function or operator refused its arguments; ``__cause__`` is what it raised, if it raised from a
    call."""
