"""What an `IRSource` says of the kernel in a text, in Triton's words."""

from __future__ import annotations

from pathlib import Path

from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import IRSource

TYPES = {
    "!tt.ptr<f32>": "*f32",
    "!tt.ptr<f16, 3>": "*f16",
    "!tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}": "*f8E4M3FN",
    "!tt.ptr<i1>": "*i1",
    "i1": "i1",
    "bf16": "bf16",
    "!tt.ptr<!tt.ptr<f32>>": "*!tt.ptr<f32>",
    "i32 {tt.divisibility = 16 : i32, tt.nv_tma_desc = 0 : i32}": "nvTmaDesc",
    "!tt.ptr<i8> {tt.nv_tma_desc = 1 : i32}": "nvTmaDesc",
}
"""A parameter's type → how Triton 3.6's IRSource names it."""


def source(folder: Path, parameters: list[str]) -> IRSource:
    written = ", ".join(f"%a{i}: {each}" for i, each in enumerate(parameters))
    file = folder / "kernel.ttir"
    file.write_text(f"module {{\n  tt.func public @named({written}) {{\n    tt.return\n  }}\n}}\n")
    return IRSource(file)


def test_name_and_signature(tmp_path: Path) -> None:
    found = source(tmp_path, list(TYPES))
    assert found.name == "@named"
    assert found.signature == dict(enumerate(TYPES.values()))


def test_without_attributes(tmp_path: Path) -> None:
    assert source(tmp_path, ["i32", "f64"]).signature == {0: "i32", 1: "f64"}
    assert source(tmp_path, []).signature == {}


def test_parameters_have_the_names_of_launches(tmp_path: Path) -> None:
    parameters = source(tmp_path, ["!tt.ptr<f32>", "i1", "!tt.ptr<f8E5M2>"]).parameters()
    assert [(p.name, p.type) for p in parameters] == [("arg0", "*fp32"), ("arg1", "u1"), ("arg2", "*fp8e5")]


def test_what_is_not_private_is_a_kernel(tmp_path: Path) -> None:
    """As MLIR has it: a word on who calls a function may be left out."""
    texts: list[str] = []
    for visibility in ("", "public "):
        file = tmp_path / "kernel.ttir"
        body = "tt.store %a, %n : !tt.ptr<i32>\n  tt.return"
        file.write_text(f"tt.func {visibility}@named(%a: !tt.ptr<i32>, %n: i32) {{\n  {body}\n}}\n")
        texts.append(str(compile(str(file), "cuda:90").asm["ptx"]))
    assert texts[0] == texts[1] and ".visible .entry named(" in texts[0]
