"""Both front ends on the same source mean the same: every operator and pair of types, every name of the language,
random kernels. What each makes of a kernel runs in our interpreter on the same edges of its types, and gives the same
bits; or both refuse it.

Every run draws a sample with the run's seed. ``TRITONX_BOTH_FRONTENDS=all`` runs every case (36,000; half an hour of a
core), any other value those whose name contains it.
"""

from __future__ import annotations

import io
import json
import linecache
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tritonx.backends.api import Target
from tritonx.backends.registry import get_backend
from tritonx.frontend.compile import make_module
from tritonx.frontend.errors import CompilationError
from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module
from tritonx.ir.types import element_type, type_of
from tritonx.ir.verify import verify

sys.path.insert(0, str(Path(__file__).parent))
import both_expressions
import both_nested
import both_operators
import both_random
from both_case import Case

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(find_spec("triton") is None, reason="the Triton wheel is not installed"),
    pytest.mark.filterwarnings("ignore"),
]
TARGET = Target("cuda", 90, 32)
OPTIONS = {"sanitize_overflow": False}
SEED = int(os.environ["TRITONX_SEED"])
WANTED = os.environ.get("TRITONX_BOTH_FRONTENDS", "")
OPERATORS, EXPRESSIONS, NESTED, RANDOM = 160, 60, 40, 6
"""Cases of each kind in a sample."""

DELIBERATE = {
    r"C = -0\.0.*differs": "Triton makes +0.0 of a compile-time -0.0; here it keeps its sign, as in Python",
    r"of bf16, C = 1e-40: out differs": "Triton folds the number to zero; here it is rounded to a subnormal bf16",
    r"^z = tl\.(sort|topk|bitonic_merge).*x fp\d+.*: out differs": "where a NaN or zeros of both signs meet, Triton's "
    "network writes one element twice and loses the other; here each stays",
    r"float8e4b15.*refused by Triton: AssertionError": "Triton takes this cast on older targets only",
    r"(fp|float)8e4b15.*UnsupportedInInterpreter": "Triton converts it by inline assembly, which nothing here runs",
    r"fp8e4b15.*refused by Triton: RuntimeError": "Triton's verifier refuses what its front end made of it",
    r"no attribute 'get_fp8e": "Triton refuses a number beside an f8 tile; here it has the tile's type",
    r"NameError\('abs is not defined'\)": "Python's abs is taken here as tl.abs",
    r"'__pos__'": "unary plus is taken here",
    r"tl\.flip\(x\) .*refused by Triton": "the default axis, which Triton's own check refuses",
    r"tl\.softmax\(.*refused by Triton": "softmax along another axis than the first, which Triton does not broadcast",
    r"tl\.fma\(.*refused by Triton: RuntimeError": "integers: Triton's verifier refuses what its front end made",
    r"make_block_ptr.*Block pointers have been removed": "block pointers are taken at every level",
    r"tl\.store\(p, 1\.0\).*refused by Triton": "a number stored through a block pointer has its element type here",
}
"""Where the two differ on purpose: what the case's name and the difference match, and why."""


def cases() -> list[Case]:
    rng = Random(SEED)
    every = [*both_operators.cases(), *both_expressions.cases()]
    if WANTED == "all":
        nested = (both_nested.case(seed) for seed in range(SEED, SEED + 3000))
        return [*every, *nested, *(both_random.case(seed) for seed in range(SEED, SEED + 300))]
    if WANTED:
        return [case for case in every if WANTED in case.name]
    operators, expressions = both_operators.cases(), both_expressions.cases()
    drawn = [both_random.case(rng.randrange(1 << 30)) for _ in range(RANDOM)]
    drawn += [both_nested.case(rng.randrange(1 << 30)) for _ in range(NESTED)]
    return rng.sample(operators, OPERATORS) + rng.sample(expressions, min(EXPRESSIONS, len(expressions))) + drawn


def theirs(wanted: Sequence[Case], directory: Path) -> Iterator[dict[str, Any]]:
    """What Triton's front end makes of each, in order: {"text"} or {"error"}. A case that ends its process is an error
    of its own, and the rest is taken up behind it."""
    rest = list(wanted)
    while rest:
        given, results = directory / "cases.jsonl", directory / "results.jsonl"
        results.unlink(missing_ok=True)
        given.write_text("".join(json.dumps(described(case)) + "\n" for case in rest))
        script = Path(__file__).with_name("both_oracle.py")
        done = subprocess.run([sys.executable, str(script), str(given), str(results)], capture_output=True, text=True)
        answers = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        yield from answers
        rest = rest[len(answers) :]
        if rest:
            assert answers or done.returncode < 0, done.stderr[-2000:]
            yield {"name": rest[0].name, "error": f"process ended with {done.returncode}: {done.stderr[-200:]}"}
            rest = rest[1:]


def described(case: Case) -> dict[str, Any]:
    return {"name": case.name, "source": case.source, "signature": case.signature, "constants": dict(case.constants)}


def ours(case: Case) -> Any:
    """The module that our front end makes, with ``triton`` meaning tritonx; raises ``CompilationError``."""
    source = case.source.replace("import triton\n", "import tritonx as triton\n")
    source = source.replace("import triton.language", "import tritonx.language").replace(
        "from triton ", "from tritonx "
    )
    file = f"<ours: {case.name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "both"}
    exec(compile(source, file, "exec"), namespace)
    kernel = namespace["kernel"]
    names = kernel.arg_names
    signature = {n: case.signature.get(n, "constexpr") for n in names}
    constants = {(names.index(k),): v for k, v in case.constants.items()}
    options = get_backend("cuda").parse_options(TARGET, OPTIONS)
    module = make_module(kernel, signature, constants, {}, options, TARGET)
    verify(module)
    return module


def outcome(module: Any, case: Case, arguments: list[Any], before: Sequence[Any]) -> tuple[str, str, list[bytes]]:
    """What a run printed, how it ended, and what its arrays hold then; always in the same memory."""
    for argument, start in zip(arguments, before, strict=True):
        if isinstance(argument, np.ndarray):
            argument[:] = start
    printed = io.StringIO()
    try:
        interpret(module, case.grid, arguments, output=printed)
        ended = "ran"
    except Exception as error:
        ended = type(error).__name__
    return ended, printed.getvalue(), [a.tobytes() for a in arguments if isinstance(a, np.ndarray)]


def difference(case: Case, answer: dict[str, Any]) -> str | None:
    """What the two make differently of a case; None where nothing."""
    try:
        mine = ours(case)
    except CompilationError as error:
        return None if "error" in answer else f"refused here: {str(error).splitlines()[-2:]}"
    except Exception as error:
        return f"{type(error).__name__} here: {str(error)[:300]}"
    if "error" in answer:
        return f"refused by Triton: {answer['error'].strip().splitlines()[-1][:200]}"
    peer = parse_module(answer["text"])
    arguments = case.inputs(np.random.default_rng(SEED))
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    left, right = (outcome(module, case, arguments, before) for module in (mine, peer))
    if left[:2] != right[:2]:
        return f"here {left[:2]}, Triton {right[:2]}"
    for name, a, b in zip(case.arrays, left[2], right[2], strict=True):
        where = differing(a, b, result_dtype(mine) if name == "out" else None)
        if where is not None:
            return f"{name} differs {where}"
    return None


def differing(a: bytes, b: bytes, dtype: np.dtype | None) -> str | None:
    """Where two memories differ first; NaNs are one value."""
    if a == b:
        return None
    kind = np.dtype(np.uint8) if dtype is None else dtype
    x, y = np.frombuffer(a, kind), np.frombuffer(b, kind)
    with np.errstate(all="ignore"):
        wrong = np.flatnonzero((x.view(f"u{kind.itemsize}") != y.view(f"u{kind.itemsize}")) & ~((x != x) & (y != y)))
    return None if len(wrong) == 0 else f"at {wrong[0]}: {x[wrong[0]]} against {y[wrong[0]]} ({len(wrong)} elements)"


def result_dtype(module: Any) -> np.dtype | None:
    """The type that a case's first store writes."""
    from tritonx.dialects.tile import StoreOp
    from tritonx.interpreter.values import storage_of

    store = next((op for op in module.walk() if isinstance(op, StoreOp)), None)
    return None if store is None else storage_of(element_type(type_of(store.operands[1])))


def reason(text: str) -> str | None:
    return next((why for pattern, why in DELIBERATE.items() if re.search(pattern, text, re.DOTALL)), None)


def compared(wanted: Sequence[Case], directory: Path) -> Iterable[tuple[Case, str]]:
    for case, answer in zip(wanted, theirs(wanted, directory), strict=True):
        assert answer["name"] == case.name
        found = difference(case, answer)
        if found is not None and reason(f"{case.name}: {found}") is None:
            yield case, found


def test_both_front_ends_mean_the_same(tmp_path: Path) -> None:
    wanted = cases()
    different = [f"{case.name}: {found}" for case, found in compared(wanted, tmp_path)]
    shown = "\n".join(different[:200])
    assert not different, f"seed {SEED}: {len(different)} of {len(wanted)} differ\n{shown}"


def test_every_name_of_the_language_is_called() -> None:
    assert not both_expressions.missing()
