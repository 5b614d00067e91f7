"""Following what things are made of without Python's stack: a kernel's data flow is as deep as the kernel is long."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def sources_first(roots: Iterable[Node], sources: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """All that is reached from the roots, each once and behind its sources, in the order of a recursion that visits a
    node's sources, one after another, and then the node. Of a cycle the node that is reached first comes last."""
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(sources(root)))]
        while path:
            node, rest = path[-1]
            for source in rest:
                if source not in seen:
                    seen.add(source)
                    path.append((source, iter(sources(source))))
                    break
            else:
                path.pop()
                yield node
