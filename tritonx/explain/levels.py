"""A kernel's texts, level by level, with the source line of each of their lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp

from tritonx.explain.facts import LayoutSpan, LevelText
from tritonx.explain.layouts import LayoutTable
from tritonx.explain.places import Places
from tritonx.ir.text.op_lines import print_with_lines

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(\w+)\((.*)\)$")
_FIELD = re.compile(r"(\w+): (\"[^\"]*\"|![0-9]+|[\w-]+)")
_MARK = re.compile(r"!dbg !(\d+)")
_FILE = re.compile(r"^\s*\.file\s+(\d+)\s+\"([^\"]*)\"(?:\s+\"([^\"]*)\")?")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_LISTED = re.compile(r"^\s*//## File \"([^\"]*)\", line (\d+)")
_END = re.compile(r"^\s*(\.L\w*:|\$L\w*:|\.section|\.end_amdhsa|\})")


def ir_level(name: str, module: ModuleOp, places: Places, layouts: LayoutTable | None = None) -> LevelText:
    """A module; with `layouts` the types that have one are kept, with what they are laid out as."""
    text, lines = print_with_lines(module)
    shown = text.rstrip("\n").split("\n")
    found = [-1] * len(shown)
    for op, line in lines.items():
        if op is not module:
            found[line] = places.of(op)
    spans: tuple[LayoutSpan, ...] = () if layouts is None else tuple(layouts.spans(shown))
    return LevelText(name, "ir", tuple(shown), tuple(found), spans)


def text_level(name: str, text: str, places: Places) -> LevelText:
    """LLVM's text, an assembler's, or a disassembler's: whichever of their ways to say lines it has. Lines that only
    say so are left out."""
    shown: list[str] = []
    found: list[int] = []
    lines = text.rstrip("\n").split("\n")
    walk = _llvm(lines, places) if any(line.startswith("define ") for line in lines) else _assembly(lines, places)
    for line, place in walk:
        shown.append(line.replace("\t", "    "))
        found.append(place)
    return LevelText(name, "text", tuple(shown), tuple(found))


def _llvm(lines: list[str], places: Places) -> Iterator[tuple[str, int]]:
    nodes: dict[str, dict[str, str]] = {}
    for line in lines:
        if (node := _NODE.match(line)) is not None:
            nodes[node[1]] = {"kind": node[2], **{m[1]: m[2] for m in _FIELD.finditer(node[3])}}
    for line in lines:
        if (node := _NODE.match(line)) is not None and node[2].startswith("DI"):
            continue
        mark = _MARK.search(line)
        shown = re.sub(r",? !dbg !\d+", "", line)
        yield shown, _llvm_place(nodes, mark[1], places) if mark is not None else -1


def _llvm_place(nodes: dict[str, dict[str, str]], number: str, places: Places) -> int:
    node = nodes.get(number, {})
    scope = nodes.get(node.get("scope", "").removeprefix("!"), node)
    file = nodes.get(scope.get("file", "").removeprefix("!"), {})
    name, folder = file.get("filename", "").strip('"'), file.get("directory", "").strip('"')
    return places.at(os.path.join(folder, name), int(node.get("line", "0"))) if name else -1


def _assembly(lines: list[str], places: Places) -> Iterator[tuple[str, int]]:
    files: dict[str, str] = {}
    for line in lines:
        if (file := _FILE.match(line)) is not None:
            files[file[1]] = os.path.join(file[2], file[3]) if file[3] else file[2]
    place = -1
    for line in lines:
        if (at := _LOC.match(line)) is not None:
            place = places.at(files.get(at[1], ""), int(at[2])) if at[1] in files else -1
        elif (listed := _LISTED.match(line)) is not None:
            place = places.at(listed[1], int(listed[2]))
        elif _FILE.match(line) is None and not line.lstrip().startswith("//##"):
            if line.strip().startswith((".section", ".end_", ".text")):
                place = -1
            is_code = line.strip() and not _END.match(line) and not line.lstrip().startswith(("//", ";", "."))
            yield line, place if is_code else -1
