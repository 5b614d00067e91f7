"""Makes a kernel's own Python code mean in Python what it means to the compiler, line for line.

The rewritten function keeps its file name and line numbers, so that breakpoints, `pdb` and tracebacks show the
kernel's source. Only what plain Python would do differently is touched, and every change is a call of the `Runtime`
(see `running.py`), which the code sees as one extra variable of its closure:

| kernel | becomes |
|---|---|
| `x = 5`, `x += y` | `x = rt.keep(5)`, `x = rt.keep(x + y)`, ...: numbers turn into tensors |
| `(x := 5)`, `x: tl.constexpr` and then `x = 5` | `(x := rt.keep(5))`, `x = rt.keep_declared(5, True)` |
| `return 5` | `return rt.returned(5, met)`: `met` says whether branches of the running kernel return something else |
| `self.x = 5` | `self.x = rt.keep_in(self, "x", 5)`: not in a field that is declared `tl.constexpr` |
| `x: tl.constexpr = 5` | `x = rt.constant(5)` |
| `for i in range(n)` | `for i in rt.iterate(rt.range(n))`: the bounds may be tensors, the counter is one |
| `f(x)` | `rt.callee(f)(x)`: Python functions get plain values, and give values of the language |
| `a + b`, `-a`, `a < b` | `rt.operate("Add", a, b)`, ...: aggregates define operators by jit functions |
| `v[i]` | `rt.indexed(v)[i]`, likewise |
| `v.name`, but for modules | `rt.attribute(v, "name")`: of the value of a constexpr, methods of aggregates |
| `(a, b)`, `[a, b]`, `[f(x) for x in t]` | `rt.sequence((a, b))`, ...: tuples of the language |
| `a if c else b` | `rt.choose(lambda: c, lambda: a, lambda: b)`: one type, where the condition is a tensor |
| `a < b < c` | `rt.chain(("Lt", "Lt"), lambda: a, lambda: b, lambda: c)`: `b` is evaluated once |
| `a and b`, `not a` | `rt.both(lambda: a, lambda: b)`, `rt.invert(a)`: elementwise on blocks |
| `a is b`, `a in b` | the same on the values of constexprs |
| `assert c, m` | `rt.check(c, m)` |
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Collection

from tritonx.frontend.codegen.syntax import declared_pattern, may_return, named_in, names_of
from tritonx.frontend.codegen.values import Pattern
from tritonx.interpreter.check import stops
from tritonx.kernel.syntax import code_of

RUNTIME = "_tritonx_runtime"
"""The name under which the rewritten code finds its runtime."""

MET = "_tritonx_met"
"""The variable that says whether the running kernel decides which of several `return`s is reached."""

FUNCTION = "_tritonx_function"
"""What the rewritten function is called while it is compiled."""


class Rewriter(ast.NodeTransformer):
    """See the module's docstring. `is_module` tells of a name outside the function whether it is a Python module."""

    def __init__(self, is_module: Callable[[str], bool]) -> None:
        self._is_module = is_module
        self._local: Collection[str] = ()
        self._declared: set[str] = set()
        self._several = False

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the definition itself: without decorators, annotations and defaults, which the original keeps."""
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        names = {parameter.arg for parameter in parameters}
        names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._local = names
        node.decorator_list = []
        node.returns = None
        for parameter in parameters:
            parameter.annotation = None
        # The caller binds the arguments: defaults, *args and **kwargs too.
        node.args = ast.arguments(posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[])
        self._several = sum(isinstance(n, ast.Return) for n in ast.walk(node)) > 1
        node.body = [self.visit(statement) for statement in node.body]
        if self._several:
            target = ast.copy_location(ast.Name(MET, ast.Store()), node)
            node.body.insert(0, ast.copy_location(ast.Assign([target], _call("meeting", [], node)), node))
        return node

    # Statements.

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            owner = ast.copy_location(ast.Name(target.value.id, ast.Load()), target)
            name = ast.copy_location(ast.Constant(target.attr), target)
            node.value = _call("keep_in", [owner, name, node.value], node.value)
        else:
            node.value = self._kept(target, node.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.generic_visit(node)
        node.value = self._kept(node.target, node.value)
        return node

    def _kept(self, target: ast.expr, value: ast.expr) -> ast.expr:
        declared = declared_pattern(target, self._declared)
        if not declared:
            return _call("keep", [value], value)
        self._declared -= names_of(target)
        return _call("keep_declared", [value, ast.copy_location(_literal(declared), value)], value)

    def visit_If(self, node: ast.If) -> ast.stmt:
        returns = may_return([node])
        node.test = self.visit(node.test)
        if returns and self._several:
            node.test = _call("noted", [node.test, _met(node.test)], node.test)
        node.body, node.orelse = self._branch(node.body), self._branch(node.orelse)
        return node

    def _branch(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements that may not run: what was declared before is so behind them."""
        declared = set(self._declared)
        visited = [self.visit(statement) for statement in body]
        self._declared = declared
        return visited

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        constant = "constexpr" in ast.unparse(node.annotation)
        if node.value is None:
            if constant and isinstance(node.target, ast.Name):
                self._declared.add(node.target.id)
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        value = _call("constant" if constant else "keep", [node.value], node.value)
        return ast.copy_location(ast.Assign(targets=[node.target], value=value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        read = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = _operator(node.op, [read, node.value], node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=_call("keep", [value], node)), node)

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        self.generic_visit(node)
        if node.value is not None:
            met = _met(node) if self._several else ast.copy_location(ast.Constant(None), node)
            node.value = _call("returned", [node.value, met], node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Call):
            node.iter.func.func = _attribute("looped", node.iter)  # in place of `callee`
        node.iter = _call("iterate", [node.iter], node.iter)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = _call("plain", [item.context_expr], item.context_expr)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        self.generic_visit(node)
        call = _call("check", [node.test, *([] if node.msg is None else [node.msg])], node)
        return ast.copy_location(ast.Expr(call), node)

    # Expressions.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        name = "both" if isinstance(node.op, ast.And) else "either"
        return _call(name, [_delayed(value) for value in node.values], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return _call("invert", [node.operand], node)
        return node if isinstance(node.operand, ast.Constant) else _operator(node.op, [node.operand], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _operator(node.op, [node.left, node.right], node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1:
            names = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
            return _call("chain", [names, *map(_delayed, [node.left, *node.comparators])], node)
        operator = node.ops[0]
        if not isinstance(operator, ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return _operator(operator, [node.left, node.comparators[0]], node)
        node.left = _call("plain", [node.left], node.left)
        node.comparators = [_call("plain", [c], c) for c in node.comparators]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        return _call("choose", [_delayed(part) for part in (node.test, node.body, node.orelse)], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if stops(node):
            return node  # in the frame that it is to stop in
        self.generic_visit(node)
        node.func = _call("callee", [node.func], node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or self._names_module(node.value):
            return node
        self.generic_visit(node)
        return _call("attribute", [node.value, ast.copy_location(ast.Constant(node.attr), node)], node)

    def _names_module(self, node: ast.expr) -> bool:
        """`tl`, or `tl.extra`, ...: what is found there is what Python finds."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self._local and self._is_module(node.id)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        return _call("sequence", [node], node) if isinstance(node.ctx, ast.Load) else node

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return _call("sequence", [node], node) if isinstance(node.ctx, ast.Load) else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        index = node.slice
        self.generic_visit(node)
        if isinstance(index, ast.Tuple):
            node.slice = index  # `x[:, None]`: as Python makes it
        if isinstance(node.ctx, ast.Load):
            node.value = _call("indexed", [node.value], node.value)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self.generic_visit(node)
        return _call("sequence", [node], node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        self.generic_visit(node)
        return _call("sequence", [node], node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _call("elements", [node.iter], node.iter)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        self.generic_visit(node)
        node.value = _call("shown", [node.value], node.value)
        return node


def _attribute(name: str, position: ast.AST) -> ast.expr:
    runtime = ast.copy_location(ast.Name(RUNTIME, ast.Load()), position)
    return ast.copy_location(ast.Attribute(runtime, name, ast.Load()), position)


def _call(name: str, args: list[ast.expr], position: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Call(_attribute(name, position), args, []), position)


def _operator(operator: ast.AST, operands: list[ast.expr], position: ast.AST) -> ast.expr:
    name = ast.copy_location(ast.Constant(type(operator).__name__), position)
    return _call("operate", [name, *operands], position)


def _met(position: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(MET, ast.Load()), position)


def _literal(pattern: Pattern) -> ast.expr:
    return ast.parse(repr(pattern), mode="eval").body


def _delayed(value: ast.expr) -> ast.expr:
    """A function of no arguments; a generator of one value where that assigns a name, which a lambda would keep for
    itself."""
    if named_in(value):
        once = ast.comprehension(ast.Name("_", ast.Store()), ast.Tuple([ast.Constant(0)], ast.Load()), [], 0)
        made = ast.GeneratorExp(value, [once])
        return ast.copy_location(ast.Attribute(made, "__next__", ast.Load()), value)
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(empty, value), value)


def rewritten(
    fn: types.FunctionType, tree: ast.Module, *, file: str, first_line: int, indentation: int, runtime: object
) -> types.FunctionType:
    """`fn` compiled again from `tree` (which is consumed), at its position in `file`, over its own globals and closure.

    The new function has the parameters of the old one, each to be given by its name: no defaults, and `*args` is a
    parameter like others.
    """
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def is_module(name: str) -> bool:
        return name not in cells and isinstance(fn.__globals__.get(name), types.ModuleType)

    inner = Rewriter(is_module).function(definition)
    inner.name = FUNCTION  # its own name is one that it may look up: itself, or what its module has under that name
    maker = ast.FunctionDef(
        name="make",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in (RUNTIME, *cells)],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[inner, ast.Return(ast.Name(inner.name, ast.Load()))],
        decorator_list=[],
    )
    if "type_params" in ast.FunctionDef._fields:  # since Python 3.12
        maker.type_params = []  # pyright: ignore[reportAttributeAccessIssue]  # not known to 3.11
    module = ast.Module([maker], [])
    ast.increment_lineno(inner, first_line - 1)
    for node in ast.walk(inner):
        if hasattr(node, "col_offset"):
            node.col_offset += indentation  # type: ignore[attr-defined]  # statements and expressions have a column, which ast.AST does not say
        if getattr(node, "end_col_offset", None) is not None:
            node.end_col_offset += indentation  # type: ignore[attr-defined]  # statements and expressions have a column, which ast.AST does not say
    ast.fix_missing_locations(module)
    outer = code_of(module, file).co_consts[0]
    code = next(c for c in outer.co_consts if isinstance(c, types.CodeType) and c.co_name == FUNCTION)
    code = code.replace(co_name=fn.__name__, co_qualname=fn.__qualname__)
    closure = tuple(types.CellType(runtime) if name == RUNTIME else cells[name] for name in code.co_freevars)
    return types.FunctionType(code, fn.__globals__, fn.__name__, None, closure)
