"""A kernel's metadata: what is known of it beside its code, as a user and launch hooks read them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any

from tritonx.backends.api import Options, Target


def make_metadata(fields: Mapping[str, object]) -> Any:
    """The fields as a named tuple, in the order of their names."""
    names = sorted(name for name in fields if name.isidentifier())
    kind = namedtuple("KernelMetadata", names)  # pyright: ignore[reportUntypedNamedTuple]  # its fields are known now only
    return kind(**{name: fields[name] for name in names})


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
