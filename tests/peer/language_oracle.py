"""What the Triton wheel says of its language, as JSON: a script, so that the wheel stays out of pytest's process.

python language_oracle.py surface            names, parameters, members of tensors, element types, libdevice overloads
python language_oracle.py ops                the ops that each kernel of language_kernels.py becomes
python language_oracle.py our_ops            the same of tritonx, in the place of ``triton``
"""

import collections
import inspect
import json
import re
import sys
from typing import Any


def parameters(function: Any) -> list[str]:
    function = getattr(function, "fn", function)
    return [p for p in inspect.signature(function).parameters if p not in ("_semantic", "_generator", "self")]


def by_position(function: Any) -> int:
    """How many parameters may be given so: the first ones."""
    function = getattr(function, "fn", function)
    kinds = inspect.signature(function).parameters
    return sum(kinds[p].kind != inspect.Parameter.KEYWORD_ONLY for p in parameters(function))


def surface() -> dict[str, Any]:
    import triton.language as tl
    from triton.language.extra import libdevice
    from triton.language.extra.cuda import libdevice as table

    functions = {
        n: (parameters(getattr(tl, n)), by_position(getattr(tl, n)))
        for n in tl.__all__
        if callable(getattr(tl, n)) and not isinstance(getattr(tl, n), type)
    }
    types = {}
    for name in tl.__all__:
        ty = getattr(tl, name)
        if isinstance(ty, tl.dtype) and name != "pi32_t":
            fields = ("name", "primitive_bitwidth", "itemsize", "int_bitwidth", "fp_mantissa_width", "exponent_bias")
            types[name] = {f: getattr(ty, f, None) for f in fields} | {"repr": repr(ty), "str": str(ty)}
            if name != "void":
                types[name]["mangle"] = ty.mangle()
    seen: list[Any] = []

    class Result:
        def to(self, *_: Any, **__: Any) -> Any:
            return self

    def observe(lib: Any, path: Any, args: Any, symbols: Any, is_pure: Any, _semantic: Any = None) -> Result:
        seen.append(symbols)
        return Result()

    table.core.extern_elementwise = observe
    overloads = {}
    for name in (n for n in dir(libdevice) if not n.startswith("_") and n != "core"):
        count = len(parameters(getattr(libdevice, name)))
        if hasattr(table, name):
            getattr(table, name)(*[None] * count, _semantic=object())
            overloads[name] = {" ".join(t.name for t in types_): symbol[1].name for types_, symbol in seen[-1].items()}
        else:
            overloads[name] = count
    members = [m for m in dir(tl.tensor) if not m.startswith("_")]
    return {"names": tl.__all__, "functions": functions, "types": types, "libdevice": overloads, "members": members}


def ops() -> dict[str, Any]:
    """The ops of each kernel, after Triton has inlined, folded and merged; or the error."""
    import language_kernels
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    options = backend.parse_options({"sanitize_overflow": False})
    found: dict[str, Any] = {}
    for name, kernel, signature, constants in language_kernels.CASES:
        names = kernel.arg_names
        full = {n: signature.get(n, "constexpr") for n in names}
        source = ASTSource(kernel, full, constexprs={(names.index(k),): v for k, v in constants.items()})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        code, modules = backend.get_codegen_implementation(options), backend.get_module_map()
        try:
            module = source.make_ir(target, options, code, modules, context)
            stages: dict[str, Any] = {}
            backend.add_stages(stages, options, source.language)
            found[name] = histogram(str(stages["ttir"](module, {"target": target, **options.__dict__})))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def our_ops() -> dict[str, Any]:
    """The same of our front end, which folds and merges as it builds; dead code is removed."""
    import tritonx
    import tritonx.language

    sys.modules["triton"], sys.modules["triton.language"] = tritonx, tritonx.language
    import language_kernels

    from tritonx.backends.api import Target
    from tritonx.frontend.compile import make_module
    from tritonx.interpreter.options import InterpreterOptions
    from tritonx.ir.text import print_module
    from tritonx.ir.verify import verify
    from tritonx.transforms.tile.dce import remove_dead_ops

    found: dict[str, Any] = {}
    for name, kernel, signature, constants in language_kernels.CASES:
        names = kernel.arg_names
        full = {n: signature.get(n, "constexpr") for n in names}
        values = {(names.index(k),): v for k, v in constants.items()}
        try:
            module = make_module(kernel, full, values, {}, InterpreterOptions(), Target("cuda", 90, 32))
            verify(module)
            remove_dead_ops(module.body)
            found[name] = histogram(print_module(module))
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def histogram(text: str) -> dict[str, int]:
    words = re.findall(r'(?:^|= )\s*"?((?:tt|arith|math|scf|llvm|gpu)\.[\w.]+)', text, re.MULTILINE)
    return dict(sorted(collections.Counter(words).items()))


if __name__ == "__main__":
    print(json.dumps({"surface": surface, "ops": ops, "our_ops": our_ops}[sys.argv[1]]()))
