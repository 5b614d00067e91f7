"""``tl.target_info``: questions about the target, answered when the kernel is compiled.

Beside ``current_target()`` the names follow the installed backends: ``is_<backend>()``, ``is_<backend>_<family>()``
for the families that the backend names (a mapping ``families``: name → set of architectures), and
``<backend>_capability_geq(major, minor=0)`` for targets whose architecture is ten times a version number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tritonx.kernel import active
from tritonx.language.builtins.builtin import TRITON_BUILTIN
from tritonx.language.values.constexpr import constexpr, unwrap
from tritonx.language.values.constexpr_function import constexpr_function as constexpr_function
from tritonx.runtime.compiling.targets import in_family

if TYPE_CHECKING:
    from tritonx.frontend.semantics import Semantics


def _target(semantic: Any) -> Any:
    semantic = semantic or active.current_or_none()
    if semantic is not None:
        return semantic.target
    from tritonx.runtime.driver import driver

    return driver.active.get_current_target()


def _query(answer: Callable[..., Any], name: str, meaning: str, shown: str) -> Callable[..., Any]:
    def function(*args: Any, _semantic: Semantics | None = None) -> Any:
        result = answer(_target(_semantic), *[unwrap(a) for a in args])
        return result if _semantic is None else constexpr(result)

    return _named(function, name, meaning, shown)


def _named(function: Callable[..., Any], name: str, meaning: str, shown: str) -> Callable[..., Any]:
    """``function`` as a builtin of that name, which a kernel may assert ``shown`` of."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{meaning}; in a kernel a constexpr, outside of one about the target of the active driver.

    >>> @tritonx.jit
    ... def kernel(x):
    ...     tl.static_assert({shown})
    >>> compiled = kernel.warmup(np.zeros(1), grid=(1,))
    """
    setattr(function, TRITON_BUILTIN, True)
    return function


def _in_family(backend: str, family: str, target: Any) -> bool:
    return target.backend == backend and in_family(target, family)


def _family_query(backend: str, family: str, name: str) -> Callable[..., Any]:
    meaning = f"Whether the target is one of {backend}'s, of the family {family}"
    shown = f"tl.target_info.{name}() <= tl.target_info.is_{backend}()"
    return _query(partial(_in_family, backend, family), name, meaning, shown)


def _capability_query(backend: str, name: str) -> Callable[..., object]:
    def at_least(target: Any, major: int, minor: int) -> bool:
        return target.backend == backend and int(target.arch) >= 10 * major + minor

    meaning = f"Whether the target is one of {backend}'s, of capability ``major.minor`` or later"
    shown = f"tl.target_info.{name}(8) <= tl.target_info.is_{backend}()"
    query = _query(at_least, name, meaning, shown)

    def function(major: object, minor: object = 0, *, _semantic: Semantics | None = None) -> object:
        return query(major, minor, _semantic=_semantic)

    return _named(function, name, meaning, shown)


def _is_backend(backend: str, target: Any) -> bool:
    return target.backend == backend


def _backend_query(backend: str, name: str) -> Callable[..., Any]:
    meaning = f"Whether the target is one of {backend}'s"
    shown = f'tl.target_info.{name}() == (tl.target_info.current_target().backend == "{backend}")'
    return _query(partial(_is_backend, backend), name, meaning, shown)


def _itself(target: object) -> object:
    return target


current_target = _query(
    _itself,
    "current_target",
    "The target, which has a ``backend``, an ``arch`` and a ``warp_size``",
    "tl.target_info.current_target().warp_size >= 1",
)


def __getattr__(name: str) -> Any:
    if name == "driver":
        from tritonx.runtime.driver import driver

        return driver
    if name.endswith("_capability_geq"):
        backend = name.removesuffix("_capability_geq")
        return _capability_query(backend, name)
    if name.startswith("is_"):
        backend, _, family = name.removeprefix("is_").partition("_")
        return _family_query(backend, family, name) if family else _backend_query(backend, name)
    raise AttributeError(f"module 'tritonx.language.target_info' has no attribute {name!r}")
