"""No function, method or class of the packages is unused (vulture): neither here nor in tests and benchmarks.

A name is used where it stands in any program, so what is found is certain, and what is not found may still be unused.
Names that Triton has, and those that others call, are not asked about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tritonx.experimental.gluon.modules import MODULES

vulture = pytest.importorskip("vulture")

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tritonx", "packages", "tests", "plugins", "benchmarks", "examples", "docs", ".ci")
PACKAGES = ("tritonx", "packages")
KINDS = ("function", "method", "class", "property")

CALLED_BY_OTHERS = {
    r"create_module|find_distributions|locate_file": "the import system and importlib.metadata",
    r"pytest_\w+": "pytest",
    r"visit_\w+": "ast's visitors, by a node's name",
    r"directive_\w+": "assembly formats, by a directive's name (`ir/text/format_directives.py`)",
    r"(_)?parse_optional_(region|block_arg_list)": "xDSL's parser, which these override",
    r"print_(bytes_literal|operation_type|block_arguments)": "xDSL's printer, which these override",
    r"mapping_type_vars": "xDSL's constraints",
    r"get_(callable_region|argument_types|result_types)": "xDSL's interface of what can be called",
    r"compile_text|to_ptx|try_to_link": "a helper process, by module and name",
    r"keep_in|keep_declared|iterate|operate|looped": "kernels as `interpreter/rewrite.py` writes them",
    r"begin_described": "launches as `runtime/launch/binder.py` writes them",
    r"_Exporter|_Strided": "casts, which name them in strings",
    r"_keep_alive|is_canceled|load_max": "Triton's names",
    r"__call__": "protocols",
    r"_base64": "PyTorch",
    r"_init_handles|[gs]et_current_(stream|device)|set_profile_allocator": "Triton's names",
    r"get_(bool|flat_symbol_ref)_attr": "Triton's names",
    r"_cu[A-Z]\w+": "the emulated libcuda, by a function's name",
    r"ensure_allocated|_buf|va_addr": "tinygrad's emulator",
    r"convert_(custom_float8|fp8e4b15_to_float16|float16_to_fp8e4b15)": "kernels, by Triton's names",
}
"""Name → who calls it."""


def names_of_triton() -> set[str]:
    """All names that the pages of docs/triton have, that of the releases, and the table of Gluon's."""
    docs = ROOT / "docs"
    pages = [page.read_text() for page in (*(docs / "triton").glob("*.md"), docs / "releases.md")]
    return {name for text in (*pages, *MODULES.values()) for name in re.findall(r"\w+", text)}


def test_everything_is_used() -> None:
    finder = vulture.Vulture()
    finder.scavenge([str(ROOT / folder) for folder in FOLDERS])
    theirs, others = names_of_triton(), re.compile("|".join(CALLED_BY_OTHERS))
    unused = [
        f"{Path(item.filename).relative_to(ROOT)}:{item.first_lineno}: {item.typ} {item.name}"
        for item in finder.get_unused_code()
        if item.typ in KINDS and any(Path(item.filename).is_relative_to(ROOT / own) for own in PACKAGES)
        if item.name not in theirs and not others.fullmatch(item.name)
    ]
    assert not unused, "\n".join(unused)


def test_what_others_call_is_there() -> None:
    """A row of the table without a definition goes."""
    text = "\n".join(path.read_text() for own in PACKAGES for path in (ROOT / own).rglob("*.py"))
    for pattern in CALLED_BY_OTHERS:
        assert re.search(rf"(?:def|class) (?:{pattern})\b", text), pattern
