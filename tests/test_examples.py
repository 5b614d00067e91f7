"""Every example computes what its reference says, on the CPU; `make demo` runs some of them on the best device."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.py") if p.stem not in ("harness", "run_all"))


@pytest.mark.parametrize("name", NAMES)
def test_example(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    device = importlib.import_module("harness").Device()
    case = importlib.import_module(name).case(device, np.random.default_rng(int(os.environ["TRITONX_SEED"])))
    case.launch()
    result, exact = case.result().astype(np.float64), case.exact()
    assert result.shape == exact.shape
    assert np.linalg.norm(result - exact) <= case.tolerance * np.linalg.norm(exact)
