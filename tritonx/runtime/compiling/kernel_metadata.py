"""A kernel's metadata: what is known of it beside its code, as a user and launch hooks read them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tritonx.backends.api import Options, Target


def make_metadata(fields: Mapping[str, object]) -> Any:
    """The fields as a named tuple, in the order of their names."""
    names = tuple(sorted([name for name in fields if name.isidentifier()]))
    return _class_of(names)(*[fields[name] for name in names])


@lru_cache(maxsize=64)
def _class_of(names: tuple[str, ...]) -> Callable[..., object]:
    """Making one takes 0.3 ms."""
    return namedtuple("KernelMetadata", names)  # pyright: ignore[reportUntypedNamedTuple]  # its fields are known now only


def common_fields(options: Options, target: Target) -> dict[str, Any]:
    """What the metadata of every kernel hold: its options, its target, and the memory that it takes where no stage says
    otherwise."""
    return {
        **vars(options),
        "shared": 0,
        "tmem_size": 0,
        "global_scratch_size": 0,
        "global_scratch_align": 1,
        "profile_scratch_size": 0,
        "profile_scratch_align": 1,
        "warp_size": target.warp_size,
        "arch": str(target.arch),
        "backend_name": target.backend,
        "tensordesc_meta": (),
    }
