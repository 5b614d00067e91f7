"""Under which key a search's result is kept. It is computed at every launch of an autotuned kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tritonx.kernel.identity import exact, plainly

_NONE = object()
_TEXTS_KEPT = 256
_PLAIN = frozenset({int, float, bool, str, tuple, type(None)})
"""Classes of arguments that have no dtype."""


class _Texts(dict[object, str]):
    """dtype → its text, which NumPy takes eight microseconds to write."""

    def __missing__(self, dtype: object) -> str:
        text = str(dtype)
        if len(self) < _TEXTS_KEPT:
            self[dtype] = text
        return text


_TEXTS = _Texts()


def _dtypes(values: Iterable[object]) -> list[str]:
    """The texts of the dtypes of those that have one."""
    dtypes = [getattr(value, "dtype", _NONE) for value in values if type(value) not in _PLAIN]
    return [str(dtype) for dtype in dtypes if dtype is not _NONE]


def tuning_key(
    keys: Iterable[str], arg_names: Sequence[str], args: Sequence[object], by_name: Mapping[str, object]
) -> tuple[object, ...]:
    """The values of the arguments that ``keys`` names, then the dtypes of all. ``args`` are those given by position.
    What is no argument of the kernel among those given ``by_name`` is left out.

    >>> tuning_key(["n"], ["x", "n"], (np.zeros(3, np.float16),), {"n": 3, "num_warps": 4})
    (3, 'float16')
    """
    found: list[object] = []
    count = len(args)
    for name in keys:
        if name in arg_names:
            at = arg_names.index(name)
            if at < count:
                found.append(value if type(value := args[at]) is int else exact(value))
            elif name in by_name:
                found.append(exact(by_name[name]))
    named = [value for name, value in by_name.items() if name in arg_names] if by_name else ()
    texts: list[str] = []
    try:
        for values in (args, named) if named else (args,):
            for value in values:
                if type(value) not in _PLAIN:
                    texts.append(_TEXTS[value.dtype])  # pyright: ignore  # most have one
    except (AttributeError, TypeError):  # one has none, or one that cannot be hashed
        texts = _dtypes([*args, *named])
    return (*found, *texts)


def named_key(
    key: tuple[object, ...],
    keys: Iterable[str],
    arg_names: Sequence[str],
    args: Sequence[object],
    by_name: Mapping[str, object],
) -> tuple[dict[str, object], tuple[object, ...]]:
    """The values of a `tuning_key` of these arguments by name, and the dtypes.

    >>> key = tuning_key(["n"], ["x", "n"], (np.zeros(3, np.float16), 3), {})
    >>> named_key(key, ["n"], ["x", "n"], (np.zeros(3, np.float16), 3), {})
    ({'n': 3}, ('float16',))
    """
    given = {*arg_names[: len(args)], *by_name}
    names = [name for name in keys if name in given and name in arg_names]
    return dict(zip(names, plainly(key), strict=False)), key[len(names) :]
