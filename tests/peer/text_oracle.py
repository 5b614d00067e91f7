"""Runs the Triton wheel for `test_text_compat.py`: a script, in its own process, since a wheel that aborts must not
take pytest along.

    python text_oracle.py dump TARGET DIRECTORY      every kernel's text after each stage up to the GPU dialect
    python text_oracle.py accept TARGET DIRECTORY    reads the *.mlir there with Triton's parser, and lowers it on by a
                                                     stage; prints {file name: "ok" or what is wrong} as JSON
"""

import json
import sys
from pathlib import Path

import kernels_combine
import kernels_control
import kernels_dot
import kernels_elementwise
import kernels_memory
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget, Language
from triton.compiler import ASTSource
from triton.compiler.compiler import make_backend

MODULES = (kernels_elementwise, kernels_combine, kernels_dot, kernels_memory, kernels_control)

LOWERED_FURTHER = {"add", "softmax", "matmul_f16", "attention"}
"""Kernels whose GPU IR is taken on to LLVM IR; the others' is read and verified, which takes less time."""


def target_of(name: str) -> GPUTarget:
    backend, arch = name.split(":")
    if backend == "cuda":
        return GPUTarget("cuda", int(arch), 32)
    return GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)


def dump(target: str, directory: Path) -> None:
    for module in MODULES:
        for case in module.CASES:
            if case.runs_on(target):
                try:
                    texts = stages_of(case, target)
                except Exception as error:
                    print(f"{case.name} on {target}: {type(error).__name__}: {error}", file=sys.stderr)
                    continue
                for stage, text in texts.items():
                    (directory / f"{case.name}.{stage}.mlir").write_text(text)


def source_of(case) -> ASTSource:
    """A kernel with what it is compiled for; pointers and i32 are multiples of 16."""
    names = case.fn.arg_names
    attributes = {
        (names.index(n),): [["tt.divisibility", 16]] for n, t in case.signature.items() if t[0] == "*" or t == "i32"
    }
    signature = {n: case.signature.get(n, "constexpr") for n in names}
    constants = {(names.index(k),): v for k, v in case.constants.items()}
    return ASTSource(case.fn, signature, constexprs=constants, attrs=attributes)


def stages_of(case, target: str) -> dict[str, str]:
    """`source` (what the front end makes), `ttir` and `ttgir` of one kernel."""
    gpu = target_of(target)
    backend = make_backend(gpu)
    source = source_of(case)
    options = backend.parse_options({**case.options, **source.parse_options()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(
        gpu, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    texts = {"source": str(module)}
    stages = {}
    backend.add_stages(stages, options, source.language)
    metadata = {"target": gpu, **options.__dict__}
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
        texts[stage] = str(module)
    return texts


def accept(target: str, directory: Path) -> None:
    gpu = target_of(target)
    backend = make_backend(gpu)
    verdicts = {}
    for path in sorted(directory.glob("*.mlir")):
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        try:
            module = ir.parse_mlir_module(str(path), context)
            if module is None or not module.verify():
                verdicts[path.name] = "Triton does not verify it"
                continue
            kernel, stage, *_ = path.name.split(".")
            following = {"ttir": "ttgir", "ttgir": "llir" if kernel in LOWERED_FURTHER else None}.get(stage)
            if following is not None and "generic" not in path.name:
                module.context = context
                options = backend.parse_options({"num_warps": module.get_int_attr("ttg.num-warps") or 4})
                stages = {}
                backend.add_stages(stages, options, Language.TRITON)
                stages[following](module, {"target": gpu, **options.__dict__})
            verdicts[path.name] = "ok"
        except Exception as error:
            verdicts[path.name] = f"{type(error).__name__}: {error}"
    print(json.dumps(verdicts))


if __name__ == "__main__":
    {"dump": dump, "accept": accept}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
