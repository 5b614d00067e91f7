"""Code that another compile has made of the same text.

What the compiler is told of arguments makes compiles of their own, and many of them end in the same LLVM text: 200
variants of five kernels of sglang's in 79. The stages behind that text are three fifths of a compile, and read nothing
of the kernel but it. So the cache has a second way to an entry: a digest of the text and of whatever else those stages
read leads to the entry that has what they make, and to what they add to the metadata. The text of that entry is
compared; where it is gone or another, the stages run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from tritonx.backends.api import Backend, Compilation, EmitStage, Stage
from tritonx.runtime.cache import get_cache_manager
from tritonx.runtime.compiling.asm_dict import StoredFile
from tritonx.runtime.compiling.compile_job import Made
from tritonx.runtime.compiling.keys import compile_key


def stages_behind_text(stages: Sequence[Stage]) -> tuple[EmitStage, ...]:
    """The stages behind the first one that makes text. None where one of them is asked to print what it makes, since
    it would not, or where passes follow."""
    makes_text = (at for at, stage in enumerate(stages) if isinstance(stage, EmitStage) and stage.kind == "text")
    rest = stages[next(makes_text, len(stages)) + 1 :]
    silent = tuple(stage for stage in rest if isinstance(stage, EmitStage) and not stage.tells())
    return silent if len(silent) == len(rest) else ()


@dataclass(frozen=True)
class SameCode:
    """What the stages behind ``text`` make, in the cache under ``key``. ``name`` is that of an entry's files, ``stage``
    made the text, and ``metadata`` is what the stages up to it have said."""

    key: str
    name: str
    stage: str
    text: str
    metadata: dict[str, object]
    behind: tuple[EmitStage, ...]

    def find(self, made: Made) -> bool:
        """Whether the cache has it; then it is put to ``made``."""
        listed = get_cache_manager(self.key).get_group(self._group)
        if listed is None or self._group not in listed:
            return False
        try:
            with open(listed[self._group], "rb") as file:
                said = json.load(file)
            files = get_cache_manager(said["entry"]).get_group(f"{self.name}.json") or {}
            if StoredFile(files[f"{self.name}.{self.stage}"], binary=False).read() != self.text:
                return False
            binary = [stage.name for stage in self.behind if stage.kind == "binary"]
            stored = {stage.name: files[f"{self.name}.{stage.name}"] for stage in self.behind}
            found = {stage: StoredFile(path, stage in binary).read() for stage, path in stored.items()}
            metadata = dict(said["metadata"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            # an entry that is gone, or a foreign file
            return False
        made.asm.update(found)
        made.binary += binary
        made.metadata.update(metadata)
        made.seconds.update(dict.fromkeys(found, 0.0))
        return True

    def keep(self, made: Made, entry: str) -> None:
        """Have others find what ``made`` holds in the cache's ``entry``."""
        added = {k: v for k, v in made.metadata.items() if k not in self.metadata or self.metadata[k] != v}
        manager = get_cache_manager(self.key)
        path = manager.put(json.dumps({"entry": entry, "metadata": added}), self._group, binary=False)
        manager.put_group(self._group, {self._group: path})

    @property
    def _group(self) -> str:
        return f"{self.name}.code.json"


def same_code(
    name: str, stage: Stage, text: object, compilation: Compilation, backend: Backend, behind: tuple[EmitStage, ...]
) -> SameCode | None:
    """Where the cache has what ``behind`` makes of what ``stage`` made; None where they read what no digest holds: a
    user's text in place of ours, or something that an earlier stage keeps for them."""
    if compilation.origin is None or compilation.scratch or not isinstance(text, str):
        return None
    from tritonx.runtime.isolation.translate import isolated

    metadata = dict(compilation.metadata)
    try:
        said = json.dumps([stage.name, isolated(compilation.origin), metadata, text], sort_keys=True)
    except TypeError:
        return None
    digest = hashlib.sha256(said.encode()).hexdigest()
    key = compile_key(digest, backend, compilation.target, compilation.options)
    return SameCode(key, name, stage.name, text, metadata, behind)
