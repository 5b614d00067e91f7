"""What `explain` returns: the facts of a kernel with the ways to see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tritonx.backends import registry
from tritonx.backends.api import Options, Target
from tritonx.explain.facts import Facts
from tritonx.explain.launch import Launch, launch_of
from tritonx.runtime import driver
from tritonx.runtime.compiling.sources import ASTSource, source_of
from tritonx.runtime.compiling.targets import target_named
from tritonx.runtime.devices.drivers import find_backend
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.tools.command import literal

if TYPE_CHECKING:
    from os import PathLike

    from tritonx.runtime.compiling.jit_function import JITFunction

CARRIED = ("num_warps", "num_stages", "num_ctas", "enable_fp_fusion")
"""Options of a launch that are its kernel's on another target as well."""


@dataclass(frozen=True)
class Report:
    """The facts of one kernel for one target.

    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> tritonx.explain.explain(source, "cuda:90").html()[:15]
    '<!doctype html>'
    """

    facts: Facts

    def json(self, indent: int | None = None) -> str:
        """The facts as one JSON object, as `tritonx explain --json` prints them."""
        return self.facts.json(indent)

    def html(self) -> str:
        """One page that needs nothing beside it."""
        from tritonx.explain.page import page

        return page(self.json())

    def write(self, path: str | PathLike[str]) -> None:
        """The page in a file. Raises OSError."""
        Path(path).write_text(self.html(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:720px;border:1px solid #8886"></iframe>'
        )


def explain(
    source: object,
    target: Target | str | None = None,
    options: Mapping[str, object] | Options | None = None,
    launch: Launch | None = None,
) -> Report:
    """Compile an ASTSource, an IRSource or the file of a path for `target` (the active device's), past the cache, and
    say what was made of it, and of a launch. Touches no device when `target` is given. Raises what `tritonx.compile`
    raises.

    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 128})
    >>> report = tritonx.explain.explain(source, "cuda:90", {"num_warps": 1})
    >>> [(each.kind, each.width) for each in report.facts.accesses]
    [('load', 1), ('store', 1)]
    """
    from tritonx.explain.collect import facts_of

    given = source_of(source)
    if target is None:
        wanted = driver.get_active().get_current_target()
    else:
        wanted = wanted_target(target)
    backend = find_backend(wanted.backend)
    if isinstance(options, Options):
        return Report(facts_of(given, backend, wanted, options, launch))
    wanted = target_named(backend, wanted, options or {})
    chosen = registry.parse_options(backend, wanted, {**given.parse_options(), **(options or {})})
    return Report(facts_of(given, backend, wanted, chosen, launch))


def wanted_target(given: object) -> Target:
    """A target, or the one of this name. Raises `UnsupportedArgument` for what is neither, and what the backend raises
    for a name."""
    if isinstance(given, Target):
        return given
    if not isinstance(given, str):
        raise UnsupportedArgument(f"a target is the name of a backend and of an architecture, not {given!r}")
    return registry.parse_target(given)[1]


def explain_launch(
    kernel: JITFunction, grid: object, args: Sequence[object], kwargs: Mapping[str, object], target: object = None
) -> Report:
    """What the compiler makes of a launch, for its own target (None) or for one whose device need not be there, without
    the options that this does not have. Raises what a launch raises."""
    wanted = None if target is None else wanted_target(target)
    launcher = kernel.launcher
    request, given = launcher.request(tuple(args), dict(kwargs))
    found = launch_of(launcher.extents(grid, request.bound, given), request.bound)
    asked = request.wanted
    source = ASTSource(kernel, asked.signature, asked.constants, asked.attrs)
    if wanted is None:
        return explain(source, request.placement.target, request.options, found)
    known = {field.name for field in fields(find_backend(wanted.backend).options_type)}
    return explain(source, wanted, {name: value for name, value in given.items() if name in known}, found)


def explain_again(
    source: object,
    stated: Mapping[str, object],
    target: Target | str | None = None,
    given: Sequence[str] = (),
    launch: Launch | None = None,
) -> Report:
    """The same for a source that was compiled, with the options that its launch chose (`stated`: its metadata), for
    another target or the same, and with options as text (`num_warps=8`). Raises a `ValueError` for an option that the
    target does not have."""
    own = stated.get("target")
    assert isinstance(own, Target)
    wanted = own if target is None else wanted_target(target)
    there, here = find_backend(own.backend), find_backend(wanted.backend)
    usual = asdict(registry.parse_options(there, own, {}))
    known = {field.name for field in fields(here.options_type)}
    options = {
        name: stated[name] for name in CARRIED if name in known and name in stated and stated[name] != usual.get(name)
    }
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            raise ValueError(f"{wanted} has no option {name!r}")
        options[name] = literal(value)
    return explain(source, wanted, options, launch)
