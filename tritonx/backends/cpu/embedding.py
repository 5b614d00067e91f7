"""A kernel for the CPU as C: its machine code as assembly, and a function that fills in the context and runs the grid.

Everything is one C source, so that `tritonx link` and a program's own build take it as they take a vendor's. Threads
are libgomp's, where the program has it.
"""

from __future__ import annotations

import json

from tritonx.backends.api import KernelImage, Target
from tritonx.backends.cpu.codegen import embedded_assembly
from tritonx.backends.cpu.host import isa_of
from tritonx.backends.embedding import Dialect, Embedded, signature
from tritonx.conversion.tile_to_loops.entry import RECORD_BYTES


def assembly(text: str, target: Target, name: str) -> str:
    """A kernel's LLVM text as a declaration of C, whose symbols begin with ``name``."""
    text = embedded_assembly(text, isa_of(target), name)
    lines = [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith((".file", ".ident", "#"))
    ]
    quoted = "\n".join(f'    {json.dumps(line)[:-1]}\\n"' for line in (".pushsection .text", *lines, ".popsection"))
    return f"__asm__(\n{quoted});"


def declarations(name: str) -> str:
    """What C names of the kernel's module."""
    return f"""\
extern int {name}_tx_run(void *context, int threads);
extern int {name}_tx_threads;
extern void *{name}_tx_parallel;
extern char {name}_tx_record[{RECORD_BYTES}];
extern void GOMP_parallel(void (*run)(void *), void *context, unsigned threads, unsigned flags) __attribute__((weak));\
"""


def loaded(name: str, image: KernelImage) -> str:
    """The lines that say how many threads there are."""
    threads = int(image.metadata.get("num_threads") or 0)
    return f"""\
    const char *asked = getenv("TRITONX_CPU_THREADS");
    int threads = {threads or "asked ? atoi(asked) : (int)sysconf(_SC_NPROCESSORS_ONLN)"};
    (void)asked;
    {name}_tx_threads = threads < 1 || !GOMP_parallel ? 1 : threads;
    {name}_tx_parallel = {name}_tx_threads > 1 ? (void *)GOMP_parallel : 0;\
"""


def context(cells: int) -> str:
    """The variable ``context``: see `tritonx.conversion.tile_to_loops.entry`."""
    return f"""\
    struct {{
        int64_t counter, total;
        int32_t grid[4];
        int64_t chunk;
        void *record;
        uint64_t cells[{cells or 1}];
    }} context;\
"""


def source(dialect: Dialect, kernel: Embedded, header_name: str) -> str:
    """The whole C source."""
    name, metadata = kernel.function, kernel.image.metadata
    is_regular = metadata.get("otherwise") is not None
    pointers = [argument.name for argument in kernel.passed() if argument.type == kernel.pointer]
    nulls = "".join(f"    if (!{pointer}) return 1;\n" for pointer in pointers if is_regular)
    x, y, z = kernel.grid
    cells = "".join(
        f"    memcpy(&context.cells[{number}], &{cell}, sizeof {cell});\n" for number, cell in enumerate(kernel.cells)
    )
    return f"""\
/* {kernel.comment} */
#include "{header_name}"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

{assembly(str(kernel.stages["llir"]), kernel.image.target, name)}

{declarations(name)}

int load_{name}(void) {{
{loaded(name, kernel.image)}
    return 0;
}}

int unload_{name}(void) {{
    return 0;
}}

int {name}({signature(dialect, kernel)}) {{
{kernel.declared()}    const long long grid[] = {{(long long)({x}), (long long)({y}), (long long)({z})}};
{context(len(kernel.cells))}
    static int loaded;
    (void)stream;
    memset(&context, 0, sizeof context);
    for (int axis = 0; axis < 3; axis++) {{
        if (grid[axis] == 0) return 0;
        if (grid[axis] < 0 || grid[axis] > 0x7fffffff) return 1;
        context.grid[axis] = (int32_t)grid[axis];
    }}
{nulls}{cells}    context.total = (int64_t)(grid[0] * grid[1] * grid[2]);
    if (!loaded) loaded = !load_{name}();
    if (!{name}_tx_run(&context, {name}_tx_threads)) return 0;
    memset({name}_tx_record, 0, sizeof {name}_tx_record);
    return 2;
}}
"""


DIALECT = Dialect(include="stddef.h", result="int", success="0", invalid="1", stream="void *", source=source)
