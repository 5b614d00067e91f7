"""A function in a fork of this process, which is as it was for the next one."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from typing import NoReturn

DIES_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of ``prctl``, Linux."""
CANNOT = 3
"""A child's exit code where the function raised an exception, whose words are then its answer."""


class Failed(Exception):
    """The function raised an exception; these are its words."""


def forked(function: Callable[[str], bytes], text: str) -> bytes:
    """What ``function`` makes of ``text``, in a child of this process, which must have no other thread at work. Raises
    ``Failed``. Where the child dies, this process dies as it did."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        _answer(function, text, theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        made = answer.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        os.kill(os.getpid(), os.WTERMSIG(status))
    code = os.waitstatus_to_exitcode(status)
    if code == CANNOT:
        raise Failed(made.decode())
    if code != 0:
        os._exit(code)
    return made


def _answer(function: Callable[[str], bytes], text: str, channel: int) -> NoReturn:
    ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)
    code = 0
    try:
        made = function(text)
    except BaseException as error:
        made, code = str(error).encode(), CANNOT
    with os.fdopen(channel, "wb") as answer:
        answer.write(made)
    os._exit(code)
