"""One helper process, as its owner sees it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from tritonx.runtime.errors import TritonError
from tritonx.runtime.isolation.channel import Closed, Message, Parts, receive, send

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tritonx.runtime.isolation.worker import serve; serve()"
)
_STARTING_SECONDS = 60.0
_ENDING_SECONDS = 2.0


class HelperFailure(TritonError):
    """A helper did not do what it was asked to. ``said`` is what it had printed."""

    def __init__(self, what: str, said: str = "") -> None:
        super().__init__(what, said)
        self.what = what
        self.said = said

    def __str__(self) -> str:
        return f"{self.what}: {self.said}" if self.said else self.what


class HelperGone(HelperFailure):
    """The helper had ended before it was asked: another one may be."""


class FunctionFailed(TritonError):
    """The function that a helper called raised an exception; ``kind`` is the name of its class."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(kind, message)
        self.kind = kind
        self.message = message

    def __str__(self) -> str:
        return self.message


class Helper:
    """A Python process that calls functions of ours and may die at it. Not for two threads at a time."""

    def __init__(self) -> None:
        """Starts it; it answers when Python has come up. Raises ``HelperFailure`` where no process can be started."""
        self._printed = _anonymous_file()
        self._channel, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable or "python3", "-P", "-c", _START, json.dumps(_search_path())],
                    stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=self._printed,
                    process_group=0,  # the terminal's interrupt is for the user's process, which ends this one
                )  # fmt: skip
            except OSError as error:
                self._channel.close()
                self._printed.close()
                what = f"no helper process for LLVM could be started with {sys.executable!r}"
                raise HelperFailure(what, str(error)) from None
        self._ready = False
        self._read = 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def call(self, function: str, text: str, arguments: Mapping[str, object], seconds: float) -> Parts:
        """What ``function`` (``module:name``) makes of ``text`` in the helper. ``arguments`` are what JSON can hold.

        Raises ``FunctionFailed`` for its exceptions; ``HelperGone`` and ``HelperFailure`` where the process has ended
        or takes longer than ``seconds``: then it must be killed.
        """
        try:
            self._wait_until_ready()
            deadline = time.monotonic() + seconds
            try:
                request = Message({"function": function, "arguments": dict(arguments)}, {"text": text})
                send(self._channel, request, deadline)
                receive(self._channel, deadline)
            except Closed:
                raise HelperGone(self._how_it_ended(), self.printed()) from None
            answer = receive(self._channel, deadline)
        except TimeoutError:
            raise HelperFailure(f"LLVM was at it for {seconds:g} s (TRITONX_ISOLATE_TIMEOUT)", self.printed()) from None
        except Closed:
            raise HelperFailure(self._how_it_ended(), self.printed()) from None
        if "error" in answer.fields:
            raise FunctionFailed(answer.fields["error"], answer.fields["message"])
        if said := self.printed():
            sys.stderr.write(said)  # warnings, as they would have come out here
        return answer.parts

    def _wait_until_ready(self) -> None:
        if self._ready:
            return
        try:
            receive(self._channel, time.monotonic() + _STARTING_SECONDS)
        except (Closed, TimeoutError):
            raise HelperFailure("the helper process for LLVM did not come up", self.printed()) from None
        self._ready = True

    def printed(self) -> str:
        """What the helper has printed since this was last asked."""
        size = os.fstat(self._printed.fileno()).st_size
        data = os.pread(self._printed.fileno(), size - self._read, self._read)
        self._read = size
        return data.decode(errors="replace")

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        code = self._process.returncode
        if code is None:
            return "LLVM's process stopped answering"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"LLVM ended its process by {signal.Signals(-code).name}"
        return f"LLVM ended its process with exit code {code}"

    def close(self) -> None:
        """End the process, which does so by itself when the socket closes, and wait for it."""
        self._channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the process whatever it does, and wait for it."""
        self._channel.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._printed.close()

    def abandon(self) -> None:
        """In a forked child: close what was inherited. The process belongs to the parent."""
        self._channel.close()
        self._printed.close()
        self._process.returncode = 0  # not ours to wait for


def _search_path() -> list[str]:
    """Where this process finds modules, ours first; relative folders by their full names, since the helper leaves."""
    own = str(Path(__file__).parents[3])
    return [own, *(os.path.abspath(entry) for entry in sys.path)]


def _anonymous_file() -> IO[bytes]:
    """A file for what the helper prints; in memory where that can be had, so that a full disk changes nothing."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):
            return os.fdopen(os.memfd_create("tritonx-helper"), "w+b", buffering=0)
    return tempfile.TemporaryFile("w+b", buffering=0)
