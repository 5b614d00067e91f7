"""How a backend puts its own passes into a shared list: in front of, behind or instead of a pass that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Insert:
    """A pass of a backend's own and where it runs: in front of a pass, `after` one or `instead` of one.

    That one is named by its name or its class. Where none is named, it runs at the end of its stage.

    Of several passes of that name the first of the shared list is meant. Inserts at the same place keep their order.

    >>> from tritonx.backends.gpu import CommonSubexpressionElimination, DeadCodeElimination, Fold, inserted
    >>> [one.name for one in inserted((DeadCodeElimination(),), [Insert(Fold(), before=DeadCodeElimination)])]
    ['fold', 'dce']
    >>> cse, fold = Insert(CommonSubexpressionElimination(), after="dce"), Insert(Fold(), after="dce")
    >>> [one.name for one in inserted((DeadCodeElimination(),), [cse, fold])]
    ['dce', 'cse', 'fold']
    """

    one: ModulePass
    before: str | type[ModulePass] | None = None
    after: str | type[ModulePass] | None = None
    instead: str | type[ModulePass] | None = None

    def __post_init__(self) -> None:
        if sum(anchor is not None for anchor in (self.before, self.after, self.instead)) > 1:
            raise ValueError(f"{self.one.name}: name one place, before, after or instead of a pass")

    @property
    def anchor(self) -> str | None:
        """The name of the pass that says where; None at the end."""
        named = self.before or self.after or self.instead
        return named if named is None or isinstance(named, str) else named.name

    def misplaced(self) -> ValueError:
        """That no pass has the name."""
        how = "in front of" if self.before else "behind" if self.after else "instead of"
        named = self.before or self.after or self.instead
        text = named if isinstance(named, str) else getattr(named, "__name__", "")
        return ValueError(f"{self.one.name}: no {text} to run {how}")


def inserted(passes: Sequence[ModulePass], new: Sequence[Insert]) -> tuple[ModulePass, ...]:
    """``passes`` with those of ``new``, which may name each other. Raises ``ValueError`` where there is no pass of the
    name.

    >>> from tritonx.backends.gpu import DeadCodeElimination, Fold, Insert
    >>> [one.name for one in inserted((DeadCodeElimination(),), [Insert(Fold())])]
    ['dce', 'fold']
    """
    made = [_Entry(one) for one in passes]
    for insert in new:
        anchor = insert.anchor
        if anchor is None:
            made.append(_Entry(insert.one, insert))
            continue
        named = [at for at, entry in enumerate(made) if entry.one.name == anchor]
        if not named:
            raise insert.misplaced()
        at = next((at for at in named if made[at].by is None), named[0])
        if insert.instead is not None:
            made[at] = _Entry(insert.one)
            continue
        if insert.after is not None:
            at += 1
            while at < len(made) and (by := made[at].by) is not None and by.after is not None and by.anchor == anchor:
                at += 1
        made.insert(at, _Entry(insert.one, insert))
    return tuple(entry.one for entry in made)


@dataclass(frozen=True)
class _Entry:
    """A pass of the list that is made, and what it was inserted by; None of the shared list."""

    one: ModulePass
    by: Insert | None = None


def by_list(lists: Sequence[Sequence[ModulePass]], new: Sequence[Insert]) -> list[list[Insert]]:
    """Of several lists that run one behind the other, the inserts of each: those whose place it has, or an insert of
    it; the last list's are the others."""
    names = [{one.name for one in passes} for passes in lists]
    found: list[list[Insert]] = [[] for _ in lists]
    for insert in new:
        at = next((at for at, here in enumerate(names) if insert.anchor in here), len(lists) - 1)
        found[at].append(insert)
        names[at].add(insert.one.name)
    return found
