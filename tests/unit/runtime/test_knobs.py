"""Settings: environment under both prefixes, assignment, scopes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tritonx
from tritonx import level
from tritonx.backends.api import Target
from tritonx.backends.registry import get_backend
from tritonx.runtime import driver, knobs
from tritonx.runtime.errors import BadSetting, NoBackend, NotOffered
from tritonx.runtime.settings.environment import variable
from tritonx.runtime.settings.setting_texts import parse_size


def test_environment_assignment_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRITON_CACHE_DIR", "TRITONX_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    group = knobs.CacheKnobs()
    assert group.dir.endswith(os.path.join(".tritonx", "cache"))
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    assert group.dir == "/theirs"
    monkeypatch.setenv("TRITONX_CACHE_DIR", "/ours")
    assert group.dir == "/ours"
    with group.scope():
        group.dir = "/assigned"
        assert group.dir == "/assigned"
        assert os.environ["TRITON_CACHE_DIR"] == "/assigned"
    assert (group.dir, os.environ["TRITON_CACHE_DIR"]) == ("/ours", "/theirs")
    group.assigned["dir"] = "/again"
    del group.dir
    assert group.dir == "/ours"


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("ON", True), ("0", False), ("no", False), ("", False)]
)
def test_truth_values(text: str, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", text)
    assert knobs.compilation.always_compile is value


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", "1"), ("yes", "1"), ("0", None), ("", None), ("off", None), ("/srv/kernels", "/srv/kernels")],
)
def test_sealed_is_a_folder_or_a_truth_value(text: str, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_SEALED", text)
    assert knobs.compilation.sealed == value


def test_sealed_may_name_several_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_SEALED", os.pathsep.join(("/srv/one", "package:tritonx", "/srv/two")))
    named = (knobs.compilation.sealed or "").split(os.pathsep)
    assert named == ["/srv/one", str(Path(knobs.__file__).parents[1]), "/srv/two"]


def test_sealed_is_as_seen_from_where_the_process_began(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_SEALED", "kernels")
    before = knobs.compilation.sealed
    monkeypatch.chdir(tmp_path)
    assert before is not None and os.path.isabs(before)
    assert knobs.compilation.sealed == before


def test_bad_values_name_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "perhaps")
    with pytest.raises(ValueError, match="environment variable TRITON_ALWAYS_COMPILE: expected a truth value"):
        _ = knobs.compilation.always_compile


MALFORMED = [
    ("TRITON_CACHE_DIR", "", "folder"),
    ("TRITON_CACHE_DIR", "  ", "folder"),
    ("TRITON_HOME", "", "folder"),
    ("TRITON_DUMP_DIR", "", "folder"),
    ("TRITON_OVERRIDE_DIR", "", "folder"),
    ("TRITON_CACHE_MAX_BYTES", "", "number of bytes"),
    ("TRITON_CACHE_MAX_BYTES", "lots", "number of bytes"),
    ("TRITON_CACHE_MAX_BYTES", "-5", "number of bytes"),
    ("TRITON_CACHE_MAX_BYTES", "inf", "number of bytes"),
    ("TRITON_CACHE_MAX_BYTES", "5KK", "number of bytes"),
    ("TRITON_CACHE_MANAGER", "", "module:Class"),
    ("TRITON_CACHE_MANAGER", "nosuchmodule:Class", "nosuchmodule"),
    ("TRITON_CACHE_MANAGER", "os:NoSuchClass", "NoSuchClass"),
    ("TRITON_REMOTE_CACHE_BACKEND", "os:getcwd", "module:Class"),
    ("TRITON_F32_DEFAULT", "fast", "tf32x3"),
    ("TRITON_ISOLATE_TIMEOUT", "soon", "positive number of seconds"),
    ("TRITON_ISOLATE_TIMEOUT", "0", "positive number of seconds"),
    ("TRITON_ISOLATE_TIMEOUT", "-1", "positive number of seconds"),
    ("TRITON_ISOLATE_TIMEOUT", "nan", "positive number of seconds"),
    ("TRITON_ISOLATE_TIMEOUT", "inf", "positive number of seconds"),
]
GROUPS = (knobs.cache, knobs.compilation, knobs.autotuning, knobs.runtime, knobs.language, knobs.build)
FREE_TEXT = {
    *("CC", "USE_IR_LOC", "TRITON_BACKEND", "TRITON_DEFAULT_BACKEND", "TRITON_OVERRIDE_ARCH"),
    *("TRITON_CUDACRT_PATH", "TRITON_CUDART_PATH", "TRITON_SEALED"),
}
"""What takes any text; the backend's name is looked up when it is used."""


REFUSED = {"TRITON_ENABLE_ASAN": (True, "1", "0"), "TRITON_INSTRUMENTATION_MODE": ("fpsan", "fpsan", "")}
"""A value that nothing can follow, as text too, and the text of the default."""


@pytest.mark.parametrize("env", REFUSED)
def test_a_setting_that_nothing_follows_is_refused(env: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (group, name), (value, text, default) = descriptor(env), REFUSED[env]
    with pytest.raises(NotOffered, match=f"does not offer the setting {env}: "):
        setattr(group, name, value)
    setattr(group, name, getattr(group, name))
    delattr(group, name)
    monkeypatch.setenv(variable(env), default)
    assert not getattr(group, name)
    monkeypatch.setenv(variable(env), text)
    with pytest.raises(NotOffered, match=f"does not offer the setting {env}: "):
        getattr(group, name)


def test_a_hook_for_stages_is_refused() -> None:
    with pytest.raises(NotOffered, match=r"setting add_stages_inspection_hook: .*`tritonx-opt`"):
        knobs.runtime.add_stages_inspection_hook = print
    knobs.runtime.add_stages_inspection_hook = None
    del knobs.runtime.add_stages_inspection_hook


def descriptor(env: str) -> tuple[knobs.Group, str]:
    return next((g, name) for g in GROUPS for name, knob in g.knob_descriptors.items() if knob.env == env)


@pytest.mark.parametrize(("env", "value", "said"), MALFORMED)
@pytest.mark.parametrize("prefix", ["TRITON_", "TRITONX_"])
def test_malformed_settings_name_the_variable_that_is_set(
    prefix: str, env: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRITONX_" + env.removeprefix("TRITON_"), raising=False)
    name = prefix + env.removeprefix("TRITON_")
    monkeypatch.setenv(name, value)
    group, setting = descriptor(env)
    with pytest.raises(BadSetting, match=f"environment variable {name}: .*{said}"):
        getattr(group, setting)


def test_the_level_is_fixed_while_a_process_runs() -> None:
    assert knobs.language.level == level.active().name
    with level.at("3.7"):
        assert knobs.language.level == "3.7"
        with pytest.raises(BadSetting, match=r"level is fixed .* at 3\.7: set TRITONX_LEVEL"):
            knobs.language.level = "3.8"


def test_every_setting_has_a_malformed_value_or_takes_any() -> None:
    tried = {env for env, _, _ in MALFORMED} | FREE_TEXT | set(REFUSED) | {level.VARIABLE}
    said = {
        knob.env: complaint(group, knob.name, knob.env)
        for group in GROUPS
        for knob in group.knob_descriptors.values()
        if knob.env is not None and knob.env not in tried
    }
    assert not [env for env, text in said.items() if not text.startswith(f"environment variable {variable(env)}: ")], (
        said
    )


def complaint(group: knobs.Group, name: str, env: str) -> str:
    """What reading the setting says where its variable has a value that it does not take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable(env), "perhaps")
        try:
            return f"no error: {getattr(group, name)!r}"
        except BadSetting as error:
            return str(error)


def test_a_malformed_debug_setting_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_DEBUG", "perhaps")
    with pytest.raises(BadSetting, match="environment variable TRITONX_DEBUG: expected a truth value"):
        knobs.refresh_knobs()


def test_an_unknown_backend_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    from tritonx.runtime import driver
    from tritonx.runtime.errors import NoBackend

    monkeypatch.setenv("TRITONX_BACKEND", "abacus")
    try:
        for ask in (driver.reset_active, driver.override, driver.override):
            with pytest.raises(NoBackend, match=r"environment variable TRITONX_BACKEND: .*abacus"):
                ask()
    finally:
        monkeypatch.delenv("TRITONX_BACKEND")
        driver.reset_active()


def test_an_empty_cache_folder_is_an_error_of_a_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    from tritonx.runtime.cache import get_cache_manager

    monkeypatch.setenv("TRITONX_CACHE_DIR", "")
    with pytest.raises(BadSetting, match="TRITONX_CACHE_DIR"):
        get_cache_manager("ab" * 32)


def test_sizes() -> None:
    assert [parse_size(s) for s in ("5", "2K", "1.5M", "1GB")] == [5, 2048, 3 << 19, 1 << 30]


def test_debug_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with knobs.runtime.scope():
        monkeypatch.setenv("TRITONX_DEBUG", "1")
        assert not knobs.runtime.debug
        knobs.refresh_knobs()
        assert knobs.runtime.debug
    assert not knobs.runtime.debug


def test_copies_and_listing() -> None:
    group = knobs.AutotuningKnobs()
    with group.scope():
        group.print = True
        other = group.copy()
        group.reset()
        assert other.assigned == {"print": True}
        assert not group.assigned
    assert set(group.knobs) == {"cache", "early", "hints", "print", "progress", "workers"}
    assert tritonx.knobs.autotuning.knob_descriptors["print"].env == "TRITON_PRINT_AUTOTUNING"


def test_hook_chains() -> None:
    seen: list[str] = []
    chain = knobs.HookChain(reversed=True)
    assert not chain
    first, second = lambda: seen.append("first"), lambda: seen.append("second")
    chain.add(first)
    chain.add(second)
    chain.add(first)
    chain()
    assert chain and seen == ["second", "first"]
    chain.remove(first)
    chain.remove(first)
    assert chain.calls == [second]


def test_tools_and_libraries_that_are_not_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never a search for another one in silence, nor the system's bare error."""
    from tritonx.backends.amd import device_library as ocml
    from tritonx.backends.amd import lld
    from tritonx.backends.nvidia.assembler import assemble, disassemble
    from tritonx.backends.nvidia.libdevice import device_library

    uses = {
        "TRITONX_LIBDEVICE_PATH": device_library.path,
        "TRITON_LIBDEVICE_PATH": device_library.path,
        "TRITONX_PTXAS_PATH": assemble.find_ptxas,
        "TRITON_PTXAS_PATH": assemble.find_ptxas,
        "TRITONX_ASSEMBLER": lambda: assemble._assemble("", None, None, False),  # pyright: ignore
        "TRITONX_NVDISASM_PATH": disassemble.find_nvdisasm,
        "TRITONX_ROCM_BITCODE": lambda: ocml.path.__wrapped__("ocml.bc"),
        "TRITONX_LLD_PATH": lambda: lld.link_object(b""),
        "TRITON_HIP_LLD_PATH": lambda: lld.link_object(b""),
    }
    for name, use in uses.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, str(tmp_path / "nothing"))
            with pytest.raises(BadSetting, match=f"environment variable {name}: expected"):
                use()


def test_what_is_not_propagated_stays_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch is a name of the module, which other modules read."""
    monkeypatch.setattr(knobs, "propagate_env", False)
    with knobs.cache.scope():
        knobs.cache.dir = "/nowhere/at/all"
        assert knobs.cache.dir == "/nowhere/at/all"
        assert os.environ.get("TRITON_CACHE_DIR") != "/nowhere/at/all"
        knobs.propagate_env = True
        knobs.cache.dir = "/nowhere/at/all"
        assert os.environ["TRITON_CACHE_DIR"] == "/nowhere/at/all"


def test_every_setting_has_the_name_of_its_variable() -> None:
    keys = [knob.key for group in GROUPS for knob in group.knob_descriptors.values()]
    assert keys and all(isinstance(key, str) and key.isupper() for key in keys)
    assert "listener" not in knobs.compilation.knob_descriptors
    assert knobs.CompilationKnobs.listener.key == "listener"


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("default", [False, True])
@pytest.mark.parametrize("requested", [None, False, True])
def test_fusing_of_products_and_sums(requested: bool | None, default: bool, forced: bool) -> None:
    backend = get_backend("cuda")
    with knobs.language.scope():
        knobs.language.default_fp_fusion = default
        knobs.language.force_disable_fp_fusion = forced
        wanted = (default if requested is None else requested) and not forced
        assert knobs.language.fp_fusion_enabled(requested) is wanted
        given = {} if requested is None else {"enable_fp_fusion": requested}
        assert backend.parse_options(Target("cuda", 90, 32), given).enable_fp_fusion is wanted


def test_the_environment_names_the_default_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "nosuch")
        driver.reset_active()
        with pytest.raises(NoBackend, match=r"Unknown backend device 'nosuch'. Available backends: \[.*'nvidia'"):
            driver.default()
        monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "cpu")
        driver.reset_active()
        assert driver.default().backend.name == "cpu"
    finally:
        monkeypatch.undo()
        driver.reset_active()
