"""The helper's side: wait for a request, call the function that it names, answer; until the other side ends."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from importlib import import_module
from typing import Any

from tritonx.runtime.isolation.channel import READY, TAKEN, Closed, Message, receive, send


def serve() -> None:
    """Answer requests on the socket that is this process's standard input. Never returns."""
    channel = socket.socket(fileno=os.dup(0))
    _be_quiet()
    threading.Thread(target=_end_with, args=(channel.fileno(),), daemon=True).start()
    try:
        send(channel, READY)
        while True:
            request = receive(channel)
            send(channel, TAKEN)
            send(channel, _answer(request))
    except Closed:
        pass
    finally:
        os._exit(0)  # what libraries do when they end is of no use to anyone


def _be_quiet() -> None:
    """No core files for deaths that are expected, no hold on the folder where the user's process was started."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        os.chdir("/")


def _end_with(channel: int) -> None:
    """End this process as soon as the other side has ended, in the middle of a compile too (llvmlite releases the
    interpreter lock)."""
    poll = select.poll()
    poll.register(channel, 0)  # an end is reported without being asked for
    poll.poll()
    os._exit(0)


def _answer(request: Message) -> Message:
    try:
        made = _function(request.fields["function"])(request.parts["text"], **request.fields["arguments"])
    except Exception as error:
        return Message({"error": type(error).__name__, "message": str(error)})
    return Message({}, made)


def _function(name: str) -> Any:
    """The function that ``module:name`` names."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)
