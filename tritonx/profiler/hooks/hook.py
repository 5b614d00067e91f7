"""What a hook is, and which ones are active."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

from tritonx.runtime import knobs
from tritonx.runtime.launch.launch_hooks import LazyDict


class Hook(ABC):
    """Hooks of a higher ``priority`` enter first and exit last.

    >>> from tritonx.profiler.hooks import LaunchHook
    >>> LaunchHook().priority > Hook.priority
    True
    """

    priority: int = 0

    @abstractmethod
    def init_handle(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        """A kernel has been loaded."""

    def destroy_handle(
        self, module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        """The kernel cannot be launched any more."""
        return None

    @abstractmethod
    def enter(self, metadata: LazyDict) -> None:
        """In front of a launch."""

    @abstractmethod
    def exit(self, metadata: LazyDict) -> None:
        """Behind it."""

    @abstractmethod
    def activate(self) -> None:
        """The first session that has it becomes active."""

    @abstractmethod
    def deactivate(self) -> None:
        """The last one does not want it any more."""


class HookManager:
    """The hooks of all sessions; one that several active sessions have is called once.

    >>> HookManager.active_hooks
    []
    """

    active_hooks: ClassVar[list[Hook]] = []
    session_hooks: ClassVar[dict[int, dict[Hook, bool]]] = {}
    """Session → its hooks, and whether it is active."""
    listeners: ClassVar[list[Callable[[], None]]] = []
    """Called where other hooks may have become active."""

    @staticmethod
    def init_handle(module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str) -> None:
        for hook in HookManager.active_hooks:
            hook.init_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def destroy_handle(
        module: object, function: object, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        for hook in reversed(HookManager.active_hooks):
            hook.destroy_handle(module, function, name, metadata_group, hash)

    @staticmethod
    def enter(metadata: LazyDict) -> None:
        for hook in HookManager.active_hooks:
            hook.enter(metadata)

    @staticmethod
    def exit(metadata: LazyDict) -> None:
        for hook in reversed(HookManager.active_hooks):
            hook.exit(metadata)

    @staticmethod
    def activate(session: int | None = None) -> None:
        HookManager._mark(session, True)

    @staticmethod
    def deactivate(session: int | None = None) -> None:
        HookManager._mark(session, False)

    @staticmethod
    def register(hook: Hook, session: int) -> None:
        """Give an active session a hook; one that cannot be activated it has not."""
        HookManager.session_hooks.setdefault(session, {})[hook] = True
        try:
            HookManager._settle()
        except BaseException:
            del HookManager.session_hooks[session][hook]
            raise

    @staticmethod
    def unregister(session: int | None = None) -> None:
        """Take its hooks from a session, or from all."""
        if session is None:
            HookManager.session_hooks.clear()
        else:
            HookManager.session_hooks.pop(session, None)
        HookManager._settle()

    @staticmethod
    def _mark(session: int | None, active: bool) -> None:
        chosen = list(HookManager.session_hooks) if session is None else [session]
        for each in chosen:
            hooks = HookManager.session_hooks.get(each, {})
            hooks.update(dict.fromkeys(hooks, active))
        HookManager._settle()

    @staticmethod
    def _settle() -> None:
        """Have exactly those hooks active that an active session has."""
        wanted = [h for hooks in HookManager.session_hooks.values() for h, active in hooks.items() if active]
        wanted = list(dict.fromkeys(wanted))
        for hook in [h for h in HookManager.active_hooks if h not in wanted]:
            HookManager.active_hooks.remove(hook)
            hook.deactivate()
        for hook in [h for h in wanted if h not in HookManager.active_hooks]:
            hook.activate()
            HookManager.active_hooks.append(hook)
        HookManager.active_hooks.sort(key=lambda hook: -hook.priority)
        loaded, unloaded = knobs.runtime.kernel_load_end_hook, knobs.runtime.kernel_unload_hook
        if HookManager.active_hooks:
            loaded.add(HookManager.init_handle)
            unloaded.add(HookManager.destroy_handle)
        else:
            loaded.remove(HookManager.init_handle)
            unloaded.remove(HookManager.destroy_handle)
        for listener in HookManager.listeners:
            listener()
