"""Which release of Triton a program means, where releases differ in meaning: ``TRITONX_LEVEL``, 3.6 to 3.9.

Names, keywords, options and syntax of all these releases are taken at every level. What one of them gives another
result for than the next is a field of `Level`; how releases write IR is another subject (`ir/spelling.py`). The
compiler and the interpreter ask `active()`.

A process has one level. It is ``TRITONX_LEVEL`` when this module is imported, else `DEFAULT`; `tritonx.compat` chooses
that of the installed PyTorch. It is part of every key of a cache.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

VARIABLE = "TRITONX_LEVEL"


@dataclass(frozen=True)
class Level:
    """The decisions, each by the first release that decides so; the values are those of 3.6."""

    name: str = "3.6"
    triton: str = "3.6.0"
    """The release that is offered to libraries that ask for the version."""

    returns_constants: bool = False
    """3.7: a compile-time number that a function returns stays one; before, it became a tensor as if assigned."""
    negates_by_sign: bool = False
    """3.8: ``-x`` of a float flips the sign, so that ``-0.0`` comes of 0.0; before, it was ``0 - x``."""
    dot_of_accumulator: bool = False
    """3.8: `tl.dot` without ``out_dtype`` gives the accumulator's dtype; before, fp32."""
    bf16_stays: bool = False
    """3.9: maximum, minimum, clamp, scans, and max and min with indices, of bf16 give bf16; before, fp32."""
    widens_products: bool = False
    """3.9: `tl.cumprod` of integers under 32 bits gives 32, as `tl.cumsum` does; before, their own dtype."""
    weak_scalars: bool = False
    """3.9: a Python number does not widen the tensors that it meets in comparisons, ``maximum``, ``minimum``,
    ``clamp``, ``fma``, ``fdiv`` and their like; before, it counted as a tensor of its own dtype there."""
    narrow_division_in_f32: bool = False
    """3.9: ``/`` and ``%`` of floats under 32 bits, 8-bit ones too, compute in fp32, and `tl.fdiv` promotes as ``/``
    does and rounds correctly where ``ieee_rounding`` asks for it; before, 8-bit ones stayed what they were."""
    clamps_integers: bool = False
    """3.9: `tl.clamp` takes integers."""
    counts_words_only: bool = False
    """3.9: `tl.histogram` refuses integers of other than 32 bits."""
    stores_truth: bool = False
    """3.9: what is stored through a pointer to `tl.int1` becomes 0 or 1; before, an 8-bit integer."""
    refuses_starred: bool = False
    """3.9: ``a, *b = values`` is refused."""
    checks_tuner_names: bool = False
    """3.9: names of no parameter among ``key``, ``reset_to_zero`` and ``restore_value`` of ``@autotune`` are refused;
    before, they were passed over."""
    names_overrides: bool = False
    """3.9: the text of a `tritonx.Config` names ``ir_override`` where it is None, too."""
    meets_at_updates: bool = False
    """3.9: the threads of a program meet in front of a read-modify-write that releases, and behind one that acquires;
    before, it ordered the accesses of its own thread."""
    keeps_a_configuration: bool = False
    """3.9: a ``top_k`` that is a fraction counts of the configurations left after pruning, and keeps at least one."""


_3_6 = Level()
_3_7 = replace(_3_6, name="3.7", triton="3.7.1", returns_constants=True)
_3_8 = replace(_3_7, name="3.8", triton="3.8.0", negates_by_sign=True, dot_of_accumulator=True)
_3_9 = replace(
    _3_8,
    name="3.9",
    triton="3.9.0",
    bf16_stays=True,
    widens_products=True,
    weak_scalars=True,
    narrow_division_in_f32=True,
    clamps_integers=True,
    counts_words_only=True,
    stores_truth=True,
    refuses_starred=True,
    checks_tuner_names=True,
    keeps_a_configuration=True,
    names_overrides=True,
    meets_at_updates=True,
)
LEVELS = {level.name: level for level in (_3_6, _3_7, _3_8, _3_9)}
DEFAULT = "3.9"
"""The newest."""


def find(name: str) -> Level:
    """The level of that name. Raises ValueError for another one.

    >>> find("3.8").triton
    '3.8.0'
    """
    if name not in LEVELS:
        raise ValueError(f"{name!r} is no level: {VARIABLE} is one of {', '.join(LEVELS)}")
    return LEVELS[name]


_active = find(os.environ.get(VARIABLE) or DEFAULT)


def active() -> Level:
    """The level of this process."""
    return _active


def choose(name: str) -> None:
    """Make ``name`` the level of this process and of those that it starts, before it compiles anything: kernels that
    it holds in memory stay what they are."""
    global _active
    _active = find(name)
    os.environ[VARIABLE] = name


@contextmanager
def at(name: str) -> Generator[None]:
    """``choose`` for the time of a ``with``: for tools that compare levels, of kernels that each time are new."""
    outer, variable = _active.name, os.environ.get(VARIABLE)
    choose(name)
    try:
        yield
    finally:
        choose(outer)
        if variable is None:
            del os.environ[VARIABLE]
