"""What is known of a kernel's launches before there is one: a sealed program writes its launches from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Foretold:
    """``kinds``: the classes of arguments, by parameter; ``options``: the names of options that launches give;
    ``written`` and ``compared``: parameters that the code stores through, and those whose arrays its launcher looks at.
    A launch with others is right, and takes longer."""

    kinds: Mapping[str, type]
    options: Sequence[str]
    written: Collection[str]
    compared: Collection[str]
