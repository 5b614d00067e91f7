"""A parameter of a program, as the launch gives it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter: its type in the IR, and the LLVM type that the program takes."""

    type: str
    llvm: str
