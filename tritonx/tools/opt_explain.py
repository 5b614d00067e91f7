"""``tritonx-opt --explain``: the contract of a pass, or what a target runs. All of it is read off declarations: the
pass's docstring, fields and ``contract``, the backends' own lists, and the RUN lines of the FileCheck tests.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import tritonx
from tritonx.backends.api import PassStage
from tritonx.backends.registry import available, known_targets, launch_options
from tritonx.ir.contract import contract_of
from tritonx.tools.opt_diagnostics import Diagnostic
from tritonx.tools.opt_pipeline import find_target
from tritonx.tools.pass_info import Home, home, level, options, summary
from tritonx.transforms.registry import UnknownPass, find_pass, pass_names

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

    from tritonx.backends.api import Backend, Target

ROOT = Path(tritonx.__file__).resolve().parents[1]
WIDTH = 120
TITLE_WIDTH = 14

CONTRACT: Mapping[str, str] = {
    "on": "acts on",
    "creates": "may create",
    "reads": "goes by",
    "writes": "writes",
    "needs": "needs",
    "after": "runs behind",
}
"""Field of a ``Contract`` → its title."""


def explain(name: str) -> Iterator[str]:
    """The contract of the pass called ``name``, or a target's stages. Raises ``Diagnostic`` where it is neither."""
    target, _, stage = name.rpartition(":")
    for text, last in ((name, None), (target, stage)):
        if text.partition(":")[0] in available():
            try:
                return _stages(text, last)
            except Diagnostic as error:
                if last is not None:
                    raise Diagnostic(error.file, 0, 0, f"{name}: {error.message}") from None
    try:
        return _contract(name, find_pass(name))
    except UnknownPass as error:
        raise Diagnostic("tritonx-opt", 0, 0, str(error)) from None


def _stages(text: str, wanted: str | None) -> Iterator[str]:
    """What a target runs, each pass as it could be given to ``-p``, with its summary."""
    found = find_target(text, ())
    if wanted is not None:
        found.position(wanted)
    return (line for stage in found.stages if wanted in (None, stage.name) for line in _stage(stage))


def _stage(stage: object) -> Iterator[str]:
    if not isinstance(stage, PassStage):
        yield f"{getattr(stage, 'name', stage)}: emitted, by no pass"
        return
    yield f"{stage.name}: {len(stage.passes)} passes"
    for number, each in enumerate(stage.passes, 1):
        yield f"  {number:2}  {each.name:27} {summary(type(each))}"
        if dataclasses.fields(each) and (given := str(each)) != each.name:
            yield f"      {given}"


def _contract(name: str, kind: type[ModulePass]) -> Iterator[str]:
    contract, whose = contract_of(kind), home(name)
    yield f"{name}: {level(contract)}" + ("" if whose == Home() else f", of {whose}")
    yield ""
    yield from (f"  {line}".rstrip() for line in (inspect.getdoc(kind) or "").splitlines())
    yield ""
    yield from _options(kind)
    if contract is not None:
        for field, title in CONTRACT.items():
            yield from _row(title, ", ".join(getattr(contract, field)))
        yield from _row("runs before", ", ".join(_followers(name)))
    for number, line in enumerate(_users(name)):
        yield _titled("" if number else "run by", line)
    source = inspect.getsourcefile(kind)
    if source is not None:
        yield _titled("file", f"{_shown(Path(source))}:{inspect.getsourcelines(kind)[1]}")
    for number, path in enumerate(_tests(name, Path(source or "").stem)):
        yield _titled("" if number else "tests", _shown(path))


def _titled(title: str, text: str) -> str:
    return f"  {title:{TITLE_WIDTH}}{text}"


def _row(title: str, text: str) -> Iterator[str]:
    """A title and a text that may take several lines; nothing where there is no text."""
    indent = " " * (TITLE_WIDTH + 2)
    if text:
        yield from textwrap.wrap(
            text, WIDTH, initial_indent=_titled(title, ""), subsequent_indent=indent, break_on_hyphens=False
        )


def _options(kind: type[ModulePass]) -> Iterator[str]:
    for number, option in enumerate(options(kind)):
        yield _titled("" if number else "options", str(option))
        yield from (_titled("", f"  {line}") for line in textwrap.wrap(option.meaning, WIDTH - TITLE_WIDTH - 4))


def _followers(name: str) -> Iterator[str]:
    """The passes that say that they go by what this one leaves."""
    for other in pass_names():
        try:
            contract = contract_of(find_pass(other))
        except UnknownPass:  # a defect of a plug-in
            continue
        if contract is not None and name in (*contract.needs, *contract.after):
            yield other


def _users(name: str) -> Iterator[str]:
    """Where the backends' stages have the pass, a line for each place; where only an option has it so, with that."""
    found = [line for backend in available().values() for line in _places(backend, name)]
    yield from found or ["no stage of an installed backend"]


Place = tuple[str, str, str]
"""A stage, where in it, and the option that is not as by default."""


def _places(backend: Backend, name: str) -> Iterator[str]:
    """The pass's places in the lists of one backend, with the targets of each."""
    places: dict[Place, list[str]] = {}
    targets = known_targets(backend)
    for target in targets:
        for place in _in_stages(backend, target, name, {}):
            places.setdefault((*place, ""), []).append(str(target.arch))
    if not places:
        for target in targets:
            for option, value in switches(backend, target):
                for place in _in_stages(backend, target, name, {option: value}):
                    places.setdefault((*place, f", with {option}={value}"), []).append(str(target.arch))
    for (stage, where, option), names in places.items():
        which = "" if len(names) == len(targets) else f" on {', '.join(names)}"
        yield f"{backend.name} {stage}: {where}{which}{option}"


def _in_stages(backend: Backend, target: Target, name: str, given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """(stage, positions in it) of the pass, for these options; nothing where the target does not take them."""
    try:
        stages = tuple(backend.stages(target, launch_options(backend, target, given)))
    except Exception:  # an option that this target refuses, or a defect of a plug-in: then it runs nothing
        return
    for stage in stages:
        if isinstance(stage, PassStage):
            positions = [str(n) for n, each in enumerate(stage.passes, 1) if each.name == name]
            if positions:
                yield stage.name, f"{' and '.join(positions)} of {len(stage.passes)}"


def switches(backend: Backend, target: Target) -> Iterator[tuple[str, bool]]:
    """The options of a backend that are on or off, the other way round."""
    try:
        chosen = launch_options(backend, target, {})
    except Exception:  # a defect of a plug-in
        return
    for field in dataclasses.fields(chosen):
        value: object = getattr(chosen, field.name)
        if isinstance(value, bool):
            yield field.name, not value


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _tests(name: str, stem: str) -> list[Path]:
    """The FileCheck tests, in a checkout, that run the pass by name: those that are named after its file, if any."""
    folder = ROOT / "tests" / "filecheck"
    run = re.compile(rf"RUN:.*(?:-p|--passes)\b.*(?<![\w-]){re.escape(name)}(?![\w-])")
    found = sorted(path for path in folder.rglob("*.mlir") if run.search(path.read_text()))
    return [path for path in found if path.stem.startswith(stem)] or found


__all__ = ["explain", "switches"]
