"""What xDSL reads of a class's annotations is made to be the class's own.

A class without annotations gives an empty dict for ``cls.__annotations__``. Up to Python 3.13 that is no longer so once
anybody has asked its metaclass for *its* annotations: the dict that Python makes for that stays in the metaclass, where
it hides the descriptor of `type`, and the class gives those of the first class that it is derived from and that has
some (PEP 749, "Metaclass behavior", has the details). `inspect`, serialisers and test tools ask every class that they
meet, `abc.ABCMeta` among them. xDSL's ops are of that metaclass, and most have no annotations: each then has those of
`IRDLOperation`, and its definition fails with ``Invalid ClassVar name "assembly_format"``.

So the empty dict is taken away again (Python makes it anew for who asks) before a module of xDSL is executed, whoever
imports it, and before an op of ours is defined."""

from __future__ import annotations

import sys
from abc import ABCMeta

TYPE_CHECKING = False  # as in `tritonx`: its import is this module's
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_LIBRARY = "xdsl"


def forget_empty(metaclass: type = ABCMeta) -> None:
    """Take the empty annotations of a metaclass, and of those that it is derived from, away.

    >>> from abc import ABC, ABCMeta
    >>> class Annotated(ABC):
    ...     field: int
    >>> class Bare(Annotated): ...
    >>> asked = ABCMeta.__annotations__
    >>> forget_empty()
    >>> Bare.__annotations__
    {}
    """
    for known in metaclass.__mro__:
        if vars(known).get("__annotations__") == {}:
            try:
                del known.__annotations__
            except AttributeError:  # another thread has
                pass


class BeforeLibrary:
    """A finder that finds nothing: before a module of xDSL is looked for, `forget_empty`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith(_LIBRARY):
            forget_empty()
        return None


def watch_imports() -> None:
    """From now on every import of xDSL in this process is preceded by `forget_empty`."""
    if not any(isinstance(finder, BeforeLibrary) for finder in sys.meta_path):
        sys.meta_path.insert(0, BeforeLibrary())  # pyright: ignore[reportArgumentType]  # find_spec is all that is asked of one
