"""Compiles the kernels of the peer comparison with tritonx's front end, and runs them and Triton's version of them.

    python frontend_runner.py DIRECTORY        DIRECTORY holds what `text_oracle.py dump` wrote

Both modules run in the interpreter on the same random inputs. Prints {kernel: "same" or what differs} as JSON. A
process of its own, because here the name ``triton`` means tritonx."""

import io
import json
import sys
import traceback
from pathlib import Path

import numpy as np

import tritonx
import tritonx.language

sys.modules["triton"] = tritonx
sys.modules["triton.language"] = tritonx.language
for name, module in list(sys.modules.items()):
    if name.startswith("tritonx.language."):
        sys.modules[name.replace("tritonx", "triton", 1)] = module

import kernels_combine  # noqa: E402
import kernels_control  # noqa: E402
import kernels_dot  # noqa: E402
import kernels_elementwise  # noqa: E402
import kernels_memory  # noqa: E402

from tritonx.backends.api import Target  # noqa: E402
from tritonx.frontend.compile import make_module  # noqa: E402
from tritonx.interpreter.machine import interpret  # noqa: E402
from tritonx.interpreter.options import InterpreterOptions  # noqa: E402
from tritonx.ir.text import parse_module  # noqa: E402
from tritonx.ir.verify import verify  # noqa: E402

MODULES = (kernels_elementwise, kernels_combine, kernels_dot, kernels_memory, kernels_control)
ELEMENTS = 1 << 15
SUPPORTED = {f.name for f in InterpreterOptions.__dataclass_fields__.values()}


def compiled(case):
    names = list(case.fn.arg_names)
    attributes = {
        (names.index(n),): [["tt.divisibility", 16]] for n, t in case.signature.items() if t[0] == "*" or t == "i32"
    }
    signature = {n: case.signature.get(n, "constexpr") for n in names}
    constants = {(names.index(k),): v for k, v in case.constants.items()}
    given = {k: v for k, v in case.options.items() if k in SUPPORTED}
    options = InterpreterOptions(**{"default_dot_input_precision": "tf32", "sanitize_overflow": True, **given})
    module = make_module(case.fn, signature, constants, attributes, options, Target("cuda", 90, 32))
    verify(module)
    return module


def arguments(case, random):
    """Random inputs in the order of the run-time parameters: arrays for pointers, small positive numbers."""
    values = []
    for name in case.fn.arg_names:
        kind = case.signature.get(name, "constexpr")
        if kind == "constexpr":
            continue
        if kind.startswith("*"):
            values.append(array(kind.lstrip("*").removeprefix("k"), random))
        elif kind.startswith("tensordesc"):
            return None
        else:
            values.append(float(random.uniform(0.5, 2)) if "f" in kind else int(random.choice([16, 32])))
    return values


def array(kind, random):
    import ml_dtypes

    floats = {"fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "bf16": ml_dtypes.bfloat16}
    if kind in floats:
        return random.uniform(-1, 1, ELEMENTS).astype(floats[kind])
    if kind.startswith("fp8"):
        return random.uniform(-1, 1, ELEMENTS).astype(
            ml_dtypes.float8_e5m2 if "e5" in kind else ml_dtypes.float8_e4m3fn
        )
    bits = int(kind[1:])
    if bits == 1:
        return random.integers(0, 2, ELEMENTS).astype(np.bool_)
    return random.integers(0, 64, ELEMENTS).astype(np.dtype(f"{'u' if kind[0] == 'u' else ''}int{bits}"))


def outcome(module, values, grid):
    """What went wrong in a run, "ran" if nothing did."""
    try:
        interpret(module, grid, values, output=io.StringIO())
        return "ran"
    except Exception as error:
        return type(error).__name__


def verdict(case, theirs):
    ours = compiled(case)
    values = arguments(case, np.random.default_rng(len(case.name)))
    if values is None:
        return "skipped: descriptors come from the host"
    before = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
    results = []
    for module in (ours, theirs):  # in the same memory, because kernels may store addresses
        for value, start in zip(values, before, strict=True):
            if isinstance(value, np.ndarray):
                value[:] = start
        fault = outcome(module, values, (2, 1, 1))
        results.append((fault, [v.copy() for v in values if isinstance(v, np.ndarray)]))
    (our_fault, mine), (their_fault, peer) = results
    if our_fault != their_fault:
        return f"ours: {our_fault}; theirs: {their_fault}"
    for index, (a, b) in enumerate(zip(mine, peer, strict=True)):
        wrong = np.flatnonzero((a != b) & ~((a != a) & (b != b)))
        if len(wrong):
            first = f"first at {wrong[0]}: {a[wrong[0]]} against {b[wrong[0]]}"
            return f"array {index} differs in {len(wrong)} elements, {first}"
    return "same"


def main() -> None:
    directory = Path(sys.argv[1])
    verdicts = {}
    for module in MODULES:
        for case in module.CASES:
            path = directory / f"{case.name}.ttir.mlir"
            if not path.exists() or not case.runs_on("cuda:90"):
                continue
            try:
                theirs = parse_module(path.read_text())
            except Exception as error:
                verdicts[case.name] = f"cannot parse Triton's text: {error}"
                continue
            try:
                verdicts[case.name] = verdict(case, theirs)
            except Exception as error:
                missing = "no backend named" in str(error)
                verdicts[case.name] = "skipped: " * missing + "".join(traceback.format_exception_only(error))
    print(json.dumps(verdicts))


main()
