"""Words that are not the field's do not come back: in sources, tests, names of files and docs.

`docs/glossary.md` has what stands in their place. The log of measurements is kept as it was written.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"

BANNED: dict[str, tuple[str, str]] = {
    "nobody": (r"nobody", "what happens, in the passive; unknown, unused, unallocated"),
    "somebody": (r"somebody|someone", "the thread, pass, program or user that is meant"),
    "goes round": (r"go(es)? round", "iterates; is loop-carried"),
    "one's own": (r"one's own", "of the user"),
}
"""The word as the glossary has it → its pattern, and what to write."""

EXCEPTIONS = {"tests/test_words.py", "docs/glossary.md"}
GAP = r"[\s#]+"
ENDINGS = {".py", ".pyi", ".md", ".mlir", ".toml", ".yml", ".cfg"}


def texts() -> Iterator[tuple[str, str]]:
    """Each file that git would have, by its path; its name is a line of its text."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout")
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix in ENDINGS and name not in EXCEPTIONS and "history/" not in name and path.is_file():
            yield name, f"{name}\n{path.read_text()}"


def found(text: str) -> list[tuple[str, int]]:
    """The banned words of a text, with the lines that they begin in; a word may be broken across two lines."""
    return [
        (word, text.count("\n", 0, match.start()))
        for word, (pattern, _) in BANNED.items()
        for match in re.finditer(rf"(?<![a-z])({pattern.replace(' ', GAP)})(?![a-z])", text, re.IGNORECASE)
    ]


def test_words_that_are_not_the_fields() -> None:
    faults = [f"{name}:{line} {word}: write {BANNED[word][1]}" for name, text in texts() for word, line in found(text)]
    assert not faults, "\n".join(faults)


def test_the_glossary_says_what_to_write() -> None:
    left = re.findall(r"^\| ([^|]+?) \|", GLOSSARY.read_text(), re.MULTILINE)
    assert [word for word in BANNED if word not in left] == []


@pytest.mark.parametrize("text", ["# Nobody knows.", "NOBODY = 0", "it goes\n    round", "is_nobody", "a/nobody.py"])
def test_a_word_is_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ["whole body", "a round trip", "goes around", "some body"])
def test_other_words_are_not(text: str) -> None:
    assert not found(text)
