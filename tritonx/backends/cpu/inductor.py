"""Kernels for the CPU as AOTInductor takes them: shared libraries beside a model's own.

PyTorch 2.13 asks a compiled kernel's ``asm`` for two (`save_cpu_kernel` in `_inductor/runtime/triton_heuristics.py`)
and loads them without Python (`cpu_triton_runtime_wrappers.h`): ``so``, with a symbol of the kernel's name, and
``launcher.so``, with ``run_from_nativert(x, y, z, threads, arguments, symbol)``. Of ``arguments``, one for each
parameter of the source, pointers are the addresses themselves and others where the value is: an integer as int64_t, a
float in its own type.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tritonx.backends.api import KernelImage
from tritonx.backends.cpu.embedding import assembly, context, declarations, loaded
from tritonx.runtime.build import compile_so_from_src
from tritonx.runtime.errors import TritonError

_FLAGS = ["-Wl,--no-as-needed", "-lm"]
_BYTES = {"1": 1, "8": 1, "16": 2, "32": 4, "64": 8}


class NotPackaged(TritonError):
    """A kernel that AOTInductor cannot launch."""


@cache
def launcher() -> bytes:
    """The second library, which is the same for all kernels. Raises NoCompiler."""
    text = """\
#include <stdint.h>
typedef void (*kernel)(uint32_t, uint32_t, uint32_t, int, void **);
void run_from_nativert(uint32_t x, uint32_t y, uint32_t z, int threads, void **arguments, void *launched) {
    ((kernel)launched)(x, y, z, threads, arguments);
}
"""
    return Path(compile_so_from_src(text, "tritonx_launcher")).read_bytes()


def kernel(image: KernelImage) -> bytes:
    """The first one. The number of threads that it is told is not read: AOTInductor always says 1, and the grid runs on
    as many as a launch from Python takes. Raises NotPackaged, NoCompiler."""
    assert image.portable is not None and image.signature is not None
    name, cells = image.name, list[str]()
    for position, type_ in enumerate(image.signature().values()):
        if type_ == "constexpr":
            continue
        text = str(type_)
        if text.startswith("*"):
            source, size = f"&arguments[{position}]", 8
        else:
            source, size = f"arguments[{position}]", _BYTES.get(text.lstrip("abfipu"), 0)
        if not size or isinstance(type_, tuple):
            raise NotPackaged(f"{name}: AOTInductor passes no argument of type {type_}")
        cells.append(f"    memcpy(&context.cells[{len(cells)}], {source}, {size});")
    written = "\n".join(cells)
    made = f"""\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

{assembly(image.portable(), image.target, f"{name}_code")}

{declarations(f"{name}_code")}

__attribute__((constructor)) static void load(void) {{
{loaded(f"{name}_code", image)}
}}

void {name}(uint32_t x, uint32_t y, uint32_t z, int asked_threads, void **arguments) {{
{context(len(cells))}
    (void)asked_threads;
    memset(&context, 0, sizeof context);
    context.grid[0] = (int32_t)x, context.grid[1] = (int32_t)y, context.grid[2] = (int32_t)z;
    context.total = (int64_t)x * y * z;
{written}
    if (!context.total || !{name}_code_tx_run(&context, {name}_code_tx_threads)) return;
    fprintf(stderr, "an assertion of the kernel {name} failed\\n");
    abort();
}}
"""
    return Path(compile_so_from_src(made, name, ccflags=_FLAGS)).read_bytes()
