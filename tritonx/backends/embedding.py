"""A compiled kernel as C: a source that holds its device code and launches it through a vendor's library.

``Dialect`` has the names that a header needs, ``Loader`` those of loading; the text around them is the same for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tritonx.backends.api import KernelImage

DIRECTIVE = "// tritonx-linker: "
"""What begins the line of a header that ``tritonx link`` reads: JSON behind it."""


def threads(image: KernelImage) -> int:
    """Of a block."""
    return int(image.metadata["num_warps"]) * int(image.metadata["warp_size"])


@dataclass(frozen=True)
class Dialect:
    """What a header says of a vendor's library, beside its types of parameters (``Backend.cpp_handles``). ``source``
    writes a kernel's source, from the name of its header."""

    include: str
    result: str
    success: str
    invalid: str
    stream: str
    source: Callable[[Dialect, Embedded, str], str]


@dataclass(frozen=True)
class Argument:
    """``hint``: what it is a multiple of (16), the value it is compiled for (1, and then it is not passed), or 0."""

    type: str
    name: str
    hint: int = 0


@dataclass(frozen=True)
class Embedded:
    """A kernel that is to be called ``function`` in C, which is one of ``kernel`` with the choices ``variant``.

    ``pointer`` is the type of its pointers. ``arguments`` are those of the source that are no constants, in order;
    ``constants`` are the integers among the others, and what is compiled as 1. ``grid`` are C expressions of all of
    them."""

    image: KernelImage
    pointer: str
    kernel: str
    variant: str
    function: str
    arguments: tuple[Argument, ...]
    constants: Mapping[str, int]
    grid: tuple[str, str, str]
    comment: str
    cells: tuple[str, ...]
    """What the code takes, in order: names of arguments and of ``locals``."""
    locals: tuple[tuple[str, str, str], ...] = ()
    """(C type, name, expression) of what is computed of the arguments."""
    stages: Mapping[str, object] = field(default_factory=dict[str, object])
    """The compiled kernel's ``asm``."""

    def passed(self) -> list[Argument]:
        return [argument for argument in self.arguments if argument.hint != 1]

    def declared(self) -> str:
        """The constants and ``locals``, as the function's first lines."""
        constants = "".join(f"    enum {{{key} = {value}}};\n" for key, value in self.constants.items())
        return constants + "".join(f"    {type_} {name} = {value};\n" for type_, name, value in self.locals)


def signature(dialect: Dialect, kernel: Embedded) -> str:
    return ", ".join([f"{dialect.stream} stream", *(f"{a.type} {a.name}" for a in kernel.passed())])


def header(dialect: Dialect, kernel: Embedded) -> str:
    name = kernel.function
    directive = {
        "include": dialect.include, "result": dialect.result, "stream": dialect.stream, "invalid": dialect.invalid,
        "success": dialect.success, "pointer": kernel.pointer, "kernel": kernel.kernel, "variant": kernel.variant,
        "function": name, "arguments": [[a.type, a.name, a.hint] for a in kernel.arguments],
    }  # fmt: skip
    return f"""\
#ifndef TRITONX_{name}_H
#define TRITONX_{name}_H
#include <stdint.h>
#include <{dialect.include}>
#ifdef __cplusplus
extern "C" {{
#endif

/* Loads the kernel into the current context. A launch does so itself where this was not called before; of two threads
   only one may. */
{dialect.result} load_{name}(void);
{dialect.result} unload_{name}(void);
{DIRECTIVE}{json.dumps(directive)}
{dialect.result} {name}({signature(dialect, kernel)});

#ifdef __cplusplus
}}
#endif
#endif
"""


@dataclass(frozen=True)
class Loader:
    """The names by which a vendor's library loads and launches code. ``prepare`` and ``launch`` give C for a kernel: an
    expression of type ``result`` about the loaded ``function`` for each step, and the launch of ``function`` with
    ``x``, ``y``, ``z``, ``stream`` and ``arguments``."""

    module: str
    function: str
    load: str
    find: str
    unload: str
    prepare: Callable[[KernelImage], Sequence[str]]
    launch: Callable[[KernelImage], Sequence[str]]

    def source(self, dialect: Dialect, kernel: Embedded, header_name: str) -> str:
        """A source that holds the device code, loads it at the first launch, and launches it."""
        name, image = kernel.function, kernel.image
        steps = [f"{self.find}(&function, module, {json.dumps(image.name)})", *self.prepare(image)]
        prepare = "\n".join(f"    if (result == {dialect.success}) result = {step};" for step in steps)
        launched = "\n".join(f"    {line}" for line in self.launch(image))
        x, y, z = kernel.grid
        cells = ", ".join(f"(void *)&{name}" for name in kernel.cells) or "0"
        return f"""\
/* {kernel.comment} */
#include "{header_name}"

static const unsigned char {name}_code[] __attribute__((aligned(16))) = {{
{_bytes(image.binary)}
}};
static {self.module} {name}_module;
static {self.function} {name}_function;

{dialect.result} load_{name}(void) {{
    if ({name}_function) return {dialect.success};
    {self.module} module = 0;
    {self.function} function = 0;
    {dialect.result} result = {self.load}(&module, {name}_code);
    if (result != {dialect.success}) return result;
{prepare}
    if (result != {dialect.success}) {{
        (void){self.unload}(module);
        return result;
    }}
    {name}_module = module;
    {name}_function = function;
    return result;
}}

{dialect.result} unload_{name}(void) {{
    if (!{name}_function) return {dialect.success};
    {name}_function = 0;
    return {self.unload}({name}_module);
}}

static {dialect.result} launch_{name}({dialect.stream} stream, unsigned x, unsigned y, unsigned z, void **arguments) {{
    {self.function} function = {name}_function;
{launched}
}}

{dialect.result} {name}({signature(dialect, kernel)}) {{
{kernel.declared()}    const long long grid[] = {{(long long)({x}), (long long)({y}), (long long)({z})}};
    void *cells[] = {{{cells}}};
    for (int axis = 0; axis < 3; axis++) {{
        if (grid[axis] == 0) return {dialect.success};
        if (grid[axis] < 0 || grid[axis] > 0x7fffffff) return {dialect.invalid};
    }}
    const {dialect.result} loaded = load_{name}();
    if (loaded != {dialect.success}) return loaded;
    return launch_{name}(stream, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], cells);
}}
"""


def _bytes(content: bytes) -> str:
    return "\n".join(
        "    " + " ".join(f"{byte}," for byte in content[start : start + 32]) for start in range(0, len(content), 32)
    )
