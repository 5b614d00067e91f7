"""Messages between a process and its helper, on a stream socket.

A message is the length of its header (eight bytes), the header in JSON, and its parts one behind the other; the header
lists the parts as (name, whether text, bytes). Nothing that arrives is executed.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Parts = Mapping[str, str | bytes]
_LENGTH = struct.Struct(">Q")
_CHUNK = 1 << 20


class Closed(Exception):
    """The other side has ended, or said what is no message."""


@dataclass(frozen=True)
class Message:
    """``fields`` are what JSON can hold; ``parts`` are texts and bytes of any size."""

    fields: Mapping[str, Any]
    parts: Parts = field(default_factory=dict[str, str | bytes])


READY = Message({"state": "ready"})
"""A helper's first message: it has come up."""

TAKEN = Message({"state": "taken"})
"""A helper's answer to a request that it has read, before it begins: what ends it from now on is the work."""


def send(channel: socket.socket, message: Message, deadline: float | None = None) -> None:
    """Raises ``Closed``, and ``TimeoutError`` at ``deadline`` (of ``time.monotonic``)."""
    payload = {name: part.encode() if isinstance(part, str) else part for name, part in message.parts.items()}
    listed = [(name, isinstance(message.parts[name], str), len(data)) for name, data in payload.items()]
    header = json.dumps({"fields": dict(message.fields), "parts": listed}).encode()
    try:
        for data in (_LENGTH.pack(len(header)) + header, *payload.values()):
            channel.settimeout(_left(deadline))
            channel.sendall(data)
    except TimeoutError:
        raise
    except OSError as error:
        raise Closed(str(error)) from None


def receive(channel: socket.socket, deadline: float | None = None) -> Message:
    """The next message. Raises ``Closed``, and ``TimeoutError`` at ``deadline`` (of ``time.monotonic``)."""
    (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size, deadline))
    try:
        header = json.loads(_exactly(channel, length, deadline))
        parts: dict[str, str | bytes] = {}
        for name, is_text, size in header["parts"]:
            data = _exactly(channel, size, deadline)
            parts[name] = data.decode() if is_text else data
        return Message(header["fields"], parts)
    except (ValueError, KeyError, TypeError) as error:
        raise Closed(f"no message: {error}") from None


def _exactly(channel: socket.socket, size: int, deadline: float | None) -> bytes:
    data = bytearray()
    while len(data) < size:
        channel.settimeout(_left(deadline))
        try:
            got = channel.recv(min(size - len(data), _CHUNK))
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None
        if not got:
            raise Closed("end of stream")
        data += got
    return bytes(data)


def _left(deadline: float | None) -> float | None:
    """Seconds until ``deadline``. Raises ``TimeoutError`` once it has passed, whatever has arrived since: what a busy
    machine lets come in time is no other result."""
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
