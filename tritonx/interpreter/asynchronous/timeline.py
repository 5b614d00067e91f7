"""What happened when: spans on rows, for a reader. Time counts executed ops; it is no measure of cycles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from xdsl.ir import Operation

from tritonx.interpreter.asynchronous.reports import describe, position_of


@dataclass(frozen=True)
class Span:
    """From `start` to `end`; a mark where they are equal."""

    row: str
    label: str
    start: int
    end: int


@dataclass
class Timeline:
    """Rows: the groups of warps (waits and barriers), their products, the copies, each barrier (arrivals)."""

    spans: list[Span] = field(default_factory=list[Span])

    def span(self, row: str, op: Operation, start: int, end: int) -> None:
        self.spans.append(Span(row, _label(op), start, end))

    def mark(self, row: str, op: Operation, time: int) -> None:
        self.span(row, op, time, time)

    @property
    def end(self) -> int:
        return max((span.end for span in self.spans), default=0)

    def rows(self) -> dict[str, list[Span]]:
        """Spans by row, in the order of their first one; those that overlap get rows of their own."""
        found: dict[str, list[Span]] = {}
        for span in sorted(self.spans, key=lambda s: (s.start, s.end)):
            found.setdefault(span.row, []).append(span)
        return {name: spans for row, all_ in found.items() for name, spans in _apart(row, all_)}

    def text(self, width: int = 100) -> str:
        """A line a row: `=` where something is under way, `|` where it ends or is marked; then every span."""
        rows = self.rows()
        longest = max(map(len, rows), default=0)
        lines = [f"{name:{longest}} {_drawn(spans, max(self.end, 1), width)}" for name, spans in rows.items()]
        ordered = sorted(self.spans, key=lambda span: (span.start, span.end))
        table = [f"{span.start:7} {span.end:7}  {span.row}: {span.label}" for span in ordered]
        return "\n".join([*lines, "", "  start     end", *table]) + "\n"

    def svg(self, width: int = 1000) -> str:
        """The same as a picture; the label of a span shows under the pointer."""
        rows = self.rows()
        left, height = 200, 18
        scale = (width - left - 10) / max(self.end, 1)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height * len(rows) + 10}" '
            'font-family="monospace" font-size="11">'
        ]
        for number, (name, spans) in enumerate(rows.items()):
            y = 5 + number * height
            parts.append(f'<text x="4" y="{y + 12}">{escape(name)}</text>')
            for span in spans:
                size = max(1.5, (span.end - span.start) * scale)
                title = escape(f"{span.label} [{span.start}, {span.end}]")
                parts.append(
                    f'<rect x="{left + span.start * scale:.1f}" y="{y}" width="{size:.1f}" height="{height - 4}" '
                    f'fill="{_colour(span.row)}" stroke="black" stroke-width="0.3"><title>{title}</title></rect>'
                )
        return "\n".join([*parts, "</svg>"]) + "\n"


def _label(op: Operation) -> str:
    at = position_of(op)
    return f"{describe(op)} ({at})" if at else describe(op)


def _apart(row: str, spans: list[Span]) -> Iterator[tuple[str, list[Span]]]:
    """The spans of a row as rows in which none overlap."""
    lanes: list[list[Span]] = []
    for span in spans:
        free = next((lane for lane in lanes if lane[-1].end <= span.start), None)
        if free is None:
            lanes.append([span])
        else:
            free.append(span)
    for number, lane in enumerate(lanes):
        yield (row if number == 0 else f"{row} +{number}"), lane


def _drawn(spans: list[Span], end: int, width: int) -> str:
    line = [" "] * width
    for span in spans:
        first, last = (round(time * (width - 1) / end) for time in (span.start, span.end))
        line[first:last] = "=" * (last - first)
        line[last] = "|"
    return "".join(line).rstrip()


def _colour(row: str) -> str:
    kind = row.split()[0]
    return {"copies": "#7fb3d5", "products": "#f5b041", "barrier": "#bb8fce"}.get(kind, "#82e0aa")
