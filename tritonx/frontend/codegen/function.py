"""One instance of one function: a jit function's body interpreted for given argument values.

A ``FunctionGenerator`` is an environment (names, the position in the source, the chain of calls that led here) and the
walk over statements. The meaning of each kind of node is a function of (generator, node) in the tables of
``expressions`` and ``statements``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from xdsl.ir import Block

from tritonx.frontend import errors
from tritonx.frontend.codegen import mistakes
from tritonx.frontend.codegen.detached_blocks import discard, has_effects
from tritonx.frontend.codegen.flow import Arm, Outcome
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined, cannot_access_global, is_readable_global
from tritonx.frontend.codegen.python_builtins import BUILTINS
from tritonx.frontend.errors import CompilationError
from tritonx.kernel.dependencies import is_foreign_function
from tritonx.kernel.excerpt import SourcePosition
from tritonx.language.values.constexpr import unwrap

if TYPE_CHECKING:
    from tritonx.frontend.codegen.module import ModuleGenerator
    from tritonx.frontend.codegen.source import FunctionSource

ExpressionRule = Callable[["FunctionGenerator", Any], Any]
StatementRule = Callable[["FunctionGenerator", Any], None]


class FunctionGenerator:
    """The walk over one function; ``module`` is what all functions of the compile share, ``caller`` and ``call_node``
    the call."""

    def __init__(
        self,
        module: ModuleGenerator,
        source: FunctionSource,
        caller: FunctionGenerator | None = None,
        call_node: ast.AST | None = None,
    ) -> None:
        self.module = module
        self.builder = module.builder
        self.semantic = module.semantic
        self.source = source
        self.caller = caller
        self.call_node = call_node
        self.scope: dict[str, Any] = {}
        self.constexpr_owners: dict[str, ast.AST] = {}
        self.declared_constants: set[str] = set()
        self.unrolled_targets: set[str] = set()
        self.read_later: set[tuple[ast.AST, str]] = set()
        self.assigned_name: str | None = None
        self.return_type: Any = MISSING
        self.loops = 0
        self.shows_types = False
        self.arguments: Mapping[str, Any] = {}
        self.unused: ast.expr | None = None
        self.constructed: tuple[Any, Block] | None = None
        self.node: ast.AST = source.definition
        self.locations = module.locations(source, caller.location_of(call_node) if caller and call_node else None)

    # Walking.

    def expression(self, node: ast.expr) -> Any:
        """The value of an expression."""
        rule = self.module.expressions.get(node.__class__)
        try:
            if rule is None:
                raise self.unsupported(node)
            return rule(self, node)
        except CompilationError:
            raise
        except Exception as error:
            raise self.wrapped(error, node) from None

    def statements(self, body: Sequence[ast.stmt], tail: bool = False) -> Outcome:
        """Generate ``body`` at the insertion point. ``tail``: nothing follows it in the function.

        The outcome covers what the statements of the rest do as well: an ``if`` that returns takes the rest into its
        branches.
        """
        rules = self.module.statements
        for index, node in enumerate(body):
            kind = node.__class__
            try:
                flow = self.module.flow.get(kind)
                if flow is not None:
                    rest = flow(self, node, body[index + 1 :], tail)
                    if rest is not None:
                        return rest.outcome
                    continue
                rule = rules.get(kind)
                if rule is None:
                    raise self.unsupported(node)
                rule(self, node)
            except CompilationError:
                raise
            except Exception as error:
                raise self.wrapped(error, node) from None
        return None

    def arm(self, body: Sequence[ast.stmt], tail: bool = False) -> Arm:
        """``body`` in a detached block, with a copy of the names; what it assigns is seen in the arm's scope only."""
        arm = Arm(Block(), dict(self.scope), None)
        with self.inside(arm):
            arm.outcome = self.statements(body, tail)
        return arm

    def to_show(self, node: ast.expr) -> Any:
        """The value of an expression for whoever compiles the kernel: in its f-strings stand types of run-time
        values."""
        outer, self.shows_types = self.shows_types, True
        try:
            return unwrap(self.expression(node))
        finally:
            self.shows_types = outer

    def aside(self, node: ast.expr) -> tuple[Any, bool]:
        """What an expression gives that Python does not evaluate, and whether it writes; its ops are dropped."""
        arm = Arm(Block(), dict(self.scope), None)
        with self.inside(arm):
            value = self.expression(node)
        effects = has_effects(arm.block)
        discard(arm.block)
        return value, effects

    @contextmanager
    def inside(self, arm: Arm) -> Generator[None]:
        """Generate at the end of ``arm`` for the time of a ``with``."""
        outer, self.scope = self.scope, arm.scope
        declared = set(self.declared_constants)
        try:
            with self.builder.at(arm.block, nested=True):
                yield
        finally:
            arm.scope, self.scope = self.scope, outer
            self.declared_constants = declared

    # Names.

    def lookup(self, name: str, node: ast.AST) -> Any:
        """What ``name`` means here; an error of the class ``UndefinedName`` where it means nothing."""
        value = self.scope.get(name, MISSING)
        if value is MISSING:
            return self.outer_value(name, node)
        if value.__class__ is Deferred:
            value = self.scope[name] = value.make()
        elif value.__class__ is Undefined:
            error = self.error(errors.UndefinedName, node, repr(NameError(f"{name} is not defined")), hint=value.reason)
            assert isinstance(error, errors.UndefinedName)
            error.carrying = value.carrying
            raise error
        return value

    def outer_value(self, name: str, node: ast.AST) -> Any:
        """What ``name`` means outside the function: in the enclosing Python functions, the module, the builtins."""
        value = self.source.free_variable(name)
        if value is not MISSING:
            if is_foreign_function(value):
                raise mistakes.plain_function(self, node, value)
            if name in BUILTINS or is_readable_global(value) or self.module.any_global:
                return value
            raise self.error(errors.GlobalNotConstexpr, node, repr(NameError(cannot_access_global(name))))
        value = BUILTINS.get(name, MISSING)
        if value is MISSING:
            hint = self.source.similar_name(name, self.scope)
            raise self.error(errors.UndefinedName, node, repr(NameError(f"{name} is not defined")), hint=hint)
        return value

    def bind(self, arguments: Mapping[str, Any]) -> None:
        """Give the parameters their values."""
        self.scope.update(arguments)

    # Places.

    def locate(self, node: ast.AST) -> None:
        """Give the ops that come next the location of ``node``."""
        self.builder.location = self.locations.at(node.lineno, node.col_offset, self.assigned_name)  # type: ignore[attr-defined]  # statements and expressions have a line, which ast.AST does not say

    def location_of(self, node: ast.AST) -> Any:
        """The location of a call, for the ops of the callee."""
        return self.locations.at(node.lineno, node.col_offset, None)  # type: ignore[attr-defined]  # statements and expressions have a line, which ast.AST does not say

    def position(self, node: ast.AST) -> SourcePosition:
        """``node``'s position in its file."""
        source = self.source
        line: int = getattr(node, "lineno", 1)
        column: int = getattr(node, "col_offset", 0)
        return SourcePosition(source.file, source.first_line + line - 1, column + source.indentation, source.name)

    def call_sites(self) -> tuple[SourcePosition, ...]:
        """The calls that led here, innermost first."""
        sites: list[SourcePosition] = []
        callee: FunctionGenerator = self
        while callee.caller is not None:
            sites.append(callee.caller.position(callee.call_node or callee.caller.source.definition))
            callee = callee.caller
        return tuple(sites)

    # Errors.

    def error(
        self, cls: type[CompilationError], node: ast.AST, message: str | None, *, hint: str | None = None
    ) -> CompilationError:
        """A user's mistake at ``node``, to be raised."""
        return cls(self.source.text, node, message, hint=hint, position=self.position(node), stack=self.call_sites())

    def unsupported(self, node: ast.AST) -> CompilationError:
        """The error for a kind of node that kernels cannot contain."""
        kind = type(node).__name__
        message = f"unsupported AST node type: {kind}"
        return self.error(errors.UnsupportedLanguageConstruct, node, message, hint=UNSUPPORTED_HINTS.get(kind))

    def wrapped(self, error: Exception, node: ast.AST) -> Exception:
        """What a rule raised, as an error at ``node``."""
        if self.module.raw_errors:
            return error
        if isinstance(error, RecursionError):
            return self.error(errors.RecursionUnsupported, node, "the calls are nested too deeply")
        return self.error(errors.LanguageError, node, repr(error), hint=mistakes.hint_of(error))

    def raise_in_call(self, error: CompilationError, node: ast.AST) -> NoReturn:
        """Raise the error at a call of a function in which ``error`` was raised, with that as its cause.

        A recursion has hundreds of such calls: its error names them itself, once each.
        """
        if isinstance(error, errors.RecursionUnsupported):
            raise error
        raise self.error(type(error), node, None, hint="") from error.with_traceback(None)


UNSUPPORTED_HINTS: Mapping[str, str] = {
    "Lambda": "define a @jit function and pass its name",
    "FunctionDef": "nested functions are not supported: define a @jit function outside the kernel",
    "Dict": "kernels have no dictionaries: use a tuple, a named tuple or constexpr arguments",
    "Set": "kernels have no sets: use a tuple",
    "Try": "nothing can be caught while a kernel runs",
    "Raise": "`raise` is only allowed where a constexpr condition prunes it; use tl.static_assert or tl.device_assert",
    "Import": "import outside the kernel",
    "ImportFrom": "import outside the kernel",
    "Global": "a kernel cannot assign globals: return the value or store it to memory",
    "Nonlocal": "a kernel cannot assign names of the enclosing function",
    "Delete": "names in a kernel cannot be deleted",
    "Yield": "kernels cannot be generators",
    "Await": "kernels cannot be coroutines",
}
