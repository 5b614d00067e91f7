"""``tritonx compile``: a kernel compiled ahead of time, as C source that holds its device code and launches it.

tritonx compile FILE --kernel-name NAME --signature SIGNATURE --grid X,Y,Z [options]

SIGNATURE is the parameters in order, with commas between them, each one of
    *fp32, i32, u64, fp16, ...  a type; behind it :16, where values are multiples of 16 (addresses: of 16 bytes), or :1,
                                where an integer is compiled as 1 and not passed
    1024, 0.5, True, None       the value of a compile-time parameter
    tensordesc<fp16[64, 32]>    a tensor descriptor of such blocks: in C its address, its extents and its strides in
                                elements (X, X_shape0, ..., X_stride0, ...), where no unit of the device copies them
    64 | 128, *fp32:16 | *fp32  any of these: each combination is compiled, into files of its own
e.g. "*fp32:16, *fp32:16, i32, 1024". X, Y and Z are C expressions of the parameters: "(n + BLOCK - 1) / BLOCK, 1, 1".

Written are NAME.HASH_SUFFIX.c and .h with
    RESULT NAME_HASH_SUFFIX(STREAM stream, parameters...)    launches, and loads where that was not done
    RESULT load_NAME_HASH_SUFFIX(void), unload_...           into the current context, out of it
where RESULT and STREAM are the vendor's. For a CPU they are int (0: success, 1: a grid or null pointer that cannot
be, 2: an assertion of the kernel failed) and void *, which is not read; the code runs on TRITONX_CPU_THREADS or all
cores where the program is linked with libgomp (-fopenmp), on the caller's thread otherwise. Arrays that a kernel
stores to may be others of its arguments, but overlap none in part, unless it is compiled with -O irregular=True.
--shared also makes libNAME.HASH_SUFFIX.so of each, --object NAME.HASH_SUFFIX.o, with the C compiler of the system.
fp16 and bf16 are passed as their bits (uint16_t). `tritonx link` makes one function of several that were compiled for
one kernel. FILE is run to find the kernel.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import itertools
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tritonx.backends.embedding import Argument, Dialect, Embedded, header
from tritonx.backends.registry import parse_target, portable_options
from tritonx.runtime import driver, knobs
from tritonx.runtime.compiling.compiled_kernel import CompiledKernel
from tritonx.runtime.compiling.compiler import compile as compile_source
from tritonx.runtime.compiling.jit_function import JITFunction
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.devices.cpp_types import c_type, is_c_type
from tritonx.runtime.devices.drivers import find_backend
from tritonx.runtime.errors import TritonError
from tritonx.runtime.launch.arg_spec import NEGATIVE, PARTIAL, parse_marks
from tritonx.runtime.launch.descriptor_parameters import SOURCE, flat_types
from tritonx.runtime.launch.parameter_values import letter
from tritonx.tools import command
from tritonx.tools.grid_expressions import unknown_name

if TYPE_CHECKING:
    from tritonx.backends.api import Backend, Target


MOST = 256
"""Versions of one command."""


class NotEmbeddable(TritonError):
    """What was asked for has no form as C."""


@dataclass
class CompileArgs:
    """What `compile_kernel` makes; ``options`` are more of the backend's, by name.

    >>> CompileArgs(kernel_name="double", signature="*fp32, 64", grid="1, 1, 1").num_warps
    1
    """

    path: str = ""
    kernel_name: str = ""
    signature: str = ""
    grid: str = ""
    target: str | None = None
    num_warps: int = 1
    num_stages: int = 3
    out_name: str | None = None
    out_path: Path | None = None
    options: Mapping[str, object] | None = None
    shared: bool = False
    object: bool = False


@dataclass(frozen=True)
class Given:
    """One entry of a signature: a type with a hint, or a compile-time ``value`` (``type`` is then constexpr)."""

    type: str
    hint: int = 0
    value: object = None


_TAKEN = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool class "
    "delete new private public template this throw virtual axis grid cells loaded stream variant".split()
)
"""Words that no parameter of the C function has: those of C and C++, and the function's own."""


def main(arguments: Sequence[str] | None = None) -> int:
    r"""The command ``tritonx compile``; its exit status.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "kernels.py")
    ...     size = file.write_text("import tritonx\n@tritonx.jit\ndef nothing(n):\n    pass\n")
    ...     given = [str(file), "-n", "nothing", "-s", "i32", "-g", "1, 1, 1", "-t", "cuda:80", "-o", str(file)]
    ...     print(main([*given, "-on", "launch_nothing"]))
    /...kernels..._0.c
    /...kernels..._0.h
    0
    """
    return command.run("tritonx compile", lambda: _run(argument_parser().parse_args(arguments)))


def argument_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "tritonx compile", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("path", metavar="FILE")
    parser.add_argument("--kernel-name", "-n", required=True)
    parser.add_argument("--target", "-t", help="as a compiled kernel's metadata write it; by default this machine's")
    parser.add_argument("--num-warps", "-w", type=command.integer(1, 64), default=1)
    parser.add_argument("--num-stages", "-ns", type=command.integer(0, 1 << 16), default=3)
    parser.add_argument(
        "--option", "-O", action="append", default=[], metavar="NAME=VALUE", help="one of the backend's"
    )
    parser.add_argument("--out-name", "-on", help="the C function's name begins with it; the kernel's by default")
    parser.add_argument("--out-path", "-o", type=Path, help="the files' path begins with it")
    parser.add_argument("--shared", action="store_true", help="make a shared library of each, too")
    parser.add_argument("--object", action="store_true", help="make an object file of each, too")
    parser.add_argument("--signature", "-s", required=True)
    parser.add_argument("--grid", "-g", required=True)
    return parser


def _run(parsed: argparse.Namespace) -> int:
    given = vars(parsed)
    options = dict(_option(each) for each in given.pop("option"))
    try:
        args = CompileArgs(**given, options=options)
        versions = [compile_kernel(replace(args, signature=each)) for each in alternatives(parsed.signature)]
    except (KeyError, ValueError) as error:
        raise NotEmbeddable(str(error.args[0] if isinstance(error, KeyError) and error.args else error)) from error
    print(*[file for _, files in versions for file in files], sep="\n")
    return 0


def alternatives(signature: str) -> list[str]:
    """The signatures that one with ``|`` between alternatives stands for. Raises `NotEmbeddable` for too many.

    >>> alternatives("*fp32:16 | *fp32, i32, 64")
    ['*fp32:16, i32, 64', '*fp32, i32, 64']
    """
    entries = [[part.strip() for part in _split(entry, "|")] for entry in _split(signature)]
    count = math.prod(map(len, entries))
    if count > MOST:
        raise NotEmbeddable(f"signature: it stands for {count} versions, and one command compiles {MOST} at most")
    return [", ".join(chosen) for chosen in itertools.product(*entries)]


def compile_kernel(args: CompileArgs) -> tuple[str, list[Path]]:
    r"""The C function's name, and the files that were written. Raises `NotEmbeddable`, and what compiling raises.

    >>> from tritonx.tools.compile import CompileArgs
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "kernels.py")
    ...     size = file.write_text("import tritonx\n@tritonx.jit\ndef nothing(n):\n    pass\n")
    ...     given = CompileArgs(str(file), "nothing", "i32", "1, 1, 1", "cuda:80", out_path=file)
    ...     _, files = compile_kernel(given)
    ...     print([file.suffix for file in files])
    ['.c', '.h']
    """
    kernel = kernel_of(Path(args.path), args.kernel_name)
    given = parse_signature(kernel, args.signature)
    names = _c_names(kernel)
    grid = tuple(part.strip() for part in _split(args.grid))
    if args.out_name is not None and not (args.out_name.isidentifier() and args.out_name.isascii()):
        raise NotEmbeddable(f"--out-name {args.out_name}: it is no name in C")
    if args.out_path is not None and not args.out_path.name:
        raise NotEmbeddable(f"--out-path {args.out_path}: it is no name of a file")
    if len(grid) != 3 or not all(grid) or "\n" in args.grid:
        raise NotEmbeddable(f"a grid has three expressions, as in 'n / 64, 1, 1', not {args.grid!r}")
    options = {"num_warps": args.num_warps, "num_stages": args.num_stages, **(args.options or {})}
    target = _target(args.target)
    backend = find_backend(target.backend)
    _require_known(options, backend)
    arguments = [_argument(backend, c_name, each) for c_name, each in zip(names, given, strict=True)]
    constants = _constants(names, given)
    _require_named(grid, [*(each.name for argument in arguments for each in argument.own), *constants], kernel)
    compiled = compile_source(_source(kernel, given), target, options)
    dialect = _dialect(backend, compiled)

    name = args.out_name or args.kernel_name
    choices = _choices(options)
    digest = hashlib.sha256(f"{args.signature} {choices} {compiled.target}".encode()).hexdigest()[:8]
    suffix = "".join(f"{i}{ {0: '', 1: 'c', 16: 'd'}[each.hint] }" for i, each in enumerate(given))
    values = "x".join(str(each.value) for each in given if each.type == "constexpr")
    own = [argument for each in arguments for argument in each.own]
    doubled = [a.name for a in own if sum(a.name == b.name for b in own) > 1]
    if doubled:
        raise NotEmbeddable(f"signature: two arguments of the C function are called {doubled[0]!r}")
    embedded = Embedded(
        compiled.image(),
        backend.cpp_handles[0],
        name,
        re.sub(r"\W", "_", f"{values}_{choices}"),
        f"{name}_{digest}_{suffix}",
        tuple(own),
        constants,
        grid,
        f"{args.kernel_name}({args.signature}), {choices}, for {compiled.target}".replace("*/", "* /"),
        tuple(cell for each in arguments for cell in each.cells),
        tuple(made for each in arguments for made in each.locals),
        compiled.asm,
    )
    path = args.out_path or Path(name)
    files = [path.with_suffix(f".{digest}_{suffix}{ending}") for ending in (".c", ".h")]
    for file, text in zip(
        files, (dialect.source(dialect, embedded, files[1].name), header(dialect, embedded)), strict=True
    ):
        command.write(file, text, "--out-path")
    if args.object:
        files.append(object_file(files[0].with_suffix(".o"), files[0]))
    if args.shared:
        files.append(shared_library(files[0].with_name(f"lib{files[0].stem}.so"), files[:1]))
    return embedded.function, files


def _require_known(options: Mapping[str, object], backend: Backend) -> None:
    known = [field.name for field in fields(backend.options_type)]
    unknown = next((name for name in options if name not in known and name not in portable_options()), None)
    if unknown is not None:
        raise NotEmbeddable(f"--option {unknown}: the backend {backend.name} has {', '.join(known)}")


def _require_named(grid: Sequence[str], known: Sequence[str], kernel: JITFunction) -> None:
    for expression in grid:
        if (unknown := unknown_name(expression, known)) is not None:
            named = ", ".join(known) or "no parameter"
            raise NotEmbeddable(
                f"--grid {expression}: {unknown!r} is nothing that a grid of {kernel.__name__} may name: {named}"
            )


@dataclass(frozen=True)
class _InC:
    """A parameter of the kernel in C: see `Embedded`."""

    own: tuple[Argument, ...] = ()
    cells: tuple[str, ...] = ()
    locals: tuple[tuple[str, str, str], ...] = ()


def _argument(backend: Backend, name: str, given: Given) -> _InC:
    if given.type == "constexpr":
        return _InC()
    if not given.type.startswith(SOURCE):
        own = Argument(c_type(backend, given.type), name, given.hint)
        return _InC((own,), () if given.hint == 1 else (name,))
    rank = (len(flat_types(given.type)) - 2) // 4
    shape = [f"{name}_shape{axis}" for axis in range(rank)]
    strides = [f"{name}_stride{axis}" for axis in range(rank)]
    extents = [f"{name}_extent{axis}" for axis in range(rank)]
    pads = f"{name}_pads_with_nan"
    return _InC(
        (Argument(backend.cpp_handles[0], name), *(Argument("int64_t", each) for each in (*shape, *strides))),
        (name, *shape, *strides, pads, *extents, *strides),
        (("uint8_t", pads, "0"), *(("int32_t", e, f"(int32_t){s}") for e, s in zip(extents, shape, strict=True))),
    )


def kernel_of(path: Path, name: str) -> JITFunction:
    """The kernel of that name in a file, which is run with its directory on the path."""
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise NotEmbeddable(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        with command.running(path):
            spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    found = getattr(module, name, None)
    while found is not None and not isinstance(found, JITFunction):  # heuristics and the tuner wrap it
        found = getattr(found, "fn", None)
    if found is None:
        kernels = [key for key, value in vars(module).items() if hasattr(value, "arg_names")]
        raise NotEmbeddable(f"{path} has no kernel {name!r}; those it has: {', '.join(kernels) or 'none'}")
    return cast("JITFunction", found)


def parse_signature(kernel: JITFunction, text: str) -> list[Given]:
    """One entry for each parameter. Raises `NotEmbeddable`."""
    entries = [entry.strip() for entry in _split(text)]
    if len(entries) != len(kernel.arg_names):
        raise NotEmbeddable(
            f"signature: {kernel.__name__} has {len(kernel.arg_names)} parameters ({', '.join(kernel.arg_names)}), the "
            f"signature {len(entries)}"
        )
    return [_entry(entry, param.name, param.is_constexpr) for entry, param in zip(entries, kernel.params, strict=True)]


def _entry(entry: str, name: str, constexpr: bool) -> Given:
    type_, colon, hint = (part.strip() for part in entry.partition(":"))
    try:
        value = command.literal(entry)
    except ValueError:
        pass
    else:
        return Given("constexpr", value=value)
    if constexpr:
        raise NotEmbeddable(
            f"signature: {name!r} is a compile-time parameter: the signature has to give its value, not {entry!r}"
        )
    if type_.startswith(SOURCE):
        return Given(_descriptor(type_, name, colon))
    try:
        letter(type_)
    except TypeError as error:
        raise NotEmbeddable(f"signature: {name!r}: {error}") from None
    if colon and hint not in ("1", "16"):
        raise NotEmbeddable(f"signature: {name!r}: a hint is 1 or 16, not {hint!r}")
    if not is_c_type(type_):
        raise NotEmbeddable(f"signature: {name!r}: C has no type for {type_}")
    number = int(hint or 0)
    if number == 1 and type_.startswith("*"):
        raise NotEmbeddable(f"signature: {name!r}: an address is not 1")
    if number and "f" in type_ and not type_.startswith("*"):
        raise NotEmbeddable(f"signature: {name!r}: {type_} takes no hint")
    return Given(type_, number)


def _descriptor(type_: str, name: str, hinted: str) -> str:
    """As a kernel's signature has it."""
    match = re.fullmatch(r"tensordesc<(\w+)\s*\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]>", type_)
    if match is None or hinted or not is_c_type(match[1]):
        raise NotEmbeddable(
            f"signature: {name!r}: a descriptor is written tensordesc<TYPE[EXTENT, ...]>, not {type_!r}"
        )
    return f"tensordesc<{match[1]}[{', '.join(part.strip() for part in match[2].split(','))}]>"


def _source(kernel: JITFunction, given: Sequence[Given]) -> ASTSource:
    types = {
        name: "constexpr" if each.hint == 1 else each.type for name, each in zip(kernel.arg_names, given, strict=True)
    }
    constants = {
        name: 1 if each.hint == 1 else each.value
        for name, each in zip(kernel.arg_names, given, strict=True)
        if types[name] == "constexpr"
    }
    return ASTSource(kernel, types, constants, {(i,): parse_marks(_marks(each)) for i, each in enumerate(given)})


def _marks(given: Given) -> str:
    """C programs pass integers below 0 as well, and descriptors whose rows end anywhere."""
    signed = given.type in _SIGNED and given.hint != 1
    return ("D" if given.hint == 16 else "") + NEGATIVE * signed + PARTIAL * given.type.startswith(SOURCE)


_SIGNED = frozenset({"i8", "i16", "i32", "i64"})


def _choices(options: Mapping[str, object]) -> str:
    """The options in a name: warps and stages as Triton writes them, and the others behind them."""
    others = sorted((key, value) for key, value in options.items() if key not in ("num_warps", "num_stages"))
    usual = [f"warps{options['num_warps']}", f"stages{options['num_stages']}"]
    return "x".join([*usual, *(f"{key}{value}" for key, value in others)])


def _constants(names: Sequence[str], given: Sequence[Given]) -> dict[str, int]:
    """What a grid's expressions may name beside the parameters."""
    values = {name: 1 if each.hint == 1 else each.value for name, each in zip(names, given, strict=True)}
    return {name: int(value) for name, value in values.items() if isinstance(value, int) and abs(value) < 2**31}


def _dialect(backend: Backend, compiled: CompiledKernel) -> Dialect:
    dialect = backend.c_dialect()
    if dialect is None:
        raise NotEmbeddable(f"kernels for {compiled.target} are not launched from C")
    if compiled.checks_bounds:
        raise NotEmbeddable("checked code takes a table of what it may access, which no C source makes (check_bounds)")
    if compiled.measures_regions:
        raise NotEmbeddable("the kernel records its regions to memory that no C source lends it (instrumentation_mode)")
    if getattr(compiled.metadata, "global_scratch_size", 0):
        raise NotEmbeddable(
            "the kernel needs memory of its own on the device at each launch (tensor descriptors that it makes), which "
            "no C source lends it"
        )
    if getattr(compiled.metadata, "tensordesc_meta", None):
        raise NotEmbeddable(
            "a unit of the device copies the descriptor's blocks by a tensor map, which no C source makes"
        )
    if getattr(compiled.metadata, "tensormaps_at_launch", None):
        raise NotEmbeddable("the kernel's launches make tensor maps for it (launch_maps), which no C source does")
    return dialect


def _target(text: str | None) -> Target:
    """``cuda:90``; ``cuda:90:32`` with the lanes of a warp behind it, as Triton writes it."""
    if text is None:
        return driver.get_active().get_current_target()
    return parse_target(":".join(text.split(":")[:2]))[1]


def _c_names(kernel: JITFunction) -> list[str]:
    return [f"{name}_" if name in _TAKEN else name for name in kernel.arg_names]


def shared_library(path: Path, sources: Sequence[Path]) -> Path:
    """Build the C files as a shared library, with libgomp where there is one; headers are taken from the folders of
    all of them. Raises `NotEmbeddable`."""
    folders = dict.fromkeys(f"-I{source.parent}" for source in sources)
    line = ["-shared", "-fPIC", "-O2", *folders, "-o", str(path), *map(str, sources), "-lm"]
    return _built(path, [[*line, "-Wl,--no-as-needed", "-lgomp"], line], "--shared")


def object_file(path: Path, source: Path) -> Path:
    """Build the C file as an object. Raises `NotEmbeddable`."""
    return _built(path, [["-c", "-fPIC", "-O2", "-o", str(path), str(source)]], "--object")


def _built(path: Path, lines: Sequence[Sequence[str]], what: str) -> Path:
    """What the first of these lines makes with the C compiler that works."""
    compiler = knobs.build.cc or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise NotEmbeddable(f"{what} takes a C compiler, and there is none (CC names one)")
    failed = ""
    for line in lines:
        done = subprocess.run([compiler, *line], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return path
        failed = f"{what}: `{' '.join([compiler, *line])}` failed:\n{done.stderr}"
    raise NotEmbeddable(failed)


def _split(text: str, at: str = ",") -> list[str]:
    """Where `at` is in no brackets."""
    parts, depth = [""], 0
    for letter_ in text:
        depth += (letter_ in "([{") - (letter_ in ")]}")
        if letter_ == at and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter_
    return parts


def _option(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise NotEmbeddable(f"--option is written NAME=VALUE, not {text!r}")
    try:
        return name, command.literal(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    sys.exit(main())
