"""Functions that a helper process may be asked to call, in a module of their own that it can import."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonx.runtime.isolation.pool import Pool

SOURCE = """
import ctypes, os, signal, sys, time

def echo(text, **arguments):
    return {"text": text + repr(sorted(arguments.items())), "pid": str(os.getpid()), "bytes": bytes(range(256))}

def leave(text, code):
    print(text, file=sys.stderr, flush=True)
    os._exit(code)

def abort(text):
    os.write(2, text.encode())
    ctypes.CDLL(None).abort()

def fail(text):
    raise KeyError(text)

def sleep(text, seconds):
    print("still at it", file=sys.stderr, flush=True)
    time.sleep(seconds)
    return {"pid": str(os.getpid())}

def warn(text):
    print(text, file=sys.stderr, flush=True)
    return {}
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the module."""
    (tmp_path / "functions_for_a_helper.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "functions_for_a_helper"


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool of the test's own, ended with it."""
    made = Pool()
    yield made
    made.close()
