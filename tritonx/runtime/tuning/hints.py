"""What the backend says of configurations before any is compiled: which are the same code, which cannot run, which are
not worth measuring, and which others to try.

All of it is advice. A configuration that the backend would leave out is tried where nothing else runs, and one whose
launch cannot be told beforehand (its arguments do not fit, a heuristic fails) is measured, which then says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from tritonx.backends.api import Backend, Candidate, Target
from tritonx.runtime.config import Config
from tritonx.runtime.errors import BackendContractError, Foreseen
from tritonx.runtime.tuning.dry_run import DryRun
from tritonx.runtime.tuning.race import FAILED
from tritonx.runtime.tuning.report import IMPOSSIBLE, LEFT_OUT, MERGED, Tried, short

DryRuns = Callable[[Config], tuple[DryRun, ...]]


@dataclass(frozen=True)
class Plan:
    """``measured`` of the configurations are; ``merged`` are the same code as another one; ``foreseen`` lack something,
    and ``left_out`` are not worth it, for a reason."""

    configs: tuple[Config, ...]
    measured: tuple[Config, ...]
    merged: Mapping[Config, Config]
    foreseen: Mapping[Config, str]
    left_out: Mapping[Config, str]

    def tried(self, measure: Callable[[Sequence[Config]], Iterable[Tried]]) -> tuple[Tried, ...]:
        """What became of each, in their order. Where nothing runs of what is to be measured, what is left is."""
        found: dict[Config, Tried] = {}
        for some in (self.measured, tuple(self.left_out), tuple(self.foreseen)):
            if some and not any(math.isfinite(each.median) for each in found.values()):
                found |= {each.config: each for each in measure(some)}
        return tuple(self._one(config, found) for config in self.configs)

    def _one(self, config: Config, found: Mapping[Config, Tried]) -> Tried:
        if config in found:
            return found[config]
        if config in self.merged:
            first = self.merged[config]
            reason = f"the same code as {short(first)}"
            return Tried(config, self._one(first, found).times, 0, MERGED, reason, first)
        if config in self.left_out:
            return Tried(config, FAILED, 0, LEFT_OUT, self.left_out[config])
        return Tried(config, FAILED, 0, IMPOSSIBLE, f"predicted: {self.foreseen[config]}")


def planned(name: str, dry_run: DryRuns, configs: Sequence[Config]) -> Plan:
    """What to measure of ``configs`` of the kernel ``name``."""
    told = {config: dry_runs for config in dict.fromkeys(configs) if (dry_runs := _dry_runs(dry_run, config))}
    merged = _merged(told)
    single = {config: dry_runs[0] for config, dry_runs in told.items() if len(dry_runs) == 1 and config not in merged}
    candidates = {config: dry_runs.candidate(name, config.all_kwargs()) for config, dry_runs in single.items()}
    foreseen = {config: text for config, each in candidates.items() if (text := _lacking(single[config], each))}
    left_out: dict[Config, str] = {}
    for group in _by_place({config: single[config] for config in candidates if config not in foreseen}).values():
        left_out |= _pruned(group[0][1], [(config, candidates[config]) for config, _ in group])
    measured = tuple(c for c in dict.fromkeys(configs) if not (c in merged or c in foreseen or c in left_out))
    return Plan(tuple(configs), measured, merged, foreseen, left_out)


def proposed(name: str, dry_run: DryRuns, configs: Sequence[Config]) -> list[Config]:
    """What the backend would try beside ``configs``, each once. Raises ``BackendContractError`` for keywords that a
    configuration cannot give."""
    found: dict[Config, None] = {}
    for config in configs:
        dry_runs = _dry_runs(dry_run, config)
        if len(dry_runs) == 1:
            backend, target = dry_runs[0].backend, dry_runs[0].target
            candidate = dry_runs[0].candidate(name, config.all_kwargs())
            for changes in backend.propose(target, candidate):
                _check(backend, candidate, changes)
                found[config.varied(changes)] = None
    return [config for config in found if config not in configs and _dry_runs(dry_run, config)]


def _dry_runs(dry_run: DryRuns, config: Config) -> tuple[DryRun, ...]:
    try:
        return dry_run(config)
    except Exception:  # measuring it will say
        return ()


def _merged(told: Mapping[Config, tuple[DryRun, ...]]) -> dict[Config, Config]:
    """Each configuration that is the same code as one before it, with that one."""
    first: dict[Hashable, Config] = {}
    merged: dict[Config, Config] = {}
    for config, dry_runs in told.items():
        code = (config.pre_hook, config.ir_override, *(each.code() for each in dry_runs))
        try:
            before = first.setdefault(code, config)
        except TypeError:  # a value that cannot be hashed, which a launch refuses
            continue
        if before is not config:
            merged[config] = before
    return merged


def _lacking(dry_runs: DryRun, candidate: Candidate) -> str:
    """What the kernel would lack; "" where nothing is known."""
    short_of = dry_runs.backend.predict(dry_runs.target, candidate)
    return "" if short_of is None else str(Foreseen(short_of.required, short_of.limit, short_of.name))


def _by_place(dry_runs: Mapping[Config, DryRun]) -> dict[tuple[str, Target], list[tuple[Config, DryRun]]]:
    found: dict[tuple[str, Target], list[tuple[Config, DryRun]]] = {}
    for config, each in dry_runs.items():
        found.setdefault((each.backend.name, each.target), []).append((config, each))
    return found


def _pruned(dry_runs: DryRun, candidates: Sequence[tuple[Config, Candidate]]) -> dict[Config, str]:
    backend = dry_runs.backend
    reasons = backend.prune(dry_runs.target, [candidate for _, candidate in candidates])
    beyond = [number for number in reasons if number not in range(len(candidates))]
    if beyond:
        raise BackendContractError(
            f"backend {backend.name!r} leaves out number {beyond[0]} of {len(candidates)} configurations"
        )
    return {candidates[number][0]: reason for number, reason in reasons.items()}


def _check(backend: Backend, candidate: Candidate, changes: Mapping[str, object]) -> None:
    known = {*candidate.given, *(field.name for field in fields(candidate.options))} - (
        candidate.types.keys() - candidate.given.keys()
    )
    for name in changes:
        if name not in known:
            raise BackendContractError(
                f"backend {backend.name!r} proposes a value of {name!r} for {candidate.kernel}, "
                f"which its configurations do not give"
            )
