"""Helper processes: they answer, die, hang and end as their owner needs, in threads, over forks, with the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tritonx.runtime.isolation import pool as pool_module
from tritonx.runtime.isolation.helper import FunctionFailed, HelperFailure
from tritonx.runtime.isolation.pool import MOST, Pool

SECONDS = 60.0


def exists(pid: int) -> bool:
    """Whether a process of this number is there, as a zombie too."""
    return Path(f"/proc/{pid}").exists()


def is_gone(pid: int, seconds: float = 10.0) -> bool:
    """Whether a process ends within ``seconds``; another process's zombie counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_texts_and_bytes_cross_unchanged(pool: Pool, functions: str) -> None:
    text = 'define "ünïcode" \0\n' * 100_000
    made = pool.run(f"{functions}:echo", text, {"wave": 64, "libraries": ["a", "b"], "name": "gfx"}, SECONDS)
    assert made["text"] == text + "[('libraries', ['a', 'b']), ('name', 'gfx'), ('wave', 64)]"
    assert made["bytes"] == bytes(range(256))
    assert made["pid"] != str(os.getpid())


def test_one_helper_serves_many_requests(pool: Pool, functions: str) -> None:
    pids = {pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"] for _ in range(5)}
    assert len(pids) == 1 and pids == set(map(str, pool.pids()))


def test_an_exception_is_told_and_the_helper_stays(pool: Pool, functions: str) -> None:
    before = pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"]
    with pytest.raises(FunctionFailed, match="no such thing") as caught:
        pool.run(f"{functions}:fail", "no such thing", {}, SECONDS)
    assert caught.value.kind == "KeyError"
    assert pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"] == before


@pytest.mark.parametrize(
    ("function", "arguments", "how"), [("leave", {"code": 1}, "exit code 1"), ("abort", {}, "SIGABRT")]
)
def test_a_death_is_told_with_what_was_printed(
    function: str, arguments: dict[str, int], how: str, pool: Pool, functions: str
) -> None:
    pool.run(f"{functions}:warn", "of an earlier request", {}, SECONDS)
    before = pool.pids()
    with pytest.raises(HelperFailure, match=how) as caught:
        pool.run(f"{functions}:{function}", "error: cannot select", arguments, SECONDS)
    assert caught.value.said.strip() == "error: cannot select"
    assert not exists(before[0]), "the dead helper is a zombie"
    assert pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"] != str(before[0])


def test_no_core_files(pool: Pool, functions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HelperFailure):
        pool.run(f"{functions}:abort", "", {}, SECONDS)
    assert not list(tmp_path.glob("core*"))


def test_what_takes_too_long_is_ended(pool: Pool, functions: str) -> None:
    pool.run(f"{functions}:echo", "", {}, SECONDS)
    (slow,) = pool.pids()
    start = time.monotonic()
    with pytest.raises(HelperFailure, match=r"0\.5 s \(TRITONX_ISOLATE_TIMEOUT\)") as caught:
        pool.run(f"{functions}:sleep", "", {"seconds": 300}, 0.5)
    assert time.monotonic() - start < 30 and caught.value.said == "still at it\n"
    assert not exists(slow)


def test_a_stopped_helper_is_ended_too(pool: Pool, functions: str) -> None:
    """It reads nothing: the request itself, larger than any buffer, must not block for ever."""
    pool.run(f"{functions}:echo", "", {}, SECONDS)
    (stopped,) = pool.pids()
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(HelperFailure, match="TRITONX_ISOLATE_TIMEOUT"):
        pool.run(f"{functions}:echo", "x" * (64 << 20), {}, 0.5)
    assert not exists(stopped)


def test_one_that_was_killed_while_idle_is_replaced(pool: Pool, functions: str) -> None:
    before = pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"]
    os.kill(int(str(before)), signal.SIGKILL)
    assert pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"] != before
    assert not exists(int(str(before)))


def test_an_interrupt_ends_the_helper_and_not_its_successor(
    pool: Pool, functions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool.run(f"{functions}:echo", "", {}, SECONDS)
    (busy,) = pool.pids()

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            pool.run(f"{functions}:sleep", "", {"seconds": 300}, SECONDS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not exists(busy)
    assert pool.run(f"{functions}:echo", "mine", {}, SECONDS)["text"] == "mine[]"


def test_threads_get_answers_of_their_own(pool: Pool, functions: str) -> None:
    with ThreadPoolExecutor(8) as threads:
        asked = [str(n) * 1000 for n in range(40)]
        made = list(threads.map(lambda text: pool.run(f"{functions}:echo", text, {}, SECONDS)["text"], asked))
    assert made == [f"{text}[]" for text in asked]
    assert len(pool.pids()) <= MOST


def test_a_death_in_one_thread_leaves_the_others(pool: Pool, functions: str) -> None:
    def ask(number: int) -> str:
        try:
            name = "echo" if number % 3 else "abort"
            return str(pool.run(f"{functions}:{name}", str(number), {}, SECONDS)["text"])
        except HelperFailure as error:
            return f"died {error.said}"

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(ask, range(24)))
    assert made == [f"{n}[]" if n % 3 else f"died {n}" for n in range(24)]


def test_a_forked_child_has_helpers_of_its_own(functions: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parent's helper goes on serving the parent, and ends with it although the child lives."""
    program = f"""
        import os, sys, time
        from tritonx.runtime.isolation.pool import pool
        ask = lambda: pool().run("{functions}:echo", "", {{}}, 60.0)["pid"]
        first = ask()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            os.write(writing, ask().encode())
            os.close(writing)
            time.sleep(300)
        os.close(writing)
        theirs = os.read(reading, 100).decode()
        assert theirs != first == ask()
        print(child, first, theirs, flush=True)
        os._exit(0)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment(), capture_output=True, timeout=100
    )
    child, first, theirs = map(int, found.stdout.split() or (0, 0, 0))
    assert child, found.stderr.decode()
    try:
        assert is_gone(first), "the parent's helper outlives the parent"
        assert not is_gone(theirs, 0.1)
    finally:
        os.kill(child, signal.SIGKILL)
    assert is_gone(theirs), "the child's helper outlives the child"


@pytest.mark.parametrize("how", ["pass", "sys.exit(3)", "os._exit(0)", "os.kill(os.getpid(), 9)", "raise ValueError"])
def test_helpers_end_with_the_process(how: str, functions: str) -> None:
    program = f"""
        import os, sys
        from tritonx.runtime.isolation.pool import pool
        print(pool().run("{functions}:echo", "", {{}}, 60.0)["pid"], flush=True)
        {how}
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment(), capture_output=True, timeout=100
    )
    assert found.stdout, found.stderr.decode()
    assert is_gone(int(found.stdout))


def test_a_helper_in_the_middle_of_work_ends_with_the_process(functions: str) -> None:
    program = f"""
        import os, threading, time
        from tritonx.runtime.isolation.pool import pool
        ask = pool().run
        print(ask("{functions}:echo", "", {{}}, 60.0)["pid"], flush=True)
        threading.Thread(target=ask, args=("{functions}:sleep", "", {{"seconds": 300}}, 60.0), daemon=True).start()
        time.sleep(0.3)
        os.kill(os.getpid(), 9)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment(), capture_output=True, timeout=100
    )
    assert found.stdout, found.stderr.decode()
    assert is_gone(int(found.stdout))


def test_a_process_that_ignores_its_children(functions: str) -> None:
    """Under SIG_IGN the system takes dead children away before they can be waited for."""
    program = f"""
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        from tritonx.runtime.isolation.pool import pool
        from tritonx.runtime.isolation.helper import HelperFailure
        for _ in range(2):
            try:
                pool().run("{functions}:abort", "cannot", {{}}, 60.0)
            except HelperFailure as error:
                print(error.said)
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment(), capture_output=True, timeout=100
    )
    assert found.stdout.split() == [b"cannot", b"cannot"], found.stderr.decode()


def test_a_python_that_cannot_be_started_is_a_typed_error(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(HelperFailure, match="/nonexistent/python"):
        pool.run("a:b", "", {}, SECONDS)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(HelperFailure, match="did not come up"):
        pool.run("a:b", "", {}, SECONDS)


def test_prepare_starts_one_helper(pool: Pool, functions: str) -> None:
    pool.prepare()
    pool.prepare()
    (started,) = pool.pids()
    assert pool.run(f"{functions}:echo", "", {}, SECONDS)["pid"] == str(started)


def test_there_is_one_pool_a_process() -> None:
    assert pool_module.pool() is pool_module.pool()


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
