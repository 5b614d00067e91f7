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
    """Each backend with the targets that it knows and the stages of the first."""
    from tritonx.backends.registry import backend_names, get_backend

    for name in backend_names():
        try:
            backend = get_backend(name)
            targets = backend.known_targets()
            yield f"  {name}: {', '.join(str(t) for t in targets)}"
            if targets:
                stages = backend.stages(targets[0], backend.options_type())
                yield f"      stages of {targets[0]}: {' → '.join(stage.name for stage in stages)}"
        except Exception as error:  # a broken plug-in is listed as such
            yield f"  {name}\n      (cannot be loaded: {error})"


def dialects() -> Iterator[str]:
    """The names of the dialects that the parser knows."""
    from tritonx.ir.context import new_context

    for name in sorted(new_context().registered_dialect_names):
        yield f"  {name}"
