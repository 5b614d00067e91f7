"""LLVM text to SPIR-V by LLVM's own target for it.

LLVM 22's target is good for one module a process: the numbers of blocks are in a table by function and block that
belongs to no module (``SPIRVModuleAnalysis::MAI``; LLVM's issue 160613). A function that is allocated where one of an
earlier module was takes that one's numbers for its blocks, which types or other blocks have as well: a module that
defines an id twice is none, and its code is what the reader makes of that, if it does not crash. So each module is
written in a process that has written none, a fork of a helper; and it is the same for the same text, byte for byte.
"""

from __future__ import annotations

from functools import cache

from tritonx.conversion.legal import Legal
from tritonx.conversion.legalize import Illegal, legal_text
from tritonx.conversion.llvm_binding import TargetMachine, binding
from tritonx.conversion.spirv.extensions import zero_extended
from tritonx.conversion.spirv.forked import Failed, forked

llvm = binding()

SHARED = 3
"""The address space that becomes SPIR-V's storage class ``Workgroup``."""


@cache
def _initialise() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


def target_machine(triple: str) -> TargetMachine:
    """A fresh one each time: LLVM's SPIR-V target keeps a module's types in it and crashes on the next module.

    Without LLVM's optimisations before selection: loop strength reduction writes ``x & 3`` as a truncation to i2, and
    the target makes that an i8, which is ``x & 255`` (LLVM 22). The driver optimises in any case."""
    _initialise()
    return llvm.Target.from_triple(triple).create_target_machine(opt=0)


@cache
def spirv_data_layout(triple: str) -> str:
    """LLVM's data layout for the ``triple`` of a SPIR-V target.

    >>> "G1" in spirv_data_layout("spirv64-unknown-unknown")
    True
    """
    return str(target_machine(triple).target_data)


def module_of(
    text: str,
    *,
    triple: str,
    vector: int,
    extensions: str = "",
    guard_shared: bool = False,
    verify: bool = False,
) -> dict[str, str | bytes]:
    """The SPIR-V module as ``spv``, or what it cannot say as ``cannot``: what the stage calls, in a helper. ``vector``
    is the widest one. With ``verify`` what LLVM's verifier finds is a ``RuntimeError``."""
    if verify:
        llvm.parse_assembly(text).verify()
    _initialise()
    try:
        legal = legal_spirv(text, vector, guard_shared=guard_shared)
        return {"spv": forked(lambda module: _written(module, triple, extensions), legal)}
    except Illegal as error:
        return {"cannot": str(error)}
    except Failed as error:
        raise RuntimeError(str(error)) from None


def _written(text: str, triple: str, extensions: str) -> bytes:
    """A SPIR-V module, the first of this process, of which LLVM's options are."""
    if extensions:
        llvm.set_option("", f"--spirv-ext={extensions}")
    return bytes(target_machine(triple).emit_object(llvm.parse_assembly(text)))


def spirv_legal(vector: int = 16) -> Legal:
    """What LLVM's target for SPIR-V takes: no bfloat, no integers of more than 64 bits, logic on truth values.

    >>> spirv_legal().vector
    16
    """
    return Legal(integer=64, orders_truth_values=False, vector=vector, bfloat=False, narrow_accesses=False)


def legal_spirv(text: str, vector: int = 16, *, guard_shared: bool = False) -> str:
    r"""LLVM text with what SPIR-V can say. Raises `Illegal` for what would end the process in LLVM.

    >>> legal_spirv("define void @f() {\n  ret void\n}\n").splitlines()[-1]
    '}'
    """
    printed = str(llvm.parse_assembly(text))
    return zero_extended(legal_text(printed, spirv_legal(vector), guard_shared=SHARED if guard_shared else None))
