"""What the plug-in's chip has of its own: a matrix unit, an engine that copies, an intrinsic, types, options."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
Run = Callable[..., "subprocess.CompletedProcess[str]"]
OPT = ("-m", "tritonx.tools.opt")

PRODUCT = """
tt.func public @f(%x: tensor<8x16x!tt.ptr<f8E5M2>>, %y: tensor<16x8x!tt.ptr<f8E5M2>>, %z: tensor<8x8x!tt.ptr<f32>>) {
  %zero = arith.constant dense<0.000000e+00> : tensor<8x8xf32>
  %a = tt.load %x : tensor<8x16x!tt.ptr<f8E5M2>>
  %b = tt.load %y : tensor<16x8x!tt.ptr<f8E5M2>>
  %d = tt.dot %a, %b, %zero : tensor<8x16xf8E5M2> * tensor<16x8xf8E5M2> -> tensor<8x8xf32>
  tt.store %z, %d : tensor<8x8x!tt.ptr<f32>>
  tt.return
}
"""


@pytest.mark.parametrize("program", ["matrix_unit", "copies", "intrinsic", "tuning"])
def test_a_program_on_the_chip(run: Run, tmp_path: Path, program: str) -> None:
    done = run(str(PROGRAMS / f"{program}.py"), str(tmp_path), TRITONX_BACKEND="toy")
    assert done.returncode == 0, f"seed {os.environ['TRITONX_SEED']}\n{done.stderr}"
    assert done.stdout.endswith("all right\n")


def test_its_passes_are_listed_and_run(run: Run) -> None:
    listed = run(*OPT, "--help").stdout
    for name, line in (
        ("refuse-types", "Refuses float64."),
        ("copy-ahead", "Loads of tiles become copies, waited for"),
    ):
        assert re.search(rf"  backend toy: tt → tt\n(    .*\n)*    toy-{name} +{line}", listed), listed
    explained = run(*OPT, "--explain", "toy-use-matrix-unit").stdout
    assert explained.startswith("toy-use-matrix-unit: tt → tt, of backend toy\n") and "toy.mma" in explained
    done = run(*OPT, "-p", "toy-refuse-types,toy-use-matrix-unit,toy-copy-ahead{copies=2},cse,dce", input=PRODUCT)
    ops = [
        op for line in done.stdout.splitlines() for op in line.split() if op.startswith(("toy.", "tt.fp", "tt.load"))
    ]
    copies, fetched = ["toy.copy_async"] * 2, ["toy.wait", "toy.read", "tt.fp_to_fp"]
    assert ops == [*copies, *fetched, *fetched, "toy.mma"], done.stdout + done.stderr


def test_a_copy_that_is_not_read_is_waited_for(run: Run) -> None:
    text = (
        "tt.func public @f(%x: tensor<8x!tt.ptr<f32>>) {\n  %a = tt.load %x : tensor<8x!tt.ptr<f32>>\n  tt.return\n}\n"
    )
    done = run(*OPT, "-p", "toy-copy-ahead,dce", input=text)
    assert [word for word in done.stdout.split() if word.startswith("toy.")] == ["toy.copy_async", "toy.wait"]


def test_its_ops_are_read_back(run: Run) -> None:
    printed = run(*OPT, "-p", "toy-use-matrix-unit,toy-copy-ahead", input=PRODUCT).stdout
    assert "toy.copy_async" in printed and "toy.wait 1 : i32" in printed and "toy.mma" in printed, printed
    assert run(*OPT, input=printed).stdout == printed
    generic = run(*OPT, "--print-op-generic", input=printed).stdout
    assert '"toy.mma"(' in generic and "-> !toy.buffer<tensor<8x16xf8E5M2>>" in generic, generic
    assert run(*OPT, input=generic).stdout == printed
    assert "toy" in run(*OPT, "--list-dialects").stdout.split()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("tensor<8x8xf32> * tensor<8x8xf32> -> tensor<8x8xf32>", "no products of float32 and float32 summed in"),
        ("tensor<8x8xf16> * tensor<8x8xf16> -> tensor<8x8xf32>", "8x8x16 at a time; 8x8x8 is no multiple of that"),
    ],
)
def test_a_product_that_it_does_not_take_is_no_op_of_its(run: Run, text: str, reason: str) -> None:
    a, b, c = text.replace("->", "*").split(" * ")
    body = f"tt.func public @f(%a: {a}, %b: {b}, %c: {c}) {{\n  %d = toy.mma %a, %b, %c : {text}\n  tt.return\n}}\n"
    done = run(*OPT, input=body)
    assert done.returncode == 1 and "<stdin>:2:3: error:" in done.stderr and reason in done.stderr, done.stderr


MISTAKES = """
import sys, numpy as np, tritonx, tritonx.language as tl

@tritonx.jit
def kernel(x, N: tl.constexpr, KIND: tl.constexpr):
    a = tl.load(x + tl.arange(0, N))
    if KIND == "float64":
        a = (a.to(tl.float64) * 3).to(tl.float32)  # line 8
    elif KIND == "foreign fp8":
        a = a.to(tl.float8e4b8).to(tl.float32)  # line 10
    elif KIND == "own fp8":
        a = a.to(tl.float8e5).to(tl.float32)
    elif KIND == "intrinsic":
        a += tl.extra.toy.fixed_multiply(a.to(tl.int16), a.to(tl.int16))  # line 14
    elif KIND == "operands":
        a += tl.extra.toy.fixed_multiply(a, 3)  # line 16
    tl.store(x + tl.arange(0, N), a)

for kind, options in eval(sys.argv[1]):
    x = np.full(16, 1.2, np.float32)
    try:
        kernel[(1,)](x, 16, kind, **options)
    except tritonx.runtime.errors.TritonError as error:
        print(type(error).__name__, error, end=chr(0))
    else:
        print("done", x[0], end=chr(0))
"""

REFUSED = {
    "toy": [
        (("float64", {}), "PassFailure", "8:.* pass 'toy-refuse-types': toy has no float64"),
        (("foreign fp8", {}), "LanguageError", "at 6:(?s:.)*fp8e4b8(?s:.)*:10:"),
        (("own fp8", {}), "done", "1.25"),
        (("operands", {}), "LanguageError", r"fixed_multiply takes int16, got fp32 and int32\n.*:16:"),
        (("", {"copies": 17}), "ImpossibleOption", "copies must be an integer from 0 to 16, got 17"),
        (("", {"copies": -1}), "ImpossibleOption", "copies must be an integer from 0 to 16, got -1"),
        (("", {"copies": True}), "ImpossibleOption", "copies must be an integer from 0 to 16, got True"),
        (("", {"copys": 1}), "UnknownKeyword", r"copys was specified but unrecognised\n(?s:.)*did you mean 'copies'"),
    ],
    "cpu": [
        (("float64", {}), "done", "3.6"),
        (("intrinsic", {}), "LanguageError", r"for targets of toy alone, not for cpu\n.*:14:"),
    ],
}
"""Backend → what is asked of it, what becomes of that, and how it reads."""


@pytest.mark.parametrize("backend", ["toy", "cpu"])
def test_what_is_taken_and_what_refused(run: Run, tmp_path: Path, backend: str) -> None:
    program = tmp_path / "mistakes.py"
    program.write_text(MISTAKES)
    asked = repr([ask for ask, _, _ in REFUSED[backend]])
    done = run(str(program), asked, TRITONX_BACKEND=backend)
    answers = done.stdout.split(chr(0))[:-1]
    assert len(answers) == len(REFUSED[backend]), done.stdout + done.stderr
    for answer, (ask, kind, text) in zip(answers, REFUSED[backend], strict=True):
        assert answer.startswith(f"{kind} ") and re.search(text, answer), f"{ask}: {answer}"
