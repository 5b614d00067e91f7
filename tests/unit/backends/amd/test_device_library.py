"""No function that `tl.extra.libdevice` or the language has on AMD needs ROCm's device libraries; LLVM text that names
one is linked with it, and the error says what to install where it is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from random import Random

import pytest

from tritonx.backends.amd import BACKEND, codegen, device_library
from tritonx.backends.api import Compilation, run_stages
from tritonx.ir.text import parse_module
from tritonx.runtime.devices import installed

IR_TYPES = {"fp32": "f32", "fp64": "f64", "int32": "i32", "int64": "i64"}
ARCHES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")


SEED = int(os.environ["TRITONX_SEED"])


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without ROCm and without Triton's wheel: that a library is looked for is an error."""

    def looked_for(name: str) -> None:
        raise AssertionError(f"{name} was looked for")

    monkeypatch.setattr(device_library, "path", looked_for)
    monkeypatch.setattr(device_library, "found", looked_for)


def compiled(text: str, arch: str, until: str = "") -> dict:
    target = BACKEND.parse_target(arch)
    options = BACKEND.parse_options(target, {})
    stages = BACKEND.stages(target, options)
    last = next((i for i, stage in enumerate(stages, 1) if stage.name == until), len(stages))
    return dict(run_stages(parse_module(text), stages[:last], Compilation(target, options)))


def everything(type_: str, target, names: Iterable[str] | None = None) -> tuple[str, int]:
    """A kernel that calls every function (of `names`) whose first argument is of `type_`, and how many there are."""
    lines, stores = [], []
    table = BACKEND.extern_functions(target)
    for overloads in [table[name] for name in (table if names is None else names)]:
        for types, (symbol, result) in overloads.items():
            if types[0] != type_:
                continue
            number = len(stores)
            operands = ", ".join("%x" if t == type_ else "%i" for t in types)
            from_types = ", ".join(f"tensor<128x{IR_TYPES[t]}>" for t in types)
            to_type = f"tensor<128x{IR_TYPES[result]}>"
            lines.append(
                f'%v{number} = tt.extern_elementwise {operands} {{libname = "", libpath = "", pure = true, '
                f'symbol = "{symbol}"}} : ({from_types}) -> {to_type}'
            )
            pointer = f"tensor<128x!tt.ptr<{IR_TYPES[result]}>>"
            lines.append(f"%o{number} = tt.splat %out_{result} : !tt.ptr<{IR_TYPES[result]}> -> {pointer}")
            lines.append(f"%n{number} = arith.constant dense<{128 * number}> : tensor<128xi32>")
            lines.append(f"%m{number} = arith.addi %r, %n{number} : tensor<128xi32>")
            lines.append(f"%p{number} = tt.addptr %o{number}, %m{number} : {pointer}, tensor<128xi32>")
            stores.append(f"tt.store %p{number}, %v{number} : {pointer}")
            lines.append(stores[-1])
    ir = IR_TYPES[type_]
    body = "\n  ".join(lines)
    return (
        f"""tt.func public @everything(%in: !tt.ptr<{ir}>, %out_fp32: !tt.ptr<f32>, %out_fp64: !tt.ptr<f64>,
    %out_int32: !tt.ptr<i32>, %out_int64: !tt.ptr<i64>) {{
  %r = tt.make_range {{start = 0 : i32, end = 128 : i32}} : tensor<128xi32>
  %a = tt.splat %in : !tt.ptr<{ir}> -> tensor<128x!tt.ptr<{ir}>>
  %b = tt.addptr %a, %r : tensor<128x!tt.ptr<{ir}>>, tensor<128xi32>
  %x = tt.load %b : tensor<128x!tt.ptr<{ir}>>
  %i = arith.fptosi %x : tensor<128x{ir}> to tensor<128xi32>
  {body}
  tt.return
}}""",
        len(stores),
    )


def undefined(text: str) -> set[str]:
    """Functions of LLVM text that are neither defined there nor LLVM's own."""
    return {name for name in re.findall(r"^declare .*?@([\w.]+)\(", text, re.M) if not name.startswith("llvm.")}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("arch", "type_"), [*((arch, "fp64") for arch in ARCHES), ("gfx942", "fp32")])
def test_every_function_is_our_own(arch, type_):
    text, count = everything(type_, BACKEND.parse_target(arch))
    assert count >= 80
    assert undefined(compiled(text, arch, "llir")["llir"]) == set()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("type_", ["fp32", "fp64"])
@pytest.mark.parametrize("arch", ARCHES)
def test_functions_become_code(arch, type_):
    """A fresh sample; ``TRITONX_AMD_FUNCTIONS=all`` is every one."""
    target = BACKEND.parse_target(arch)
    names = sorted(BACKEND.extern_functions(target))
    if os.environ.get("TRITONX_AMD_FUNCTIONS") != "all":
        names = Random(f"{SEED} {arch} {type_}").sample(names, 8)
    text, count = everything(type_, target, names)
    made = compiled(text, arch)
    assert made["hsaco"].startswith(b"\x7fELF") or not count


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("arch", ARCHES)
def test_functions_of_the_language_in_double_precision(arch):
    names = "exp exp2 log log2 sin cos tan tanh erf log1p expm1 log10 sqrt rsqrt".split()
    calls = "\n".join(
        f"%v{i} = math.{name} %{'x' if not i else f'v{i - 1}'} : tensor<128xf64>" for i, name in enumerate(names)
    )
    text = f"""tt.func public @language(%in: !tt.ptr<f64>, %out: !tt.ptr<f64>) {{
  %r = tt.make_range {{start = 0 : i32, end = 128 : i32}} : tensor<128xi32>
  %a = tt.splat %in : !tt.ptr<f64> -> tensor<128x!tt.ptr<f64>>
  %b = tt.addptr %a, %r : tensor<128x!tt.ptr<f64>>, tensor<128xi32>
  %x = tt.load %b : tensor<128x!tt.ptr<f64>>
  {calls}
  %c = tt.splat %out : !tt.ptr<f64> -> tensor<128x!tt.ptr<f64>>
  %d = tt.addptr %c, %r : tensor<128x!tt.ptr<f64>>, tensor<128xi32>
  tt.store %d, %v{len(names) - 1} : tensor<128x!tt.ptr<f64>>
  tt.return
}}"""
    made = compiled(text, arch)
    assert undefined(made["llir"]) == set() and made["hsaco"].startswith(b"\x7fELF")


@pytest.mark.parametrize(
    ("arch", "number"), [("gfx90a", 9010), ("gfx942", 9402), ("gfx950", 9500), ("gfx1100", 11000), ("gfx1201", 12001)]
)
def test_numbers_of_instruction_sets(arch, number):
    assert codegen.isa_version(arch) == number


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.delenv("TRITONX_ROCM_BITCODE", raising=False)
    for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    monkeypatch.setattr(installed, "folders", lambda package: [])
    monkeypatch.setattr(installed, "triton_folders", lambda *parts: [])
    monkeypatch.setattr(device_library, "INSTALLED", tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match=r"ocml\.bc.*TRITONX_ROCM_BITCODE"):
        device_library.path.__wrapped__("ocml.bc")
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("TRITONX_ROCM_BITCODE", str(tmp_path / "nothing"))
    (tmp_path / "nothing" / "ocml.bc").touch()
    assert device_library.path.__wrapped__("ocml.bc") == tmp_path / "nothing" / "ocml.bc"
