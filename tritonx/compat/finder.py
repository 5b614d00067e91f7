"""The finder that answers for ``triton`` and its submodules with tritonx's modules."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from email.message import Message
from importlib.abc import InspectLoader, Loader
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from os import PathLike
from types import CodeType, ModuleType
from typing import Any

import tritonx
from tritonx.compat.compile_workers import before_import
from tritonx.compat.paths import search_path
from tritonx.runtime.bindings import ABSENT
from tritonx.runtime.errors import NotOfferedModule

THEIRS, OURS = "triton", "tritonx"


REFUSED: dict[str, str] = {
    **{f"_C.libtriton.{name}": reason for name, reason in ABSENT.items()},
    "compiler.code_generator": "kernels are compiled by `tritonx.frontend`, whose classes are others",
    "compiler.make_launcher": "kernels are launched without a compiled launcher",
    "language.semantic": "what an operation means is said by `tritonx.frontend.semantics`, whose classes are others",
    "tools.build_extern": "it writes Triton's own sources",
    "tools.triton_to_gluon_translater": "kernels of Gluon are not compiled",
}
"""Modules of Triton's that there are none of, below its package → why."""


class _Alias(Loader):
    """Makes a name mean a module that another name imports."""

    def __init__(self, own: str) -> None:
        self.own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.own)
        self.before = module.__spec__, module.__loader__
        for child, known in _hidden(module, self.own):
            sys.modules.setdefault(f"{spec.name}.{child}", known)
        return module

    def get_code(self, fullname: str) -> CodeType | None:
        """What ``python -m`` runs."""
        loader = getattr(importlib.util.find_spec(self.own), "loader", None)
        return loader.get_code(self.own) if isinstance(loader, InspectLoader) else None

    def exec_module(self, module: ModuleType) -> None:
        """The module has run under its own name; what the import system wrote over is put back."""
        module.__spec__, module.__loader__ = self.before


def _hidden(module: ModuleType, name: str) -> list[tuple[str, ModuleType]]:
    """The submodules that a package's attribute of the same name hides, as ``profiler.scope`` does: an import of one by
    its other name would put the module in the attribute's place."""
    found = [
        (each.removeprefix(f"{name}."), known) for each, known in sys.modules.items() if each.startswith(f"{name}.")
    ]
    return [(child, known) for child, known in found if getattr(module, child, known) is not known]


class CompatDistribution(Distribution):
    """What ``importlib.metadata`` says of Triton."""

    def __init__(self, version: str) -> None:
        self._version = version

    @property
    def metadata(self) -> Any:
        """Name and version."""
        message = Message()
        message["Metadata-Version"] = "2.1"
        message["Name"] = THEIRS
        message["Version"] = self._version
        return message

    def read_text(self, filename: str) -> str | None:
        return self.metadata.as_string() if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path: str | PathLike[str]) -> Any:
        return importlib.import_module("pathlib").Path(search_path(), path)


class CompatFinder(DistributionFinder):
    """First on ``sys.meta_path``: no other finder is asked for Triton."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != THEIRS and not fullname.startswith(THEIRS + "."):
            before_import(fullname)
            return None
        inner = fullname.removeprefix(THEIRS)
        own = OURS + inner
        reason = next((r for name, r in REFUSED.items() if f"{inner}.".startswith(f".{name}.")), None)
        if reason is not None:
            raise NotOfferedModule(f"tritonx does not offer {fullname}: {reason}", name=fullname)
        try:
            found = importlib.util.find_spec(own)
        except ModuleNotFoundError:  # a parent that is missing, or no package
            found = None
        if found is None:  # no other finder has one either: the package's folder is tritonx's
            return None
        spec = ModuleSpec(fullname, _Alias(own), origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        spec.has_location = found.has_location
        return spec

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterator[Any]:
        """Triton's only; the other finders have the rest."""
        name = None if context is None else context.name
        if name is not None and name.lower() == THEIRS:
            yield CompatDistribution(tritonx.__triton_version__)
