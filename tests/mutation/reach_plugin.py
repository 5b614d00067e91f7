"""For pytest: writes down which blocks each test reaches (``MUTATION_REACH``), or runs just some tests, in the order in
which they are given (``MUTATION_TESTS``, a file with a test a line), and writes down the one that failed
(``MUTATION_FAILED``) and those that were skipped (``MUTATION_SKIPPED``)."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import shutil
import sys
import time
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

REACH = os.environ.get("MUTATION_REACH")
CASE = "tests/language/test_conformance.py::test_conformance["
_state: dict[str, Any] = {"file": None, "passed": True}


@contextlib.contextmanager
def recorded(test: str) -> Iterator[None]:
    """Write down what is reached within."""
    from tritonx._mutation_probes import hit  # type: ignore[import-not-found]  (only in the copy that has probes)

    hit[:] = bytes(len(hit))
    start = time.monotonic()
    yield
    blocks = bytes(hit).rstrip(b"\0")
    write(test=test, blocks=base64.b85encode(zlib.compress(blocks)).decode(), seconds=time.monotonic() - start)


def write(**record: Any) -> None:
    with Path(os.environ["MUTATION_REACH"]).open("a") as file:
        print(json.dumps(record), file=file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    if not REACH:
        return (yield)
    finish(str(item.location[0]))
    empty_cache()
    forget()
    _state["passed"] = True
    if item.nodeid.startswith(CASE):
        os.environ["MUTATION_CASES"] = str(Path(__file__).parent)
        result = yield
        del os.environ["MUTATION_CASES"]
    else:
        with recorded(item.nodeid):
            result = yield
    write(test=item.nodeid, passed=_state["passed"])
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.passed:
        _state["passed"] = False
    if report.failed and "MUTATION_FAILED" in os.environ:
        Path(os.environ["MUTATION_FAILED"]).write_text(report.nodeid)
    if report.skipped and "MUTATION_SKIPPED" in os.environ:
        with Path(os.environ["MUTATION_SKIPPED"]).open("a") as file:
            print(report.nodeid, file=file)


def pytest_sessionfinish() -> None:
    if REACH:
        finish(None)


def finish(file: str | None) -> None:
    """Tests of ``file`` are next: those of another before it are complete."""
    if _state["file"] not in (None, file):
        digests = json.loads(Path(os.environ["MUTATION_DIGESTS"]).read_text())
        write(complete=_state["file"], digest=digests[_state["file"]])
    _state["file"] = file


def empty_cache() -> None:
    """What one test compiled must not spare the next the way through the compiler."""
    for path in Path(os.environ["TRITONX_CACHE_DIR"]).iterdir():
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def forget() -> None:
    """Nor must what it left in the memos of functions."""
    for module in [module for name, module in sys.modules.items() if name.startswith("tritonx.")]:
        for value in list(vars(module).values()):
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if wanted := os.environ.get("MUTATION_TESTS"):
        place = {test: number for number, test in enumerate(Path(wanted).read_text().splitlines())}
        items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])
