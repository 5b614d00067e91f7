"""What the kernels of the comparison with the Triton wheel are given to compile with."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """One kernel and one way to compile it; `targets` are prefixes of the targets it is for (all, if empty)."""

    name: str
    fn: Any
    signature: dict[str, str]
    constants: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()

    def runs_on(self, target: str) -> bool:
        return not self.targets or target.startswith(self.targets)
