"""Workers with a copy of the tree each: whichever mutant has had the least of its tests is next."""

from __future__ import annotations

import heapq
import itertools
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from reach import Reach  # pyright: ignore[reportImplicitRelativeImport]
from trial import UNDECIDED, Trial  # pyright: ignore[reportImplicitRelativeImport]


class Queue:
    """Trials without a verdict, those with the fewest seconds of tests first."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        self._count, self._running = itertools.count(), 0
        self._heap = [(t.spent, next(self._count), t) for t in trials]
        self._changed = threading.Condition()

    def take(self) -> Trial | None:
        """The next; None when all are done."""
        with self._changed:
            while not self._heap and self._running:
                self._changed.wait()
            if not self._heap:
                return None
            self._running += 1
            return heapq.heappop(self._heap)[2]

    def give(self, trial: Trial) -> None:
        with self._changed:
            self._running -= 1
            if not trial.verdict:
                heapq.heappush(self._heap, (trial.spent, next(self._count), trial))
            self._changed.notify_all()


def run_all(
    scratch: Path, reach: Reach, trials: Sequence[Trial], workers: int, most: float, within: float,
    done: Callable[[Trial], None],
) -> None:  # fmt: skip
    """Bring every trial to a verdict, and call ``done`` with it, within as many seconds; ``scratch`` stays as it is."""
    queue, until, told = Queue(trials), time.monotonic() + within, threading.Lock()

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="mutation", ignore_cleanup_errors=True) as folder:
            own = shutil.copytree(scratch, folder, dirs_exist_ok=True)
            while (trial := queue.take()) is not None:
                try:
                    if time.monotonic() < until:
                        trial.step(Path(own), reach, most, until)
                    else:
                        trial.verdict = UNDECIDED
                    if trial.verdict:
                        with told:
                            done(trial)
                finally:
                    queue.give(trial)

    threads = [threading.Thread(target=work) for _ in range(min(workers, len(trials)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
