"""What there is: the lists that ``tritonx-opt --list-...`` and ``--help`` print."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator


def passes(full: bool) -> Iterator[str]:
    """Each pass with its options and its docstring's first line, or all of the docstring."""
    from xdsl.utils.hints import type_repr

    from tritonx.transforms.registry import find_pass, pass_names

    for name in pass_names():
        try:
            cls = find_pass(name)
        except ImportError as error:
            yield f"  {name}\n      (cannot be imported: {error})"
            continue
        text = inspect.getdoc(cls) or ""
        shown = text if full else text.split("\n")[0]
        yield f"  {name}" + "".join(f"\n      {line}" for line in shown.splitlines())
        for option in dataclasses.fields(cls):
            if option.name != "name":
                default = f" = {option.default}" if option.default is not dataclasses.MISSING else ""
                kind = option.type if isinstance(option.type, str) else type_repr(option.type)
                yield f"      {option.name.replace('_', '-')}: {kind}{default}"


def backends() -> Iterator[str]:
    """Each installed backend with its targets and the stages of the first; a broken one with the reason."""
    from tritonx.backends.registry import installed

    for info in installed():
        yield f"  {info}"
        if info.backend is None:
            continue
        try:
            target = info.backend.known_targets()[0]
            stages = info.backend.stages(target, info.backend.parse_options(target, {}))
            yield f"      stages of {target}: {' → '.join(stage.name for stage in stages)}"
        except Exception as error:  # a defect of a plug-in must not hide the others
            yield f"      (its stages cannot be listed: {type(error).__name__}: {error})"


def dialects() -> Iterator[str]:
    """The names of the dialects that the parser knows."""
    from tritonx.ir.context import dialect_loaders

    for name in sorted(dialect_loaders()):
        yield f"  {name}"
