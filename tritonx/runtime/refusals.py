"""Names of Triton's that tritonx does not offer: using one says why.

    __getattr__ = refusing(__name__, {"CodeGenerator": "kernels are compiled by another front end"})

``hasattr`` is false, as for a name that is not there, and ``from module import name`` is an ImportError, which
libraries that can do without expect; both carry the reason.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Mapping
from types import FrameType

from tritonx.runtime.errors import NotOffered, NotOfferedImport


def _imports(frame: FrameType | None) -> bool:
    """Whether ``frame`` is at a ``from … import``, which drops the text of an AttributeError."""
    if frame is None or frame.f_lasti < 0:
        return False
    return frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


def refusing(
    module: str, reasons: Mapping[str, str], otherwise: Callable[[str], object] | None = None
) -> Callable[[str], object]:
    """A module's ``__getattr__``: NotOffered (an AttributeError), or in an import NotOfferedImport (an ImportError),
    for a name of ``reasons``; for another what ``otherwise`` says, by default an AttributeError."""

    def getattribute(name: str) -> object:
        if name not in reasons:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = f"tritonx does not offer {module}.{name}: {reasons[name]}"
        raise NotOfferedImport(text) if _imports(sys._getframe(1)) else NotOffered(text)  # pyright: ignore[reportPrivateUsage]  # who asks decides the error

    return getattribute
