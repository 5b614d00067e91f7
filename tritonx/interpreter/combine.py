"""The combine functions of the language's own library (the sum of two scalars, the larger one, ...), compiled once.

A kernel's own combine functions run as Python, so that they can be debugged. Those behind `tl.sum` or `tl.cumsum` are
not the kernel's: they become IR, which runs on all lanes in a few microseconds, and mean the same.
"""

from __future__ import annotations

import threading
from functools import lru_cache

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.ir import Block, Region, SSAValue

from tritonx.backends.api import Target
from tritonx.dialects.tile import FuncOp, ReturnOp
from tritonx.frontend.codegen.function import FunctionGenerator
from tritonx.frontend.codegen.module import ModuleGenerator
from tritonx.frontend.semantics import ir_type
from tritonx.interpreter.execution import Execution, LaneFunction
from tritonx.interpreter.machine import Machine, is_straight_line, single_ufunc
from tritonx.interpreter.memory import Memory
from tritonx.interpreter.options import InterpreterOptions
from tritonx.kernel.declaration import KernelDeclaration
from tritonx.language.values.base import base_type

TARGET = Target("interpreter")
_LIBRARY = "tritonx.language"


def library_combine(fn: object, types: tuple[base_type, ...]) -> LaneFunction | None:
    """`fn` on scalars of `types`, if it belongs to the library and does the same on every lane; else None. It is this
    thread's: a machine's functions have one frame each."""
    return _bound(fn, types, threading.get_ident())


@lru_cache(maxsize=256)
def _bound(fn: object, types: tuple[base_type, ...], thread: int) -> LaneFunction | None:
    if not isinstance(fn, KernelDeclaration) or not fn.module.startswith(_LIBRARY):
        return None
    module = ModuleGenerator(InterpreterOptions(), TARGET)
    generator = FunctionGenerator(module, module.source_of(fn))
    block = Block(arg_types=[ir_type(t) for t in types])
    handles = iter(block.args)
    generator.arguments = {name: t.rebuild(handles) for name, t in zip(fn.arg_names, types, strict=True)}
    generator.bind(generator.arguments)
    with module.builder.at(block):
        outcome = generator.statements(generator.source.definition.body, tail=True)
        returned: list[SSAValue] = [] if outcome is None else outcome.value.handles()
        module.builder.create(ReturnOp, returned)
    if [value.type for value in returned] != [ir_type(t) for t in types[: len(types) // 2]]:
        return None  # a mistake, which the Python function reports
    body = Region(block)
    signature = FunctionType.from_lists([ir_type(t) for t in types], [value.type for value in returned])
    function = FuncOp.create(
        properties={
            "sym_name": StringAttr("combine"),
            "function_type": signature,
            "sym_visibility": StringAttr("public"),
        },
        regions=(body,),
    )
    machine = Machine(ModuleOp([function]), Execution((1, 1, 1), Memory()))
    if not is_straight_line(body, machine.callee):
        return None
    return LaneFunction(machine.function("combine"), single_ufunc(body))
