"""Pictures of a layout: who holds each element of a tile, as text for a terminal or as SVG for a document."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from tritonx.layouts.convert import ConversionPlan, NoMove, RegisterMove, SharedMemoryPlan, scratch_bytes
from tritonx.layouts.dims import BLOCK, LANE, OFFSET, REGISTER, WARP
from tritonx.layouts.index_math import all_xors
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.shuffle import ShufflePlan

CELL_WIDTH = 62
CELL_HEIGHT = 22
COLOURS = 8
"""Lanes that share a colour are this far apart; memory is coloured by bank in the same way."""


def holders(layout: LinearLayout) -> dict[int, list[str]]:
    """Packed index → who holds it, as labels: `T5:2` is register 2 of thread 5 of the block (threads count through
    warps), `B1 T5:2` the same in block 1; for memory the offset."""
    result: dict[int, list[str]] = {}
    for label, index in _places(layout):
        result.setdefault(index, []).append(label)
    return result


def _places(layout: LinearLayout) -> Iterator[tuple[str, int]]:
    if OFFSET in layout.in_dims:
        for block, base in enumerate(all_xors(layout.columns(BLOCK))):
            for offset, index in enumerate(all_xors(layout.columns(OFFSET))):
                yield (f"B{block} {offset}" if layout.in_bits(BLOCK) else str(offset)), base ^ index
        return
    lanes = layout.in_size(LANE)
    for block, of_block in enumerate(all_xors(layout.columns(BLOCK))):
        for warp, of_warp in enumerate(all_xors(layout.columns(WARP))):
            for lane, of_lane in enumerate(all_xors(layout.columns(LANE))):
                thread = f"T{warp * lanes + lane}"
                for register, of_register in enumerate(all_xors(layout.columns(REGISTER))):
                    label = f"{thread}:{register}"
                    yield (
                        f"B{block} {label}" if layout.in_bits(BLOCK) else label,
                        of_block ^ of_warp ^ of_lane ^ of_register,
                    )


def draw_text(layout: LinearLayout) -> str:
    """The bases, then one line for each row of the last two dims; copies are counted as `+n`."""
    found = holders(layout)
    lines = [repr(layout), ""]
    for title, rows in _pages(layout):
        if title:
            lines.append(title)
        cells = [[_short(found.get(index, [])) for index in row] for row in rows]
        width = max((len(cell) for row in cells for cell in row), default=0)
        lines += [" ".join(cell.ljust(width) for cell in row).rstrip() for row in cells]
        lines.append("")
    return "\n".join(lines)


def _short(labels: list[str]) -> str:
    if not labels:
        return "-"
    return labels[0] if len(labels) == 1 else f"{labels[0]}+{len(labels) - 1}"


def _pages(layout: LinearLayout) -> Iterator[tuple[str, list[list[int]]]]:
    """For each index of the outer dims: a title, and the packed indices of the last two dims by rows."""
    sizes = [1 << bits for _, bits in layout.outs]
    starts = [layout.offset_of(dim) for dim, _ in layout.outs]
    rows, columns = (sizes[-2] if len(sizes) > 1 else 1), (sizes[-1] if sizes else 1)
    outer = sizes[:-2]
    count = 1
    for size in outer:
        count *= size
    for page in range(count):
        coordinates: list[int] = []
        rest = page
        for size in reversed(outer):
            coordinates.insert(0, rest % size)
            rest //= size
        base = sum(c << s for c, s in zip(coordinates, starts, strict=False))
        row_start = starts[-2] if len(sizes) > 1 else 0
        column_start = starts[-1] if sizes else 0
        title = f"[{', '.join(map(str, coordinates))}, :, :]" if outer else ""
        yield title, [[base | i << row_start | j << column_start for j in range(columns)] for i in range(rows)]


def draw_svg(layout: LinearLayout, title: str = "") -> str:
    """One cell for each element, coloured by lane (or memory bank), darker for later warps; hovering shows all
    holders.
    """
    found = holders(layout)
    lanes = layout.in_size(LANE) if LANE in layout.in_dims else 0
    parts: list[str] = []
    top = CELL_HEIGHT
    width = 0
    for page_title, rows in _pages(layout):
        if page_title:
            parts.append(f'<text class="title" x="4" y="{top + 15}">{escape(page_title)}</text>')
            top += CELL_HEIGHT
        for row in rows:
            for column, index in enumerate(row):
                labels = found.get(index, [])
                fill = _colour(labels[0], lanes) if labels else "#fff"
                x = column * CELL_WIDTH
                parts.append(
                    f"<g><title>{escape(', '.join(labels))}</title>"
                    f'<rect x="{x}" y="{top}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{fill}"/>'
                    f'<text x="{x + CELL_WIDTH // 2}" y="{top + 15}">{escape(_short(labels))}</text></g>'
                )
            width = max(width, len(row) * CELL_WIDTH)
            top += CELL_HEIGHT
    style = "rect{stroke:#444;stroke-width:.5}text{font:11px monospace;text-anchor:middle}.title{text-anchor:start}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + 4}" width="{width}" height="{top + 4}">'
    )
    heading = f'<text class="title" x="4" y="15">{escape(title)}</text>'
    return "\n".join([head, f"<style>{style}</style>", heading, *parts, "</svg>", ""])


MOST_DRAWN = 4096
"""Elements of a layout that a notebook draws; of a larger one it has the bases."""


def draw_html(layout: LinearLayout) -> str:
    """The picture, with the bases in front, for notebooks."""
    bases = f"<pre>{escape(repr(layout))}</pre>"
    placed = OFFSET in layout.in_dims or {REGISTER, LANE, WARP} <= set(layout.in_dims)
    drawn = draw_svg(layout) if placed and 1 << sum(bits for _, bits in layout.outs) <= MOST_DRAWN else ""
    return f'{bases}<div style="overflow:auto;max-height:480px">{drawn}</div>' if drawn else bases


def _colour(label: str, lanes: int) -> str:
    name = label.split()[-1]
    if not lanes:
        return f"hsl({int(name) % 32 * 360 // 32},60%,80%)"
    thread = int(name[1:].split(":")[0])
    lightness = 86 - 6 * min(thread // lanes, 6)
    return f"hsl({thread % lanes % COLOURS * 360 // COLOURS + thread % lanes // COLOURS * 6},65%,{lightness}%)"


def describe_plan(plan: ConversionPlan, bits: int) -> str:
    """A conversion plan in words."""
    match plan:
        case NoMove():
            return "nothing moves"
        case RegisterMove(sources):
            return f"registers are renamed: {' '.join(map(str, sources))}"
        case ShufflePlan():
            words = max(1, bits // 32)
            kind = "butterfly" if plan.lane_map is None else "indexed"
            return (
                f"{plan.shuffles * words} {kind} shuffles of {1 << plan.pack} element(s) each, "
                f"{len(plan.source_stages)} select stage(s) before and {len(plan.target_stages)} after"
            )
        case SharedMemoryPlan():
            part = plan.parts[0]
            barrier = "warp" if plan.same_warp else "block"
            return (
                f"through {scratch_bytes(plan, bits)} bytes of shared memory, "
                f"{len(plan.parts)} part(s), barriers of the {barrier}\n"
                f"write: {len(part.write.accesses)} x {part.write.vec} elements, "
                f"{part.write.wavefronts} wavefront(s) each\n"
                f"read: {len(part.read.accesses)} x {part.read.vec} elements, {part.read.wavefronts} wavefront(s) each"
            )
