"""Where the time of a program's kernels goes: Triton's ``triton.profiler``, Proton (docs/profiler.md).

    import tritonx.profiler as proton

    session = proton.start("profile", hook="triton")
    with proton.scope("step"):
        kernel[grid](...)
    proton.finalize(session)

``python -m tritonx.profiler.viewer -m time/ms profile.hatchet`` prints the tree."""

from tritonx.profiler import context, data, mode, specs
from tritonx.profiler.profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from tritonx.profiler.scope import cpu_timed_scope, enter_scope, exit_scope, scope
from tritonx.profiler.state import enter_state, exit_state, metadata_state, state

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "context",
    "cpu_timed_scope",
    "data",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "metadata_state",
    "mode",
    "profile",
    "scope",
    "specs",
    "start",
    "state",
]
