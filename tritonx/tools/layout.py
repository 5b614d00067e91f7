"""`tritonx-layout`: draw an encoding on a shape.

    tritonx-layout '#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1,
    0]}>' 8x8 tritonx-layout '#ttg.nvmma_shared<{...}>' 16x64 --svg smem.svg
    tritonx-layout '#ttg.blocked<{...}>' 32x32 --to '#ttg.blocked<{...}>' --bits 16

The text shows, for each element, the thread and register that holds it (`T5:2`), or its offset in shared memory.
With `--to` it is the plan of the conversion that is shown. The exit status is 2 for a mistake.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.convert import plan_conversion
from tritonx.layouts.draw import describe_plan, draw_svg, draw_text
from tritonx.layouts.encodings import Encoding
from tritonx.layouts.linear import LinearLayout
from tritonx.tools import command

MOST_ELEMENTS = 1 << 20
"""Of a tensor that is drawn: a line for each row, a cell for each element."""


def parse_encoding(text: str) -> Encoding:
    """The value of an encoding attribute's text. Raises LayoutError for anything else."""
    from tritonx.ir.context import new_context
    from tritonx.ir.text.parser import Parser

    try:
        attribute = Parser(new_context(), text).parse_attribute()
    except Exception as error:  # whatever a parser raises for a text that is no attribute
        raise LayoutError(f"not an encoding: {text[:200]}: {' '.join(str(error).split())}") from error
    value = getattr(attribute, "data", None)
    if value is None or not type(value).__module__.startswith("tritonx.layouts"):
        raise LayoutError(f"not an encoding: {text}")
    return value


def parse_shape(text: str) -> tuple[int, ...]:
    """`32x64` → (32, 64)."""
    try:
        shape = tuple(int(part) for part in text.split("x"))
    except ValueError:
        raise LayoutError(f"a shape is written like 32x64, got {text[:80]}") from None
    if min(shape) < 1 or math.prod(shape) > MOST_ELEMENTS:
        raise LayoutError(f"a shape has from 1 to {MOST_ELEMENTS} elements, got {text[:80]}")
    return shape


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tritonx-layout", description="Draw the layout of an encoding on a shape.")
    parser.add_argument("encoding", help="an encoding as it stands in a .ttgir, parents written out")
    parser.add_argument("shape", help="extents, like 32x64")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write a picture instead of text")
    parser.add_argument("--to", metavar="ENCODING", help="show how a tensor is brought into this encoding")
    parser.add_argument("--bits", type=command.integer(1, 128), default=32, help="element width for --to (default 32)")
    return parser


def _laid_out(what: str, text: str, shape: tuple[int, ...]) -> LinearLayout:
    """Raises Mistake, which names the argument."""
    try:
        return linear_layout(parse_encoding(text), shape)
    except (LayoutError, ValueError, TypeError, OverflowError) as error:
        raise command.Mistake(f"argument {what}: {error}") from error


def _run(options: argparse.Namespace) -> int:
    command.require_writable(options.svg, "--svg")
    try:
        shape = parse_shape(options.shape)
    except LayoutError as error:
        raise command.Mistake(f"argument shape: {error}") from None
    layout = _laid_out("encoding", options.encoding, shape)
    if options.to:
        target = _laid_out("--to", options.to, shape)
        try:
            print(describe_plan(plan_conversion(layout, target, options.bits), options.bits))
        except LayoutError as error:
            raise command.Mistake(f"argument --to: {error}") from None
    elif options.svg:
        command.write(options.svg, draw_svg(layout, f"{options.encoding} {options.shape}"), "--svg")
    else:
        print(draw_text(layout))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    return command.run("tritonx-layout", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
