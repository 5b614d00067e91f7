"""The launch path of one kernel as generated Python.

For a kernel ``def add(x, y, z, n, BLOCK: constexpr)`` this writes, and compiles once,

    def dynamic_func(_grid, /, x, y, z, n, BLOCK, **_options):
        _k0, _a0 = _s0[type(x)](x)
        ...
        _key = (_k0, _k1, _k2, _k3, BLOCK, _choice.token, _settings.debug)
        if _options: _key = (_key, *_options.items())
        _entry = _kernels.get(_key) or _compile(_key, ...)
        ...
        _launch(_x, _y, _z, _stream(_device), _a0, _a1, _a2, _a3)

so that Python itself binds positional, keyword and default arguments, and a launch that was seen before is: a handler
an argument, one tuple, one dictionary, the grid, the launcher. Everything rare is behind one test of a flag.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.specialize import Specializer, specializer

if TYPE_CHECKING:
    from tritonx.runtime.params import KernelParam

PREFIX = "_tx_"
"""What the generated code's own names start with; a kernel's parameter may not."""

_FLOATS_AND_BOOLS = ("u1", "fp", "bf")


def handlers_of(param: KernelParam) -> Specializer:
    """The handlers for arguments of this parameter."""
    fixed = param.annotation_type
    specialize = not param.do_not_specialize and not fixed.startswith(_FLOATS_AND_BOOLS)
    return specializer(param.is_const, specialize, not param.do_not_specialize_on_alignment, fixed)


def _check(params: Sequence[KernelParam], name: str) -> None:
    for param in params:
        kind = param._param.kind  # pyright: ignore[reportPrivateUsage]
        if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise UnsupportedArgument(f"{name} cannot be launched: a kernel has no *{param.name} parameter")
        if param.name.startswith(PREFIX):
            raise UnsupportedArgument(f"{name}: parameter names that start with {PREFIX} are reserved")


def _signature(params: Sequence[KernelParam]) -> str:
    parts = [f"{PREFIX}grid", "/"]
    keyword_only = False
    for param in params:
        kind = param._param.kind  # pyright: ignore[reportPrivateUsage]
        if kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        parts.append(f"{param.name}={PREFIX}d{param.num}" if param.has_default else param.name)
    return ", ".join([*parts, f"**{PREFIX}options"])


def _body(params: Sequence[KernelParam], option_names: frozenset[str]) -> list[str]:
    """Up to and including the key."""
    lines: list[str] = []
    for param in params:
        if param.name in option_names:  # a kernel that reads an option as a parameter: one value for both
            lines.append(f"if {param.name} is not None: _tx_options[{param.name!r}] = _tx_plain({param.name})")
    key: list[str] = []
    for param in params:
        if param.is_constexpr:
            key.append(param.name)
        else:
            i = param.num
            lines.append(f"_tx_k{i}, _tx_a{i} = _tx_s{i}[type({param.name})]({param.name})")
            key.append(f"_tx_k{i}")
    key += ["_tx_choice.token", "_tx_settings.debug"]
    lines.append(f"_tx_key = ({', '.join(key)})")
    lines.append("if _tx_options: _tx_key = (_tx_key, *_tx_options.items())")
    return lines


def generate(
    params: Sequence[KernelParam], name: str, option_names: frozenset[str], names: Mapping[str, Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(launch, bind).

    ``launch(grid, *args, **kwargs)`` does everything; ``bind`` takes the same and returns (key, specialisations with
    None for a declared constexpr, bound arguments by name, options, run-time values).
    """
    _check(params, name)
    signature = _signature(params)
    body = _body(params, option_names)
    bound = "{" + ", ".join(f"{p.name!r}: {p.name}" for p in params) + "}"
    specs = "(" + "".join("None, " if p.is_constexpr else f"_tx_k{p.num}, " for p in params) + ")"
    values = "".join(f", _tx_a{p.num}" for p in params if not p.is_constexpr)
    tuple_of_values = f"({values[2:]}{',' if values else ''})"
    launch = [
        f"def dynamic_func({signature}):",
        *(f"    {line}" for line in body),
        "    try: _tx_entry = _tx_kernels.get(_tx_key)",
        f"    except TypeError: return _tx_unhashable(_tx_grid, {bound}, _tx_options)",
        f"    if _tx_entry is None: _tx_entry = _tx_compile(_tx_key, {specs}, {bound}, _tx_options)",
        "    _tx_kernel, _tx_launch, _tx_stream, _tx_device, _tx_globals = _tx_entry",
        "    for _tx_g in _tx_globals:",
        "        if _tx_g.mutable or _tx_g.scope.get(_tx_g.name) is not _tx_g.seen: _tx_check_globals(_tx_globals)",
        "    if _tx_grid.__class__ is not tuple:",
        f"        _tx_grid = _tx_extents(_tx_grid, {bound}, _tx_options)",
        "    _tx_x, _tx_y, _tx_z = _tx_grid",
        "    if _tx_hooks or _tx_settings.launch_enter_hook or _tx_settings.launch_exit_hook:",
        f"        return _tx_with_hooks(_tx_entry, _tx_grid, {bound}, _tx_options, {tuple_of_values})",
        "    if _tx_x and _tx_y and _tx_z:",
        f"        _tx_launch(_tx_x, _tx_y, _tx_z, _tx_stream(_tx_device){values})",
        "    return _tx_kernel",
    ]
    bind = [
        f"def dynamic_bind({signature}):",
        *(f"    {line}" for line in body),
        f"    return _tx_key, {specs}, {bound}, _tx_options, {tuple_of_values}",
    ]
    bind[0] = bind[0].replace("dynamic_bind", "dynamic_func")
    namespace: dict[str, Any] = {f"_tx_{key}": value for key, value in names.items()}
    for param in params:
        if param.has_default:
            namespace[f"_tx_d{param.num}"] = param.default
        if not param.is_constexpr:
            namespace[f"_tx_s{param.num}"] = handlers_of(param)
    made: list[Callable[..., Any]] = []
    for lines in (launch, bind):
        scope = dict(namespace)
        exec(compile("\n".join(lines), f"<launch of {name}>", "exec"), scope)
        made.append(scope["dynamic_func"])
    return made[0], made[1]
