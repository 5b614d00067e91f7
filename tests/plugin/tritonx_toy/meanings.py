"""Ops by their meaning: the interpreter's table has one NumPy function for each, and a program may call them.

A program that does so carries the ops as IR, each in a function of its own, and binds them when it is loaded. Programs
that do not need any import neither xDSL nor the dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

PREFIX = "meaning"


def has(op: Any) -> bool:
    """Whether a program may call the op. Atomics it may not: toy's memory has none; nor what only a device can do."""
    from tritonx.backends.tile import EXTERN_FUNCTIONS, meaning_of, tile

    if isinstance(op, tile.ExternElementwiseOp):
        return op.symbol.data in EXTERN_FUNCTIONS
    refused = tile.AtomicRMWOp | tile.AtomicCASOp | tile.ElementwiseInlineAsmOp
    return meaning_of(type(op)) is not None and not op.regions and not isinstance(op, refused)


class Collector:
    """The ops that a program calls by their meaning, each once."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def add(self, op: Any) -> str:
        """The Python name of the op's function."""
        return self.names.setdefault(_function(op), f"{PREFIX}{len(self.names)}")

    def lines(self) -> Iterator[str]:
        """The program's lines that bind them."""
        if self.names:
            text = "\n".join(self.names)
            yield f"from {__name__} import bind"
            yield f"{''.join(f'{name}, ' for name in self.names.values())}= bind({text!r})"


def _function(op: Any) -> str:
    """The op alone in a function of its operands, as text."""
    from xdsl.dialects.builtin import FunctionType, StringAttr
    from xdsl.ir import Block, Region

    from tritonx.backends.tile import print_module, tile

    block = Block(arg_types=[operand.type for operand in op.operands])
    block.add_op(op.clone(dict(zip(op.operands, block.args, strict=True))))
    block.add_op(tile.ReturnOp.create())
    function = tile.FuncOp.create(
        properties={
            "sym_name": StringAttr("f"),
            "function_type": FunctionType.from_lists([a.type for a in block.args], []),
        },
        regions=[Region(block)],
    )
    return print_module(function, generic=True)


def bind(text: str) -> list[Callable[..., Any]]:
    """The functions of the ops in the text, in order."""
    from tritonx.backends.tile import Execution, Memory, parse_module

    binder = _Binder(Execution((1, 1, 1), Memory()))
    ops: list[Any] = [function.body.blocks.first.first_op for function in parse_module(text).ops]
    return [_single(_meaning(op, binder), len(op.results)) for op in ops]


def _meaning(op: Any, binder: Any) -> Callable[..., Any]:
    from tritonx.backends.tile import meaning_of

    meaning = meaning_of(type(op))
    assert meaning is not None, op.name
    return meaning(op, binder)


class _Binder:
    """What a meaning may ask for; ops without regions and calls ask for no more."""

    def __init__(self, execution: Any) -> None:
        self.execution = execution


def _single(function: Callable[..., Any], results: int) -> Callable[..., Any]:
    """The function with its only result bare."""

    def call(*operands: Any) -> Any:
        value = function(*operands)
        return value[0] if results == 1 and isinstance(value, tuple) else value

    return call
