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


def link(module: Module, libraries: Sequence[Module], triple: str, data_layout: str) -> None:
    """Put the libraries' functions and variables into ``module`` as its own, so that unused ones go when it is
    optimised."""
    own = {each.name for each in (*module.functions, *module.global_variables) if not each.is_declaration}
    for library in libraries:
        library.triple, library.data_layout = triple, data_layout
        module.link_in(library)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in own and not each.name.startswith("llvm."):
            each.linkage = "internal"
