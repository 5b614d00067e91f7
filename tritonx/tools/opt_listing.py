"""What there is: the lists that ``tritonx-opt --list-...`` and ``--help`` print."""

from __future__ import annotations

from collections.abc import Iterator

NAME_WIDTH = 27


def passes() -> Iterator[str]:
    """Each pass with its summary on a line, by the level that it takes and leaves; those of backends under theirs."""
    from tritonx.ir.contract import contract_of
    from tritonx.tools.pass_info import Home, home, level, level_order, summary
    from tritonx.transforms.registry import UnusablePass, find_pass, pass_names

    groups: dict[tuple[str, tuple[int, ...], str], list[str]] = {}
    for name in pass_names():
        contract = None
        try:
            kind = find_pass(name)
            contract, text = contract_of(kind), summary(kind)
        except UnusablePass as error:
            text = f"(cannot be used: {error.reason})"
        except Exception as error:  # a defect of a plug-in must not hide the others
            text = f"(cannot be used: {type(error).__name__}: {error})"
        whose = home(name)
        heading = level(contract) if whose == Home() else f"{whose}: {level(contract)}"
        groups.setdefault((str(whose), level_order(contract), heading), []).append(f"    {name:{NAME_WIDTH}} {text}")
    for (_, _, heading), lines in sorted(groups.items()):
        yield f"  {heading}"
        yield from lines


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
