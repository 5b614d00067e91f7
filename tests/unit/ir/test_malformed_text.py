"""Text that is no module ends in a ParseError or a VerifyFailure, whatever is wrong with it, never in anything else."""

import random
import re
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError

from tritonx.ir.context import new_context
from tritonx.ir.errors import VerifyFailure
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify

SAMPLES = sorted((Path(__file__).parents[2] / "filecheck" / "dialects").rglob("*.mlir"))
TOKEN = re.compile(r"\w+|[^\w\s]")
JUNK = [
    "",
    "}",
    "{",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    ",",
    ":",
    "=",
    "->",
    "%",
    "%x",
    "#",
    "#x",
    "!",
    "!x",
    "^",
    "@",
    '"',
    '"x"',
    "-",
    "1",
    "-1",
    "0x",
    "1.5",
    "99999999999999999999",
    "i0",
    "i1",
    "f32",
    "index",
    "tensor<4xf32>",
    "tensor<*xf32>",
    "tensor<?xf32>",
    "!tt.ptr<f32>",
    "dense<",
    "array<i32",
    "loc(",
    "loc(unknown)",
    "module",
    "tt.func",
    "#-}",
    "{-#",
    "\x00",
    "é",
    "#ttg.blocked<{}>",
    "none",
    "true",
]


def source(path: Path) -> str:
    text = path.read_text()
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


def attempt(text: str, context) -> str:
    """What came of it; anything but the two errors escapes."""
    try:
        module = parse_module(text, "input.mlir", context=context)
        verify(module)
        print_module(module)
    except ParseError as error:
        assert "input.mlir:" in str(error)
        return "parse"
    except VerifyFailure as error:
        assert str(error)
        return "verify"
    return "valid"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_truncated(path):
    text, context = source(path), new_context()
    rng = random.Random(path.stem)
    for _ in range(25):
        attempt(text[: rng.randrange(len(text))], context)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_mutated(path):
    text, context = source(path), new_context()
    rng = random.Random(path.stem)
    tokens = [match.span() for match in TOKEN.finditer(text)]
    outcomes = set()
    for _ in range(60):
        start, end = rng.choice(tokens)
        other = rng.choice(tokens)
        replacement = rng.choice([*JUNK, text[other[0] : other[1]], text[start:end] * 2])
        outcomes.add(attempt(text[:start] + replacement + text[end:], context))
    assert "parse" in outcomes


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_lines_dropped_and_swapped(path):
    lines, context = source(path).splitlines(), new_context()
    rng = random.Random(path.stem)
    for _ in range(20):
        mutated = list(lines)
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        if rng.random() < 0.5:
            del mutated[i]
        else:
            mutated[i], mutated[j] = mutated[j], mutated[i]
        attempt("\n".join(mutated), context)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "module",
        "module {",
        "#a = #a",
        "#a = #b\n#b = #a\nmodule attributes {x = #a} {}",
        "#a = 1 : i32\n#a = 2 : i32\nmodule {}",
        "module attributes {x = #missing} {}",
        "module { tt.func @f(%a: i32) { %b = arith.constant dense<1.5> : tensor<4xi32> tt.return } }",
        "module { tt.func @f(%a: i32) { %b = arith.constant 300 : i8 tt.return } }",
        "module { tt.func @f(%a: i32) { %b = arith.constant dense<0xFFFFFFFFFF> : tensor<4xf32> tt.return } }",
        "module { tt.func @f(%a: i32) { %b = tt.load %a : i32 tt.return } }",
        "module { tt.func @f(%a: i32) { tt.return %a : i32 } }",
        'module { tt.func @f(%a: i32) { "unknown.op"() : () -> () tt.return } }',
        "module { tt.func @f(%a: tensor<4xi32, #ttg.blocked<{order = [0]}>>) { tt.return } }",
        "module { tt.func @f(%a: tensor<4xi32, #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32],"
        " warpsPerCTA = [4], order = [0]}>>) { tt.return } }",
        "module attributes {x = 8.0 : f128} {}",
        'module attributes {"ttg.num-warps" = -4 : i32} {}',
        'module attributes {"ttg.num-warps" = 8 : i16} {}',
        'module attributes {"ttg.threads-per-warp" = 48 : i32} {}',
        "(" * 100_000,
        "module attributes {x = " + "[" * 20_000,
    ],
)  # fmt: skip
def test_single_mistakes(text):
    assert attempt(text, new_context()) in ("parse", "verify")
