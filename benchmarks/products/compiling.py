"""A launch of a case compiled for a target that need not be here."""

from __future__ import annotations

import contextlib
import io
import re
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from products.case import Call, Described
from products.launches import Compiler, kernel_of

TYPES = {
    torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32", torch.float64: "fp64", torch.int8: "i8",
    torch.uint8: "u8", torch.int32: "i32", torch.int64: "i64", torch.float8_e4m3fn: "fp8e4nv",
    torch.float8_e5m2: "fp8e5",
}  # fmt: skip

LAUNCH = ("num_warps", "num_stages")


@dataclass(frozen=True)
class Built:
    """``ms`` are the processors'. ``resources``: what ptxas says. ``loops``: what became of each. ``problem`` where it
    cannot be compiled."""

    ms: float = 0.0
    resources: str = ""
    loops: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Specialised:
    """As a launch would: integers of 1 are constants, multiples of 16 are known as such."""

    signature: dict[str, str]
    constants: dict[tuple[int], Any]
    attributes: dict[tuple[int], list[list[Any]]]


def specialised(kernel: Any, call: Call) -> Specialised:
    given = {**dict(zip(kernel.arg_names, call.arguments, strict=False)), **call.options}
    signature: dict[str, str] = {}
    constants: dict[tuple[int], Any] = {}
    aligned: list[int] = []
    for place, parameter in enumerate(kernel.params):
        value = given.get(parameter.name, parameter.default)
        signature[parameter.name] = "constexpr" if parameter.is_constexpr or _is_one(value) else _type_of(value)
        if signature[parameter.name] == "constexpr":
            constants[(place,)] = value
        elif isinstance(value, torch.Tensor) or (isinstance(value, int) and value % 16 == 0):
            aligned.append(place)
    return Specialised(signature, constants, {(place,): [["tt.divisibility", 16]] for place in aligned})


def _is_one(value: Any) -> bool:
    return isinstance(value, int) and value == 1


def _type_of(value: Any) -> str:
    if isinstance(value, Described):
        return f"tensordesc<{TYPES[value.matrix.dtype]}{list(value.block)}>"
    if isinstance(value, torch.Tensor):
        return f"*{TYPES[value.dtype]}"
    return "i32" if isinstance(value, int) else "fp32"


def identity(call: Call) -> str:
    """Of two launches the same where they run the same code."""
    launch = [call.options.get(name) for name in LAUNCH]
    return f"{call.kernel} {specialised(kernel_of(call, 'tritonx'), call)} {launch}"


def built(call: Call, compiler: Compiler, target: str, own: dict[str, Any]) -> Built:
    """To the cubin; ``own`` are options that only tritonx has."""
    kernel = kernel_of(call, compiler)
    given = specialised(kernel, call)
    options = {name: call.options[name] for name in LAUNCH if name in call.options}
    options |= own if compiler == "tritonx" else {}
    said, start = io.StringIO(), _busy()
    try:
        with contextlib.redirect_stderr(said):
            made = (_ours if compiler == "tritonx" else _theirs)(kernel, given, target, options)
    except Exception as problem:
        return Built(problem=f"{type(problem).__name__}: {str(problem)[-300:]}")
    ms = (_busy() - start) * 1e3
    lines = (line.split("pipeline: ", 1) for line in said.getvalue().splitlines())
    loops = tuple(f"{line[0].split('/')[-1]}{line[1]}" for line in lines if len(line) == 2)
    return Built(ms, launched(made.metadata) if compiler == "tritonx" else resources(made.asm["ptx"]), loops)


def _busy() -> float:
    """Seconds that processors have worked for this process and those it started: other work does not lengthen them."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _ours(kernel: Any, given: Specialised, target: str, options: dict[str, Any]) -> Any:
    """What a launch runs."""
    import tritonx
    from tritonx.backends.registry import launch_options, parse_target
    from tritonx.compiler import ASTSource

    source = ASTSource(kernel, given.signature, constexprs=given.constants, attrs=given.attributes)
    backend, chip = parse_target(target)
    return tritonx.compile(source, target=chip, options=launch_options(backend, chip, options))


def _theirs(kernel: Any, given: Specialised, target: str, options: dict[str, Any]) -> Any:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(kernel, given.signature, constexprs=given.constants, attrs=given.attributes)
    return triton.compile(source, target=GPUTarget("cuda", int(target[5:]), 32), options=options)


def launched(metadata: Any) -> str:
    """As ``resources``, of the cubin that is launched: where a kernel spills, the assembler has been asked again."""
    warnings = sorted(set(re.findall(r"C75\d\d", metadata.assembler_log)))
    return ", ".join([f"{metadata.registers} registers", f"{metadata.spills} bytes spilled", *warnings])


def resources(ptx: str) -> str:
    """Registers, spills and what the assembler warns of."""
    from tritonx.backends.nvidia.assembler.assemble import find_ptxas
    from tritonx.backends.nvidia.assembler.assemble import resources as counted

    ptxas, name = find_ptxas(), re.search(r"\.target (\w+)", ptx)
    if ptxas is None or name is None:
        return "no ptxas"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [ptxas, "-v", f"-arch={name[1]}", str(source), "-o", str(source.with_suffix(".cubin"))]
        log = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    registers, spilled, _ = counted(log)
    warnings = sorted(set(re.findall(r"C75\d\d", log)))
    return ", ".join([f"{registers} registers", f"{spilled} bytes spilled", *warnings])
