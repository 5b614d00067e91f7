"""Text compatibility with the Triton wheel: what it writes we read, verify and write again, and it reads what we write.

The kernels are in `kernels_*.py`; the wheel runs in processes of its own (`text_oracle.py`) and needs no device.
"""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import UnknownLoc

from tritonx.backends.api import Compilation, PassStage
from tritonx.backends.registry import get_backend
from tritonx.ir.context import new_context
from tritonx.ir.failure import PassFailure
from tritonx.ir.pipeline import run_emit_stage, run_pass_stage
from tritonx.ir.text import parse_module, print_module
from tritonx.ir.verify import verify

pytestmark = pytest.mark.peer
if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

ORACLE = Path(__file__).with_name("text_oracle.py")
TARGETS = ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"]
STAGES = ["source", "ttir", "ttgir"]


def run_oracle(*arguments: str) -> str:
    result = subprocess.run([sys.executable, str(ORACLE), *arguments], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout


@pytest.fixture(scope="module")
def dumps(tmp_path_factory) -> dict[str, Path]:
    """Target → directory with `kernel.stage.mlir` as Triton wrote it."""
    directories = {}
    for target in TARGETS:
        directories[target] = tmp_path_factory.mktemp(target.replace(":", "_"))
        run_oracle("dump", target, str(directories[target]))
    return directories


def failures(paths, check) -> list[str]:
    found = []
    for path in paths:
        try:
            check(path)
        except Exception as error:
            found.append(f"{path.name}: {type(error).__name__}: {str(error)[-400:]}")
    return found


def test_enough_kernels(dumps):
    for target, directory in dumps.items():
        assert len(list(directory.glob("*.ttgir.mlir"))) >= 40, target


@pytest.fixture(scope="module")
def modules(dumps):
    """Path → the parsed module; each file is parsed once for all tests, and once more from what we print."""
    context = new_context()
    cache = {}

    def get(path: Path):
        if path not in cache:
            cache[path] = parse_module(path.read_text(), path.name, context=context)
        return cache[path]

    return get


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("target", TARGETS)
def test_reads_verifies_and_round_trips(dumps, modules, target, stage):
    context = new_context()

    def check(path: Path) -> None:
        module = modules(path)
        verify(module)
        plain, located = print_module(module), print_module(module, debuginfo=True)
        again = parse_module(located, path.name, context=context)
        assert print_module(again) == plain
        assert print_module(again, debuginfo=True) == located
        assert [op.location for op in module.walk()] == [op.location for op in again.walk()]
        assert sum(not isinstance(op.location, UnknownLoc) for op in module.walk()) > 3
        if stage == "ttgir":
            generic = parse_module(print_module(module, generic=True), path.name, context=context)
            assert print_module(generic) == plain

    assert not failures(dumps[target].glob(f"*.{stage}.mlir"), check)


@pytest.mark.parametrize("target", TARGETS)
def test_text_is_the_same(dumps, modules, target):
    def check(path: Path) -> None:
        theirs, ours = canonical(path.read_text()), canonical(print_module(modules(path)))
        for a, b in zip(theirs.splitlines(), ours.splitlines(), strict=False):
            assert a == b
        assert theirs == ours

    assert not failures(dumps[target].glob("*.mlir"), check)


def canonical(text: str) -> str:
    """A module's text without locations, comments, blank lines and names of values and blocks, aliases written out."""
    lines = []
    for line in text.splitlines():
        if not re.match(r"#loc\d* = ", line):
            line = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", line)
            if line.lstrip().startswith("^") or '"' not in line:
                line = re.sub(r"\s*//.*$", "", line)
            lines.append(line.rstrip())
    body = "\n".join(line for line in lines if line)
    aliases: dict[str, str] = {}
    for name, value in re.findall(r"^(#\w+) = (.*)$", body, re.M):
        aliases[name] = re.sub(r"#\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]), value)
    body = re.sub(r"^#\w+ = .*\n", "", body, flags=re.M)
    body = re.sub(r"(?<!\w)#\w+\b(?!\.)", lambda m: aliases.get(m[0], m[0]) if "%" not in m[0] else m[0], body)
    body = re.sub(r"%[\w$.-]+", "%", body)
    return re.sub(r"\^bb\d+", "^", body)


NOT_HERE = {
    "cuda:90": r"the scratch memory of ttng\.tensormap_create is not known",
    "hip:gfx942": r"(?s)inline assembly|has no instructions for the layout of this product.*tt\.dot_scaled",
    "hip:gfx1100": "inline assembly",
}
"""What a target's files may be refused for: descriptors that a kernel makes itself; no assembler for AMDGCN."""


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("target", TARGETS)
def test_what_triton_writes_compiles_on_from_there(dumps, target, stage):
    """The front end's IR, `tt` and `ttg`, pipelined loops included: the rest of our stages takes each to LLVM, and
    for two targets' `ttgir` to assembly.
    """
    backend = get_backend(target.split(":")[0])
    chip = backend.parse_target(target.split(":")[1])
    last = 4 if stage == "ttgir" and target in ("cuda:80", "hip:gfx1100") else 3

    def check(path: Path) -> None:
        module: Any = parse_module(path.read_text(), path.name)
        blocks = module.attributes.get("ttg.num-ctas")
        options = backend.parse_options(chip, {} if blocks is None else {"num_ctas": blocks.value.data})
        compilation = Compilation(chip, options)
        try:
            for each in backend.stages(chip, options)[:last]:
                if isinstance(each, PassStage):
                    run_pass_stage(module, each.remaining(module), compilation)
                else:
                    module = run_emit_stage(each, module, compilation)
        except PassFailure as failure:
            if failure.internal or not re.search(NOT_HERE.get(target, "^never$"), str(failure)):
                raise

    paths = sorted(dumps[target].glob(f"*.{stage}.mlir"))
    assert len(paths) >= 40 and not failures(paths, check)


@pytest.mark.parametrize("target", TARGETS)
def test_triton_reads_and_compiles_what_we_print(dumps, modules, target, tmp_path):
    for path in dumps[target].glob("*.mlir"):
        module = modules(path)
        stem = path.name.removesuffix(".mlir")
        (tmp_path / f"{stem}.mlir").write_text(print_module(module))
        (tmp_path / f"{stem}.loc.mlir").write_text(print_module(module, debuginfo=True))
        (tmp_path / f"{stem}.generic.mlir").write_text(print_module(module, generic=True))
    verdicts = json.loads(run_oracle("accept", target, str(tmp_path)).splitlines()[-1])
    assert len(verdicts) == 3 * len(list(dumps[target].glob("*.mlir")))
    assert not {name: verdict for name, verdict in verdicts.items() if verdict != "ok"}
