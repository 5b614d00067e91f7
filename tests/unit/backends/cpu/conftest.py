"""Run a kernel on the CPU backend and in the interpreter on equal inputs, and compare what is in memory afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.machine import interpret
from tritonx.ir.text import parse_module


class Comparison:
    """``compare(kernel, grid, *args, **options)``: run-time arguments by position, constexprs and options by name.

    Bit for bit unless ``ulps`` is given (then that many spacings of f32) or ``close`` (then np.allclose's rtol and
    atol). Returns the arrays as the CPU backend left them.
    """

    def __call__(
        self,
        kernel: Any,
        grid: Any,
        *args: Any,
        ulps: int = 0,
        close: tuple[float, float] | None = None,
        **options: Any,
    ) -> list[Any]:
        host = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        options.setdefault("enable_fp_fusion", False)
        compiled = kernel[grid](*host, **options)
        reference = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        module = parse_module(compiled.asm["ttir"])
        parameters = len(next(iter(module.ops)).regions[0].blocks.first.args)
        run_time = [a for a in reference if not (isinstance(a, int) and not isinstance(a, bool) and a == 1)]
        if len(run_time) != parameters:
            run_time = reference
        with np.errstate(all="ignore"):
            interpret(module, grid, run_time)
        arrays = [n for n, a in enumerate(args) if isinstance(a, np.ndarray)]
        assert any(host[n].tobytes() != args[n].tobytes() for n in arrays), "the kernel wrote nothing"
        for n in arrays:
            self.same(host[n], reference[n], n, ulps, close)
        return host

    @staticmethod
    def same(ours: np.ndarray, theirs: np.ndarray, number: int, ulps: int, close: tuple[float, float] | None) -> None:
        if close is not None:
            np.testing.assert_allclose(ours.astype(np.float64), theirs.astype(np.float64), rtol=close[0], atol=close[1])
        elif ulps:
            spacing = np.spacing(np.maximum(np.abs(theirs), np.finfo(np.float32).tiny))
            assert np.all(np.abs(ours - theirs) <= ulps * spacing), f"argument {number}"
        else:
            a, b = (np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}") for x in (ours, theirs))
            with np.errstate(all="ignore"):
                kinds = [x.astype(np.float32) if x.dtype.kind in "fV" else np.zeros(x.shape) for x in (ours, theirs)]
            nan = np.isnan(kinds[0]) & np.isnan(kinds[1])
            different = np.argwhere((a != b) & ~np.asarray(nan))
            assert not len(different), (
                f"argument {number}: {len(different)} elements differ, the first at {different[0]}: "
                + str((ours[tuple(different[0])], theirs[tuple(different[0])]))
            )


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Comparison:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))
    return Comparison()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
