"""A function run in a process of its own, for tests of what ends a process or writes past Python to its standard
error."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ProcessResult:
    """``exc`` is the exception that ended the function, None if it returned; ``driver_stderr_output`` is what the
    process and the device's driver wrote to the standard error."""

    exc: BaseException | None
    driver_stderr_output: str


def _synchronize() -> None:
    """Waits for PyTorch's device where PyTorch is imported, so that an error of a kernel is raised here."""
    accelerator = getattr(sys.modules.get("torch"), "accelerator", None)
    if accelerator is not None and accelerator.is_available():
        accelerator.synchronize()


def _child(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], env: Mapping[str, str],
           stderr: str, reply: Connection) -> None:  # fmt: skip
    os.environ.update(env)
    file = os.open(stderr, os.O_WRONLY | os.O_APPEND)
    os.dup2(file, 2)
    os.close(file)
    failure: BaseException | None = None
    try:
        function(*args, **kwargs)
        _synchronize()
    except Exception as error:
        failure = error
    sys.stderr.flush()
    try:
        reply.send(failure)
    except Exception:  # an exception that cannot be pickled
        reply.send(RuntimeError(f"{type(failure).__name__}: {failure}"))


def run_in_process(client_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
                   env: Mapping[str, str] | None = None) -> ProcessResult:  # fmt: skip
    """``client_fn(*args, **kwargs)`` in a new process with ``env`` added to its environment. The function and its
    arguments are pickled. Raises `RuntimeError` if the process ends without a result, and `TimeoutError` after the
    seconds of ``TRITON_TEST_PROCESS_TIMEOUT``, if that is set. With ``DISABLE_SUBPROCESS`` set, calls the function here
    and returns what it returns, as Triton does for debuggers."""
    if os.environ.get("DISABLE_SUBPROCESS"):
        return client_fn(*args, **(kwargs or {}))
    limit = os.environ.get("TRITON_TEST_PROCESS_TIMEOUT")
    context = get_context("forkserver")
    receive, send = context.Pipe(duplex=False)
    with tempfile.NamedTemporaryFile(prefix="tritonx-stderr-") as stderr, receive:
        child = context.Process(target=_child, args=(client_fn, args, kwargs or {}, env or {}, stderr.name, send))
        child.start()
        send.close()
        try:
            if not receive.poll(None if limit is None else float(limit)):
                child.kill()
                raise TimeoutError(f"test subprocess {client_fn.__name__} exceeded its {limit}-second timeout")
            failure = receive.recv()
        except EOFError:
            child.join()
            raise RuntimeError(
                f"the process of {client_fn.__name__} exited with code {child.exitcode} without a result:\n"
                + Path(stderr.name).read_text(errors="replace")
            ) from None
        finally:
            child.join()
        return ProcessResult(failure, Path(stderr.name).read_text(errors="replace"))


@contextmanager
def use_process_pool(preload_module: str) -> Generator[None]:
    """Within it, the processes of `run_in_process` start with a module imported: they are forked from a server that
    imports it once."""
    get_context("forkserver").set_forkserver_preload([preload_module])
    yield
