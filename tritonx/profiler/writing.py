"""The bytes of an output file."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from tritonx.profiler.errors import MissingPackage


def _json(literal: Any) -> bytes:
    return json.dumps(literal, indent=1, allow_nan=False, default=str).encode()


def _compact_json(literal: Any) -> bytes:
    return json.dumps(literal, separators=(",", ":"), allow_nan=False, default=str).encode()


def msgpack(literal: Any) -> bytes:
    """Raises MissingPackage."""
    try:
        library: Any = importlib.import_module("msgpack")
    except ImportError:
        raise MissingPackage("MessagePack needs the package `msgpack`; the formats of JSON need none") from None
    return bytes(library.packb(literal))


FORMATS: Mapping[str, Callable[[Any], bytes]] = {
    "hatchet": _json,
    "hatchet_msgpack": msgpack,
    "chrome_trace": _compact_json,
}


def encoded(literal: Any, chosen: str) -> bytes:
    """``literal`` in a format of ``FORMATS``."""
    return FORMATS[chosen](literal)
