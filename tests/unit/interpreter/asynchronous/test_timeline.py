"""What a timeline shows is where it was, in text and as a picture: any spans, on rows where none overlap."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from itertools import pairwise
from random import Random
from xml.etree import ElementTree

import pytest
from xdsl.dialects.builtin import ModuleOp

from tritonx.interpreter.asynchronous.timeline import Span, Timeline

SEED = int(os.environ["TRITONX_SEED"])
ROWS = ("warps 0-3", "copies", "products of warps 0-3", "barrier at <0>")


def drawn(random: Random) -> Timeline:
    timeline = Timeline()
    for count in range(random.randint(1, 30)):
        assert len(timeline.spans) == count
        start = random.randrange(500)
        end = start + random.choice([0, 1, random.randrange(200)])
        if end == start:
            timeline.mark(random.choice(ROWS), ModuleOp([]), start)
        else:
            timeline.span(random.choice(ROWS), ModuleOp([]), start, end)
    return timeline


@pytest.mark.parametrize("draw", range(20))
def test_rows(draw: int) -> None:
    """Every span once, those of a row apart, and no more rows of a name than there are spans at one time."""
    timeline = drawn(Random(SEED + draw))
    rows = timeline.rows()
    assert Counter(span for spans in rows.values() for span in spans) == Counter(timeline.spans)
    lanes = Counter[str]()
    for name, spans in rows.items():
        row = spans[0].row
        assert name == (f"{row} +{lanes[row]}" if lanes[row] else row) and {span.row for span in spans} == {row}
        lanes[row] += 1
        assert all(a.end <= b.start for a, b in pairwise(spans))
    for row, count in lanes.items():
        of_row = [span for span in timeline.spans if span.row == row]
        together = [sum(s.start <= at.start and (at.start < s.end or s == at) for s in of_row) for at in of_row]
        assert count <= max(together)


@pytest.mark.parametrize("width", [20, 100])
@pytest.mark.parametrize("draw", range(5))
def test_text(draw: int, width: int) -> None:
    timeline = drawn(Random(SEED + 100 + draw))
    drawing, table = timeline.text(width).split("\n\n  start     end\n")
    rows = timeline.rows()
    indent = max(map(len, rows)) + 1
    for line, (name, spans) in zip(drawing.splitlines(), rows.items(), strict=True):
        assert line[:indent].rstrip() == name and len(line) <= indent + width
        cells = line[indent:].ljust(width)
        places = [
            (round(s.start * (width - 1) / timeline.end), round(s.end * (width - 1) / timeline.end)) for s in spans
        ]
        assert all(cells[end] in "|=" for _, end in places) and cells[places[-1][1]] == "|"
        assert {at for at, cell in enumerate(cells) if cell != " "} == {
            at for first, last in places for at in range(first, last + 1)
        }
    expected = sorted((s.start, s.end) for s in timeline.spans)
    lines = [re.fullmatch(r" *(\d+) +(\d+)  (.+): builtin.module", line) for line in table.splitlines()]
    assert [(int(m[1]), int(m[2])) for m in lines if m] == expected and all(lines)
    assert Counter(m[3] for m in lines if m) == Counter(s.row for s in timeline.spans)


@pytest.mark.parametrize("draw", range(10))
def test_picture(draw: int) -> None:
    """Boxes beside their row's name, as far along and as long as the spans, none outside, and a colour a kind."""
    timeline = drawn(Random(SEED + 200 + draw))
    picture = ElementTree.fromstring(timeline.svg(900))
    space = "{http://www.w3.org/2000/svg}"
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    names = {float(t.attrib["y"]): str(t.text) for t in picture.iter(f"{space}text")}
    boxes = defaultdict[str, list[tuple[float, float]]](list)
    colours = defaultdict[str, set[str]](set)
    scales = list[float]()
    for box in picture.iter(f"{space}rect"):
        x, y, wide, high = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        beside = [name for at, name in names.items() if y < at < y + high]
        assert (
            len(beside) == 1
            and high <= height / len(names)
            and 0 <= x
            and x + wide <= width + 1.5
            and 0 <= y
            and y + high <= height
        )
        label = re.fullmatch(r"builtin\.module \[(\d+), (\d+)\]", box[0].text or "")
        assert label
        start, end = int(label[1]), int(label[2])
        boxes[beside[0]].append((start, end))
        colours[beside[0].split()[0]].add(box.attrib["fill"])
        scales += [(x - 200) / start] if start > 50 else []
        scales += [wide / (end - start)] if end - start > 50 else []
        assert wide >= 1.5
    assert boxes == {name: [(s.start, s.end) for s in spans] for name, spans in timeline.rows().items()}
    assert all(scale == pytest.approx(690 / timeline.end, rel=0.01) for scale in scales)
    assert all(len(found) == 1 for found in colours.values())
    assert len({next(iter(found)) for found in colours.values()}) == len(colours)


def test_nothing() -> None:
    assert Timeline().end == 0 and Timeline().rows() == {}
    assert Timeline().text() == "\n  start     end\n"
    assert len(ElementTree.fromstring(Timeline().svg())) == 0
    assert Timeline([Span("copies", "c", 0, 0)]).text(10).startswith("copies |\n")
