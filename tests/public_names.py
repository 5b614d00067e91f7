"""What a program may name of tritonx: the names of Triton's that the pages of docs/triton say are there, and ours.

A name stands once, under the first module that offers it; what a module merely imports from elsewhere is none of its
names.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PAGES = Path(__file__).resolve().parents[1] / "docs" / "triton"

OURS = (
    *("tritonx", "tritonx.testing", "tritonx.compiler", "tritonx.runtime.arrays", "tritonx.runtime"),
    *("tritonx.tools.ragged_tma", "tritonx.tools.tensor_descriptor", "tritonx.interpreter", "tritonx.compat"),
    *("tritonx.runtime.errors", "tritonx_testing.conformance", "tritonx.backends.api", "tritonx.backends.gpu"),
    *("tritonx.backends.tile", "tritonx.experimental.gluon.layouts"),
)
"""The modules whose names are offered beside those that Triton has."""

OF_THE_HOST: dict[str, str] = {
    "const": "an annotation of a parameter",
    "constexpr_type": "a type of compile-time values, which a kernel does not name",
    "inline_asm_elementwise": "assembly is a target's",
    "str_to_ty": "of the host",
    "tensor_descriptor": "an annotation of a parameter",
    "tensor_descriptor_type": "a type that a kernel does not name",
    "tuple_type": "a type that a kernel does not name",
}
"""Names of `tl` whose example is a program of the host, and why; those of the others are lines of a kernel."""

_ROW = re.compile(r"^\| `(triton(?:\.\w+)*)\.(\w+)(?:\(.*?\))?` \| (?:same|differs) \|", re.MULTILINE)


def listed(module: ModuleType) -> list[str]:
    """What a module of ours offers: its ``__all__``, the table of one that loads on demand, or what it defines."""
    if hasattr(module, "__all__"):
        return [*module.__all__]
    if "__getattr__" in vars(module) and "__dir__" in vars(module):
        return dir(module)
    return [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]


def _rows() -> Iterator[tuple[str, str]]:
    """(module, name) of the pages; of a class's members none."""
    for page in sorted(PAGES.glob("*.md")):
        for theirs, name in _ROW.findall(page.read_text()):
            module = "tritonx" + theirs.removeprefix("triton")
            try:
                importlib.import_module(module)
            except ModuleNotFoundError:
                continue  # a class
            yield module, name


def _is_ours(value: Any) -> bool:
    home = str(getattr(value, "__module__", None) or "")
    is_plain_value = not inspect.isclass(value) and value.__doc__ is type(value).__doc__
    return callable(value) and not is_plain_value and home.partition(".")[0] == "tritonx"


def offered() -> dict[str, Any]:
    """Name with its module → the function or class."""
    named = [(module, name) for module in OURS for name in listed(importlib.import_module(module))]
    found: dict[int, tuple[str, Any]] = {}
    for module, name in [*named, *_rows()]:
        value = getattr(importlib.import_module(module), name)
        private = name.startswith("_") and (module, name) in named
        if _is_ours(value) and not private:
            found.setdefault(id(value), (f"{module}.{name}", value))
    return dict(found.values())


def described(value: Any) -> str:
    """Its own docstring, without the one that a dataclass makes of its fields, or that is inherited."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else getattr(value, "__doc__", None)
    made = inspect.isclass(value) and str(text or "").startswith(f"{value.__name__}(")
    return "" if made or not isinstance(text, str) else inspect.cleandoc(text)
