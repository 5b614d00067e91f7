"""What ``tritonx.compile`` compiles: a kernel with the types of its arguments, or IR from a file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonx.backends.api import Language, Options, Parameter, Target
from tritonx.kernel.dependencies import plain_value
from tritonx.kernel.meaning import meaning
from tritonx.kernel.source import JITCallable
from tritonx.runtime.errors import TritonError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tritonx.runtime.compiling.ir_view import ModuleView
    from tritonx.runtime.compiling.jit_function import JITFunction

Path_ = tuple[int, ...]
"""A parameter's position, and for an element of a tuple the positions in it."""


class SourceError(TritonError, ValueError):
    """The source given to ``compile`` cannot be compiled as it is."""


class NoSource(SourceError, AssertionError):
    """What is given to ``compile`` is nothing of what it takes. Triton asserts it."""


class UnreadableSource(SourceError, FileNotFoundError):
    """There is no file at the path given to ``compile``."""


class ASTSource:
    """A kernel and what it is specialised on.

    ``signature``: parameter name → type (``*fp32``, ``i32``, ``constexpr``, nested tuples of them for tuples), in the
    order of the parameters; ``constexprs``: name or path → value; ``attrs``: path → [[attribute, value], ...].

    >>> tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8}).name
    'double'
    """

    ext = "ttir"
    language = Language.TRITON

    def __init__(
        self,
        fn: JITFunction,
        signature: Mapping[str, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = fn.__name__
        missing = [name for name in fn.arg_names if name not in signature]
        if missing:
            constants = constexprs or {}
            unknown = [n for n in missing if n not in constants and (fn.arg_names.index(n),) not in constants]
            if unknown:
                raise SourceError(f"the signature of {fn.__name__} has no type for {', '.join(unknown)}")
        extra = [name for name in signature if name not in fn.arg_names]
        if extra:
            raise SourceError(f"{fn.__name__} has no parameter {', '.join(map(str, extra))}")
        self.signature: dict[str, Any] = {name: signature.get(name, "constexpr") for name in fn.arg_names}
        self.constants: dict[Path_, Any] = {self._path(k): v for k, v in (constexprs or {}).items()}
        self.attrs: dict[Path_, Any] = {self._path(k): v for k, v in (attrs or {}).items()}
        for name, type in self.signature.items():
            if type == "constexpr" and self._path(name) not in self.constants:
                raise SourceError(f"constexpr parameter {name!r} of {fn.__name__} has no value")

    def _path(self, key: Any) -> Path_:
        if isinstance(key, str):
            if key not in self.fn.arg_names:
                raise SourceError(f"{self.fn.__name__} has no parameter {key}")
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    @property
    def constexprs(self) -> dict[Path_, Any]:
        return self.constants

    def hash(self) -> str:
        """Digest of everything in it."""
        constants = sorted((path, meaning(plain_value(value))) for path, value in self.constants.items())
        attributes = sorted((path, repr(value)) for path, value in self.attrs.items())
        types = [(name, type if isinstance(type, str) else (meaning(type),)) for name, type in self.signature.items()]
        text = f"{self.fn.cache_key}-{types}-{constants}-{attributes}"
        return hashlib.sha256(text.encode()).hexdigest()

    def make_module(self, target: Target, options: Options) -> ModuleOp:
        """The kernel at ``tt``. Raises the front end's errors."""
        from tritonx.frontend.compile import make_module

        return make_module(self.fn, self.signature, self.constants, self.attrs, options, target)

    def make_ir(
        self, target: Target, options: Options, codegen_fns: object, module_map: object, context: object
    ) -> ModuleView:
        """Triton's name of `make_module`: a view of the module for code that walks it. What Triton's backends hand in
        as functions and modules is part of the target here."""
        from tritonx.runtime.compiling.ir_view import ModuleView

        return ModuleView(self.make_module(target, options))

    def parameters(self) -> tuple[Parameter, ...]:
        """Those that exist at run time, tuples flattened as ``name.0``."""
        found: list[Parameter] = []

        def visit(name: str, type: Any, path: Path_) -> None:
            if isinstance(type, tuple):
                for i, element in enumerate(type):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # a tuple of anything, of tuples, and so on
                    visit(f"{name}.{i}", element, (*path, i))
            elif type != "constexpr":
                found.append(Parameter(name, type))

        for i, (name, type) in enumerate(self.signature.items()):
            visit(name, type, (i,))
        return tuple(found)

    def parse_options(self) -> dict[str, Any]:
        return {}

    def passes(self) -> tuple[ModulePass, ...]:
        """What its module needs before the stage `ext` of any backend."""
        return ()


_NUM_WARPS = re.compile(r'"ttg\.num-warps"\s*=\s*(\d+)')
_NUM_CTAS = re.compile(r'"ttg\.num-ctas"\s*=\s*(\d+)')


class IRSource:
    """A module in text: the path of a file, whose extension says at which stage it enters.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = double.warmup(np.zeros(8), BLOCK=8, grid=(1,)).asm["ttir"]
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "double.ttir"
    ...     _ = file.write_text(text)
    ...     compiled = tritonx.compile(tritonx.compiler.IRSource(file), target="cuda:90")
    >>> "ptx" in compiled.asm
    True
    """

    language = Language.TRITON

    def __init__(self, path: str | Path, context: object = None, backend: object = None) -> None:
        self.path = str(path)
        file = Path(path)
        self.ext = file.suffix.lstrip(".")
        try:
            self.src = file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            kind = UnreadableSource if isinstance(error, FileNotFoundError) else SourceError
            raise kind(f"cannot read {path}: {error}") from error
        if self.ext == "mlir":
            self.ext = "ttgir" if _NUM_WARPS.search(self.src) else "ttir"
        self.fn: Any = None
        self.constants: dict[Path_, Any] = {}
        self.attrs: dict[Path_, Any] = {}
        self._module: ModuleOp | None = None

    def hash(self) -> str:
        return hashlib.sha256((self.ext + self.src).encode()).hexdigest()

    def _parsed(self) -> ModuleOp:
        from tritonx.ir.errors import VerifyFailure
        from tritonx.ir.text import parse_module
        from tritonx.ir.verify import verify

        if self._module is None:
            module = parse_module(self.src, self.path)
            try:
                verify(module)
            except VerifyFailure as error:
                raise SourceError(f"{self.path}: {error}") from error
            self._module = module
        return self._module

    def make_module(self, target: Target, options: Options) -> ModuleOp:
        """Raises SourceError where the text is no module of the dialects."""
        return self._parsed()

    def make_ir(
        self, target: Target, options: Options, codegen_fns: object, module_map: object, context: object
    ) -> ModuleView:
        """Triton's name of `make_module`, as of an ASTSource."""
        from tritonx.runtime.compiling.ir_view import ModuleView

        return ModuleView(self.make_module(target, options))

    def _function(self) -> Any:
        public = public_functions(self._parsed())
        if len(public) != 1:
            raise SourceError(f"{self.path} must hold exactly one public tt.func, found {len(public)}")
        return public[0]

    @property
    def name(self) -> str:
        """The function's symbol, with the ``@`` before it as in Triton."""
        return f"@{self._function().sym_name.data}"

    @property
    def signature(self) -> dict[int, str]:
        """position → type as the text writes it (``*f32``), which is not how an ASTSource does; ``nvTmaDesc`` for a
        descriptor of the TMA unit."""
        from tritonx.runtime.compiling.ir_types import is_descriptor, text_type

        function = self._function()
        types = enumerate(function.function_type.inputs)
        return {i: "nvTmaDesc" if is_descriptor(function.arg_attrs, i) else text_type(type) for i, type in types}

    def parameters(self) -> tuple[Parameter, ...]:
        from tritonx.runtime.compiling.ir_types import signature_type

        types = enumerate(self._function().function_type.inputs)
        return tuple(Parameter(f"arg{i}", signature_type(type)) for i, type in types)

    def passes(self) -> tuple[ModulePass, ...]:
        return ()

    def parse_options(self) -> dict[str, Any]:
        """Options that the module itself fixes."""
        found: dict[str, Any] = {}
        for name, pattern in (("num_warps", _NUM_WARPS), ("num_ctas", _NUM_CTAS)):
            match = pattern.search(self.src)
            if match:
                found[name] = int(match[1])
        return found


Source = ASTSource | IRSource


def source_of(given: Any) -> Source:
    """An ASTSource or IRSource as it is, a path as an IRSource."""
    if isinstance(given, ASTSource | IRSource):
        return given
    if isinstance(given, str | Path):
        return IRSource(given)
    if all(hasattr(given, name) for name in ("fn", "signature", "constants", "attrs")):
        return given  # another package's ASTSource
    raise NoSource(f"source must be either AST or a filepath: an ASTSource, an IRSource or a path, not {given!r}")


def files_of(source: Source) -> tuple[str, ...]:
    """The files that contain ``source``, in order: those of its function and of all that this may call."""
    if isinstance(source, IRSource):
        return (source.path,)
    functions = (source.fn, *source.constants.values())
    return tuple(
        sorted({file for function in functions if isinstance(function, JITCallable) for file in function.files})
    )


def placed(source: Source) -> str:
    """The digest of ``source`` and of its location."""
    return hashlib.sha256(f"{source.hash()}-{files_of(source)}".encode()).hexdigest()


def printed(module: Any) -> str:
    """The module's text with locations."""
    from tritonx.ir.text import print_module

    return print_module(module, debuginfo=True)


def entry_symbol(module: object, default: str) -> str:
    """The symbol of the module's public function: a kernel's ``repr`` may have chosen another name than Python's."""
    found = public_functions(module)
    return found[0].sym_name.data if found else default


def public_functions(module: object) -> list[Any]:
    """The kernels of a module: its ``tt.func`` ops that are not private."""
    functions = [op for op in getattr(module, "ops", ()) if op.name == "tt.func"]
    return [f for f in functions if f.is_kernel]
