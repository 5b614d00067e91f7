"""Writes the refusal table: what becomes here of everything that Triton's front end refuses.

    python refusal_table.py [FOLDER ...]     FOLDER holds another version of Triton, as `pip install --target` puts it

``refusals_tritonx.txt`` says for each case (`refusal_cases`) what tritonx raises, or where the documentation says that
it takes it. ``refusals_VERSION.txt`` has a row for each site (`refusal_sites`) of that wheel: the cases that reach it,
found by running them, or the reason why none does. No row can be left open: a site without either is an error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from refusal_cases import CASES  # beside this file
from refusal_reasons import BEYOND, WRAPPERS, reason_of  # beside this file
from refusal_runner import Outcome, outcomes, outcomes_apart  # beside this file
from refusal_sites import sites  # beside this file

from tritonx import level

HERE = Path(__file__).parent
LEVEL = "3.6"
"""That tritonx is asked at: what later levels take of the cases is none of its own."""
SHOWN = 3


def here_rows(made: Mapping[str, Outcome]) -> list[str]:
    """What tritonx makes of each case. ``ValueError`` where it takes one without a word in the documentation."""
    rows: list[str] = []
    for name, outcome in made.items():
        if not outcome.error and name not in BEYOND:
            raise ValueError(f"tritonx takes {name}, which Triton refuses: mend it, or document it (refusal_reasons)")
        rows.append(f"{name} | {outcome.error or f'taken: docs/beyond.md#{BEYOND[name]}'}")
    return rows


def wheel_rows(package: Path, made: Mapping[str, Outcome]) -> list[str]:
    """A row for each site of a wheel, from what it made of the cases."""
    reached: dict[str, list[str]] = {}
    for name, outcome in made.items():
        for site in outcome.sites:
            reached.setdefault(site, []).append(name)
    return [f"{site.name} | {_answer(site.name, reached.get(site.name, []))}" for site in sites(package)]


def _answer(site: str, names: list[str]) -> str:
    if site.startswith(WRAPPERS):
        return "adds the kernel's line to what another site raised"
    refused, taken = ([n for n in names if (n in BEYOND) is t] for t in (False, True))
    told: list[str] = []
    if refused:
        more = f" and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
        told.append(f"refused: {', '.join(refused[:SHOWN])}{more}")
    if taken:
        told.append(f"beyond: {', '.join(taken)}")
    return "; ".join(told) or f"no case: {reason_of(site)}"


def version_of(package: Path) -> str:
    """The first two numbers of a wheel's version."""
    text = (package / "__init__.py").read_text()
    return ".".join(text.split("__version__ = ")[1].split("'")[1].split(".")[:2])


def installed() -> Path | None:
    """The wheel of this environment."""
    spec = find_spec("triton")
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


def main() -> None:
    with level.at(LEVEL):
        (HERE / "refusals_tritonx.txt").write_text("\n".join(here_rows(dict(outcomes("tritonx", CASES)))) + "\n")
    own = installed()
    folders = [Path(argument) for argument in sys.argv[1:]]
    for package, folder in [*([(own, None)] if own else []), *[(f / "triton", f) for f in folders]]:
        rows = wheel_rows(package, outcomes_apart("triton", list(CASES), folder))
        (HERE / f"refusals_{version_of(package)}.txt").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
