"""``tritonx link``: one C function for the versions of a kernel that ``tritonx compile`` made.

tritonx link HEADER.h ... --out NAME

writes NAME.c and NAME.h. For a kernel K among the headers they have
    RESULT K(STREAM stream, parameters..., int algo_id)    launches the version for these values, of a variant
    RESULT K_default(STREAM stream, parameters...)         the first variant's
    int K_get_num_algos(void)                              how many variants there are
    const char *K_algo_name(int algo_id)                   the name of a variant (values and options), or a null pointer
    RESULT load_K(void), unload_K(void)                    all versions
and for each variant (its compile-time values and options) the same without a number. Among versions whose hints hold
the one with the most is taken; where none holds, the result is the vendor's "invalid value". --shared also makes
libNAME.so of NAME.c and of the sources beside the headers.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tritonx.backends.embedding import DIRECTIVE
from tritonx.runtime.errors import TritonError
from tritonx.runtime.refusals import refusing
from tritonx.tools import command
from tritonx.tools.compile import shared_library

_PARTS = "what headers say is read by ``versions_in``, and ``link`` writes all functions of a kernel"

__getattr__ = refusing(
    "tritonx.tools.link",
    dict.fromkeys(
        [
            *("HeaderParser", "KernelLinkerMeta", "gen_signature", "gen_signature_with_full_args", "make_algo_decls"),
            *("make_default_algo_kernel", "make_func_pointers", "make_get_num_algos_decl", "make_get_num_algos_def"),
            *("make_global_decl", "make_kernel_hints_dispatcher", "make_kernel_load_def"),
            "make_kernel_meta_const_dispatcher",
        ],
        _PARTS,
    ),
)


class LinkerError(TritonError):
    """Headers that cannot be linked.

    >>> issubclass(LinkerError, Exception)
    True
    """


@dataclass(frozen=True)
class Version:
    """What a header says of its kernel. ``arguments``: (C type, name, hint)."""

    include: str
    result: str
    stream: str
    invalid: str
    success: str
    pointer: str
    kernel: str
    variant: str
    function: str
    arguments: tuple[tuple[str, str, int], ...]
    header: str

    @property
    def vendor(self) -> tuple[str, ...]:
        return self.include, self.result, self.stream, self.invalid, self.success, self.pointer

    @property
    def interface(self) -> tuple[tuple[str, str], ...]:
        """The parameters, whatever values they are compiled for."""
        return tuple((type_, name) for type_, name, _ in self.arguments)


def versions_in(header: Path) -> list[Version]:
    """Raises `LinkerError` for a file that has none."""
    text = command.read_text(header, "HEADER")
    lines = [line for line in text.splitlines() if line.startswith(DIRECTIVE)]
    try:
        found = [_version(line[len(DIRECTIVE) :], header.name) for line in lines]
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise LinkerError(f"{header}: what tritonx compile wrote for the linker is damaged ({error})") from None
    if not found:
        raise LinkerError(f"{header} is no header that tritonx compile wrote")
    return found


def _version(line: str, header: str) -> Version:
    said = json.loads(line)
    arguments = tuple((str(type_), str(name), int(hint)) for type_, name, hint in said.pop("arguments"))
    for field, value in said.items():
        if not isinstance(value, str) or "\n" in value:
            raise TypeError(f"{field} is no line of text")
    return Version(**said, arguments=arguments, header=header)


def link(versions: Sequence[Version], name: str, prefix: str = "") -> tuple[str, str]:
    """The header and the source, which includes it as ``name``. Raises `LinkerError`."""
    if len({version.vendor for version in versions}) != 1:
        raise LinkerError("the headers are of more than one vendor")
    vendor = versions[0]
    kernels = {k: list(g) for k, g in groupby(sorted(versions, key=lambda v: v.kernel), key=lambda v: v.kernel)}
    parts = [_Kernel(prefix + kernel, found) for kernel, found in kernels.items()]
    guard = re.sub(r"\W", "_", f"TRITONX_{name.rpartition('.')[0] or name}_H", flags=re.ASCII)
    declared = "\n".join(f"{line};" for part in parts for line in part.declarations())
    header = f"""\
#ifndef {guard}
#define {guard}
#include <stdint.h>
#include <{vendor.include}>
#ifdef __cplusplus
extern "C" {{
#endif

{declared}

#ifdef __cplusplus
}}
#endif
#endif
"""
    included = "".join(f'#include "{each}"\n' for each in (name, *dict.fromkeys(v.header for v in versions)))
    return header, included + "".join(part.source() for part in parts)


class _Kernel:
    """The functions over one kernel's versions."""

    def __init__(self, name: str, versions: Sequence[Version]) -> None:
        self.name = name
        self.first = first = versions[0]
        for version in versions:
            if version.interface != first.interface:
                raise LinkerError(f"{version.function} and {first.function} have other parameters")
        doubled = [v.function for v in versions if sum(w.function == v.function for w in versions) > 1]
        if doubled:
            raise LinkerError(f"{doubled[0]} is given twice")
        self.variants: dict[str, list[Version]] = {}
        for version in versions:
            self.variants.setdefault(f"{name}_{version.variant}", []).append(version)
        self.parameters = ", ".join([f"{first.stream} stream", *(f"{t} {n}" for t, n in first.interface)])
        self.values = ", ".join(["stream", *(n for _, n in first.interface)])

    def declarations(self) -> list[str]:
        result, name = self.first.result, self.name
        of_all = [
            f"{result} {name}({self.parameters}, int algo_id)", f"{result} {name}_default({self.parameters})",
            f"int {name}_get_num_algos(void)", f"const char *{name}_algo_name(int algo_id)",
            f"{result} load_{name}(void)", f"{result} unload_{name}(void)",
        ]  # fmt: skip
        return of_all + [
            line
            for variant in self.variants
            for line in (
                f"{result} {variant}({self.parameters})", f"{result} load_{variant}(void)",
                f"{result} unload_{variant}(void)",
            )
        ]  # fmt: skip

    def source(self) -> str:
        result, name = self.first.result, self.name
        cases = "\n".join(f"    case {i}: return {variant}({self.values});" for i, variant in enumerate(self.variants))
        named = "\n".join(f'    case {i}: return "{own[0].variant}";' for i, own in enumerate(self.variants.values()))
        text = "".join(self._variant(variant, versions) for variant, versions in self.variants.items())
        text += f"""
int {name}_get_num_algos(void) {{
    return {len(self.variants)};
}}

const char *{name}_algo_name(int algo_id) {{
    switch (algo_id) {{
{named}
    default: return 0;
    }}
}}

{result} {name}({self.parameters}, int algo_id) {{
    switch (algo_id) {{
{cases}
    default: return {self.first.invalid};
    }}
}}

{result} {name}_default({self.parameters}) {{
    return {name}({self.values}, 0);
}}
"""
        return text + "".join(self._all(step, name, list(self.variants)) for step in ("load", "unload"))

    def _variant(self, variant: str, versions: Sequence[Version]) -> str:
        ordered = sorted(versions, key=lambda version: -sum(hint > 0 for *_, hint in version.arguments))
        tries = "\n".join(
            f"    if ({_holds(version)}) return {version.function}({_passed(version)});" for version in ordered
        )
        text = f"""
{self.first.result} {variant}({self.parameters}) {{
{tries}
    return {self.first.invalid};
}}
"""
        return text + "".join(self._all(s, variant, [v.function for v in versions]) for s in ("load", "unload"))

    def _all(self, step: str, name: str, of: Sequence[str]) -> str:
        """Loading ends with the first that fails; unloading goes on, and gives the last failure."""
        result, success = self.first.result, self.first.success
        stop = "return result" if step == "load" else "failed = result"
        steps = "\n".join(f"    result = {step}_{each}();\n    if (result != {success}) {stop};" for each in of)
        kept = f"    {result} failed = {success};\n" if step == "unload" else ""
        return f"""
{result} {step}_{name}(void) {{
    {result} result;
{kept}{steps}
    return {"failed" if step == "unload" else success};
}}
"""


def _holds(version: Version) -> str:
    conditions = [
        f"{name} == 1" if hint == 1 else f"({'uintptr_t' if type_ == version.pointer else type_}){name} % {hint} == 0"
        for type_, name, hint in version.arguments
        if hint
    ]
    return " && ".join(conditions) or "1"


def _passed(version: Version) -> str:
    return ", ".join(["stream", *(name for _, name, hint in version.arguments if hint != 1)])


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("tritonx link", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("headers", nargs="+", type=Path, metavar="HEADER")
    parser.add_argument("--out", "-o", type=Path, required=True)
    parser.add_argument("--shared", action="store_true", help="make a shared library, too")
    parser.add_argument("--prefix", default="", help="what the functions' names begin with")
    return parser


def _run(given: argparse.Namespace) -> int:
    if not given.out.name or given.out.name == "..":
        raise LinkerError(f"--out {given.out}: it is no name of a file")
    if given.prefix and not (given.prefix.isidentifier() and given.prefix.isascii()):
        raise LinkerError(f"--prefix {given.prefix}: no name in C begins so")
    header, source = given.out.with_suffix(".h"), given.out.with_suffix(".c")
    if header.resolve() in [path.resolve() for path in given.headers]:
        raise LinkerError(f"--out {given.out}: it would overwrite {header}, which is to be linked")
    for file in (header, source):
        command.require_writable(file, "--out")
    sources = [path.with_suffix(".c") for path in given.headers] if given.shared else []
    if lacking := next((path for path in sources if not path.exists()), None):
        raise LinkerError(f"--shared: {lacking}, the source of {lacking.with_suffix('.h').name}, is not here")
    versions = [version for path in given.headers for version in versions_in(path)]
    for file, text in zip((header, source), link(versions, header.name, given.prefix), strict=True):
        command.write(file, text, "--out")
        print(file)
    if given.shared:
        print(shared_library(source.with_name(f"lib{source.stem}.so"), [source, *sources]))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``tritonx link``; its exit status."""
    return command.run("tritonx link", lambda: _run(argument_parser().parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
