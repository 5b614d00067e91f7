"""Lines that are read by the template of an earlier one mean what they mean token by token."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from xdsl.utils.exceptions import ParseError

from tritonx.ir.text import parse_module, print_module
from tritonx.ir.text.repeated_lines import LineParser
from tritonx.ir.verify import verify

FILES = sorted(Path(__file__).parents[2].glob("filecheck/**/*.mlir"))


def read(text: str) -> str:
    try:
        return print_module(parse_module(text), debuginfo=True)
    except ParseError as error:
        return f"{error.span.start}: {error.msg}"


def token_by_token(text: str) -> str:
    with patch.object(LineParser, "_line", lambda self, start: None):
        return read(text)


def test_same_as_token_by_token() -> None:
    """The files of FileCheck, with lines repeated, dropped, joined or with other names."""
    draw = random.Random(random.getrandbits(32))
    for path in draw.sample(FILES, 40):
        lines = path.read_text().splitlines()
        for _ in range(3):
            changed = list(lines)
            for _ in range(draw.randrange(4)):
                at = draw.randrange(len(changed))
                kind = draw.randrange(4)
                if kind == 0:
                    changed.insert(at, changed[at])
                elif kind == 1 and len(changed) > 1:
                    del changed[at]
                elif kind == 2:
                    changed[at : at + 2] = [" ".join(changed[at : at + 2])]
                else:
                    changed[at] = changed[at].replace("%0", "%1")
            text = "\n".join(changed)
            assert read(text) == token_by_token(text), f"{path}\n{text}"


BODY = "module {{\n  tt.func public @k(%a: i32, %b: i32, %x: f32) {{\n{}\n    tt.return\n  }}\n}}\n"


@pytest.mark.parametrize(
    "lines",
    [
        ("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %0 : i32"),
        ("%0 = arith.addi %a, %a : i32", "%1 = arith.addi %b, %0 : i32", "%2 = arith.addi %1, %1 : i32"),
        ("%0 = arith.addi %a, %b : i32", "%0 = arith.addi %b, %a : i32"),
        ("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %x : i32"),
        ("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %later : i32", "%later = arith.addi %a, %b : i32"),
        ("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %a : i32", "loc(unknown)"),
        ("%0 = arith.addi %a, %b : i32", "%1 = arith.addi %b, %a : i32 // %a", "%2 = arith.addi %b, %a : i32 // %b"),
        ("%0 = arith.addi %a, %b", ": i32", "%1 = arith.addi %a, %b", ": i64"),
        ('%0 = "arith.addi"(%a, %b) : (i32, i32) -> i32', '%1 = "arith.addi"(%b, %0) : (i32, i32) -> i32'),
        ("%n_1 = arith.addi %a, %b : i32", "%n_2 = arith.addi %a, %n_1 : i32", "%_3 = arith.addi %a, %n_2 : i32"),
    ],
)
def test_lines(lines: tuple[str, ...]) -> None:
    text = BODY.format("\n".join("    " + line for line in lines))
    assert read(text) == token_by_token(text)


def straight(count: int) -> str:
    return BODY.format("\n".join(f"    %{i} = arith.addi %{i - 1 if i else 'a'}, %b : i32" for i in range(count)))


def blocks(count: int) -> str:
    lines = ["    cf.br ^b0", *(f"  ^b{i}:\n    cf.br ^b{i + 1}" for i in range(count)), f"  ^b{count}:"]
    return BODY.format("\n".join(lines))


def regions(count: int) -> str:
    made = "    %c{0} = arith.cmpi slt, %a, %b : i32\n    scf.if %c{0} {{\n      %v = arith.addi %a, %b : i32\n    }}"
    return BODY.format("\n".join(made.format(i) for i in range(count)))


def arguments(count: int) -> str:
    names = ", ".join(f"%a{i}: i32" for i in range(count))
    return f"module {{\n  tt.func public @k({names}) {{\n    tt.return\n  }}\n}}\n"


def block_arguments(count: int) -> str:
    names = ", ".join(f"%a{i}: i32" for i in range(count))
    return BODY.format(f"    cf.br ^b({', '.join(['%a'] * count)} : {', '.join(['i32'] * count)})\n  ^b({names}):")


def attributes(count: int) -> str:
    return f"module attributes {{a = [{', '.join(map(str, range(count)))}]}} {{\n}}\n"


def aliases(count: int) -> str:
    return "#a0 = [0]\n" + "".join(f"#a{i} = [{i}]\n" for i in range(1, count)) + "module attributes {a = #a0} {\n}\n"


def read_and_written(text: str) -> None:
    module = parse_module(text)
    verify(module)
    print_module(module, debuginfo=True)
    module.clone()


def lines_of(run: Callable[[], object]) -> int:
    """Lines of Python executed in ``run``."""
    count = 0

    def traced(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "made", [straight, blocks, regions, arguments, block_arguments, attributes, aliases], ids=lambda made: made.__name__
)
def test_work_in_proportion_to_the_text(made: Callable[[int], str]) -> None:
    """To read, verify, print and clone."""
    read_and_written(made(3))
    few, many = made(100), made(400)
    assert lines_of(lambda: read_and_written(many)) < 4.5 * lines_of(lambda: read_and_written(few))


NESTED = {
    "attributes": "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, 60))
    + "module attributes {a = #a59} {\n}\n",
    "types": "!t0 = i32\n" + "".join(f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>\n" for i in range(1, 60))
    + "module {\n  tt.func public @k(%n: !t59) {\n    tt.return\n  }\n}\n",
    "backwards": "module attributes {a = #a59} {\n}\n"
    + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(59, 0, -1)) + "#a0 = [1]\n",
    "one line": "#a0 = [1] " + " ".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]" for i in range(1, 60))
    + "\nmodule attributes {a = #a59} {\n}\n",
}  # fmt: skip


@pytest.mark.parametrize("name", NESTED)
def test_aliases_of_aliases_have_a_limit(name: str) -> None:
    with pytest.raises(ParseError, match="stands for more than 10000 characters"):
        parse_module(NESTED[name])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%0 = arith.constant 1 : i16777215", "wider than 128 bits"),
        ("%0 = arith.constant 1 : i" + "9" * 100_000, "wider than 128 bits"),
        ("%0 = arith.constant " + "9" * 100_000 + " : i32", "an integer of 100000 characters"),
        ("%0 = arith.constant 0x" + "f" * 100_000 + " : i32", "an integer of 100002 characters"),
        ("%0 = arith.constant dense<1> : tensor<" + "9" * 100_000 + "xi32>", "an integer of 100000 characters"),
        ("%0:" + "9" * 100_000 + " = arith.constant 1 : i32", "an integer of 100000 characters"),
        ("%0 = arith.addi %a#" + "9" * 100_000 + ", %a : i32", "an index of 100000 characters"),
        ("%0 = arith.constant " + "(" * 100_000, "nested too deeply|expected"),
        ("scf.if %later {\n" * 20_000 + "}" * 20_000, "nested too deeply"),
        ("%0 = arith.constant 1 : " + "tuple<" * 100_000 + "i32" + ">" * 100_000, "nested too deeply"),
        ("%0 = arith.constant [" + "[" * 100_000, "nested too deeply"),
        ("%0 = arith.constant 1 : i32 loc(" + "callsite(" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: value[:24],
)
def test_what_is_too_large_is_refused_at_its_place(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message) as raised:
        parse_module(BODY.format(text))
    assert raised.value.span.start > 0
