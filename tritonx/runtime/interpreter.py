"""Triton's module ``triton.runtime.interpreter``: what a kernel is under ``TRITON_INTERPRET=1``."""

from tritonx.interpreter.function import InterpretedFunction
from tritonx.kernel.interface import KernelInterface
from tritonx.runtime.errors import InterpreterError
from tritonx.runtime.refusals import refusing
from tritonx.tools.tensor_descriptor import TensorDescriptor

__all__ = ["InterpretedFunction", "InterpreterError", "KernelInterface", "TensorDescriptor"]

_INSIDE = "the interpreter is another one (`tritonx.interpreter`): it patches nothing and runs what compiling runs"

__getattr__ = refusing(
    __name__,
    dict.fromkeys(
        (
            *("ASTTransformer", "BlockPointerHandle", "ExtraFunctions", "FunctionRewriter", "GridExecutor"),
            *("InterpreterBuilder", "InterpreterOptions", "ReduceOps", "ReduceScanOpInterface", "ScanOps"),
            *("TensorDescHandle", "TensorHandle", "TritonSemantic", "interpreter_builder", "interpreter_semantic"),
            "_patch_lang",
        ),
        _INSIDE,
    ),
)
