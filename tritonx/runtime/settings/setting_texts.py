"""What the text of a setting means: each function gives the value, and raises ValueError for a text that has none."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from functools import lru_cache
from typing import Any

DOT_PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")


def parse_bool(text: str) -> bool:
    lowered = text.strip().lower()
    if lowered in ("1", "true", "yes", "on", "y"):
        return True
    if lowered in ("0", "false", "no", "off", "n", ""):
        return False
    raise ValueError(f"expected a truth value (1, 0, true, false, ...), got {text!r}")


@lru_cache(maxsize=8)
def parse_sealed(text: str) -> str | None:
    """A truth value as ``1`` or None; otherwise folders, separated as in ``PATH``: ``package:NAME`` is the folder of an
    installed package; anything else names a folder, as seen from where the process began."""
    try:
        return "1" if parse_bool(text) else None
    except ValueError:
        pieces = re.findall(rf"package:[^{os.pathsep}]*|[^{os.pathsep}]+", text) or [text]
        return os.pathsep.join(map(_sealed_folder, pieces))


def _sealed_folder(text: str) -> str:
    word, _, package = text.partition(":")
    return _folder_of(package) if word == "package" else os.path.join(_BEGAN, parse_folder(text))


@lru_cache(maxsize=8)
def _folder_of(package: str) -> str:
    """Where a package is, which is not imported."""
    found = importlib.util.find_spec(package) if package.isidentifier() else None
    if found is None or not found.submodule_search_locations:
        raise ValueError(f"expected the name of an installed package behind package:, got {package!r}")
    return os.path.abspath(found.submodule_search_locations[0])


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # removed meanwhile
        return ""


_BEGAN = _current_folder()


def parse_size(text: str) -> int:
    """Bytes; ``K``, ``M`` and ``G`` are powers of 1024."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.strip().upper())
    if found is None:
        raise ValueError(f"expected a number of bytes (5000, 20K, 1.5M, 2GB), got {text!r}")
    size = float(found[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[found[2]]
    if size >= 2**63:
        raise ValueError(f"expected a number of bytes below 2^63, got {text[:40]!r}")
    return int(size)


def parse_sharing(text: str) -> str:
    """Who shares the cache's folders with this user."""
    if text not in ("", "group", "anyone"):
        raise ValueError(f"expected group, anyone or nothing, got {text!r}")
    return text


def parse_folder(text: str) -> str:
    """A path, which need not exist; nothing at all is no path."""
    if not text.strip() or "\0" in text:
        raise ValueError(f"expected the path of a folder, got {text!r}")
    return text


def parse_file(text: str) -> str | None:
    """The path of a file that is there; empty is as if it were not set."""
    if text and not os.path.isfile(text):
        raise ValueError(f"expected the path of a file, but there is none at {text!r}")
    return text or None


def parse_program(text: str) -> str | None:
    """The path of a program that is there and may be run; empty is as if it were not set."""
    if text and not (os.path.isfile(text) and os.access(text, os.X_OK)):
        raise ValueError(f"expected the path of a program, but {text!r} is none")
    return text or None


def parse_existing_folder(text: str) -> str | None:
    """The path of a folder that is there; empty is as if it were not set."""
    if text and not os.path.isdir(text):
        raise ValueError(f"expected the path of a folder, but there is none at {text!r}")
    return text or None


def parse_precision(text: str) -> str | None:
    """How products of f32 are made where a kernel does not say; empty is as if it were not set."""
    if text not in ("", *DOT_PRECISIONS):
        raise ValueError(f"expected one of {', '.join(DOT_PRECISIONS)}, got {text!r}")
    return text or None


def parse_count(text: str) -> int:
    """A number of things: not negative."""
    if not text.strip().isdecimal():
        raise ValueError(f"expected a number that is not negative, got {text!r}")
    return int(text)


def parse_int(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"expected a whole number, got {text!r}") from error


def parse_seconds(text: str) -> float:
    """A time limit: a positive number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"expected a positive number of seconds, got {text!r}")
    return seconds


def import_class(path: str) -> type[Any]:
    """The class that ``module:Class`` names."""
    module, _, name = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"expected a class as module:Class, got {path!r} ({error})") from error
    if not isinstance(found, type):
        raise ValueError(f"expected a class as module:Class, but {path!r} is a {type(found).__name__}")
    return found
