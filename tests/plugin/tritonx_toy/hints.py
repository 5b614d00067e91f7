"""What is known of configurations before any is measured: what the tuner asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tritonx.backends.api import Candidate, Options
from tritonx_toy import MOST_COPIES


def same_code(options: Options) -> Options:
    """One core runs a program: warps, stages and blocks of a cluster change nothing."""
    return options.replace(num_warps=1, num_stages=1, num_ctas=1)


def neighbours(candidate: Candidate) -> list[Mapping[str, object]]:
    """Half as many copies under way, and twice as many."""
    copies = _copies(candidate)
    return [{"copies": other} for other in (copies // 2, min(2 * copies, MOST_COPIES)) if other not in (0, copies)]


def not_worth_it(candidates: Sequence[Candidate]) -> dict[int, str]:
    """Those without copies, where the same is tried with some: to wait for each load is never faster."""
    with_copies = [_besides(c) for c in candidates if _copies(c)]
    without = [n for n, c in enumerate(candidates) if not _copies(c)]
    return {n: "every load is waited for" for n in without if _besides(candidates[n]) in with_copies}


def _copies(candidate: Candidate) -> int:
    return int(getattr(candidate.options, "copies", 0))


def _besides(candidate: Candidate) -> tuple[object, ...]:
    """What it compiles, but for the copies."""
    return candidate.types, candidate.constants, candidate.grid, candidate.options.replace(copies=0)
