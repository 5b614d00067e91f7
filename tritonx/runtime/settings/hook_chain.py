"""Hooks of which there may be many."""

from __future__ import annotations

from collections.abc import Callable


class HookChain(list[Callable[..., object]]):
    """Callables that run in order (in reverse for exits); a list, so that a launch finds it empty at no cost.

    >>> chain = tritonx.knobs.HookChain(reversed=True)
    >>> chain.add(lambda word: print("added first,", word))
    >>> chain.add(lambda word: print("added last,", word))
    >>> chain("called")
    added last, called
    added first, called
    """

    def __init__(self, reversed: bool = False) -> None:  # Triton's name
        super().__init__()
        self.reversed = reversed

    @property
    def calls(self) -> list[Callable[..., object]]:
        return self

    def add(self, func: Callable[..., object]) -> None:
        if func not in self:
            self.append(func)

    def remove(self, func: Callable[..., object]) -> None:
        if func in self:
            super().remove(func)

    def __call__(self, *args: object, **kwargs: object) -> None:
        if len(self) == 1:
            self[0](*args, **kwargs)
            return
        for call in self[::-1] if self.reversed else list(self):
            call(*args, **kwargs)
