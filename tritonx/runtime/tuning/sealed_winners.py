"""Which configuration a sealed program launches a tuned kernel with, where its package says: nothing is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from tritonx.kernel.source import JITCallable
from tritonx.runtime.compiling.sealed import Winner, Winners, folders, read_manifest
from tritonx.runtime.config import Config
from tritonx.runtime.errors import NotSealed


def of_sealed_package(
    kernel: JITCallable,
    configs: Sequence[Config],
    values: Mapping[str, object],
    dtypes: Sequence[object],
    target: Callable[[], str],
) -> Config | None:
    """The configuration of ``configs`` that a sealed folder has for a launch; None where it says nothing of this
    kernel, or of one with another source. ``values`` are those of the tuner's key, ``dtypes`` those of all arrays,
    ``target`` says where it would run, and is asked where a winner is for one target. Raises NotSealed where the folder
    has winners for other launches alone, and no fallback."""
    name = kernel.__name__
    known = ((where, winners_of(where).get(f"{name} {kernel.cache_key}")) for where in folders())
    where, winners = next((each for each in known if each[1] is not None), ("", None))
    if winners is None:
        return None
    asked = {name: repr(value) for name, value in values.items()}
    names = [dtype_text(dtype) for dtype in dtypes]
    found = next((each for each in winners["chosen"] if _is_for(each, asked, names, target)), None)
    text = winners["fallback"] if found is None else found["config"]
    if text is None:
        raise NotSealed(f"{name} has no winner in {where} for {_shown(asked, names, target())}: {_known(winners)}")
    config = next((config for config in configs if config.meaning() == text), None)
    if config is None:
        raise NotSealed(f"{name} was sealed in {where} with configurations that its tuner no longer has: seal again")
    return config


def dtype_text(dtype: object) -> str:
    """A dtype's name, of whatever library.

    >>> dtype_text("torch.float32"), dtype_text(np.dtype("float32"))
    ('float32', 'float32')
    """
    return str(dtype).rpartition(".")[2]


def _is_for(winner: Winner, values: Mapping[str, str], dtypes: Sequence[str], target: Callable[[], str]) -> bool:
    if winner["values"] != values or winner["dtypes"] not in (None, dtypes):
        return False
    return winner["target"] is None or winner["target"] == target()


def _shown(values: Mapping[str, str], dtypes: Sequence[str] | None, target: str | None) -> str:
    words = [f"{name} = {value}" for name, value in values.items()]
    words += [f"arrays of {', '.join(dtypes)}"] if dtypes else []
    return ", ".join([*words, *([f"on {target}"] if target else [])]) or "any key"


def _known(winners: Winners) -> str:
    shown = dict.fromkeys(_shown(each["values"], each["dtypes"], each["target"]) for each in winners["chosen"])
    return f"winners are for {'; '.join(shown) or 'nothing'}. Add one to the package, or a fallback"


@lru_cache(maxsize=8)
def winners_of(path: str) -> Mapping[str, Winners]:
    """Those that a sealed folder has, by the name and the digest of the kernel."""
    manifest = read_manifest(path)
    return {} if isinstance(manifest, str) else manifest["winners"]
