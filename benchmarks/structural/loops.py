"""The natural loops of a function's machine code.

A back edge goes from a block to one that dominates it. The loop of a block is all that reaches its back edges without
passing the block. Waits are loops too, of an instruction or two: a loop in which nothing is computed, loaded or stored
does not count."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .listing import Function


def natural_loops(function: Function) -> list[frozenset[int]]:
    """Of each loop the positions of its instructions; loops of one header are one."""
    starts = _block_starts(function)
    blocks = {start: range(start, end) for start, end in zip(starts, [*starts[1:], len(function.code)], strict=True)}
    following = {start: _successors(function, block) for start, block in blocks.items()}
    order = _reverse_postorder(following)
    dominators = _dominators(order, following)
    preceding: dict[int, set[int]] = {start: set() for start in order}
    for start in order:
        for after in following[start]:
            preceding[after].add(start)
    found: dict[int, set[int]] = {}
    for start in order:
        for header in following[start]:
            if header in dominators[start]:
                found.setdefault(header, {header}).update(_body(header, start, preceding))
    return [frozenset(i for start in body for i in blocks[start]) for body in found.values()]


def innermost(loops: Iterable[frozenset[int]], working: Callable[[int], bool]) -> list[frozenset[int]]:
    """The loops with work in them that contain no other such loop."""
    busy = [loop for loop in loops if any(working(i) for i in loop)]
    return [loop for loop in busy if not any(other < loop for other in busy)]


def _block_starts(function: Function) -> list[int]:
    last = len(function.code)
    after = {i + 1 for i, each in enumerate(function.code) if each.target or not each.falls}
    return sorted({0, *after, *function.labels.values()} - {last})


def _successors(function: Function, block: range) -> list[int]:
    last = function.code[block[-1]]
    jump = function.labels.get(last.target) if last.target else None
    found = [block[-1] + 1] if last.falls else []
    return [i for i in ([*found, jump] if jump is not None else found) if i < len(function.code)]


def _reverse_postorder(following: dict[int, list[int]]) -> list[int]:
    """Of the blocks that the first one reaches."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(following[0]))]
    while stack:
        block, rest = stack[-1]
        for after in rest:
            if after not in seen:
                seen.add(after)
                stack.append((after, iter(following[after])))
                break
        else:
            order.append(block)
            stack.pop()
    return order[::-1]


def _dominators(order: list[int], following: dict[int, list[int]]) -> dict[int, set[int]]:
    every = set(order)
    found = dict.fromkeys(order, every)
    found[order[0]] = {order[0]}
    preceding: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for after in following[block]:
            preceding[after].append(block)
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            now = {block}.union(set.intersection(*(found[p] for p in preceding[block])))
            changed |= now != found[block]
            found[block] = now
    return found


def _body(header: int, end: int, preceding: dict[int, set[int]]) -> set[int]:
    """What reaches ``end`` without passing ``header``."""
    found, rest = {header, end}, [end]
    while rest:
        block = rest.pop()
        if block == header:
            continue
        rest += preceding[block] - found
        found |= preceding[block]
    return found
