"""Rules that the source must keep: who may import whom, where vendor words may occur, what must have a test."""

from __future__ import annotations

import ast
import importlib
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tritonx"
PLUGINS = ROOT / "plugins"
TESTING = ROOT / "packages" / "tritonx-testing" / "tritonx_testing"  # a build leaves copies beside it
"""The distribution that tests backends: it may import all of tritonx, and nothing of tritonx imports it."""

# Each package may import the ones named beside it (and itself, and the standard library and the declared dependencies).
ALLOWED: dict[str, set[str]] = {
    # The context registers the dialects, the parser knows the types it abbreviates; a pass's failure is an error that
    # every layer may raise, a setting says whether to verify, and a stage is what the contract of a backend says it is.
    "ir": {"dialects", "runtime.errors", "runtime.knobs", "backends.api"},
    "dialects": {"ir", "layouts"},
    "layouts": set(),
    # What a kernel is declared as: below all that speak of kernels.
    "kernel": set(),
    # A launch's target decides what the language's extra modules hold.
    "language": {
        "level", "kernel", "runtime.driver", "runtime.devices.dtype_names", "runtime.refusals",
        "runtime.compiling.targets",
    },
    "frontend": {
        "level", "kernel", "ir", "dialects", "language", "runtime.errors", "runtime.knobs", "runtime.compiling.targets",
        "backends.api",
    },
    "analysis": {"ir", "dialects", "layouts"},
    "transforms": {"ir", "dialects", "layouts", "analysis"},
    "conversion": {"level", "backends.api", "ir", "dialects", "layouts", "analysis", "transforms"},
    # The machine that executes `ttg` lays tiles and scratch memory out as emission does.
    "interpreter": {
        "level", "kernel", "ir", "dialects", "layouts", "analysis", "language", "frontend", "runtime", "backends.api",
    },
    "backends": {
        "language", "backends", "ir", "dialects", "layouts", "analysis", "transforms", "conversion", "runtime",
    },
    "runtime": {
        "level", "backends.api", "backends.registry", "kernel", "frontend", "interpreter", "ir", "language", "testing",
        "tools.tensor_descriptor", "_utils",
        "explain",  # of a compiled kernel, where it is asked for
        "analysis.written",  # of what the front end made, before the first stage of any backend
    },
    "explain": {
        "ir", "dialects", "layouts", "analysis", "transforms", "conversion", "runtime", "backends.api",
        "backends.registry", "tools.pass_info", "tools.command",  # what a pass says of itself, an option's value
        "tools.tensor_descriptor",
    },
    "profiler": {"runtime", "backends.api", "backends.registry", "language", "kernel"},
    "testing": {"profiler", "runtime", "language", "interpreter", "backends.api", "backends.registry"},
    "compat": {"level", "runtime", "version"},
    "experimental": {
        "kernel", "language", "runtime", "layouts", "dialects", "ir", "frontend", "transforms", "backends.api",
        "tools.tensor_descriptor",
    },
    "tools": {
        "backends.api", "backends.registry", "backends.embedding", "ir", "dialects", "transforms", "layouts", "runtime",
        "explain", "interpreter", "frontend", "language",
        "analysis.written",  # which arrays a kernel that is checked stores to
        "version",  # what a wheel of sealed kernels requires
    },
}  # fmt: skip

# Of `backends`: Triton's names, on which a backend's are built.
TRITON_NAMES = ("compiler", "driver")

# What backends outside import: gathered from all packages, and used by none here.
OUTWARD = {"backends.gpu", "backends.tile", "backends.portable_stages"}

# What a package names only in its types: nothing of it is imported when the package runs.
TYPES_ONLY: dict[str, set[str]] = {
    # Builtins are written against the semantics that the code generator hands them.
    "language": {"frontend.semantics"},
}

NVIDIA_WORDS = re.compile(r"nvidia|cuda|\bsm_\d*|\bptx\b|cubin", re.I)
AMD_WORDS = re.compile(r"\bamd|\bhip\b|\bhip_|gfx\d|hsaco|rocm", re.I)

MATRIX_WORDS = re.compile(r"(?<![a-z])(w|wg|mf)?mma(?![a-z])|mfma", re.I)
"""Families of matrix instructions: a backend brings them as a `MatrixUnit`."""

# Where the other vendor's, or any vendor's, words are part of a name that is not ours to choose.
VENDOR_EXEMPT: dict[str, str] = {
    "dialects": "the names of the text format: #ttg.nvidia_mma, #ttg.amd_mfma, the ttng and amdg dialects",
    "layouts": "the layouts of those encodings",
    "experimental": "the names of Gluon's modules",
}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[str]:
    """Every tritonx module that ``tree`` imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("tritonx"))
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = module.split(".") if is_package else module.split(".")[:-1]
                base = base[: len(base) - node.level + 1]
                yield ".".join([*base, node.module] if node.module else base)
            elif node.module and node.module.split(".")[0] == "tritonx":
                for alias in node.names:
                    inner = ROOT.joinpath(*node.module.split("."), alias.name)
                    is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                    yield f"{node.module}.{alias.name}" if is_module else node.module


def apart(tree: ast.Module) -> tuple[ast.Module, ast.Module]:
    """What runs, and what only a type checker sees."""
    guarded = [n for n in ast.walk(tree) if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    types = ast.Module([statement for node in guarded for statement in node.body], [])
    for node in guarded:
        node.body = [ast.Pass()]
    return tree, types


def test_what_only_types_name_is_told_apart() -> None:
    text = "import tritonx.a\nif TYPE_CHECKING:\n    import tritonx.b\nelse:\n    import tritonx.c\n"
    run, types = apart(ast.parse(text))
    assert [*imports(run, "tritonx.x", False)] == ["tritonx.a", "tritonx.c"]
    assert [*imports(types, "tritonx.x", False)] == ["tritonx.b"]


@pytest.mark.parametrize("path", sources(), ids=dotted)
def test_imports_go_one_way(path: Path) -> None:
    module = dotted(path)
    parts = module.split(".")
    if len(parts) < 2 or parts[1] not in ALLOWED:
        return
    own = parts[1]
    run, types = apart(ast.parse(path.read_text()))
    found = [(target, ALLOWED[own]) for target in imports(run, module, path.name == "__init__.py")]
    seen = ALLOWED[own] | TYPES_ONLY.get(own, set())
    found += [(target, seen) for target in imports(types, module, path.name == "__init__.py")]
    for target, allowed in found:
        rest = target.removeprefix("tritonx").lstrip(".")
        if not rest or rest.split(".")[0] == own:
            if own == "backends" and len(parts) > 2 and rest.count(".") >= 1:
                other = rest.split(".")[1]
                common = {"api", "registry", "embedding", "gpu_passes", "user_libraries", *TRITON_NAMES}
                if module == "tritonx.backends.api":
                    common |= {"contract"}
                if ".".join(parts[1:]) in OUTWARD:
                    common |= {"exports", *(name.partition(".")[2] for name in OUTWARD)}
                assert other in {parts[2], *common}, f"{module} imports another backend: {target}"
            continue
        if ".".join(parts[1:]) == "backends.tile" and rest.startswith("interpreter."):
            continue  # what an op means is part of what it is
        assert any(rest == a or rest.startswith(a + ".") for a in allowed), f"{module} may not import {target}"


STABLE = ("backends.api", "backends.gpu", "backends.tile")
"""All that a backend outside this package may import, beside what a kernel's author does."""

SAMPLE_LINES = 350
"""Of code, that a backend from outside may take: blank lines, comments and docstrings are free."""


def plugin_sources() -> list[Path]:
    samples = [*PLUGINS.iterdir(), ROOT / "tests" / "plugin"]
    return sorted(p for project in samples for p in project.glob("tritonx_*/**/*.py"))


def names_from(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name) of all that is imported from tritonx; "" for a module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.split(".")[0] == "tritonx")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tritonx":
            yield from ((node.module, alias.name) for alias in node.names)


MADE_UP = sorted((PLUGINS / "tritonx-opencl" / "tests").glob("made_up_*.py"))
"""A backend of a test's own is one from outside as well."""


@pytest.mark.parametrize("path", [*plugin_sources(), *MADE_UP], ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_samples_import_the_stable_modules_alone(path: Path) -> None:
    for module, name in names_from(ast.parse(path.read_text())):
        rest = module.removeprefix("tritonx").lstrip(".")
        assert rest in STABLE, f"{path} may not import {module}"
        assert hasattr(importlib.import_module(module), name), f"{path}: {module} has no {name}"
        homes = getattr(importlib.import_module(module), "_TABLE", None)
        assert homes is None or name in homes, f"{path}: {module} does not list {name}"


def test_a_backend_from_outside_is_small() -> None:
    paths = [p for p in plugin_sources() if p.parent.name == "tritonx_opencl"]
    assert paths and sum(code_lines(p.read_text()) for p in paths) <= SAMPLE_LINES


def code_lines(text: str) -> int:
    """Lines with anything but a comment or a docstring."""
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose |= {*range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and n not in prose for n, line in lines)


@pytest.mark.parametrize("module", STABLE[1:])
def test_a_stable_module_keeps_its_names(module: str) -> None:
    """What it had at its version is there; type checkers see the same; a removal raises the version, and a list."""
    found = importlib.import_module(f"tritonx.{module}")
    listed = (ROOT / "tests" / "data" / f"stable_{module.split('.')[1]}_{found.API_VERSION}.txt").read_text().split()
    missing = set(listed) - set(dir(found))
    assert not missing, f"{module}: {sorted(missing)} were promised for version {found.API_VERSION}"
    assert set(dir(found)) == set(listed), f"new names belong into the list: {sorted(set(dir(found)) - set(listed))}"
    seen: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module.replace('.', '/')}.py").read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            seen = {*names_from(node)}
    assert seen == {(home, name) for home, names in found.HOMES.items() for name in names.split()}
    for name in listed:
        assert getattr(found, name) is not None


def test_tritonx_imports_no_plugin() -> None:
    names = {project.name.replace("-", "_") for project in (*PLUGINS.iterdir(), TESTING)}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            found = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            found += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not names & {name.split(".")[0] for name in found}, (
                f"{path}:{node.lineno} imports another distribution"
            )


SHARED = ("analysis", "transforms", "conversion")
VENDORS = ("tritonx.dialects.nvidia", "tritonx.dialects.amd")


def vendor_imports(text: str, module: str) -> list[str]:
    """The modules of vendors' dialects that a file imports, also for types alone."""
    return [name for name in imports(ast.parse(text), module, False) if name.startswith(VENDORS)]


@pytest.mark.parametrize("path", [p for p in sources() if p.relative_to(PACKAGE).parts[0] in SHARED], ids=dotted)
def test_shared_code_imports_no_vendors_dialect(path: Path) -> None:
    """It asks ops by what they declare, and has a backend make those that it must make (`dialects/interfaces.py`)."""
    assert vendor_imports(path.read_text(), dotted(path)) == []


def test_an_import_of_a_vendors_dialect_is_found() -> None:
    for line in ("from tritonx.dialects import nvidia as ttng", "import tritonx.dialects.amd", "from . import x"):
        assert bool(vendor_imports(line, "tritonx.transforms.gpu.a")) == ("dialects" in line)
    guarded = "if TYPE_CHECKING:\n    from tritonx.dialects.nvidia.dot import WarpGroupDotOp\n"
    assert vendor_imports(guarded, "tritonx.transforms.gpu.a")


@pytest.mark.parametrize("path", sources(), ids=dotted)
def test_vendor_words_stay_in_their_backend(path: Path) -> None:
    parts = path.relative_to(PACKAGE).parts
    if parts[0] in VENDOR_EXEMPT:
        return
    own = "/".join(parts if parts[0] == "runtime" else parts[:2])
    # Strings that users of Triton write must be accepted wherever the public names live; prose may name examples.
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    docstrings |= {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    words: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            words.append((node.lineno, node.id))
        elif isinstance(node, ast.Attribute):
            words.append((node.lineno, node.attr))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            words.append((node.lineno, node.name))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            words.append((node.lineno, node.value))
        elif isinstance(node, ast.ImportFrom) and own.startswith("ir/"):
            words += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    for line, name in words:
        if own.startswith("ir/"):
            assert not VENDOR_DIALECTS.search(name), f"{path}:{line}: {name!r}"
        word = FORMAT_NAMES.sub("", name)
        if word in ANYWHERE or (own, word) in PYTORCH:
            continue
        if parts[0] != "backends":
            assert not MATRIX_WORDS.search(word) or (own, word) in PUBLIC_NAMES, f"{path}:{line}: {word!r}"
        if own != "backends/nvidia":
            assert not NVIDIA_WORDS.search(word) or (own, word) in PUBLIC_NAMES, f"{path}:{line}: {word!r}"
        if own != "backends/amd":
            assert not AMD_WORDS.search(word) or (own, word) in PUBLIC_NAMES, f"{path}:{line}: {word!r}"


FORMAT_NAMES = re.compile(
    r"\bttg\.(nvidia_mma|amd_mfma|amd_wmma|amd_rotating_shared)\b|\bamdg\b|^tritonx\.dialects\.(nvidia|amd)$"
)
"""Dialects and encodings as the text format spells them."""

VENDOR_DIALECTS = re.compile(r"\bttng\b|\bamdg\b|\brocdl\b|nvmma|nvidia|\bamd", re.I)
"""Not even as the text format spells them where any dialect is read and written: a backend brings its own."""

ANYWHERE = {"__cuda_array_interface__", "sm_clock_rate"}
"""The array protocol, and a key of Triton's device properties, which every driver reports."""

PYTORCH = {
    ("runtime/devices/pytorch.py", "cuda"),
    ("runtime/devices/pytorch.py", "_cuda_getCurrentRawStream"),
    ("runtime/devices/pytorch.py", "CUDAGraph"),
    ("backends/amd", "cuda"),
}
"""PyTorch and CuPy call their GPU modules, and the devices, ``cuda`` on every vendor's."""

ASKED_CHIPS = (
    *("cdna", "cdna2", "cdna3", "cdna3_or_newer", "cdna4", "rdna", "rdna3", "rdna4", "rdna4m", "gfx11", "gfx12"),
    *("gfx110", "gfx115", "gfx117", "gfx120", "gfx1250"),
)
# Names of Triton's public interface, or of an array protocol, that cannot be spelled otherwise: (place, word).
PUBLIC_NAMES: set[tuple[str, str]] = {
    ("backends/cpu", "sm_clock_rate"),
    *(("profiler/mode.py", word) for word in ("MMA", "mma")),
    *(("profiler/profilers.py", word) for word in ("cuda", "hip")),
    *(
        ("_internal_testing.py", word)  # what tests of libraries ask
        for word in (
            *("is_cuda", "cuda", "is_hip", "hip", "get_hip_lds_size", "gfx90a", "gfx942", "gfx950"),
            *(f"is_hip_{chip}" for chip in ASKED_CHIPS),
            *ASKED_CHIPS,
        )
    ),
    ("_C/libtriton", "nvidia"),
    ("_filecheck.py", "cuda"),
    ("runtime/bindings.py", "amd"),
    ("runtime/autotuner.py", "use_cuda_graph"),
    ("runtime/tuning/tuner.py", "use_cuda_graph"),
    ("runtime/tuning/tuner.py", "do_bench_cudagraph"),
    ("testing/bench.py", "do_bench_cudagraph"),
    ("testing/__init__.py", "do_bench_cudagraph"),
    *(
        (f"testing/{module}.py", word)
        for module in ("__init__", "profiled")
        for word in ("do_bench_cudagraph", "do_bench_cudagraph_proton", "cuda_graph_without_gc", "cuda")
    ),
    ("testing/smi.py", "nvidia-smi"),  # the program that nvsmi runs
    ("testing/__init__.py", "cuda_memcheck"),
    (
        "testing/vendor_products.py",
        "tritonx._C.libtriton.nvidia",
    ),  # whose binding Triton's function of this name returns
    ("tools/disasm.py", "cubin_asm"),
    ("tools/disasm.py", "path_to_cuobjdump"),
    *(
        ("runtime/knobs.py", word)
        for name in ("cudacrt_path", "cudart_path")
        for word in (name, f"TRITON_{name.upper()}")
    ),
}


TRITONS_OPTIONS = {
    "conversion/gpu_options.py": {"launch_cooperative_grid"},  # the options that GPUs share
    "experimental/gluon/language/nvidia/blackwell/__init__.py": {"clc"},  # a module of Gluon's
    "runtime/config.py": {"maxnreg"},  # Triton's Config
    "runtime/compiling/jit_hooks.py": {"launch_cooperative_grid"},  # Triton's hooks
    "runtime/settings/knob_types.py": {"launch_cooperative_grid"},
    "tools/checking/runs.py": {"launch_cooperative_grid"},  # of a launch that the interpreter cannot execute
}
"""Where options of some backends are named by all that use Triton."""


def test_options_that_not_every_backend_has_are_read_by_those_that_have_them() -> None:
    """And no code asks an object whether it has an option."""
    from tritonx.backends.registry import portable_options

    options = portable_options()
    assert {"maxnreg", "launch_pdl", "launch_cooperative_grid"} <= options
    found: dict[str, set[str]] = {}
    for path in sources():
        own = str(path.relative_to(PACKAGE))
        if not re.match(r"backends/\w+/", own):
            text = path.read_text()
            for name in options:
                if mentions(text, {name}):
                    found.setdefault(own, set()).add(name)
        assert not re.search(r"(get|has)attr\([\w.]*options,", path.read_text()), f"{path}: an option has a class"
    assert found == TRITONS_OPTIONS


def test_a_dialect_is_common_or_brought_by_a_backend() -> None:
    """Each that is declared here; a backend's by an entry point, as one from outside brings it."""
    from xdsl.ir import Dialect

    from tritonx.ir.context import DIALECTS, dialect_loaders

    brought = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["tritonx.dialects"]
    assert brought.keys() == {"ttng", "amdg", "rocdl"} and not brought.keys() & DIALECTS.keys()
    missing = brought.keys() - dialect_loaders().keys()
    assert not missing, f"{missing} are not installed: entry points are seen after `pip install -e .`"
    declared = {
        found.name
        for path in (PACKAGE / "dialects").iterdir()
        if path.stem not in ("__init__", "__pycache__")
        for found in vars(importlib.import_module(f"tritonx.dialects.{path.stem}")).values()
        if isinstance(found, Dialect)
    }
    foreign = {name for name, (module, _) in DIALECTS.items() if module.startswith("xdsl.")}
    assert declared == (DIALECTS.keys() - foreign) | brought.keys()
    assert all(load().name == name for name, load in dialect_loaders().items())


TILE_LIST = PACKAGE / "transforms" / "tile" / "pipeline.py"
GPU_LIST = PACKAGE / "backends" / "gpu_passes.py"
SCREEN = 80
"""Lines of the lists."""

CONDITIONS = {
    "nvidia": {
        "copies_blocks(target, options)",
        "describes_loads(target, options)",
        "gpu.pipelined",
        "makes_maps_at_launch(target, options)",
    },
    "amd": {
        "isinstance(options, AmdOptions) and options.buffer_ops",
        "alternates(target, options)",
    },
}
"""Under which a backend inserts some of its passes: other passes find their ops, or leave a module as it is."""


def listed_passes(text: str) -> list[list[str]]:
    """The literal lists of passes in a file: the classes in each, in order. AssertionError where an element is not a
    pass that is made there, unconditionally: ``Fold()``."""

    def name(element: ast.expr) -> str:
        made = isinstance(element, ast.Call) and isinstance(element.func, ast.Name) and element.func.id[0].isupper()
        assert made, f"{ast.unparse(element)} is no pass"
        return element.func.id

    return [[name(one) for one in each.elts] for each in literal_lists(text)]


def literal_lists(text: str) -> list[ast.Tuple]:
    """The tuples that are called ``every``, or have a type."""
    found = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Assign | ast.AnnAssign)]
    named = [n.value for n in found if isinstance(n, ast.AnnAssign) or ast.unparse(n.targets[0]) == "every"]
    return [value for value in named if isinstance(value, ast.Tuple)]


@pytest.mark.parametrize("path", [TILE_LIST, GPU_LIST], ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_the_lists_of_passes_stand_on_one_screen(path: Path) -> None:
    text = path.read_text()
    lines = [line for n in literal_lists(text) for line in (n.lineno, n.end_lineno or n.lineno)]
    assert max(lines) - min(lines) <= SCREEN
    assert sum(map(len, listed_passes(text))) > 10


@pytest.mark.parametrize("name", ["hip:gfx942", "hip:gfx1100", "cuda:75", "cuda:90"])
def test_a_backend_runs_the_list_with_its_own_passes(name: str) -> None:
    """All of the shared list in its order, but for pipelines where there are none; nothing else but what it inserts."""
    from tritonx.backends.api import PassStage
    from tritonx.backends.gpu_passes import gpu_passes
    from tritonx.backends.registry import parse_target

    backend, target = parse_target(name)
    options = backend.parse_options(target, {})
    gpu = backend.gpu_target(target, options)
    assert gpu is not None
    own = importlib.import_module(f"{type(backend).__module__}.inserts")
    inserts = [*getattr(own, "on_tiles", lambda *_: ())(target, options), *own.on_layouts(target, options)]
    replaced = {insert.instead for insert in inserts}
    run = [one.name for s in backend.stages(target, options) if isinstance(s, PassStage) for one in s.passes]
    left = iter(run)
    for one in (one for passes in gpu_passes(gpu) for one in passes if one.name not in replaced):
        assert one.name in left, f"{name} does not run {one.name} where the list has it"
    shared = [one.name for passes in gpu_passes(gpu) for one in passes if one.name not in replaced]
    assert sorted(run) == sorted([*shared, *(insert.one.name for insert in inserts)])


@pytest.mark.parametrize("name", CONDITIONS)
def test_few_passes_are_conditional(name: str) -> None:
    own = importlib.import_module(f"tritonx.backends.{name}.inserts")
    tree = ast.parse(Path(own.__file__ or "").read_text())
    conditions = {ast.unparse(n.test) for n in ast.walk(tree) if isinstance(n, ast.If)}
    assert conditions == CONDITIONS[name]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("every = (Fold(), *others())", r"others\(\)"),
        ("every = (Fold(), fold)", "fold is no pass"),
        ("every = (Fold(), make())", "is no pass"),
        ("every = (Fold(), *([Fold()] if recent else []))", "is no pass"),
    ],
)
def test_a_list_of_passes_that_is_none_is_found(text: str, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        listed_passes(text)


NEEDED = {
    "gather": {
        "dialects/tile/shape.py",
        "dialects/tile/__init__.py",
        "interpreter/meanings/shape.py",
        "language/builtins/shape.py",
        "language/values/methods.py",
        "frontend/semantics/shape.py",
        "conversion/gpu_to_llvm/lookup.py",
        "conversion/tile_to_loops/shape.py",
    },
    "umulhi": {
        "dialects/tile/elementwise.py",
        "dialects/tile/__init__.py",
        "interpreter/meanings/integer.py",
        "interpreter/arithmetic.py",
        "language/math.py",
        "frontend/semantics/elementwise.py",
        "conversion/scalar/integers.py",
        "conversion/scalar/table.py",
    },
}
"""The files that an op on tiles needs, and one on elements, as docs/contributing/op_or_pass.md walks through them."""

TABLES = {"tritonx_testing/sweep/programs.py", "tritonx_testing/differential/table.py"}
TESTED = {
    "gather": {*TABLES, "tritonx_testing/conformance/families/sorting.py"},
    "umulhi": {*TABLES, "tritonx_testing/conformance/families/elementwise.py"},
}
"""What tests it in `tritonx-testing`: tables in which it stands, and its cases."""

NAMES = {
    "gather": {"gather", "GatherOp"},
    "umulhi": {"umulhi", "MulhiUIOp", "multiply_high", "multiply_high_unsigned"},
}

USES = {
    "gather": {
        "experimental/gluon/language/__init__.py": "Gluon has it too",
        "experimental/gluon/values.py": "a method of tiles in shared memory is another op",
        "frontend/semantics/indexing.py": "slices that are no equal parts of an axis become one",
        "language/values/descriptors.py": "a descriptor's method of that name is another op",
        "interpreter/asynchronous/meanings/copies.py": "so is a copy of rows",
        "tritonx_testing/conformance/families/extents_moved.py": "cases of blocks of any extent",
        "tritonx_testing/conformance/families/rows.py": "cases of loops",
        "tritonx_testing/conformance/rearrange.py": "moves the lanes of a case by one",
        "tritonx_testing/kernel_writer.py": "random kernels call it",
        "tritonx_testing/random_kernel.py": "where a backend has it",
        "tritonx_testing/conformance/random_blocks/numpy_language.py": "drawn kernels have it, as NumPy does it",
        "tritonx_testing/conformance/random_blocks/statements.py": "drawn kernels have it",
    },
    "umulhi": {
        "experimental/gluon/language/__init__.py": "Gluon has it too",
        "frontend/semantics/library.py": "a library's function is made of it",
        "interpreter/extern.py": "so is a library's in the interpreter",
        "backends/nvidia/libdevice/libdevice_names.py": "a library's function of that name",
        "ir/fold/integer.py": "of two constants it is one",
        "language/random.py": "random numbers are made of it",
    },
}


def mentions(text: str, names: set[str]) -> bool:
    """Whether a program has one of the names: defines it, imports it, asks an object for it, or calls it in a program
    that is written as a string."""
    for node in ast.walk(ast.parse(text)):
        found = {getattr(node, field, None) for field in ("id", "attr", "name", "arg")}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            found |= {node.value, *re.findall(r"\btl\.(\w+)\(", node.value)}
        if found & names:
            return True
    return False


@pytest.mark.parametrize("op", NEEDED)
def test_an_op_needs_at_most_eight_files(op: str) -> None:
    """And no other file knows it, but those that use it; tests are counted by themselves."""
    files = {str(p.relative_to(PACKAGE)): p for p in sources()}
    files |= {str(p.relative_to(TESTING.parent)): p for p in TESTING.rglob("*.py")}
    knowing = {name for name, path in files.items() if mentions(path.read_text(), NAMES[op])}
    assert knowing == NEEDED[op] | TESTED[op] | {*USES[op]}
    assert len(NEEDED[op]) <= 8
    page = (ROOT / "docs" / "contributing" / "op_or_pass.md").read_text()
    walked = page.partition("## An op\n")[2].partition("\n## ")[0]
    rows = [row.split("|") for row in walked.splitlines() if row.startswith("|")]
    column = [cell.strip() for cell in rows[0]].index(f"`{op}`")
    assert {*re.findall(r"`([\w/]+\.py)`", "".join(row[column] for row in rows))} == NEEDED[op] | TESTED[op]


def test_a_file_that_knows_an_op_is_found() -> None:
    assert mentions("TABLE = {tile.GatherOp: f}", {"GatherOp"}) and mentions("x = 'tl.gather(a, b, 0)'", {"gather"})
    assert not mentions("x = 1  # tile.GatherOp, tl.gather", {"GatherOp", "gather"})


def test_generated_docs_are_current() -> None:
    from tritonx.tools.irdoc import DIALECT_PAGES, render

    for page in DIALECT_PAGES:
        path = ROOT / "docs" / "ir" / f"{page}.md"
        assert path.read_text() == render(page), f"{path} is stale: run python -m tritonx.tools.irdoc"


def test_files_are_about_one_thing() -> None:
    for path in [*sources(), *plugin_sources(), *TESTING.rglob("*.py")]:
        lines = path.read_text().count("\n")
        assert lines <= 600, f"{path} has {lines} lines: split it by subject"


IGNORE = re.compile(r"#\s*(?:type|pyright):\s*ignore(?:\[[^\]]*\])?\s*(?:#|--)?(.*)")


def ignored_without_a_reason(text: str) -> list[int]:
    """The lines whose comment silences the type checker and does not say why."""
    if "ignore" not in text:
        return []
    comments = [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]
    found = [(comment.start[0], IGNORE.match(comment.string)) for comment in comments]
    return [line for line, match in found if match is not None and len(match[1].split()) < 2]


@pytest.mark.parametrize("path", [PACKAGE, TESTING, *PLUGINS.iterdir()], ids=lambda p: p.name)
def test_what_silences_the_type_checker_says_why(path: Path) -> None:
    files = [p for p in path.rglob("*.py") if "tests" not in p.parts[len(ROOT.parts) :]]
    faults = {str(p): lines for p in files if (lines := ignored_without_a_reason(p.read_text()))}
    assert faults == {}


def test_an_ignore_without_a_reason_is_found() -> None:
    for comment in ("# type: ignore", "# pyright: ignore[reportFoo]", "# pyright: ignore[reportFoo]  # why"):
        assert ignored_without_a_reason(f"x = 1\ny = 2  {comment}\n") == [2]
    for comment in ("# type: ignore[a]  # as it is", "# pyright: ignore -- as it is", "# ignore"):
        assert ignored_without_a_reason(f"x = 1  {comment}\ny = '# type: ignore'\n") == []


UNTYPED = {
    "_C": 0, "analysis": 0, "backends": 47, "compat": 4, "compiler": 0, "conversion": 0, "explain": 0,
    "dialects": 3, "experimental": 216, "frontend": 218, "interpreter": 85, "ir": 37, "kernel": 47, "language": 216,
    "layouts": 2, "profiler": 70, "runtime": 333, "testing": 99, "tools": 37, "transforms": 0,
}  # fmt: skip
"""Lines with `Any` that a package may have: lowered where some go, never raised. An op has its class, an operand is an
`SSAValue`, a table by op class is made with `tritonx.ir.dispatch`, what comes from outside is an `object`; left are the
arguments of kernels and libraries that have no types (those of Gluon's builtins among them)."""


def untyped_lines(text: str) -> int:
    """Lines of code that name `Any`."""
    if "Any" not in text:
        return 0
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({t.start[0] for t in tokens if (t.type == tokenize.NAME and t.string == "Any") or in_quotes(t)})


def in_quotes(token: tokenize.TokenInfo) -> bool:
    """Whether a token is a type in quotes that names `Any`: of a cast, or not yet defined."""
    return token.type == tokenize.STRING and re.fullmatch(r"""["'](.*\[.*\b)?Any\b.*["']""", token.string) is not None


def test_fewer_lines_are_untyped() -> None:
    found = dict.fromkeys(UNTYPED, 0)
    for path in sources():
        package = path.relative_to(PACKAGE).parts[0]
        if package in found or path.parent != PACKAGE:
            found[package] = found.get(package, 0) + untyped_lines(path.read_text())
    assert found.keys() == UNTYPED.keys(), "UNTYPED names the packages"
    assert {p: (n, UNTYPED[p]) for p, n in found.items() if n > UNTYPED[p]} == {}, "(found, allowed) by package"


def test_an_untyped_line_is_found() -> None:
    assert untyped_lines('from typing import Any\nx: dict[str, Any] = {}\ny = cast("list[Any]", x)\n') == 3
    assert untyped_lines('"""Any of them."""\nx = 1  # "Any" in a comment\nAnyLayouts = many\n') == 0


DRAWN_BY_NUMPY = {"rand", "randn", "randint", "random", "seed", "permutation", "shuffle", "choice", "uniform", "normal"}


def unseeded(text: str) -> bool:
    """Whether a program draws numbers that cannot be drawn again."""

    def draws(node: ast.AST) -> bool:
        if not isinstance(node, ast.Call):
            return False
        owner, _, name = ast.unparse(node.func).rpartition(".")
        if name in ("default_rng", "Random"):
            return not node.args and not node.keywords
        return owner == "secrets" or (owner in ("np.random", "numpy.random") and name in DRAWN_BY_NUMPY)

    return any(draws(node) for node in ast.walk(ast.parse(text)))


SEEDING = {
    "tests/conftest.py": "chooses the seed of a run",
    "plugins/tritonx-opencl/tests/conftest.py": "chooses it where the plug-in's tests run alone",
    "tests/mutation/__main__.py": "a command, which prints its seed",
}


def test_what_tests_draw_can_be_drawn_again() -> None:
    """From ``TRITONX_SEED`` or from a constant."""
    files = [p for root in ("tests", "plugins") for p in (ROOT / root).rglob("*.py") if "tests" in p.parts]
    assert {str(p.relative_to(ROOT)) for p in files if unseeded(p.read_text())} == set(SEEDING)


@pytest.mark.parametrize(
    "drawn", ["np.random.default_rng()", "Random()", "secrets.token_bytes(4)", "np.random.rand(3)"]
)
def test_a_draw_without_a_seed_is_found(drawn: str) -> None:
    assert unseeded(f"x = {drawn}") and not unseeded(f"x = 1  # {drawn}") and not unseeded("Random(7)")


def test_importing_the_package_is_light() -> None:
    code = (
        "import sys, tritonx, tritonx.language\n"
        "heavy = {'xdsl', 'llvmlite', 'numpy', 'torch', 'ml_dtypes'} & {m.split('.')[0] for m in sys.modules}\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
