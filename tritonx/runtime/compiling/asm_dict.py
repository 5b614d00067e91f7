"""The stages of a compiled kernel: texts and code that stay on disk until they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class StoredFile:
    """A stage that is still on disk. ``load`` reads it, where it is more than a file."""

    __slots__ = ("binary", "load", "path")

    def __init__(self, path: str, binary: bool, load: Callable[[], bytes] | None = None) -> None:
        self.path = path
        self.binary = binary
        self.load = load

    def read(self) -> str | bytes:
        content = self._content() if self.load is None else self.load()
        return content if self.binary else content.decode()

    def _content(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()


class AsmDict(dict[str, Any]):
    """stage name → text or bytes; a stage is read from disk, or disassembled, when asked for.

    >>> compiled = double.warmup(np.zeros(8, np.float32), BLOCK=8, grid=(1,))
    >>> "tt.func public @double" in compiled.asm["ttir"], type(compiled.asm["obj"])
    (True, <class 'bytes'>)
    """

    disassemble: Callable[[str], Any] | None = None
    libraries: tuple[str, ...] = ()
    """What is not a stage, and made where ``get`` asks for it as well."""
    renew: Callable[[], None] | None = None
    """Makes all stages again, for files that have gone or are no text."""

    def __missing__(self, key: str) -> Any:
        if self.disassemble is not None:
            value = self.disassemble(key)
            if value is not None:
                self[key] = value
                return value
        raise KeyError(key)

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, StoredFile):
            try:
                value = self[key] = value.read()
            except (OSError, UnicodeDecodeError):
                if self.renew is None:
                    raise
                self.renew()
                return self[key]
        return value

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self or key in self.libraries else default  # dict.get would not read the file

    def values(self) -> Iterable[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]  # computed when asked for, so no view of a dictionary
        return [self[key] for key in self]

    def items(self) -> Iterable[tuple[str, Any]]:  # pyright: ignore[reportIncompatibleMethodOverride]  # computed when asked for, so no view of a dictionary
        return [(key, self[key]) for key in self]

    def __reduce__(self) -> tuple[type[AsmDict], tuple[dict[str, object]]]:
        """The stages; another process disassembles nothing."""
        return AsmDict, (dict(self.items()),)
