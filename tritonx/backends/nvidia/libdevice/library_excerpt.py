"""Linking with libdevice: only the functions that a module calls, as text of their own.

LLVM reads all of the library to link with it, 350 functions, most of a quarter of a second. So it is read and printed
once a process and kept as a dictionary from every name in it (a function, a global, a group of attributes, a piece of
metadata) to the text that defines it; what a module needs is the closure of the names it mentions, a few kilobytes.

A product of the library that has one use may be contracted with it to a fused multiply-add, as those of kernels may.
One that has several may not: LLVM would compute it anew, unrounded, in each sum, and functions that carry an error
along (``u = a * b; e = c - u``) would lose the error of ``u``: ``powf(1.42, -112)`` of 13.0 is off by 18 ulp so, and by
one as it was written. (Triton contracts them.)"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from tritonx.backends.nvidia.libdevice.device_library import PREFIX
from tritonx.conversion.linked_libraries import check_signatures, parsed
from tritonx.conversion.llvm_binding import Module, binding

llvm = binding()

_NAME = re.compile(r"[@#!][\w.]+|%struct\.[\w.]+")
_DEFINED = re.compile(r"(?:define|declare) [^@]*(@[\w.]+)|attributes (#\d+)|([@!][\w.]+|%struct\.[\w.]+) = ")
_SUM = re.compile(r"= (fadd|fsub) (?=float|double)")
_PRODUCT = re.compile(r"(%[\w.]+) = fmul (?=float|double)")
_VALUE = re.compile(r"%[\w.]+")


def definitions(path: str) -> Mapping[str, str]:
    """Every name of the library in this file, and the text that defines it."""
    return _definitions(path, Path(path).stat().st_mtime_ns)


@cache
def _definitions(path: str, written: int) -> Mapping[str, str]:
    """Those of the file that was ``written`` then."""
    lines = iter(str(parsed(path)).splitlines())
    found: dict[str, str] = {}
    for line in lines:
        if (match := _DEFINED.match(line)) is None:
            continue
        text = [line]
        if line.startswith("define"):
            for inner in lines:
                text.append(inner)
                if inner == "}":
                    break
        found[next(filter(None, match.groups()))] = "\n".join(text)
    return found


def excerpt(symbols: Iterable[str], path: str, *, fuse: bool) -> str:
    """A module of the functions ``symbols`` (with their ``@``) of the library in this file and of all that they
    mention. Raises ``ValueError`` for one that the library does not have.
    """
    known = definitions(path)
    wanted, pending = dict[str, str](), list(symbols)
    if missing := sorted(s for s in pending if not known.get(s, "").startswith("define")):
        raise ValueError(f"the device library has no function {missing[0][1:]}")
    while pending:
        name = pending.pop()
        if name in wanted or name not in known:
            continue
        text = known[name]
        wanted[name] = fused(text) if fuse else text
        pending += _NAME.findall(text)
    return "\n".join(wanted[name] for name in sorted(wanted))


def fused(function: str) -> str:
    """The text of a function in which sums may be contracted with products that nothing else reads."""
    mentions = Counter(_VALUE.findall(function))

    def product(found: re.Match[str]) -> str:
        flag = "contract " if mentions[found[1]] == 2 else ""
        return f"{found[0]}{flag}"

    return _PRODUCT.sub(product, _SUM.sub(r"= \1 contract ", function))


def called(text: str) -> list[str]:
    """The functions of the library that a module's text mentions, with their ``@``."""
    return sorted(set(re.findall(rf"{PREFIX}\w+", text)))


def link(module: Module, text: str, path: str, triple: str, data_layout: str, *, fuse: bool) -> None:
    """Put into ``module``, whose text is ``text``, the functions of the library that it calls. Raises ``RuntimeError``
    for one that is called as one of another type."""
    library = llvm.parse_assembly(excerpt(called(text), path, fuse=fuse))
    check_signatures(module, library)
    library.triple, library.data_layout = triple, data_layout
    own = {function.name for function in library.functions if not function.is_declaration}
    module.link_in(library)
    for function in module.functions:
        if function.name in own:
            function.linkage = "internal"
