"""Jobs of modules that say what their kernels are compiled with: the cases of `tests/peer`, and variants in styles."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .job import Job

MODULES = ("elementwise", "combine", "dot", "memory", "control", "hopper")
"""Of `tests/peer/kernels_….py`."""

ALIGNED = [["tt.divisibility", 16]]
STYLES = "import triton\nimport triton.language as tl\n"


def of_tests(folder: Path) -> Iterator[Job]:
    """Every ``Case`` of the modules in ``folder``; pointers and i32 are multiples of 16."""
    sys.path.insert(0, str(folder))
    for module in MODULES:
        for case in importlib.import_module(f"kernels_{module}").CASES:
            function = case.fn
            yield declared(
                f"{module}/{case.name}", sys.modules[function.fn.__module__].__file__, function, case.signature,
                case.constants, {n for n, t in case.signature.items() if t[0] == "*" or t == "i32"}, case.options,
                case.targets,
            )  # fmt: skip


def declared(
    name: str, file: str | None, function: Any, signature: dict[str, str], constants: dict[str, Any],
    aligned: Iterable[str], options: dict[str, Any], targets: tuple[str, ...] = (),
) -> Job:  # fmt: skip
    names = list(function.arg_names)
    places = sorted(names.index(n) for n in aligned)
    given = [(names.index(n), plain(v)) for n, v in constants.items()]
    types = {n: signature.get(n, "constexpr") for n in names}
    paths = (str(Path(str(file)).parent),)
    return Job(name, str(file), function.fn.__name__, types, given, [(p, ALIGNED) for p in places], options, paths,
               targets)  # fmt: skip


def plain(value: Any) -> Any:
    """A constant as JSON has it; a dtype by its name in the language."""
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if type(value).__name__ == "dtype":
        return {"name": next(n for n, v in vars(_language()).items() if v is value or v == value)}
    raise ValueError(f"a constant that has no text: of {type(value).__name__}")


def _language() -> Any:
    return importlib.import_module("triton.language")


def of_styles(module: Path, folder: Path) -> Iterator[Job]:
    """Variants of kernels, as templates (``all_variants`` and ``source``), whose texts go to ``folder``."""
    sys.path.insert(0, str(module.parent))
    variants = importlib.import_module(module.stem)
    folder.mkdir(parents=True, exist_ok=True)
    for kernel, variant in variants.all_variants():
        text, signature, constants, options = variants.source(kernel, variant)
        file = folder / f"{kernel}__{variant}.py"
        if not file.is_file() or file.read_text() != STYLES + text:
            file.write_text(STYLES + text)
        function = _loaded(file).k
        aligned = [n for n, t in signature.items() if t.endswith("/16") and n in function.arg_names]
        types = {n: "constexpr" if n in constants else t.split("/")[0] for n, t in signature.items()}
        yield declared(f"styles/{kernel}/{variant}", str(file), function, types, constants, aligned, options)


def _loaded(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
