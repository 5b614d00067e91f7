"""``tl.extra``: ``libdevice``, and by a backend's name the functions that only its targets have.

``tl.extra.<name>`` is the module that the backend of that name gives as ``language_module``; it has a ``libdevice``
of its own only by the table of that backend, so the generic stubs are the same functions; ``submodules`` there names
others. Both forms of an import find it: ``tl.extra.<name>.f`` and ``from tritonx.language.extra.<name> import f``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tritonx.runtime.compiling.targets import language_module


def __getattr__(name: str) -> Any:
    if name == "libdevice":
        return import_module("tritonx.language.extra.libdevice")
    if not name.startswith("_"):
        if (module := language_module(name)) is not None:
            return module
    raise AttributeError(
        f"module 'tritonx.language.extra' has no attribute {name!r}: no backend of that name is installed"
    )


class _BackendModules(Loader):
    """Finds the submodules of this package that are backends' names: a module with the names of the backend's own."""

    @classmethod
    def find_spec(cls, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        backend, _, part = fullname.removeprefix(__name__ + ".").partition(".")
        if not fullname.startswith(__name__ + ".") or (own := language_module(backend)) is None:
            return None
        if part and part not in getattr(own, "submodules", {}):
            return None
        return ModuleSpec(fullname, cls(), is_package=not part)

    def create_module(self, spec: ModuleSpec) -> None:
        """The import system makes it."""

    def exec_module(self, module: ModuleType) -> None:
        backend, _, part = module.__name__.removeprefix(__name__ + ".").partition(".")
        own = __getattr__(backend)
        module.__doc__ = own.__doc__
        shown = own.submodules[part] if part else own.__all__
        module.__dict__.update({name: getattr(own, name) for name in shown})
        if not part:
            sys.modules[f"{module.__name__}.libdevice"] = import_module("tritonx.language.extra.libdevice")


sys.meta_path.append(_BackendModules)
