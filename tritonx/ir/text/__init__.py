"""The text of modules: `parse_module` and `print_module`.

`parser` and `printer` speak MLIR's text as Triton writes and reads it: the parser that of every version, the printer
that of one (`tritonx.ir.spelling`); `format` gives each op its custom text; `aliases` decides what is named
at the top of a module; `lexer` is xDSL's, faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing the parser takes longer than printing a module, and most compiles only print
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from tritonx.ir.spelling import TextLevel


def parse_module(text: str, name: str = "<input>", *, context: Context | None = None) -> ModuleOp:
    r"""The module that `text` describes, not verified. Raises xDSL's `ParseError`, with a position, for anything else.

    `name` stands for the input in error messages; `context` (with every dialect, if left out) says which ops there are.

    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n}")
    >>> module.body.block.first_op.name
    'arith.constant'
    """
    from tritonx.ir.text.parser import Parser

    if context is None:
        from tritonx.ir.context import new_context

        context = new_context()
    return Parser(context, text, name).parse_module()


def print_module(
    op: Operation, *, debuginfo: bool = False, generic: bool = False, level: TextLevel | None = None
) -> str:
    r"""A module (or any op) as text; with locations if `debuginfo`, every op in MLIR's generic form if `generic`.

    `level`: the version of Triton that is to read it; raises `LevelError` where its text cannot say something. Without
    one the text is 3.6's, with the newest version's words for what 3.6 lacks, and says everything.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module('module {\n  %0 = "arith.constant"() {value = 1 : i32} : () -> i32\n}')
    >>> print(print_module(module).strip())
    module {
      %0 = arith.constant 1 : i32
    }
    """
    from tritonx.ir.text.printer import print_op_text

    return print_op_text(op, debuginfo=debuginfo, generic=generic, level=level)


__all__ = ["parse_module", "print_module"]
