"""LLVM text to SPIR-V by LLVM's own target for it.

LLVM 22's target is good for one module a process: the numbers of blocks stand in a table by function and block that
belongs to no module (``SPIRVModuleAnalysis::MAI``; LLVM's issue 160613). A function that is allocated where one of an
earlier module was takes that one's numbers for its blocks, which types or other blocks have as well: a module that
defines an id twice is none, and its code is what the reader makes of that, if it does not crash. So each module is
written in a process that has written none, a fork of a helper; and it is the same for the same text, byte for byte.
"""

from __future__ import annotations

import re
from functools import cache

from tritonx.conversion.llvm_binding import TargetMachine, binding
from tritonx.runtime.errors import TritonError
from tritonx_opencl.extensions import zero_extended
from tritonx_opencl.forked import Failed, forked
from tritonx_opencl.operands import VECTOR
from tritonx_opencl.scalarize import scalarized
from tritonx_opencl.shared_bounds import guarded

llvm = binding()

TRIPLE = "spirv64v1.4-unknown-unknown"
EXTENSIONS = "+SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max"
WIDEST_VECTOR = 16


class CannotTranslate(TritonError):
    """The module has something that SPIR-V for OpenCL cannot say."""


def llvm_version() -> str:
    return "LLVM " + ".".join(map(str, llvm.llvm_version_info))


@cache
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.set_option("", f"--spirv-ext={EXTENSIONS}")


def target_machine() -> TargetMachine:
    """A fresh one each time: LLVM's SPIR-V target keeps a module's types in it and crashes on the next module.

    Without LLVM's optimisations before selection: loop strength reduction writes ``x & 3`` as a truncation to i2, and
    the target makes that an i8, which is ``x & 255`` (LLVM 22). The driver optimises in any case."""
    _initialise()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(opt=0)


@cache
def data_layout() -> str:
    return str(target_machine().target_data)


def kernel_name(text: str) -> str:
    """The symbol of the kernel in LLVM text."""
    found = re.search(r"define spir_kernel void @(\w+)", text)
    if found is None:
        raise CannotTranslate("the module has no kernel")
    return found.group(1)


def module_of(text: str, *, verify: bool = False) -> dict[str, str | bytes]:
    """The SPIR-V module as ``spv``, or what it cannot say as ``cannot``: what the stage calls, in a helper. With
    ``verify`` what LLVM's verifier finds is a ``RuntimeError``."""
    if verify:
        llvm.parse_assembly(text).verify()
    _initialise()
    try:
        return {"spv": forked(_written, legal(text))}
    except CannotTranslate as error:
        return {"cannot": str(error)}
    except Failed as error:
        raise RuntimeError(str(error)) from None


def _written(text: str) -> bytes:
    """A SPIR-V module, the first of this process."""
    return bytes(target_machine().emit_object(llvm.parse_assembly(text)))


def legal(text: str) -> str:
    """The text with what SPIR-V can say. Raises CannotTranslate for what would end the process in LLVM."""
    written = zero_extended(scalarized(guarded(str(llvm.parse_assembly(text)))))
    for match in VECTOR.finditer(written):
        if int(match[1]) > WIDEST_VECTOR:
            raise CannotTranslate(f"a value of type {match[0]} crosses a call of a function that was not inlined")
    return written
