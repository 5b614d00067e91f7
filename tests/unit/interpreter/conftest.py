"""Running a kernel both ways that the interpreter knows, with equal bits as a condition of every test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tritonx.interpreter.compare import first_difference
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.ir_launch import launch


@pytest.fixture
def run() -> Callable[..., None]:
    """`run(kernel, grid, *args, **kwargs)`: line by line and as IR; arrays hold the result of both, which must
    agree."""

    def run(kernel: Any, grid: Any, *args: Any, **kwargs: Any) -> None:
        copies = {id(a): a.copy() for a in args if isinstance(a, np.ndarray)}
        second = [copies.get(id(a), a) for a in args]
        interpreted(kernel)[grid](*args, **kwargs)
        launch(kernel, grid, *second, **kwargs)
        for index, a in enumerate(args):
            if isinstance(a, np.ndarray):
                difference = first_difference(a, copies[id(a)])
                assert difference is None, f"argument {index}, by lines and as IR: {difference}"

    return run
