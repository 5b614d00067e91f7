"""What holds for all tests.

How long an example takes on a busy machine says nothing about the code, so hypothesis has no deadline. And there is one
seed a run: what is drawn afresh is drawn from ``TRITONX_SEED``, hypothesis' examples too, which a failure names, so
that all workers collect the same tests. (Where ``CI`` is set, hypothesis would draw the same ones in every run.) What a
pass leaves is verified, also in the processes that tests start.

The end names the most memory that each worker held, and the largest process that it started: a worker of 6.4 GB was
once seen and not found again. ``--share`` runs a part of the tests (`share.py`).
"""

from __future__ import annotations

import os
import resource
import secrets
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

import share  # pyright: ignore[reportMissingImports]  # beside this file

settings.register_profile(
    "tritonx", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("tritonx")

os.environ.setdefault("TRITONX_SEED", str(secrets.randbelow(2**31)))
os.environ.setdefault("TRITONX_VERIFY", "1")


@pytest.fixture
def no_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that write a module again: the time in a ``.pyc`` is in seconds, and another text may be as long."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def assigned_knobs() -> dict[str, dict[str, Any]]:
    """What programs have assigned, by group; nothing while no test has imported the knobs."""
    knobs = sys.modules.get("tritonx.runtime.knobs")
    groups = {} if knobs is None else {n: g for n, g in vars(knobs).items() if isinstance(g, knobs.Group)}
    return {name: dict(group.assigned) for name, group in groups.items()}


@pytest.fixture(autouse=True)
def _no_knob_stays_assigned() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """A knob that a test leaves assigned would be found in another test, on the worker that runs both."""
    before = assigned_knobs()
    yield
    after = assigned_knobs()
    left = {name: held for name, held in after.items() if held != before.get(name, {})}
    for name in left:
        group = getattr(sys.modules["tritonx.runtime.knobs"], name)
        group.assigned = dict(before.get(name, {}))
    assert not left, f"knobs stay assigned: {left}, before: {before}"


def pytest_addoption(parser: pytest.Parser) -> None:
    share.add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test with a mark `level` runs at that one, its fixtures and the processes that it starts too."""
    marker = item.get_closest_marker("level")
    if marker is None:
        return (yield)
    from tritonx import level

    with level.at(*marker.args):
        return (yield)


PEAKS = pytest.StashKey[dict[str, tuple[int, int]]]()
"""By worker: MB that it held at most, and that a process which it started held."""


def peaks() -> tuple[int, int]:
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own // 1024, children // 1024


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-seed", None) is None:
        config.option.hypothesis_seed = os.environ["TRITONX_SEED"]
    config.stash[PEAKS] = {}
    config.pluginmanager.register(share.Share(config), "share")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is None:
        session.config.stash[PEAKS]["main"] = peaks()
    else:
        output["peaks"] = peaks()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """A worker of pytest-xdist has ended."""
    if said := getattr(node, "workeroutput", {}).get("peaks"):
        node.config.stash[PEAKS][node.gateway.id] = tuple(said)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    """What was held at most, and how to draw again what failed."""
    each = (f"{name} {own} (started: {most})" for name, (own, most) in sorted(config.stash[PEAKS].items()))
    terminalreporter.write_line(f"most memory in MB: {', '.join(each)}")
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        terminalreporter.write_line(f"TRITONX_SEED={os.environ['TRITONX_SEED']} draws the same")
