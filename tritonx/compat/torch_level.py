"""The level that the installed PyTorch asks for: that of the Triton which it is built against."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution

from tritonx.level import DEFAULT, LEVELS

_BY_TORCH = {(2, 13): "3.7", (2, 14): "3.8"}
"""Of releases whose packages name no Triton, as those for CPUs; older ones have 3.6, newer ones the newest."""


def torch_level() -> str | None:
    """The level of the installed PyTorch; None where there is none."""
    try:
        torch = distribution("torch")
    except PackageNotFoundError:
        return None
    return pinned_level(torch.requires or ()) or level_of(torch.version)


def pinned_level(requirements: Sequence[str]) -> str | None:
    """The level of the Triton among these requirements, if there is one of that name.

    >>> pinned_level(["filelock", 'triton==3.8.0; platform_system == "Linux"']), pinned_level(["triton~=3.9.0"])
    ('3.8', '3.9')
    """
    found = (re.match(r"triton\s*\(?[=~]=\s*(\d+\.\d+)", line) for line in requirements)
    return next((match[1] for match in found if match is not None and match[1] in LEVELS), None)


def level_of(version: str) -> str:
    """The level of a release of PyTorch.

    >>> level_of("2.14.1+cpu"), level_of("2.9.0"), level_of("3.0.0a1")
    ('3.8', '3.6', '3.9')
    """
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is None:
        return DEFAULT
    release = int(match[1]), int(match[2])
    if release < min(_BY_TORCH):
        return min(LEVELS)
    return _BY_TORCH.get(release, max(LEVELS))
