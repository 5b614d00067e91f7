"""The launch path of one kernel as generated Python.

For a kernel ``def add(x, y, z, n, BLOCK: constexpr)`` this writes, and compiles once,

    def launch($grid, /, x=$missing, y=$missing, z=$missing, n=$missing, BLOCK=$missing, *$extra, **$options):
        try:
            $k0, $a0 = $s0[$type(x)](x)
            ...
        except $unfit as $error: raise $refused($error, ...)
        $key = ($k0, $k1, $k2, $k3, BLOCK if $type(BLOCK) is $t4 else ..., $choice.token, $settings.debug)
        if $options: $key = ($key, *$options, *$options.values())
        $entry = $kernels[$key] or $compile($key, ...)
        ...
        $launch($x, $y, $z, $stream($device), $a0, $a1, $a2, $a3)

so that Python itself binds positional, keyword and default arguments (what is missing has a key that no kernel has, and
is told from there), and a launch that was seen before is: a handler
an argument, one tuple, one dictionary, the grid, the launcher. Everything rare is behind one test of a flag.

After the first compile the function gets other code, for arguments of the classes that the first launch had:

    if $type(x) is $q0:                                           # a tensor
        $a0 = x.data_ptr()
        try: $k0 = $i0[x.dtype][x.device][$a0 & 15]
        except $KeyError: $k0, $a0 = $s0[$q0](x)
    else: $k0, $a0 = $s0[$type(x)](x)
    if $type(n) is $q3 and 1 < n <= 2147483647: $k3 = $i3[n & 15]; $a3 = n
    else: $k3, $a3 = $s3[$type(n)](n)

NumPy's arrays are read as their handlers do it (`specialize`), in the way that has to be: by their address, and by the
byte that says whether they may be written to. The options that launches were given by keyword are parameters of the
function (``num_warps=$missing`` behind ``*$extra``) and are in the key by position: no dictionary is made for them.

A parameter may have any name. ``$`` stands for a prefix that no parameter of this kernel starts with; every name that
is not a parameter has it, Python's builtins included.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from keyword import iskeyword
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from tritonx.kernel.identity import keyed
from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.arguments import flag_bytes
from tritonx.runtime.launch.constant_keys import ConstantKeys, with_options
from tritonx.runtime.launch.misfits import MISSING, UNFIT
from tritonx.runtime.launch.specialize import Specializer, specializer

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
    make_bind: Callable[[], FunctionType]
    prefix: str
    params: Sequence[KernelParam]
    text: Callable[[Expected, Sequence[str]], str]
    """The text of ``launch`` for arguments that are `Expected`, with options of these names as parameters."""

    @cached_property
    def bind(self) -> FunctionType:
        """Written when something first asks for it: a program that launches alone does not."""
        return self.make_bind()

    def handlers(self, number: int) -> Specializer:
        """The handlers by which launches specialise on the argument at position ``number`` now."""
        return self.launch.__globals__[f"{self.prefix}s{number}"]

    def replace_handlers(self, number: int, handlers: Specializer, expected: Expected) -> Expected:
        """From now on launches specialise on the argument at position ``number`` by ``handlers``. Returns what `write`
        takes in the place of ``expected`` for that."""
        scope = self.launch.__globals__
        scope[f"{self.prefix}s{number}"] = handlers
        if expected.get(number) not in ARRAYS:
            return expected
        kind: type = scope[f"{self.prefix}q{number}"]
        form = self.expected(number, kind)
        rest = {other: known for other, known in expected.items() if other != number}
        return rest if form is None else {**rest, number: form}

    def expected(self, number: int, kind: type) -> str | None:
        """How an argument of this class at position ``number`` is specialised on in the launch's own lines, one of the
        names of `_INLINED`, for which everything is put in place; None where a call is needed."""
        found = _inlined(kind, self.handlers(number))
        if found is None:
            return None
        form, table, memory = found
        scope = self.launch.__globals__
        scope[f"{self.prefix}q{number}"] = kind
        scope[f"{self.prefix}{_TABLE.get(form, 'i')}{number}"] = table
        if memory is not None:
            scope[f"{self.prefix}words"], scope[f"{self.prefix}flags"] = memory, flag_bytes()
        return form

    def expect(self, kinds: Mapping[str, type]) -> Expected:
        """What `write` takes for arguments of these classes: what they are specialised on is found without a call.
        Others go the way that all went before. Only once, as a launch may run in another thread."""
        given = [param for param in self.params if not param.is_constexpr and param.name in kinds]
        forms = {param.num: self.expected(param.num, kinds[param.name]) for param in given}
        return {number: form for number, form in forms.items() if form is not None}

    def write(self, expected: Expected, options: Sequence[str]) -> None:
        """Write ``launch`` again, for arguments that are `Expected`. ``options`` are names of those that launches are
        given, and may leave out; they begin with the names of the last time."""
        scope = self.launch.__globals__
        scope[f"{self.prefix}all_options"] = partial(_all_options, tuple(options))
        made = _executed(self.text(expected, options), self.launch.__name__, dict(scope))
        self.launch.__kwdefaults__ = made.__kwdefaults__  # first: the code there is leaves the new names alone
        self.launch.__code__ = made.__code__

    def inlinable(self, options: Iterable[str]) -> list[str]:
        """Those of the options' names that can be parameters of ``launch``."""
        taken = {param.name for param in self.params}
        names = [name for name in options if name not in taken and not name.startswith(self.prefix)]
        return [name for name in names if name.isidentifier() and not iskeyword(name)]

    def written_key(
        self, key: tuple[object, ...], before: Sequence[str], after: Sequence[str], options: Mapping[str, object]
    ) -> tuple[object, ...]:
        """The key of the next launch like the one with ``key`` and ``options``, for which ``launch`` was written with
        the options ``before`` and is with those ``after``; ``key`` where one of the options is no parameter of it."""
        if before == after or not options.keys() <= set(after):
            return key
        whole = cast("tuple[object, ...]", key[0]) if options.keys() - before else key
        plain = whole[: len(self.params) + _SETTINGS]
        values = [options.get(name, MISSING) for name in after]
        return (*plain, *[value if type(value) is int or value is MISSING else keyed(value) for value in values])


_SETTINGS = 2
"""What a key has of the process, behind what it has of the arguments."""

Expected = Mapping[int, str]
"""Position of an argument → one of the names of `_INLINED`."""

_INLINED = {
    "integer": ("if $type({name}) is $q{i} and 1 < {name} <= 2147483647: $k{i} = $i{i}[{name} & 15]; $a{i} = {name}",),
    "float": ("if $type({name}) is $q{i}: $k{i} = $i{i}; $a{i} = {name}",),
    "tensor": (
        "if $type({name}) is $q{i}:",
        "    $a{i} = {name}.data_ptr()",
        "    try: $k{i} = $i{i}[{name}.dtype][{name}.device][$a{i} & 15]",
        "    except $KeyError: $k{i}, $a{i} = $s{i}[$q{i}]({name})",
    ),
    "array": (
        "if $type({name}) is $q{i}:",
        "    $a{i} = $words[$id({name}) >> 3]",
        "    try: $k{i} = $i{i}[{name}.dtype][$a{i} & 15]",
        "    except $KeyError: $k{i}, $a{i} = $s{i}[$q{i}]({name})",
    ),
    "handed array": (
        "if $type({name}) is $q{i}:",
        "    try: $k{i} = $i{i}[{name}.dtype][$words[$id({name}) >> 3] & 15]; $a{i} = {name}",
        "    except $KeyError: $k{i}, $a{i} = $s{i}[$q{i}]({name})",
    ),
    "watched array": (
        "if $type({name}) is $q{i}:",
        "    $a{i} = $words[($o := $id({name})) >> 3]",
        "    try: $k{i} = $j{i}[{name}.dtype][$flags[$o]][$a{i} & 15]",
        "    except $KeyError: $k{i}, $a{i} = $s{i}[$q{i}]({name})",
    ),
    "watched and handed array": (
        "if $type({name}) is $q{i}:",
        "    try: $k{i} = $j{i}[{name}.dtype][$flags[$o := $id({name})]][$words[$o >> 3] & 15]; $a{i} = {name}",
        "    except $KeyError: $k{i}, $a{i} = $s{i}[$q{i}]({name})",
    ),
}
"""How an argument of a class is specialised on in the launch's own lines, as its handler does it. ``$q`` is the class,
``$i`` or ``$j`` what its specs are found in."""

ARRAYS = frozenset(name for name in _INLINED if name.endswith("array"))
"""Those of them whose handlers may be replaced."""

_TABLE = {"watched array": "j", "watched and handed array": "j"}
"""The name of what the specs are found in, where that is not ``$i``: code that runs while other code is written finds
tables of the form that it was written for."""


def _inlined(kind: type, handlers: Specializer) -> tuple[str, object, object] | None:
    """How arguments of a class are inlined, with what, and the words of memory; None where a call is needed."""
    if kind is int and (small := handlers.of_small_integers()) is not None:
        return "integer", small, None
    if kind is float:
        return "float", handlers[float](0.0)[0], None
    assert handlers[kind] is not None  # whose making is what fills the tables
    if (array := handlers.arrays.get(kind)) is not None:
        return array
    places = handlers.tensors.get(kind)
    return ("tensor", places, None) if places else None


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


def _all_options(names: tuple[str, ...], rest: Mapping[str, object], *values: object) -> dict[str, object]:
    """The options of a launch: those of ``names`` that it was given, then the others. Code that was written when there
    were fewer names has the ``values`` of the first ones."""
    given = {name: value for name, value in zip(names, values, strict=False) if value is not MISSING}
    return {**given, **rest}


def _signature(params: Sequence[KernelParam], options: Sequence[str] = ()) -> str:
    parts = ["$grid", "/"]
    keyword_only = False
    for param in params:
        kind = param._param.kind  # pyright: ignore[reportPrivateUsage]  # the signature of this parameter is read here only
        if kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            parts.append("*$extra")
            keyword_only = True
        parts.append(f"{param.name}=$d{param.num}" if param.has_default else f"{param.name}=$missing")
    inlined = [f"{name}=$missing" for name in options]
    return ", ".join([*parts, *([] if keyword_only else ["*$extra"]), *inlined, "**$options"])


def _handled(param: KernelParam, expected: Expected) -> list[str]:
    """The spec and the run-time value of an argument."""
    i, name = param.num, param.name
    call = f"$k{i}, $a{i} = $s{i}[$type({name})]({name})"
    if i not in expected:
        return [call]
    return [*(line.format(i=i, name=name) for line in _INLINED[expected[i]]), f"else: {call}"]


def _body(
    params: Sequence[KernelParam], option_names: frozenset[str], expected: Expected, options: Sequence[str]
) -> list[str]:
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
            key.append(_constant_key(param.name, param.num))
        else:
            handled += [f"    {line}" for line in _handled(param, expected)]
            key.append(f"$k{param.num}")
    if handled:
        lines += ["try:", *handled, f"except $unfit as $error: raise $refused($error, {_bound(params)}) from None"]
    key += ["$choice.token", "$settings.debug"]
    others = [
        "if $options:",
        "    for $o in $options.values():",
        "        if $type($o) is not $int:",
        "            $key = $with_options($key, $options)",
        "            break",
        "    else: $key = ($key, *$options, *$options.values())",
    ]
    if not options:
        return [*lines, f"$key = ({', '.join(key)})", *others]
    lines.append(f"if {_without(options)}: $key = ({', '.join(key)})")
    key += [f"{name} if $type({name}) is $int or {name} is $missing else $keyed({name})" for name in options]
    return [*lines, "else:", f"    $key = ({', '.join(key)})", *(f"    {line}" for line in others)]


def _without(options: Sequence[str]) -> str:
    """Whether a launch is given no option at all."""
    return " and ".join([*(f"{name} is $missing" for name in options), "not $options"])


def _constant_key(name: str, number: int) -> str:
    """The key's part for a compile-time argument: see ``ConstantKeys``."""
    return (
        f"{name} if $type({name}) is $t{number} else $m[1] if ($m := $m{number})[0] is {name} else $c{number}({name})"
    )


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
    prefix = _prefix(params)
    namespace: dict[str, Any] = {**_BUILTINS, **names}
    for param in params:
        if param.has_default:
            namespace[f"d{param.num}"] = param.default
        if not param.is_constexpr:
            namespace[f"s{param.num}"] = handlers_of(param)
    scope = {prefix + key: value for key, value in namespace.items()}
    constants = ConstantKeys(prefix, [param.num for param in params if param.is_constexpr])

    def text(lines: Sequence[str], options: Sequence[str] = ()) -> str:
        head = f"def dynamic_func({_signature(params, options)}):"
        return "\n".join([head, *(f"    {line}" for line in lines)]).replace("$", prefix)

    def launch(expected: Expected, options: Sequence[str]) -> str:
        return text([*_body(params, option_names, expected, options), *_launched(params, options)], options)

    def made(text: str) -> FunctionType:
        function = _executed(text, name, constants.added(scope))
        function.__qualname__ = title
        return function

    def bind() -> FunctionType:
        return made(text([*_body(params, option_names, {}, ()), _bound_together(params)]))

    return Binder(made(launch({}, ())), bind, prefix, params, launch)


def _specs(params: Sequence[KernelParam]) -> str:
    return "(" + "".join("None, " if p.is_constexpr else f"$k{p.num}, " for p in params) + ")"


def _values(params: Sequence[KernelParam]) -> str:
    """The run-time values, each with a comma behind it."""
    return "".join(f"$a{p.num}, " for p in params if not p.is_constexpr)


def _bound_together(params: Sequence[KernelParam]) -> str:
    return f"return $key, {_specs(params)}, {_bound(params)}, $options, ({_values(params)})"


def _grid_arguments(params: Sequence[KernelParam], options: Sequence[str], given: str) -> str:
    """What a function is called with that gives the grid; ``given`` are the options as a dictionary."""
    bound = _bound(params)
    if not options:
        return f"{{**{bound}, **$options}} if $options else {bound}"
    left_out = " or ".join(f"{name} is $missing" for name in options)
    whole = bound.removesuffix("}") + ", " * bool(params) + ", ".join(f"{name!r}: {name}" for name in options) + "}"
    given_some = f"{{**{bound}, **{given}}} if $options or {left_out} else {whole}"
    return f"{bound} if {_without(options)} else {given_some}"


def _launched(params: Sequence[KernelParam], options: Sequence[str]) -> list[str]:
    """What follows the key."""
    bound, values = _bound(params), _values(params)
    given = f"$all_options($options, {', '.join(options)})" if options else "$options"
    return [
        "try: $entry = $kernels[$key]",
        "except $KeyError: $entry = None",
        f"except $TypeError: return $unhashable($grid, {bound}, {given})",
        f"if $entry is None: $entry = $compile($key, {_specs(params)}, {bound}, {given})",
        "$kernel, $launch, $stream, $device, $globals, $functions = $entry",
        "if $functions:",
        "    try:",
        "        for $scope, $name, $seen in $functions:",
        "            if $scope[$name] is not $seen: break",
        "        else: $scope = None",
        "    except ($KeyError, $ValueError): pass",  # a name that stands for nothing
        f"    if $scope is not None: return $rebound($grid, {bound}, {given})",
        "if $globals:",
        "    for $g in $globals:",
        "        if $g.mutable or $g.scope.get($g.at) is not $g.seen or $g.holder.value is not $g.held:",
        "            $check_globals($globals)",
        "if $type($grid) is not $tuple:",
        f"    $grid = $three($grid({_grid_arguments(params, options, given)}))",
        "$x, $y, $z = $grid",
        "if $hooks or $settings.launch_enter_hook or $settings.launch_exit_hook:",
        "    if (",
        "        $hooks or ($quick := $choice.quick) is None or not ($x and $y and $z)",
        "        or $settings.launch_enter_hook != $quick.enters or $settings.launch_exit_hook != $quick.leaves",
        "        or ($begun := $quick.begin($kernel, $device, $s := $stream($device))) is None",
        f"        and ($begun := $quick.begin_described($kernel, $device, $s, $grid, {bound})) is None",
        "    ):",
        f"        return $with_hooks($entry, $grid, {bound}, {given}, ({values}))",
        f"    try: $launch($x, $y, $z, $s, {values})",
        "    except:",
        "        $quick.failed($begun)",
        "        raise",
        "    $quick.end($begun)",
        "    return $kernel",
        "if $x and $y and $z:",
        f"    $launch($x, $y, $z, $stream($device), {values})",
        "return $kernel",
    ]


_BUILTINS: Mapping[str, Any] = {
    "type": type,
    "int": int,
    "id": id,
    "keyed": keyed,
    "with_options": with_options,
    "tuple": tuple,
    "ValueError": ValueError,
    "KeyError": KeyError,
    "TypeError": TypeError,
    "missing": MISSING,
    "unfit": UNFIT,
}


def _executed(text: str, kernel: str, scope: dict[str, Any]) -> FunctionType:
    """The function of this text in ``scope``."""
    exec(compile(text, f"<launch of {kernel}>", "exec"), scope)
    return scope["dynamic_func"]
