"""The command tritonx-layout."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import pytest

from tritonx.tools.layout import main, parse_encoding, parse_shape

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>"
COLUMNS = "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [0, 1]}>"
SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
NESTED = f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>"


def test_text(capsys):
    assert main([BLOCKED, "8x8"]) == 0
    rows = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert len(rows) == 8
    assert rows[0].split() == ["T0:0", "T0:1", "T1:0", "T1:1", "T2:0", "T2:1", "T3:0", "T3:1"]
    assert rows[7].split()[-1] == "T31:1"


def test_copies_are_counted(capsys):
    assert main([NESTED, "8"]) == 0
    assert "T0:0+7" in capsys.readouterr().out


def test_shared_offsets(capsys):
    assert main([SHARED, "4x4"]) == 0
    rows = capsys.readouterr().out.split("\n\n")[1].splitlines()
    assert [row.split() for row in rows[:2]] == [["0", "1", "2", "3"], ["5", "4", "7", "6"]]


def test_three_dims(capsys):
    lists = "sizePerThread = [1, 1, 1], threadsPerWarp = [2, 4, 4], warpsPerCTA = [1, 1, 1], order = [2, 1, 0]"
    assert main([f"#ttg.blocked<{{{lists}}}>", "2x4x4"]) == 0
    assert "[1, :, :]" in capsys.readouterr().out


@pytest.mark.parametrize("shape", ["1", "16", "4x1", "1x8", "8x4", "2x4x8", "2x1x4x8"])
def test_every_index_has_its_cell(shape, capsys):
    """A page for each index of the outer dims, a line for each row, a cell for each column; what is in them is the
    places in order, as this layout goes along the rows."""
    sizes = [int(size) for size in shape.split("x")]
    lists = {"sizePerThread": [*[1] * (len(sizes) - 1), 64], "threadsPerWarp": [1] * len(sizes)}
    lists |= {"warpsPerCTA": [1] * len(sizes), "order": list(reversed(range(len(sizes))))}
    parts = ", ".join(f"{name} = {numbers}" for name, numbers in lists.items())
    assert main([f"#ttg.blocked<{{{parts}}}>", shape]) == 0
    text = capsys.readouterr().out.rstrip("\n")
    pages = [page.splitlines() for page in text.split("\n\n")[1:]]
    rows, columns = ([1, 1, *sizes])[-2:]
    outer = sizes[:-2]
    titles = [f"[{', '.join(map(str, index))}, :, :]" for index in itertools.product(*map(range, outer))]
    assert len(pages) == len(titles)
    if outer:
        assert [page.pop(0) for page in pages] == titles
    cells = [line.split() for page in pages for line in page]
    assert [len(page) for page in pages] == [rows] * len(pages) and {len(line) for line in cells} == {columns}
    copies = 64 // columns
    labels = [label.partition("+") for line in cells for label in line]
    assert [int(label.removeprefix("T0:")) % columns for label, _, _ in labels] == [*range(columns)] * (
        len(labels) // columns
    )
    assert {more for _, _, more in labels} == {str(copies - 1) if copies > 1 else ""}


def test_svg(tmp_path):
    file = tmp_path / "layout.svg"
    assert main([BLOCKED, "8x8", "--svg", str(file)]) == 0
    root = ET.fromstring(file.read_text())
    assert len(root.findall(".//{http://www.w3.org/2000/svg}rect")) == 64


def fills(tmp_path, layout, shape):
    """The colour of each cell, by rows."""
    file = tmp_path / "layout.svg"
    assert main([layout, shape, "--svg", str(file)]) == 0
    cells = ET.fromstring(file.read_text()).findall(".//{http://www.w3.org/2000/svg}rect")
    columns = int(shape.split("x")[-1])
    found = [cell.attrib["fill"] for cell in cells]
    return [found[i : i + columns] for i in range(0, len(found), columns)]


def test_cells_of_a_thread_have_a_colour_of_their_own(tmp_path):
    found = fills(tmp_path, BLOCKED, "16x8")
    assert len({colour for row in found[:8] for colour in row}) == 32
    assert all(row[2 * j] == row[2 * j + 1] for row in found for j in range(4))
    assert found[8:] == found[:8], "the second time round the tile"
    assert all(re.fullmatch(r"hsl\(\d+,\d+%,\d+%\)", colour) for row in found for colour in row)
    hues = [int(colour[4:].split(",")[0]) for row in found for colour in row]
    assert all(0 <= hue < 360 for hue in hues)


def test_cells_of_a_bank_have_its_colour(tmp_path):
    """Shared memory: 32 banks, so that the second row of 32 numbers has the colours of the first, swizzled or not."""
    plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    first, second = fills(tmp_path, plain, "2x32")
    assert len(set(first)) == 32 and first == second
    assert [int(colour[4:].split(",")[0]) for colour in first] == [bank * 360 // 32 for bank in range(32)]
    first, second = fills(tmp_path, SHARED, "2x32")
    assert second == [first[i ^ 1] for i in range(32)]


@pytest.mark.parametrize(
    ("target", "bits", "words"),
    [(BLOCKED, 32, "nothing moves"), (COLUMNS, 32, "shuffles"), (COLUMNS, 16, "shuffles")],
)
def test_plans(target, bits, words, capsys):
    assert main([BLOCKED, "8x8", "--to", target, "--bits", str(bits)]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([BLOCKED, "8by8"], "written like 32x64"),
        ([BLOCKED, "8"], "rank 2"),
        (["#ttg.blocked<{sizePerThread = [3, 1]}>", "8x8"], "ttg.blocked"),
        (["#ttg.shared_memory", "8x8"], "not an encoding"),
    ],
)
def test_mistakes(arguments, message, capsys):
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_parsing():
    assert parse_shape("32x64") == (32, 64)
    assert parse_encoding(NESTED).rank == 1
