"""What the expressions of a kernel are: pointer, integer, float or bool, of which rank, and whether they are negative.

One pass over the syntax tree, repeated until nothing changes; no order of statements. What it cannot tell is unknown,
and no rewriting touches it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tests.styles.program import Program, called, names_written

FLOATS = ("float16", "float32", "bfloat16", "float8e4nv", "float8e5", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")


@dataclass(frozen=True)
class Kind:
    """``what``: ``pointer``, ``int``, ``float``, ``bool`` or ``?``; ``rank``: 0 of a scalar, None where unknown."""

    what: str = "?"
    rank: int | None = None


UNKNOWN = Kind()


def join(a: Kind, b: Kind) -> Kind:
    """What is either of two."""
    return Kind(a.what if a.what == b.what else "?", a.rank if a.rank == b.rank else None)


class Kinds:
    """The kinds of a program's names, and of expressions over them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[str, Kind] = dict.fromkeys(program.tensors, Kind("pointer", 0))
        self.names |= {n: Kind("float" if "." in value else "int", 0) for n, value in program.numbers.items()}
        self.names |= dict.fromkeys(program.constants, Kind("int", 0))
        self.negative: set[str] = set()
        """Names that may hold what is negative."""
        for _ in range(8):
            before = dict(self.names), set(self.negative)
            for node in ast.walk(program.kernel):
                self._learn(node)
            if before == (self.names, self.negative):
                break
        else:  # a chain that is longer than the rounds
            self.names = {n: k for n, k in self.names.items() if n not in names_written([program.kernel])}
            self.negative |= set(names_written([program.kernel]))

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                self._gets(target.id, self.of(node.value), self.is_natural(node.value))
            else:
                self._unknown(target)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            self._gets(node.target.id, self.of(value), self.is_natural(value))
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            parts = node.iter.args if isinstance(node.iter, ast.Call) else []
            natural = bool(parts) and all(map(self.is_natural, parts[::2] if len(parts) == 3 else parts[:1]))
            self._gets(node.target.id, Kind("int", 0), natural)

    def _gets(self, identifier: str, kind: Kind, natural: bool) -> None:
        self.names[identifier] = join(self.names[identifier], kind) if identifier in self.names else kind
        if not natural:
            self.negative.add(identifier)

    def _unknown(self, target: ast.expr) -> None:
        for identifier in names_written([target]):
            self._gets(identifier, UNKNOWN, False)

    def of(self, node: ast.expr) -> Kind:
        """The kind of an expression."""
        match node:
            case ast.Constant(value=bool()):
                return Kind("bool", 0)
            case ast.Constant(value=int()):
                return Kind("int", 0)
            case ast.Constant(value=float()):
                return Kind("float", 0)
            case ast.Name(id=identifier):
                return self.names.get(identifier, UNKNOWN)
            case ast.BinOp(left=left, op=op, right=right):
                return self._of_two(self.of(left), op, self.of(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.of(operand)
            case ast.Compare(left=left, comparators=[right]):
                return Kind("bool", _rank(self.of(left), self.of(right)))
            case ast.Subscript():
                return self._of_subscript(node)
            case ast.Call():
                return self._of_call(node)
            case _:
                return UNKNOWN

    def _of_two(self, a: Kind, op: ast.operator, b: Kind) -> Kind:
        rank = _rank(a, b)
        pair = {a.what, b.what}
        if "?" in pair:
            return Kind("?", rank)
        if "pointer" in pair:
            moved = pair == {"pointer", "int"} and isinstance(op, ast.Add | ast.Sub)
            return Kind("pointer", rank) if moved else UNKNOWN
        if isinstance(op, ast.Div) or "float" in pair:
            return Kind("float", rank)
        return Kind("bool" if pair == {"bool"} and isinstance(op, ast.BitAnd | ast.BitOr) else "int", rank)

    def _of_subscript(self, node: ast.Subscript) -> Kind:
        value = self.of(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        new = sum(isinstance(p, ast.Constant) and p.value is None for p in parts)
        if value.rank is None or new + sum(isinstance(p, ast.Slice) for p in parts) != len(parts):
            return UNKNOWN
        return Kind(value.what, value.rank + new)

    def _of_call(self, node: ast.Call) -> Kind:
        match called(node), node.args:
            case "arange", _:
                return Kind("int", 1)
            case (("program_id" | "num_programs"), _):
                return Kind("int", 0)
            case (("cdiv" | "minimum" | "maximum" | "min" | "max"), [a, b]) if ast.unparse(node.func) != "tl.max":
                return self._of_two(self.of(a), ast.Add(), self.of(b))
            case (("multiple_of" | "max_contiguous"), [a, *_]):
                return self.of(a)
            case "expand_dims", [a, _]:
                kind = self.of(a)
                return Kind(kind.what, None if kind.rank is None else kind.rank + 1)
            case "to", [dtype] if isinstance(node.func, ast.Attribute):
                return _cast(self.of(node.func.value), dtype)
            case "cast", [a, dtype]:
                return _cast(self.of(a), dtype)
            case "load", [pointer, *_]:
                return self._of_load(pointer)
            case (("zeros" | "full"), [ast.Tuple(elts=dims), *rest]):
                dtype = [*rest, *(k.value for k in node.keywords if k.arg == "dtype")]
                return _cast(Kind("?", len(dims)), dtype[-1]) if dtype else Kind("?", len(dims))
            case "where", [condition, a, b]:
                kinds = [self.of(x) for x in (condition, a, b)]
                return Kind(kinds[1].what if kinds[1].what == kinds[2].what else "?", _rank(*kinds))
            case (("exp" | "exp2" | "log" | "sqrt" | "rsqrt" | "sigmoid" | "abs"), [a]):
                return self.of(a)
            case _:
                return UNKNOWN

    def _of_load(self, pointer: ast.expr) -> Kind:
        """By the tensor that the pointer belongs to, where its name is in the expression."""
        kind = self.of(pointer)
        for node in ast.walk(pointer):
            if isinstance(node, ast.Name) and node.id in self.program.tensors:
                dtype = self.program.tensors[node.id].dtype
                what = "bool" if dtype == "i1" else "int" if dtype[0] in "iu" else "float"
                return Kind(what, kind.rank)
        return Kind("?", kind.rank)

    def is_natural(self, node: ast.expr) -> bool:
        """Whether an integer is known to be no less than 0, given that nothing overflows."""
        match node:
            case ast.Constant(value=int(value)):
                return value >= 0
            case ast.Name(id=identifier):
                return identifier in self.names and identifier not in self.negative
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.FloorDiv() | ast.Mod(), right=right):
                return self.is_natural(left) and self.is_natural(right)
            case ast.Subscript(value=value):
                return self.is_natural(value)
            case ast.Call():
                if called(node) in ("program_id", "num_programs"):
                    return True
                if called(node) == "to" and isinstance(node.func, ast.Attribute):
                    return self.is_natural(node.func.value)
                known = called(node) in ("arange", "cdiv", "min", "minimum", "multiple_of", "max_contiguous")
                return known and all(map(self.is_natural, node.args))
            case _:
                return False


def _rank(*kinds: Kind) -> int | None:
    ranks = [kind.rank for kind in kinds if kind.rank is not None]
    return max(ranks) if len(ranks) == len(kinds) else None


def _cast(kind: Kind, dtype: ast.expr) -> Kind:
    named = ast.unparse(dtype).removeprefix("tl.")
    return Kind("float" if named in FLOATS else "int" if named in INTEGERS else "?", kind.rank)
