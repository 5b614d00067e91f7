"""The names of Triton 3.9's profiler, with its parameters."""

from __future__ import annotations

import importlib
import inspect

import pytest

SIGNATURES = {
    "start": "name=None, *, context='shadow', data='tree', backend=None, mode=None, hook=None",
    "activate": "session=None",
    "deactivate": "session=None, flushing=False",
    "finalize": "session=None, output_format=''",
    "profile": "func=None, *, name=None, context='shadow', data='tree', backend=None, mode=None, hook=None",
    "scope": "name, metrics=None",
    "cpu_timed_scope": "name, metrics=None",
    "enter_scope": "name, *, metrics=None",
    "exit_scope": "name=None, *, metrics=None",
    "state": "name",
    "metadata_state": "kernel_name=None",
    "enter_state": "name",
    "exit_state": "",
    "context.depth": "session=0",
    "data.get": "session=0, phase=0",
    "data.get_msgpack": "session=0, phase=0",
    "data.advance_phase": "session=0",
    "data.is_phase_complete": "session=0, phase=0",
    "data.clear": "session=0, phase=0, clear_up_to_phase=False",
    "specs.max_flops": "device_type, arch, width, num_sms, clock_rate",
    "specs.max_bps": "device_type, arch, bus_width, memory_clock_rate",
    "mode.BaseMode": "name",
    "mode.PCSampling": "interval=1000",
    "hooks.HookManager.register": "hook, session",
    "hooks.HookManager.unregister": "session=None",
    "hooks.HookManager.activate": "session=None",
    "hooks.HookManager.deactivate": "session=None",
    "hooks.LaunchHook.configure": "self, *, include=None, exclude=None",
    "viewer.parse": "metrics, filename, include=None, exclude=None, threshold=None",
    "viewer.read": "filename",
    "viewer.print_tree": "gf, metrics, depth=100, format=None, print_sorted=False",
    "viewer.get_raw_metrics": "database",
    "viewer.show_metrics": "file_name",
    "viewer.get_min_time_flops": "df, device_info",
    "viewer.get_min_time_bytes": "df, device_info",
    "viewer.derive_metrics": "gf, metrics, inclusive_metrics, exclusive_metrics, device_info",
    "viewer.filter_frames": "gf, include=None, exclude=None, threshold=None, metric=None",
    "viewer.format_frames": "gf, format",
    "viewer.apply_diff_profile": "gf, derived_metrics, diff_file, metrics, include, exclude, threshold",
    "hooks.instrumentation.InstrumentationHook": "mode_obj",
    "metric.transform_tensor_metrics": "metrics",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_call_of_theirs_is_one_of_ours(name: str) -> None:
    value: object = importlib.import_module("tritonx.profiler")
    for part in name.split("."):
        if inspect.ismodule(value) and not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")
        value = getattr(value, part)
    assert callable(value)
    found = inspect.signature(value)
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    assert str(inspect.Signature(bare)) == f"({SIGNATURES[name]})"


def test_the_names_of_the_package() -> None:
    import tritonx.profiler as proton

    theirs = {name for name in SIGNATURES if "." not in name} | {"context", "specs", "mode", "data"}
    assert set(proton.__all__) == theirs | {"DEFAULT_PROFILE_NAME"} and proton.DEFAULT_PROFILE_NAME == "proton"
    assert importlib.import_module("tritonx.profiler.metric").FLOPS_WIDTHS == (8, 16, 32, 64)
