"""What a kernel reported of an access out of bounds, as the interpreter's error for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from tritonx.interpreter.errors import OutOfBoundsAccess
from tritonx.interpreter.memory import Lanes, Memory
from tritonx.interpreter.tracebacks import Position, Trail
from tritonx.ir.access_table import Report
from tritonx.kernel.source import JITCallable

if TYPE_CHECKING:
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel


class Access(TypedDict):
    """What a kernel's metadata say of a checked access."""

    action: str
    element: str
    bytes: int
    shape: Sequence[int]
    at: Sequence[str]


def fault_of(kernel: CompiledKernel, report: Report, memory: Memory, grid: tuple[int, int, int]) -> OutOfBoundsAccess:
    """The error for a report of a kernel that was launched with this memory."""
    access: Access = kernel.metadata.accesses[report.access]
    lane = Lanes(tuple(access["shape"])).name(report.lane)
    element, address = element_name(access["element"]), _signed(report.address)
    fault = memory.out_of_bounds(lane, report.lanes, access["action"], address, access["bytes"], element)
    rest, x = divmod(report.program, grid[0])
    z, y = divmod(rest, grid[1])
    points = [_point(text) for text in access["at"]]
    known = list(_functions(kernel))
    positions = [found for point in points if (found := _position(point, known)) is not None]
    if positions:
        fault.trail = Trail(tuple(positions))
    return fault.at(access["at"][0] if points else None, (x, y, z))


def _signed(address: int) -> int:
    return address - (1 << 64) if address >= 1 << 63 else address


def element_name(type_: str) -> str:
    """NumPy's name of elements in memory of a type of the IR.

    >>> element_name("f32"), element_name("bf16"), element_name("f8E4M3FN"), element_name("i1")
    ('float32', 'bfloat16', 'float8_e4m3fn', 'uint8')
    """
    if type_ == "i1":
        return "uint8"
    if type_.startswith("!"):
        return "int64"
    if type_.startswith("f8"):
        return f"float8_{type_[2:].lower()}"
    return f"{_KINDS[type_.rstrip('0123456789')]}{type_.lstrip('bfi')}"


_KINDS = {"i": "int", "f": "float", "bf": "bfloat"}


def _point(text: str) -> tuple[str, int, int]:
    file, line, column = text.rsplit(":", 2)
    return file, int(line), int(column)


def _position(point: tuple[str, int, int], functions: Sequence[JITCallable]) -> Position | None:
    """A point of the source (line and column count from 1) as what ran there; None in functions that are not known."""
    file, line, column = point
    for function in functions:
        first = function.def_line_number
        if function.file_name == file and first <= line < first + function.src.count("\n") + 1:
            return Position(function, _node(function, line - first + 1, column - 1 - function.indentation))
    return None


_ACCESSES = tuple("load store gather scatter atomic_ reduce".split())
"""How the names of the functions begin that access memory."""


def _node(function: JITCallable, line: int, column: int) -> ast.AST:
    """The call at a position of the source: of several that begin there the one that accesses memory, the shortest."""
    calls = [n for n in ast.walk(function.parse()) if isinstance(n, ast.Call)]
    calls = [n for n in calls if (n.lineno, n.col_offset) == (line, column)]
    accesses = [n for n in calls if _name(n.func).startswith(_ACCESSES)]
    found = sorted(accesses or calls, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0))
    if found:
        return found[0]
    node = ast.Constant(None)
    node.lineno, node.col_offset = line, max(column, 0)
    return node


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _functions(kernel: CompiledKernel) -> Iterator[JITCallable]:
    """The kernel's function, and those that it can reach by name or was given."""
    given = cast("dict[object, object]", getattr(kernel.src, "constants", None) or {})
    pending: list[object] = [kernel.src.fn, *given.values()]
    seen: set[int] = set()
    while pending:
        function = pending.pop(0)
        if not isinstance(function, JITCallable) or id(function) in seen:
            continue
        seen.add(id(function))
        if function.module.startswith("tritonx."):
            continue
        yield function
        pending += _named_in(function)


def _named_in(function: JITCallable) -> list[object]:
    names = {**function.__globals__, **function.enclosing_names()}
    found: list[object] = []
    for node in ast.walk(function.parse()):
        if isinstance(node, ast.Name):
            found.append(names.get(node.id))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.append(getattr(cast(object, names.get(node.value.id)), node.attr, None))
    return found
