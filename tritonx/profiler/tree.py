"""Profiles as trees: scopes, with the launches inside of them as leaves, in the JSON that Hatchet reads.

    [{"frame": {"name": "ROOT", "type": "function"}, "metrics": {…}, "children": […]}, {devices}]

The root's metrics are zeros and say which metrics add up over the tree. A metric whose name ends in ``(exc)`` does not,
and is written without that, nor does one that ends in ``(pty)``, of which the last value counts. ``count`` and
``time (ns)`` are of launches, and say on which device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tritonx.profiler.metric import EXCLUSIVE, PROPERTY, Value, add, written_name
from tritonx.profiler.regions import Clock, matched

if TYPE_CHECKING:
    from tritonx.profiler.quick import Ready
    from tritonx.runtime.launch.measured_launch import Records

Device = tuple[str, str]
"""Type and number."""


class Node:
    """A scope or, where it has a device, the launches of one kernel on it."""

    __slots__ = ("children", "count", "device", "metrics", "name", "parent", "ready", "ready_for", "time", "tree")

    def __init__(self, tree: Tree, name: str, device: Device | None = None, parent: Node | None = None) -> None:
        self.tree = tree
        self.parent = parent
        self.name = name
        self.device = device
        self.children: dict[tuple[str, Device | None], Node] = {}
        self.metrics: dict[str, Value] = {}
        self.count = self.time = 0
        self.ready: dict[object, Ready | None] = {}
        """What `tritonx.profiler.quick` knows of kernels that are launched here."""
        self.ready_for: object = None

    def child(self, name: str, device: Device | None = None) -> Node:
        found = self.children.get((name, device))
        if found is None:
            found = self.children.setdefault((name, device), Node(self.tree, name, device, self))
        return found

    @property
    def path(self) -> tuple[str, ...]:
        """The names from below the root to this one."""
        return () if self.parent is None else (*self.parent.path, self.name)

    def finish(self, start: int, stop: int) -> None:
        """A launch is over that took from ``start`` to ``stop``."""
        self.count += 1
        self.time += stop - start
        self.tree.pending -= 1

    def leave(self, now: int) -> None:
        """Of a scope."""

    def abandon(self) -> None:
        """A launch has failed, or its time was not measured."""
        self.tree.pending -= 1

    def add(self, metrics: Mapping[str, Value]) -> None:
        """Raises MetricMismatch."""
        add(self.metrics, metrics)

    def add_regions(self, records: Records, kernel: str, clock: Clock) -> None:
        """Of the launches of a kernel: their regions are children of it."""
        unit = "nanoseconds" if records.nanoseconds else "cycles"
        for each in matched(records, kernel):
            node = self
            for name in each.path:
                node = node.child(name)
            ticks = int((each.stops - each.starts).sum())
            node.add(
                {
                    unit + EXCLUSIVE: ticks,
                    f"normalized_{unit}{EXCLUSIVE}": ticks / records.units,
                    f"entries{EXCLUSIVE}": len(each.units),
                }
            )

    def all(self) -> Iterator[Node]:
        yield self
        for child in list(self.children.values()):
            yield from child.all()

    def measured(self) -> dict[str, Any]:
        """The metrics as they are written."""
        found: dict[str, Any] = {written_name(n): v for n, v in self.metrics.items()}
        if self.device is not None and self.count:
            kind, number = self.device
            found.update({"count": self.count, "device_id": number, "device_type": kind, "time (ns)": self.time})
        return found

    def literal(self, zeros: Mapping[str, int]) -> dict[str, Any]:
        children = [child.literal({}) for child in list(self.children.values())]
        return {
            "children": children,
            "frame": {"name": self.name, "type": "function"},
            "metrics": {**zeros, **self.measured()},
        }


class Tree:
    """The data of one phase. ``pending`` counts launches whose time is not known yet."""

    formats = ("hatchet", "hatchet_msgpack")

    def __init__(self) -> None:
        self.pending = 0
        self.root = Node(self, "ROOT")

    def scope(self, path: Iterable[str]) -> Node:
        node = self.root
        for name in path:
            node = node.child(name)
        return node

    def launch(self, scope: Node, name: str, device: Device, stream: int) -> Node:
        self.pending += 1
        return scope.child(name, device)

    def enter(self, scope: Node, now: int, number: int) -> Node:
        """A tree keeps no times of scopes."""
        return scope

    def literal(self, devices: Mapping[str, Mapping[str, Any]]) -> list[Any]:
        nodes = list(self.root.all())
        sums = {name for node in nodes for name in node.metrics if not name.endswith((EXCLUSIVE, PROPERTY))}
        numbers = {n for n in sums if not any(isinstance(node.metrics.get(n), list) for node in nodes)}
        zeros = dict.fromkeys(sorted(numbers), 0)
        if any(node.count for node in nodes):
            zeros.update({"count": 0, "time (ns)": 0})
        return [self.root.literal(zeros), {kind: dict(known) for kind, known in devices.items()}]
