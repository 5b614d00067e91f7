"""Tables from an op's class to the function for ops of that class.

A table of emitters, folds or costs is a dict that is asked for ``type(op)``. Written as ``{tile.LoadOp: load}`` its
values must all have one type, so that each function would take an op of any class, and nothing would say that ``load``
and ``LoadOp`` belong together. An entry made here says so: ``{**case(tile.LoadOp, load)}`` is an error to the type
checker where ``load`` takes another class, while the table has the plain type that its reader asks for::

    Emit = Callable[[Operation, FunctionEmitter], None]

    TABLE: dict[type[Operation], Emit] = {
        **case(tile.LoadOp, load),                    # def load(op: tile.LoadOp, f: FunctionEmitter) -> None
        **case((arith.ExtFOp, arith.TruncFOp), cast), # def cast(op: arith.ExtFOp | arith.TruncFOp, ...)
    }

A function that takes an ``Operation`` needs no entry made here, and serves every class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from xdsl.ir import Operation

Context = TypeVar("Context")
Op = TypeVar("Op", bound=Operation)
Result = TypeVar("Result")
Rest = ParamSpec("Rest")


def case(
    ops: type[Op] | tuple[type[Op], ...], function: Callable[Concatenate[Op, Rest], Result]
) -> dict[type[Operation], Callable[Concatenate[Operation, Rest], Result]]:
    """The entries for one class, or several, of a table whose functions take the op first.

    >>> from tritonx.backends.tile import arith
    >>> table = {**case(arith.ConstantOp, lambda op: 0), **case((arith.AddiOp, arith.SubiOp), lambda op: 1)}
    >>> [cls.name for cls in table]
    ['arith.constant', 'arith.addi', 'arith.subi']
    """
    # The table is asked with the op's own class, so that no other op arrives.
    widened = cast("Callable[Concatenate[Operation, Rest], Result]", function)
    return dict.fromkeys(ops if isinstance(ops, tuple) else (ops,), widened)


def case_in(
    ops: type[Op] | tuple[type[Op], ...], function: Callable[Concatenate[Context, Op, Rest], Result]
) -> dict[type[Operation], Callable[Concatenate[Context, Operation, Rest], Result]]:
    """The same for functions that take first what they work in (a writer, an analysis), then the op.

    >>> from tritonx.backends.tile import arith
    >>> table = case_in(arith.AddiOp, lambda writer, op: writer.append(op.name))
    >>> [cls.name for cls in table]
    ['arith.addi']
    """
    widened = cast("Callable[Concatenate[Context, Operation, Rest], Result]", function)
    return dict.fromkeys(ops if isinstance(ops, tuple) else (ops,), widened)
