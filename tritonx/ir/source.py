"""The kernel's source line of an op, for a message."""

from __future__ import annotations

import linecache

from xdsl.ir import Operation

from tritonx.ir.location import SourcePoint, points


def source_of(op: Operation) -> tuple[SourcePoint, ...]:
    """The op's position in the source, then the calls through which it was inlined; of the nearest op around it that
    has one.

    >>> module = tritonx.interpreter.launch(double, (1,), np.zeros(4), BLOCK=4)
    >>> function = module.body.block.first_op
    >>> [point.line > 0 for point in source_of(function.body.block.first_op)]
    [True]
    """
    current: Operation | None = op
    while current is not None:
        if positions := tuple(points(current.location)):
            return positions
        current = current.parent_op()
    return ()


def excerpt(position: SourcePoint) -> str:
    """The source line with a caret under the column; empty where this process has not read the file.

    A location in a file of IR may name any file (another machine's, a device, a secret), so that none is
    opened for it. The source of a kernel that is compiled here has been read into ``linecache`` by then.
    """
    known = linecache.cache.get(position.file)
    lines = known[2] if known is not None and len(known) == 4 else ()
    if not 0 < position.line <= len(lines):
        return ""
    text = lines[position.line - 1].rstrip("\n")
    number = f"{position.line:5d}"
    pad = "".join("\t" if c == "\t" else " " for c in text[: max(position.column - 1, 0)])
    return f"{number} | {text}\n{' ' * len(number)} | {pad}^"
