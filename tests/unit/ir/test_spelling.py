"""Each spelling that a class declares is read, and is what is printed at its level."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from tritonx.ir.spelling import LevelError, Spellings, TextLevel
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify

sys.path.insert(0, str(Path(__file__).parents[2]))

from spelled import Spelled, spelled

FOUND = spelled()


def body(text: str) -> list[str]:
    """The lines of a module without indentation, its aliases written out."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.M))
    lines = [line.strip() for line in text.splitlines() if not line.startswith("#")]
    return [re.sub(r"#\w+\b(?!\.)", lambda found: aliases[found[0]], line) for line in lines]


def modules_with(one: Spelled) -> list[ModuleOp]:
    """What the examples are read as, where that is the class itself: some levels say with other ops what they lack, or
    say less."""
    read = [parse_module(one.module(level)) for level in reversed(TextLevel) if one.text(level) is not None]
    of_class = [module for module in read if one.is_attribute or any(op.name == one.name for op in module.walk())]
    return [module for module in of_class if print_module(module) == print_module(of_class[0])]


@pytest.mark.parametrize("level", TextLevel, ids=str)
@pytest.mark.parametrize("one", FOUND, ids=lambda one: one.name)
def test_a_spelling_is_read_and_printed(one: Spelled, level: TextLevel) -> None:
    """Whatever level it comes from, where these words say as much."""
    modules = modules_with(one)
    assert modules
    for module in modules:
        verify(module)
        wanted = one.text(level)
        if wanted is None:
            with pytest.raises(LevelError, match=rf"Triton {level} has no ") as caught:
                print_module(module, level=level)
            assert caught.value.op is not None and caught.value.op in module.walk()
            continue
        before = print_module(module)
        printed = print_module(module, level=level)
        if one.is_attribute:
            assert wanted in printed
        else:
            lines, expected = body(printed), body(one.module(level))
            at, end = (next(n for n, x in enumerate(expected) if start in x) for start in ("tt.func", "tt.return"))
            assert "\n".join(expected[at + 1 : end]) in "\n".join(lines)
        assert print_module(module) == before  # the module itself stays
        verify(parse_module(printed))
        generic = print_module(module, level=level, generic=True)
        verify(parse_module(generic))


def test_levels() -> None:
    assert [str(level) for level in TextLevel] == ["3.6", "3.8", "3.9"]
    with pytest.raises(ValueError, match=r"'3\.7' is no level of text: there are 3\.6, 3\.8, 3\.9"):
        TextLevel.named("3.7")


def test_an_example_holds_until_the_next() -> None:
    declared = Spellings({TextLevel.V3_8: "new", TextLevel.V3_9: None})
    assert [declared.text(level) for level in TextLevel] == [None, "new", None]
    assert declared.shown and not Spellings({TextLevel.V3_6: None}).shown


@pytest.mark.parametrize(
    ("level", "text", "message"),
    [
        (TextLevel.V3_9, "!tt.ptr<f32, 3>", "Triton 3.9 has no pointers to address space 3"),
        (TextLevel.V3_8, "!tt.ptr<tensor<4xf32>>", None),
    ],
)
def test_types_that_a_level_cannot_say(level: TextLevel, text: str, message: str | None) -> None:
    module = parse_module(f"module {{\n  tt.func @f(%x: {text}) {{\n    tt.return\n  }}\n}}")
    if message is None:
        assert text in print_module(module, level=level)
        return
    with pytest.raises(LevelError, match=message):
        print_module(module, level=level)


SPECIALIZED = """module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f(%i: i32) {
    ttg.warp_specialize(%i)
    default {
      ttg.warp_yield
    }
    partition0(%j: i32) num_warps(4) {
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
"""


@pytest.mark.parametrize("level", TextLevel, ids=str)
def test_captures_go_to_the_partitions(level: TextLevel) -> None:
    module = parse_module(SPECIALIZED)
    plain, generic = print_module(module), print_module(module, level=level, generic=True)
    captured = [line.strip() for line in generic.splitlines() if "specialize" in line]
    down = level >= TextLevel.V3_8
    assert captured[0].startswith(f'"ttg.warp_specialize"({"" if down else "%i"})')
    assert captured[1].startswith(f'"ttg.warp_specialize.partitions"({"%i" if down else ""})')
    assert print_module(module, level=level) == plain == print_module(parse_module(generic))


def test_blocks_of_images_are_refused() -> None:
    copy = next(one for one in FOUND if one.name == "ttng.async_tma_copy_global_to_local")
    generic = print_module(parse_module(copy.module(TextLevel.V3_9)), level=TextLevel.V3_9, generic=True)
    segments = "operandSegmentSizes = array<i32: 1, 2, 0, 1, 1, 1>"
    assert segments in generic
    with pytest.raises(ParseError, match="copies of im2col blocks are not supported"):
        parse_module(generic.replace(segments, segments.replace("2, 0, 1", "1, 1, 1")))
