"""Triton's module ``triton.tools.disasm``: device code as the machine's instructions."""

from __future__ import annotations

from pathlib import Path

from tritonx.backends.api import KernelImage
from tritonx.backends.registry import available
from tritonx.runtime.refusals import refusing

LISTING = "sass"

__getattr__ = refusing(
    __name__,
    dict.fromkeys(
        ("BRA_RE", "FLINE_RE", "FNAME_RE", "SLINE_RE", "parseCtrl", "processSassLines", "path_to_cuobjdump"),
        "instructions are listed by nvdisasm, without their encodings; `get_sass` has the text",
    ),
)


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """EXIT" in get_sass(compiled.asm["cubin"])

    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> compiled = tritonx.compile(source, "cuda:80")
    """
    backend = next(backend for backend in available().values() if LISTING in backend.disassemblies)
    image = KernelImage("", cubin_asm, (), {}, backend.known_targets()[0])
    listing = backend.disassemble(LISTING, image) or ""
    if fun is None:
        return listing
    functions = {part.partition("\n")[0]: part for part in listing.split("Function:")[1:]}
    if fun not in functions:
        raise ValueError(f"no function {fun!r}; there are {', '.join(functions)}")
    return f"Function:{functions[fun]}"


def extract(file_path: str, fun: str | None) -> str:
    """`get_sass` of the file at ``file_path``.

    >>> import tempfile
    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     size = file.write(tritonx.compile(source, "cuda:80").asm["cubin"])
    ...     file.flush()
    ...     print(extract(file.name, "double").splitlines()[0])
    Function:double
    """
    return get_sass(Path(file_path).read_bytes(), fun)
