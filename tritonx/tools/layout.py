"""`tritonx-layout`: draw an encoding on a shape.

    tritonx-layout '#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1,
    0]}>' 8x8 tritonx-layout '#ttg.nvmma_shared<{...}>' 16x64 --svg smem.svg
    tritonx-layout '#ttg.blocked<{...}>' 32x32 --to '#ttg.blocked<{...}>' --bits 16

The text shows, for each element, the thread and register that holds it (`T5:2`), or its offset in shared memory.
With `--to` it is the plan of the conversion that is shown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tritonx.layouts import LayoutError, linear_layout
from tritonx.layouts.convert import plan_conversion
from tritonx.layouts.draw import describe_plan, draw_svg, draw_text
from tritonx.layouts.encodings import Encoding


def parse_encoding(text: str) -> Encoding:
    """The value of an encoding attribute's text. Raises LayoutError for anything else."""
    from tritonx.ir.context import new_context
    from tritonx.ir.text.parser import Parser

    attribute = Parser(new_context(), text).parse_attribute()
    value = getattr(attribute, "data", None)
    if value is None or not type(value).__module__.startswith("tritonx.layouts"):
        raise LayoutError(f"not an encoding: {text}")
    return value


def parse_shape(text: str) -> tuple[int, ...]:
    """`32x64` → (32, 64)."""
    try:
        return tuple(int(part) for part in text.split("x"))
    except ValueError:
        raise LayoutError(f"a shape is written like 32x64, got {text}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser("tritonx-layout", description="Draw the layout of an encoding on a shape.")
    parser.add_argument("encoding", help="an encoding as it stands in a .ttgir, parents written out")
    parser.add_argument("shape", help="extents, like 32x64")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="write a picture instead of text")
    parser.add_argument("--to", metavar="ENCODING", help="show how a tensor is brought into this encoding")
    parser.add_argument("--bits", type=int, default=32, help="element width for --to (default 32)")
    options = parser.parse_args(arguments)
    try:
        shape = parse_shape(options.shape)
        layout = linear_layout(parse_encoding(options.encoding), shape)
        if options.to:
            target = linear_layout(parse_encoding(options.to), shape)
            print(describe_plan(plan_conversion(layout, target, options.bits), options.bits))
        elif options.svg:
            options.svg.write_text(draw_svg(layout, f"{options.encoding} {options.shape}"))
        else:
            print(draw_text(layout))
    except Exception as error:
        if not isinstance(error, LayoutError) and type(error).__name__ not in ("ParseError", "VerifyException"):
            raise
        print(f"tritonx-layout: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
