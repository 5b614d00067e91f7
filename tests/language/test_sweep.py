"""Every op on every dtype compiles for every target or is refused with the kernel's line: a sample of the table,
another one with every seed (``TRITONX_SEED``). ``python -m tritonx_testing.sweep`` compiles the whole table.
"""

from __future__ import annotations

import inspect
import os
import re
from typing import Any

import pytest

import tritonx.language as tl
from tritonx.backends.registry import available
from tritonx.runtime.errors import PTXASError
from tritonx_testing.conformance import isolated
from tritonx_testing.sweep.__main__ import START, sample, targets
from tritonx_testing.sweep.outcome import outcome
from tritonx_testing.sweep.programs import DTYPES, HEADER, Program, programs

SEED = int(os.environ["TRITONX_SEED"])
EACH = 25
"""Programs a target: well over half a minute of one core in all."""

NOT_SWEPT = {
    "TRITON_MAX_TENSOR_NUMEL", "PropagateNan", "aggregate_replace", "block_type", "condition", "const", "constexpr",
    "constexpr_type", "dtype", "load_tensor_descriptor", "num_programs", "philox_impl", "program_id", "range", "slice",
    "store_tensor_descriptor", "str_to_ty", "tensor", "tensor_descriptor", "tensor_descriptor_type", "tuple",
    "tuple_type",
}  # fmt: skip
"""Types, and what has no operands of a dtype or is another spelling of what is in the table."""


@pytest.mark.parametrize("backend", sorted(available()))
def test_a_sample_of_the_table(backend: str) -> None:
    """One child for a backend's targets, since coming up takes as long as a target's share."""
    own = [name for name in targets() if name.partition(":")[0] == backend]
    pairs = [pair for number, target in enumerate(own) for pair in sample([target], EACH, SEED + number)]
    bad = [r for r in isolated.run("", pairs, 0, START) if r.failed]
    shown = "\n".join(f"{r.kind} {r.name}: {r.message[:600]}" for r in bad)
    assert not bad, f"{len(bad)} of {len(pairs)} programs (TRITONX_SEED={SEED})\n{shown}"


def test_every_name_of_the_language_is_in_the_table() -> None:
    used = "\n".join(program.source.removeprefix(HEADER) for program in programs().values()) + HEADER
    names = {
        name
        for name in dir(tl)
        if not name.startswith("_")
        and not inspect.ismodule(getattr(tl, name))
        and not isinstance(getattr(tl, name), tl.dtype)
    }
    missing = {name for name in names - NOT_SWEPT if not re.search(rf"\btl\.{name}\b", used)}
    assert not missing, f"add these to packages/tritonx-testing/tritonx_testing/sweep/programs.py: {sorted(missing)}"
    assert names >= NOT_SWEPT


def test_the_table_is_as_large_as_it_should_be() -> None:
    assert len(DTYPES) == 16 and len(set(programs())) > 4000
    per_dtype = [sum(1 for p in programs().values() if p.dtype == dtype) for dtype in DTYPES]
    assert min(per_dtype) > 200


def program(body: str) -> Program:
    return Program("made for the test", f"{HEADER}    {body}\n", "float32", "float32")


def test_what_it_says_of_code_of_a_refusal_and_of_defects(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a target of each kind; the line of a refusal is that of the kernel, not of the library."""
    line = program("").source.count("\n")
    for target in ("cuda:90", "cpu"):
        assert outcome(program("tl.store(a_ptr, 1)"), target) == ("passed", "")
        kind, message = outcome(program("tl.store(a_ptr, tl.exp(n))"), target)
        assert kind == "unsupported" and message.startswith(f"line {line}: "), message

        def fails(*arguments: object) -> None:
            raise KeyError("defect")

        with monkeypatch.context() as patch:
            patch.setattr("tritonx_testing.sweep.outcome.run_stages", fails)
            assert outcome(program("tl.store(a_ptr, 1)"), target) == ("error", "KeyError: 'defect'")


def test_the_vendor_s_tools_are_run_where_that_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an assembler refuses is a failure."""
    ran: list[str] = []

    def refuses(module: object, stages: list[Any], compilation: object) -> None:
        ran.append(stages[-1].name)
        if stages[-1].name == "cubin":
            raise PTXASError("the PTX is wrong")

    monkeypatch.setattr("tritonx_testing.sweep.outcome.run_stages", refuses)
    assert outcome(program("tl.store(a_ptr, 1)"), "cuda:90") == ("passed", "")
    kind, message = outcome(program("tl.store(a_ptr, 1)"), "cuda:90", tools=True)
    assert (kind, message, ran) == ("error", "PTXASError: PTXAS error: the PTX is wrong", ["ptx", "cubin"])


def test_a_death_is_the_program_s_and_the_rest_goes_on(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that dies over the second of three programs."""
    start = (
        "import os; import tritonx_testing.sweep.outcome as o; real = o.outcome; "
        "o.outcome = lambda p, t, **k: os._exit(7) if p.name.startswith('tl.exp(') else real(p, t, **k); o.serve()"
    )
    names = [f"cpu\t{name} [float32]" for name in ("a + b", "tl.exp(a)", "a * b")]
    kinds = [result.kind for result in isolated.run("", names, 0, start)]
    assert kinds == ["passed", "died", "passed"]


def test_targets_are_those_of_the_installed_backends() -> None:
    assert {name.partition(":")[0] for name in targets()} == set(available())
