"""The functions of f64 on this machine, as functions of arrays."""

# pyright: basic
from __future__ import annotations

import ctypes
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from tritonx.conversion.llvm_writer import Module
from tritonx.conversion.mathlib.doubles.table import define, parameter_types


@cache
def _compiled(name: str):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module, types = Module(), parameter_types(name, "double")
    assert set(types) == {"double"}
    symbol = define(module, name, double=True)
    parameters = ", ".join(f"double %x{k}" for k in range(len(types)))
    text = f"define double @run({parameters}) {{\n  %r = call double {symbol}({parameters})\n  ret double %r\n}}"
    parsed = llvm.parse_assembly("\n".join([module.print([]), text]))
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2)
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine, ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * len(types))(
        engine.get_function_address("run")
    )


def applied(name: str, *xs: np.ndarray) -> np.ndarray:
    _, function = _compiled(name)
    return np.array([function(*map(float, values)) for values in zip(*xs, strict=True)])
