"""What a kernel is compiled for, and how: targets and options."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import ClassVar, TypeAlias, cast


@dataclass(frozen=True, slots=True)
class Target:
    """What a kernel is compiled for; prints as ``backend:arch`` (``cuda:90``, ``hip:gfx942``, ``cpu``).

    >>> from tritonx.backends.api import Target
    >>> str(Target("cuda", 90, 32)), str(Target("cpu"))
    ('cuda:90', 'cpu')
    """

    backend: str
    arch: int | str = ""
    warp_size: int = 1

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}" if self.arch != "" else self.backend


Named: TypeAlias = str | os.PathLike[str]
"""A file's path."""

STANDARD_LIBRARIES = frozenset({"libdevice", "ocml", "ockl"})
"""Names in ``extern_libs`` of the vendors' own libraries."""


class Language(Enum):
    """The language of a kernel's source: the tile language, or Gluon, which says its layouts itself.

    >>> Language.TRITON.name
    'TRITON'
    """

    TRITON = 0
    GLUON = 1


@dataclass(frozen=True)
class Options:
    """Compile options that every backend understands; a backend derives from it and adds its own, a GPU's from
    `tritonx.backends.gpu.GpuOptions`.

    The fields are the keywords that a launch, a ``Config`` and ``tritonx.compile`` accept. Values must be hashable: the
    options are part of the in-memory key, and their ``repr`` of the key on disk.

    ``num_warps``, ``num_stages`` and ``num_ctas`` come with every ``Config``: a backend to which one means nothing
    leaves it alone, one that cannot do what it asks for refuses it in ``parse_options``. What kernels may be written
    with, the backend declares by its defaults: the 8-bit floats of the language that it has
    (``supported_fp8_dtypes``), and the ways in which it multiplies f32 numbers (``allowed_dot_input_precisions``).

    ``check_bounds`` checks every access against the memory of the arguments; a launch with ``debug`` sets it, where it
    is not given. `tritonx.compile` does not: what launches its kernels need not pass the table of that memory.

    ``instrumentation_mode`` has kernels record when their regions begin and end (`tritonx.profiler.language`): the text
    of a mode of `tritonx.profiler.mode`. A session that measures regions sets it. Empty: nothing is recorded.

    ``extern_libs`` are files of LLVM bitcode or text by name (a mapping, kept as pairs), which GPU kernels are linked
    with that call a function of none of tritonx's own libraries. Under a name of a vendor's library (``libdevice``,
    ``ocml``, ``ockl``) a file replaces the installed one.

    >>> Options(num_warps=8).replace(num_stages=1).num_stages
    1
    """

    num_warps: int = 4
    num_stages: int = 3
    num_ctas: int = 1
    debug: bool = False
    sanitize_overflow: bool = True
    check_bounds: bool = False
    enable_fp_fusion: bool = True
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee",)
    max_num_imprecise_acc_default: int = 0
    supported_fp8_dtypes: tuple[str, ...] = ()
    extern_libs: tuple[tuple[str, str], ...] = ()
    ir_override: str | None = None
    instrumentation_mode: str = ""

    PORTABLE: ClassVar[frozenset[str]] = frozenset()
    """Of the options that a backend adds, those that kernels pass wherever they run, since they say how and not what to
    compute: a launch on a backend that has no such option leaves it out. Any other is an error there."""

    def __post_init__(self) -> None:
        # None is what Triton's options hold without a library.
        given = self.extern_libs or ()
        try:
            pairs = cast("Iterable[tuple[str, Named]]", getattr(given, "items", lambda: given)())
            named = tuple((name, os.fspath(path)) for name, path in pairs)
        except (TypeError, ValueError):
            raise ValueError(f"extern_libs is a mapping from names to paths, or their pairs; got {given!r}") from None
        object.__setattr__(self, "extern_libs", named)

    @property
    def is_cooperative(self) -> bool:
        """Whether all programs of a launch run at once, as Triton's hooks are told."""
        return False

    @property
    def names_files(self) -> bool:
        """Whether the code says in which files its source is, as lines of the source do, so that a copy of the
        source in another file is another compile. Kernels with a ``device_assert`` that is checked are known anyway."""
        return self.check_bounds

    @property
    def user_libraries(self) -> tuple[tuple[str, str], ...]:
        """Those of ``extern_libs`` that backends do not find by themselves: (name, path)."""
        return tuple((name, path) for name, path in self.extern_libs if name not in STANDARD_LIBRARIES)

    def given_library(self, name: str) -> str | None:
        """The file that stands for a vendor's library of that name; None where the installed one does."""
        return dict(self.extern_libs).get(name)

    def min_dot_size(self, lhs_bits: int, rhs_bits: int) -> tuple[int, int, int]:
        """The least M, N and K of ``tl.dot`` for operands of these widths."""
        return (1, 1, 1)

    def hash(self) -> str:
        """A digest of the options, for the keys of libraries."""
        return hashlib.sha256(repr(self).encode()).hexdigest()

    def replace(self, **changes: object) -> Options:
        return dataclasses.replace(self, **changes)


@cache
def option_names(kind: type[Options]) -> frozenset[str]:
    """The keywords of a backend's options."""
    return frozenset(field.name for field in dataclasses.fields(kind))
