"""Functions that a library took from their kernels. PyTorch's compiler does so before it pickles what a worker has
compiled; the process that gets the kernel launches it, and needs the function where other code of it is compiled."""

from __future__ import annotations

import hashlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import FunctionType, ModuleType


def function_in(file: str, module: str, qualified_name: str) -> FunctionType:
    """The function that ``qualified_name`` stands for in ``module``, or where that is not imported in what ``file``
    makes when it is run. It may be wrapped, as kernels wrap it (``fn``). Raises LookupError, and what the file raises.
    """
    imported = sys.modules.get(module)
    found = None if imported is None else _named(imported, qualified_name)
    found = _named(_run(file), qualified_name) if found is None else found
    if found is None:
        raise LookupError(f"there is no function {qualified_name} in {file}")
    return found


def _run(file: str) -> ModuleType:
    name = f"_tritonx_{hashlib.sha256(file.encode()).hexdigest()[:16]}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise LookupError(f"{file} is no Python file")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _named(module: ModuleType, qualified_name: str) -> FunctionType | None:
    found: object = module
    for part in qualified_name.split("."):
        found = getattr(found, part, None)
    while found is not None and not isinstance(found, FunctionType):
        found = getattr(found, "fn", None)
    return found
