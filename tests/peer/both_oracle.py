"""Triton's front end on kernels given as text: a script, so that a wheel that aborts does not take pytest along.

    python both_oracle.py CASES RESULTS    one case a line: {"name", "source", "signature", "constants"} as JSON

Appends to RESULTS, as each is done, {"name", "text"} with the module of ``tt``, or {"name", "error"}."""

import json
import linecache
import sys
from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

TARGET = GPUTarget("cuda", 90, 32)
BACKEND = make_backend(TARGET)
OPTIONS = BACKEND.parse_options({"sanitize_overflow": False})


def kernel_of(name: str, source: str) -> Any:
    """The function ``kernel`` that ``source`` defines, its text where Triton looks for it."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "both"}
    exec(compile(source, file, "exec"), namespace)
    return namespace["kernel"]


def module_text(case: dict[str, Any]) -> str:
    kernel = kernel_of(case["name"], case["source"])
    names = kernel.arg_names
    signature = {n: case["signature"].get(n, "constexpr") for n in names}
    constants = {(names.index(k),): v for k, v in case["constants"].items()}
    source = ASTSource(kernel, signature, constexprs=constants)
    context = ir.context()
    ir.load_dialects(context)
    BACKEND.load_dialects(context)
    functions, modules = BACKEND.get_codegen_implementation(OPTIONS), BACKEND.get_module_map()
    return str(source.make_ir(TARGET, OPTIONS, functions, modules, context))


def main() -> None:
    with open(sys.argv[1]) as cases, open(sys.argv[2], "a") as results:
        for line in cases:
            case = json.loads(line)
            try:
                answer = {"text": module_text(case)}
            except BaseException as error:
                innermost: BaseException = error
                while innermost.__cause__ is not None:
                    innermost = innermost.__cause__
                answer = {"error": f"{type(innermost).__name__}: {innermost}"[:2000]}
            print(json.dumps({"name": case["name"], **answer}), file=results, flush=True)


main()
