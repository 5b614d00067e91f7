"""Attributes that a module's text names in front of it (`#blocked = …`) and has by that name behind."""

from __future__ import annotations

from typing import ClassVar


class Aliased:
    """What an attribute's class derives from, and ``ALIAS`` the stem of its name; the second of a stem gets a 1 behind
    it, and so on."""

    ALIAS: ClassVar[str]
