"""ROCm's device library: every function that `tl.extra.libdevice` has on AMD compiles and links; without the library
the error says what to install."""

from __future__ import annotations

import pytest

from tritonx.backends.amd import BACKEND, codegen, device_library
from tritonx.backends.api import Compilation, run_stages
from tritonx.ir.text import parse_module
from tritonx.runtime import installed

IR_TYPES = {"fp32": "f32", "fp64": "f64", "int32": "i32", "int64": "i64"}
ARCHES = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")


needs_library = pytest.mark.skipif(not device_library.found("ocml.bc"), reason="no ocml.bc")


def everything(type_: str, target) -> tuple[str, int]:
    """A kernel that calls every function whose first argument is of `type_`, and how many there are."""
    lines, stores = [], []
    for overloads in BACKEND.extern_functions(target).values():
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


@needs_library
@pytest.mark.parametrize("type_", ["fp32", "fp64"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201"])
def test_every_function_compiles_and_links(arch, type_):
    target = BACKEND.parse_target(arch)
    text, count = everything(type_, target)
    assert count >= 80
    options = BACKEND.parse_options(target, {})
    made = run_stages(parse_module(text), BACKEND.stages(target, options), Compilation(target, options))
    assert "@__ocml_" in made["llir"]
    assert made["hsaco"].startswith(b"\x7fELF")


@needs_library
@pytest.mark.parametrize("arch", ARCHES)
def test_functions_of_the_language_in_double_precision(arch):
    target = BACKEND.parse_target(arch)
    names = "exp exp2 log log2 sin cos erf sqrt rsqrt".split()
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
    options = BACKEND.parse_options(target, {})
    made = run_stages(parse_module(text), BACKEND.stages(target, options), Compilation(target, options))
    assert "__ocml" in made["llir"] and "__ocml" not in made["amdgcn"]


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
