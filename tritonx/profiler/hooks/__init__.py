"""Hooks of sessions: what else happens around a launch, and where kernels are loaded."""

from tritonx.profiler.hooks.hook import Hook, HookManager
from tritonx.profiler.hooks.instrumentation import InstrumentationHook
from tritonx.profiler.hooks.launch import LaunchHook

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook"]
