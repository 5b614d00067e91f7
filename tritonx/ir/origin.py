"""Where the LLVM text of a compile comes from: what a message about it can name, and whether it may be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True)
class Origin:
    """``kernel`` is the function that is launched. ``foreign`` are the ops whose code the emitters pass on without
    knowing it (inline assembly, functions of a library that the backend does not list), in the order of their
    ``!srcloc`` numbers, which count from 1."""

    kernel: Operation | None = None
    foreign: tuple[Operation, ...] = ()
