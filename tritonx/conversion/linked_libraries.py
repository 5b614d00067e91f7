"""Device code that a user links kernels with: the files of the option ``extern_libs``, LLVM bitcode or text.

Helper processes import this module, which imports nothing of ours but LLVM's binding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tritonx.conversion.llvm_binding import Module, binding

_DECLARED = re.compile(r"^declare [^@\n]*@([\w.$]+)\(", re.MULTILINE)
_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""What bitcode begins with: without and with a wrapper (LLVM Bitcode File Format)."""


_OF_DEVICES = frozenset({"vprintf", "__assertfail"})
"""Functions that a device brings itself."""


def declared(text: str) -> frozenset[str]:
    """The functions that a module's text calls and neither it nor the device defines, LLVM's intrinsics excepted."""
    return frozenset(name for name in _DECLARED.findall(text) if not name.startswith("llvm.")) - _OF_DEVICES


def parsed(path: str) -> Module:
    """The module in a file. Raises OSError, and ``RuntimeError`` with the file's name for what LLVM cannot read."""
    content = Path(path).read_bytes()
    try:
        if content.startswith(_BITCODE):
            return binding().parse_bitcode(content)
        return binding().parse_assembly(content.decode())
    except (RuntimeError, UnicodeDecodeError) as error:
        raise RuntimeError(f"{path} is neither LLVM bitcode nor text that this LLVM reads: {error}") from None


def check_signatures(module: Module, library: Module) -> None:
    """What one of two modules declares and the other defines has one type: LLVM links by names alone, and a call of a
    function of another type has no meaning. Raises ``RuntimeError`` with the function and both types."""
    for caller, callee in ((module, library), (library, module)):
        defined = {each.name: each.global_value_type for each in callee.functions if not each.is_declaration}
        for each in caller.functions:
            found = defined.get(each.name)
            if each.is_declaration and found is not None and str(found) != str(each.global_value_type):
                raise RuntimeError(
                    f"the function {each.name!r} is called as {each.global_value_type}, and the library defines {found}"
                )


def link(module: Module, libraries: Sequence[Module], triple: str, data_layout: str) -> None:
    """Put the libraries' functions and variables into ``module`` as its own, so that unused ones go when it is
    optimised. Raises what ``check_signatures`` does."""
    own = {each.name for each in (*module.functions, *module.global_variables) if not each.is_declaration}
    for library in libraries:
        check_signatures(module, library)
        library.triple, library.data_layout = triple, data_layout
        module.link_in(library)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in own and not each.name.startswith("llvm."):
            each.linkage = "internal"
