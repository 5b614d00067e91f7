"""Which line of the source each instruction comes from, as LLVM's debug metadata: profilers and sanitizers name it.

Only lines: a compile unit, a subprogram a function, a place an instruction. An op that was inlined has its own line;
where its file is another than the function's, a block of that file is its scope."""

from __future__ import annotations

import os
from collections.abc import Sequence

from xdsl.ir import Operation

from tritonx.conversion.llvm_text import quoted
from tritonx.dialects import tile
from tritonx.ir.location import SourcePoint, innermost_point

FIRST = 10_000
"""The first number of this metadata, behind those of targets and loops."""

MOST_COLUMNS = 2**16 - 1
"""LLVM takes no larger ones."""

NOWHERE = SourcePoint("<unknown>", 0, 0)


class LineInfo:
    """The metadata of one module. ``kind`` is LLVM's ``emissionKind``: how much of it the target's code has."""

    def __init__(self, kind: str) -> None:
        self._numbers: dict[str, int] = {}
        self._subprogram = ""
        self._file = ""
        self._unit = self._node(
            f'distinct !DICompileUnit(language: DW_LANG_C, file: {self._file_of(NOWHERE.file)}, producer: "tritonx", '
            f"isOptimized: true, runtimeVersion: 0, emissionKind: {kind})"
        )

    def function(self, op: tile.FuncOp) -> str:
        """Begin a function; what its definition carries."""
        point = innermost_point(op.location) or NOWHERE
        name = quoted(op.sym_name.data.encode())
        type_ = self._node(f"!DISubroutineType(types: {self._node('!{}')})")
        self._file = point.file
        self._subprogram = self._node(
            f"distinct !DISubprogram(name: {name}, linkageName: {name}, scope: {self._file_of(point.file)}, "
            f"file: {self._file_of(point.file)}, line: {point.line}, type: {type_}, scopeLine: {point.line}, "
            f"spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: {self._unit})"
        )
        return f" !dbg {self._subprogram}"

    def mark(self, lines: list[str], start: int, op: Operation) -> None:
        """Say of the instructions from ``start`` on, but those that say it already, that they are of ``op``."""
        mark = f", !dbg {self._place(innermost_point(op.location))}"
        for at in range(start, len(lines)):
            line = lines[at]
            if line and not line.endswith(":") and ", !dbg !" not in line:
                lines[at] = line + mark

    def mark_each(self, lines: list[str], origins: Sequence[Operation | None], otherwise: Operation) -> None:
        """Say of each line what it is of; lines behind those that ``origins`` knows are of ``otherwise``."""
        for at, line in enumerate(lines):
            if line and not line.endswith(":"):
                op = origins[at] if at < len(origins) else None
                lines[at] = f"{line}, !dbg {self._place(innermost_point((op or otherwise).location))}"

    def metadata(self) -> list[str]:
        """Behind everything else of the module. Another list of module flags is one with this one."""
        version = self._node('!{i32 2, !"Debug Info Version", i32 3}')
        named = [f"!llvm.dbg.cu = !{{{self._unit}}}", f"!llvm.module.flags = !{{{version}}}"]
        return [*named, *(f"!{number} = {text}" for text, number in self._numbers.items())]

    def _node(self, text: str) -> str:
        return f"!{self._numbers.setdefault(text, FIRST + len(self._numbers))}"

    def _file_of(self, path: str) -> str:
        folder, name = os.path.split(path)
        return self._node(f"!DIFile(filename: {quoted(name.encode())}, directory: {quoted(folder.encode())})")

    def _place(self, point: SourcePoint | None) -> str:
        scope = self._subprogram
        if point is None:
            return self._node(f"!DILocation(line: 0, scope: {scope})")
        if point.file != self._file:
            scope = self._node(
                f"!DILexicalBlockFile(scope: {scope}, file: {self._file_of(point.file)}, discriminator: 0)"
            )
        return self._node(f"!DILocation(line: {point.line}, column: {min(point.column, MOST_COLUMNS)}, scope: {scope})")
