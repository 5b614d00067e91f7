"""tritonx-opt on every kind of wrong input: one diagnostic with a place, exit code 1 for the text and 2 for
the arguments, never a traceback."""

from __future__ import annotations

import io
import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.tools import opt

GOOD = """module {
  tt.func public @f(%x: i32, %p: !tt.ptr<i32>) {
    %c = arith.constant 0 : i32
    %y = arith.addi %x, %c : i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  }
}
"""


def run(*argv: str, stdin: str | bytes = GOOD) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    given = io.StringIO(stdin) if isinstance(stdin, str) else io.BytesIO(stdin)
    code = opt.run(list(argv), given, out, err)
    return code, out.getvalue(), err.getvalue()


WRONG_TEXT = {
    "empty": ("", "<stdin>:1:1: error: the input is empty"),
    "blank": (" \n\t\n", "<stdin>:1:1: error: the input is empty"),
    "prose": ("once upon a time", "<stdin>:1:"),
    "unknown op": ("module {\n  tt.nonsense\n}", "<stdin>:2:"),
    "unknown dialect": ("module {\n  foo.bar\n}", "<stdin>:2:"),
    "unknown type": ("module {\n  tt.func @f(%x: !tt.nonsense) { tt.return }\n}", "<stdin>:2:"),
    "unclosed": ("module {\n  tt.func @f() {", "<stdin>:2:"),
    "unclosed string": ('module attributes {a = "b} {}', "<stdin>:1:"),
    "undefined value": ("tt.func @f() -> i32 { tt.return %x : i32 }", "<stdin>:1:"),
    "wrong type": (GOOD.replace("0 : i32", "0.5 : f32"), "<stdin>:4:"),
    "verifier": (GOOD.replace("%x: i32, ", "%x: i64, "), "<stdin>:4:"),
    "integer out of range": (GOOD.replace("constant 0 :", "constant 99999999999999999999 :"), "<stdin>:4:"),
    "bad shape": ("tt.func @f(%x: tensor<4x-1xf32>) { tt.return }", "<stdin>:1:"),
    "no dominance": (
        "tt.func @f() {\n  %b = arith.addi %a, %a : i32\n  %a = arith.constant 1 : i32\n  tt.return\n}",
        "<stdin>:2:",
    ),
    "not defined": ("tt.func @f() -> i1 {\n  tt.return %a : i1\n}", "<stdin>:"),
    "deep regions": (
        "module { tt.func @f(%c: i1) {" + "scf.if %c {" * 5000 + "}" * 5000 + " tt.return } }",
        "<stdin>:1:",
    ),
    "deep types": ("tt.func @f(%x: " + "!tt.ptr<" * 9000 + "i32" + ">" * 9000 + ") { tt.return }", "<stdin>:1:"),
    "deep attributes": ("module attributes {a = " + "[" * 9000 + "]" * 9000 + "} {}", "<stdin>:1:"),
}


@pytest.mark.parametrize("case", WRONG_TEXT)
def test_wrong_text(case: str) -> None:
    text, start = WRONG_TEXT[case]
    code, out, err = run(stdin=text)
    assert code == 1 and out == ""
    assert err.startswith(start), err
    assert "error: " in err.splitlines()[0] and "Traceback" not in err
    assert len(err.splitlines()) < 8 and all(len(line) < 1000 for line in err.splitlines())


UNDEFINED = """module {
  tt.func @g(%nope: i32) {
    tt.return
  }
  tt.func @f(%n: i32) {
    %c = arith.constant 1 : i32
    %s = scf.for %i = %c to %n step %c iter_args(%a = %c) -> (i32) : i32 {
      %b = arith.addi %a, %nope : i32
      scf.yield %b : i32
    }
    %d = arith.addi %nope, %s : i32
    %e = arith.addi %d, %other : i32
    tt.return
  }
}
"""


def test_an_undefined_value_is_pointed_at_where_it_is_used_first() -> None:
    """Names of another function are none, and one that is defined further down is not named."""
    code, _, err = run(stdin=UNDEFINED)
    first, source, caret, *_ = err.splitlines()
    assert code == 1 and first == "<stdin>:8:27: error: %nope is used and not defined, nor are %other"
    assert source[len(caret) - 1 :].startswith("%nope")
    late = "%e = arith.addi %late, %d : i32\n    %late = arith.addi %d, %d : i32"
    _, _, err = run(stdin=UNDEFINED.replace("%a, %nope", "%a, %i").replace("%e = arith.addi %d, %other : i32", late))
    assert err.startswith("<stdin>:11:21: error: %nope is used and not defined\n"), err


def test_the_caret_is_under_the_column() -> None:
    _, _, err = run(stdin=GOOD.replace("arith.addi", "arith.addo"))
    first, source, caret, *_ = err.splitlines()
    assert int(first.split(":")[2]) == len(caret) and caret.strip() == "^"
    assert source == "    %y = arith.addo %x, %c : i32"


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"module {}\n\x80", "module {}".encode("utf-16"), b"\x7fELF\0\0\0"])
def test_bytes_that_are_no_text(data: bytes) -> None:
    code, out, err = run(stdin=data)
    assert code == 2 and out == "" and ("UTF-8" in err or "NUL" in err)


def test_random_bytes_and_mutations_never_escape() -> None:
    from random import Random

    random = Random(7)
    for _ in range(150):
        text = list(GOOD)
        for _ in range(random.randrange(1, 6)):
            where = random.randrange(len(text))
            text[where : where + random.randrange(4)] = random.choice(
                ["", "{", "}", ":", "%x", "<", '"', "tt.", "9", "!", "é", "\0"]
            )
        code, _, err = run("-p", "inline,fold,cse,dce", stdin="".join(text))
        assert code in (0, 1) and (code == 0) == (err == ""), err
        assert "internal error" not in err and "cannot read this" not in err, err


ARGUMENTS = {
    "unknown pass": (["-p", "fold,foldd"], "<pipeline>:1:6: error: unknown pass 'foldd'; did you mean 'fold'?"),
    "unknown option": (["-p", "licm{hoist=1}"], "<pipeline>:1:1: error: pass 'licm'"),
    "wrong option type": (["-p", 'licm{hoist-loads="a"}'], "<pipeline>:1:1: error: pass 'licm'"),
    "bad syntax": (["-p", "fold,,cse"], "<pipeline>:1:6: error: "),
    "unclosed braces": (["-p", "licm{hoist-loads=true"], "<pipeline>:1:"),
    "unknown flag": (["--frobnicate"], "tritonx-opt: error: "),
    "missing file": (["/no/such/file.mlir"], "/no/such/file.mlir: error: No such file"),
    "directory": (["/"], "/: error: "),
    "unknown target": (["--target", "abacus:9", "--until", "ttir"], "<target>: error: abacus:9"),
    "unknown arch": (["--target", "cpu:z80", "--until", "ttir"], "<target>: error: cpu:z80"),
    "unknown stage": (["--target", "cpu", "--until", "beans"], "<target>: error: cpu has no stage 'beans'"),
    "stages backwards": (
        ["--target", "cpu", "--from", "obj", "--until", "ttir"],
        "<target>: error: stage 'ttir' comes before",
    ),
    "unknown pass to print": (["--print-ir-after", "nosuch"], "tritonx-opt: error: --print-ir-after: "),
    "target without stage": (
        ["--target", "cpu"],
        "tritonx-opt: error: --target cpu runs nothing without -t, --until or",
    ),
    "stage without target": (["--until", "ttir"], "tritonx-opt: error: --until ttir needs --target"),
    "option without value": (["--target", "cpu", "--option", "num_warps"], "<option>:1:1: error: expected key=value"),
    "unknown compile option": (["--target", "cpu", "--option", "beans=1"], "<target>: error: cpu: "),
    "impossible compile option": (["--target", "cpu", "--option", "num_warps=3"], "<target>: error: cpu: "),
    "pipeline without stage": (["--pipeline", "cpu"], "<pipeline>:1:1: error: expected TARGET:STAGE"),
    "output directory": (["-o", "/"], "tritonx-opt: error: --output /: "),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_wrong_arguments(case: str) -> None:
    argv, start = ARGUMENTS[case]
    code, out, err = run(*argv)
    assert code == 2 and out == "" and err.startswith(start), err
    assert "Traceback" not in err


@pytest.mark.parametrize(("target", "stage"), [("cuda:90", "ptx"), ("hip:gfx942", "amdgcn")])
def test_a_module_without_a_kernel_is_refused(target: str, stage: str) -> None:
    code, _, err = run("--target", target, "-t", stage, stdin="tt.func private @f() {\n  tt.return\n}\n")
    assert (
        code == 1
        and err == f"<stdin>: error: stage '{stage}': the module has no kernel: none of its functions is public\n"
    )


def test_a_failing_pass_prints_a_command_that_fails_the_same_way() -> None:
    text = "tt.func @f() {\n  tt.call @f() : () -> ()\n  tt.return\n}\n"
    code, out, err = run("-p", "fold,inline,dce", stdin=text)
    assert code == 1 and out == ""
    assert err.startswith("<stdin>:2:3: error: pass 'inline': recursive call of 'f'")
    command = next(line for line in err.splitlines() if line.startswith("reproduce: "))
    _, name, flag, pipeline, path = command.split(" ")
    assert (name, flag, pipeline) == ("tritonx-opt", "-p", "'inline'")
    code, out, again = run("-p", "inline", path)
    Path(path).unlink()
    assert code == 1 and "pass 'inline': recursive call of 'f'" in again


def test_a_failure_points_at_the_kernels_line_where_there_is_one(tmp_path: Path) -> None:
    source = tmp_path / "k.py"
    source.write_text("a\nf()\n")
    assert linecache.getline(str(source), 2) == "f()\n"  # the front end has read a kernel's source
    text = f'tt.func @f() {{\n  tt.call @f() : () -> () loc("{source}":2:1)\n  tt.return\n}}\n'
    _, _, err = run("-p", "inline", stdin=text)
    assert err.splitlines()[:2] == [f"{source}:2:1: error: pass 'inline': recursive call of 'f' (f → f)", "    2 | f()"]


@pytest.mark.parametrize("file", ["secret.txt", "/dev/zero", "/etc/passwd"])
def test_a_location_opens_no_file(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / file
    if not path.exists():
        path.write_text("what must not be seen\n")

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a file was opened for a location")

    text = f'tt.func @f() {{\n  tt.call @f() : () -> () loc("{path}":1:1)\n  tt.return\n}}\n'
    with monkeypatch.context() as patched:
        patched.setattr("tokenize.open", opened)
        code, _, err = run("-p", "inline", stdin=text)
    assert code == 1 and err.startswith(f"{path}:1:1: error: pass 'inline': recursive call of 'f'")
    assert "must not be seen" not in err and "root:" not in err
    assert "<stdin>:2:3: the op in the input" in err and "  tt.call @f()" in err


def test_good_input() -> None:
    code, out, err = run("-p", "fold,dce")
    assert (code, err) == (0, "")
    assert "arith" not in out and out.endswith("}\n")
    assert run(stdin=out)[1] == out
    assert run(stdin=b"\xef\xbb\xbf" + GOOD.encode())[0] == 0


def test_generic_form_and_locations_can_be_read_back() -> None:
    generic = run("--mlir-print-op-generic", "--print-debuginfo")[1]
    assert '"arith.addi"' in generic and "loc(" in generic
    assert run(stdin=generic)[1] == run()[1]


def test_output_file(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    assert run("-o", str(path))[:2] == (0, "")
    assert path.read_text() == run()[1]


def test_split_input_reports_true_lines_and_goes_on() -> None:
    text = GOOD + "// -----\nmodule {\n  foo.bar\n}\n// -----\n" + GOOD
    code, out, err = run("--split-input-file", stdin=text)
    assert code == 1 and err.startswith("<stdin>:11:")
    assert out.count("module") == 2 and out.count("// -----") == 1


def test_verify_diagnostics() -> None:
    good = "module {\n  // expected-error@+1 {{not registered}}\n  foo.bar\n}\n"
    assert run("--verify-diagnostics", stdin=good)[0] == 0
    code, _, err = run("--verify-diagnostics", stdin=good.replace("not registered", "beans"))
    assert code == 1 and 'expected error "beans" was not produced' in err and "not registered" in err
    code, _, err = run("--verify-diagnostics", stdin=good.replace("@+1", "@-1"))
    assert code == 1
    code, _, err = run("--verify-diagnostics", stdin=GOOD + "// expected-error {{x}}\n")
    assert code == 1 and err.startswith("<stdin>:9:1: error: expected error")


def test_stages_of_a_target_by_name() -> None:
    code, ttir, err = run("--target", "cpu", "--until", "ttir")
    assert (code, err) == (0, "") and "arith.addi" not in ttir
    assert run("--pipeline", "cpu:ttir")[1] == ttir
    llir = run("--target", "cpu", "--until", "llir")[1]
    assert "define" in llir
    assert run("--target", "cpu", "-t", "llir", stdin=ttir)[1] == llir


def test_watching() -> None:
    _, _, err = run("-p", "fold,dce", "--print-ir-before-all", "--print-ir-after-all", "--time-passes")
    order = [line for line in err.splitlines() if "IR Dump" in line]
    assert [line.split("IR Dump ")[1].split(" //")[0] for line in order] == [
        "Before fold",
        "After fold",
        "Before dce",
        "After dce",
    ]
    assert " ms " in err and err.rstrip().endswith("total")


def test_listings() -> None:
    assert "\n    fold " in run("--list-passes")[1]
    assert "stages of cpu" in run("--list-backends")[1]
    assert "  tt\n" in run("--list-dialects")[1]


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "good.mlir"
    path.write_text(GOOD)
    # The reader is gone long before anything is written.
    shell = f"{sys.executable} -m tritonx.tools.opt {path} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=120)
    assert (done.stderr, done.returncode) == ("", 141)


def test_the_command_starts_without_what_it_does_not_need() -> None:
    code = (
        "import sys; from tritonx.tools import opt; import io\n"
        "opt.run(['-p', 'fold,cse,dce'], io.StringIO('module {}'), io.StringIO(), io.StringIO())\n"
        "opt.run(['--list-passes'], io.StringIO(), io.StringIO(), io.StringIO())\n"
        "heavy = ('numpy', 'llvmlite', 'torch', 'xdsl.xdsl_opt_main', 'tritonx.interpreter')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ})
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
