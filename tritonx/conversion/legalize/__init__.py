"""LLVM text in what a compiler takes: `legal_text` of a `Legal`, by which a machine says what that is."""

from __future__ import annotations

from tritonx.conversion.legal import Legal
from tritonx.conversion.legalize.operands import VECTOR
from tritonx.conversion.legalize.scalarize import scalarized
from tritonx.conversion.legalize.shared_bounds import guarded


class Illegal(Exception):
    """The text has something that cannot be written otherwise.

    >>> issubclass(Illegal, Exception)
    True
    """


def legal_text(text: str, legal: Legal, *, guard_shared: int | None = None) -> str:
    r"""``text``, as LLVM prints a module, in what ``legal`` says. With ``guard_shared``, the address space of shared
    memory, no access leaves the block's share of it. Raises ``Illegal`` for what cannot be written otherwise.

    >>> from tritonx.backends.gpu import Legal
    >>> "define" in legal_text("define void @f() {\n  ret void\n}\n", Legal())
    True
    """
    written = text if guard_shared is None else guarded(text, guard_shared)
    if legal.vector is None:
        return written
    written = scalarized(written, legal)
    for match in VECTOR.finditer(written):
        if int(match[1]) > legal.vector:
            reason = "crosses a call of a function that was not inlined, or is indexed by a value"
            raise Illegal(f"a value of type {match[0]} {reason}")
    return written
