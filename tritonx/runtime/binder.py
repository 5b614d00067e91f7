"""The launch path of one kernel as generated Python.

For a kernel ``def add(x, y, z, n, BLOCK: constexpr)`` this writes, and compiles once,

    def launch($grid, /, x=$missing, y=$missing, z=$missing, n=$missing, BLOCK=$missing, *$extra, **$options):
        try:
            $k0, $a0 = $s0[$type(x)](x)
            ...
        except $unfit as $error: raise $refused($error, ...)
        $key = ($k0, $k1, $k2, $k3, BLOCK, $choice.token, $settings.debug)
        if $options: $key = ($key, *$options.items())
        $entry = $kernels.get($key) or $compile($key, ...)
        ...
        $launch($x, $y, $z, $stream($device), $a0, $a1, $a2, $a3)

so that Python itself binds positional, keyword and default arguments (what is missing has a key that no kernel has, and
is told from there), and a launch that was seen before is: a handler
an argument, one tuple, one dictionary, the grid, the launcher. Everything rare is behind one test of a flag.

A parameter may have any name. ``$`` stands for a prefix that no parameter of this kernel starts with; every name that
is not a parameter has it, Python's builtins included.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.misfits import MISSING, UNFIT
from tritonx.runtime.specialize import Specializer, specializer

if TYPE_CHECKING:
    from tritonx.kernel.params import KernelParam

_FLOATS_AND_BOOLS = ("u1", "fp", "bf")


def handlers_of(param: KernelParam) -> Specializer:
    """The handlers for arguments of this parameter."""
    fixed = param.accepts
    specialize = not param.do_not_specialize and not fixed.startswith(_FLOATS_AND_BOOLS)
    return specializer(param.is_const, specialize, not param.do_not_specialize_on_alignment, fixed)


@dataclass(frozen=True)
class Binder:
    """The generated functions of one kernel.

    ``launch(grid, *args, **kwargs)`` does everything; ``bind`` takes the same and returns (key, specialisations with
    None for a declared constexpr, bound arguments by name, options, run-time values).
    """

    launch: Callable[..., Any]
    bind: Callable[..., Any]
    prefix: str

    def replace_handlers(self, number: int, handlers: Specializer) -> None:
        """From now on launches specialise on the argument at position ``number`` by ``handlers``."""
        self.launch.__globals__[f"{self.prefix}s{number}"] = handlers


def _check(params: Sequence[KernelParam], name: str) -> None:
    for param in params:
        kind = param._param.kind  # pyright: ignore[reportPrivateUsage]  # the signature of this parameter is read here only
        if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise UnsupportedArgument(f"{name} cannot be launched: a kernel has no *{param.name} parameter")


def _prefix(params: Sequence[KernelParam]) -> str:
    """What no parameter's name starts with."""
    prefix = "_tx_"
    while any(param.name.startswith(prefix) for param in params):
        prefix = "_" + prefix
    return prefix


def _signature(params: Sequence[KernelParam]) -> str:
    parts = ["$grid", "/"]
    keyword_only = False
    for param in params:
        kind = param._param.kind  # pyright: ignore[reportPrivateUsage]  # the signature of this parameter is read here only
        if kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            parts.append("*$extra")
            keyword_only = True
        parts.append(f"{param.name}=$d{param.num}" if param.has_default else f"{param.name}=$missing")
    return ", ".join([*parts, *([] if keyword_only else ["*$extra"]), "**$options"])


def _body(params: Sequence[KernelParam], option_names: frozenset[str]) -> list[str]:
    """Up to and including the key."""
    lines = ["if $extra: $too_many($extra)"]
    for param in params:
        if param.name in option_names:  # a kernel that reads an option as a parameter: one value for both
            test = f"{param.name} is not None" if param.is_constexpr else f"$type({param.name}) is $int"
            lines.append(f"if {test}: $options[{param.name!r}] = $plain({param.name})")
    key: list[str] = []
    handled: list[str] = []
    for param in params:
        if param.is_constexpr:
            key.append(param.name)
        else:
            i = param.num
            handled.append(f"    $k{i}, $a{i} = $s{i}[$type({param.name})]({param.name})")
            key.append(f"$k{i}")
    if handled:
        lines += ["try:", *handled, f"except $unfit as $error: raise $refused($error, {_bound(params)}) from None"]
    key += ["$choice.token", "$settings.debug"]
    lines.append(f"$key = ({', '.join(key)})")
    lines.append("if $options: $key = ($key, *$options.items())")
    return lines


def _bound(params: Sequence[KernelParam]) -> str:
    """The arguments by name."""
    return "{" + ", ".join(f"{p.name!r}: {p.name}" for p in params) + "}"


def generate(
    params: Sequence[KernelParam], name: str, title: str, option_names: frozenset[str], names: Mapping[str, object]
) -> Binder:
    """The binder of the kernel ``name``. ``names`` are those that the module's docstring shows with ``$``, without it;
    ``option_names`` those of compile options that a parameter may share. ``title`` is what Python calls the launch
    where it finds an argument given twice, which it does before any line of it runs."""
    _check(params, name)
    signature = _signature(params)
    body = _body(params, option_names)
    bound = _bound(params)
    specs = "(" + "".join("None, " if p.is_constexpr else f"$k{p.num}, " for p in params) + ")"
    values = "".join(f", $a{p.num}" for p in params if not p.is_constexpr)
    tuple_of_values = f"({values[2:]}{',' if values else ''})"
    launch = [
        *body,
        "try: $entry = $kernels.get($key)",
        f"except $TypeError: return $unhashable($grid, {bound}, $options)",
        f"if $entry is None: $entry = $compile($key, {specs}, {bound}, $options)",
        "$kernel, $launch, $stream, $device, $globals = $entry",
        "for $g in $globals:",
        "    if $g.mutable or $g.scope.get($g.name) is not $g.seen or $g.holder.value is not $g.held:",
        "        $check_globals($globals)",
        "if $grid.__class__ is not $tuple:",
        f"    $grid = $extents($grid, {bound}, $options)",
        "$x, $y, $z = $grid",
        "if $hooks or $settings.launch_enter_hook or $settings.launch_exit_hook:",
        f"    return $with_hooks($entry, $grid, {bound}, $options, {tuple_of_values})",
        "if $x and $y and $z:",
        f"    $launch($x, $y, $z, $stream($device){values})",
        "return $kernel",
    ]
    bind = [*body, f"return $key, {specs}, {bound}, $options, {tuple_of_values}"]
    prefix = _prefix(params)
    namespace: dict[str, Any] = {**_BUILTINS, **names}
    for param in params:
        if param.has_default:
            namespace[f"d{param.num}"] = param.default
        if not param.is_constexpr:
            namespace[f"s{param.num}"] = handlers_of(param)
    scope = {prefix + key: value for key, value in namespace.items()}
    made = [_define(signature, lines, prefix, name, title, dict(scope)) for lines in (launch, bind)]
    return Binder(made[0], made[1], prefix)


_BUILTINS: Mapping[str, Any] = {
    "type": type,
    "int": int,
    "tuple": tuple,
    "TypeError": TypeError,
    "missing": MISSING,
    "unfit": UNFIT,
}


def _define(
    signature: str, lines: Sequence[str], prefix: str, kernel: str, title: str, scope: dict[str, Any]
) -> Callable[..., Any]:
    """The function of these lines in ``scope``, under ``title`` where Python names it."""
    text = "\n".join([f"def dynamic_func({signature}):", *(f"    {line}" for line in lines)])
    exec(compile(text.replace("$", prefix), f"<launch of {kernel}>", "exec"), scope)
    made = scope["dynamic_func"]
    made.__qualname__ = title
    return made
