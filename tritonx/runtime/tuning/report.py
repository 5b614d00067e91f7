"""What a search tried: as a table, as a drawing in SVG, and both on a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

from tritonx.runtime.config import Config

_BAR, _ROW, _LABEL, _TIME = 420, 18, 380, 110
"""Of the drawing, in pixels: the longest bar, a row's height, the room for a configuration and for its time."""

FASTEST, SLOWER, IMPOSSIBLE = "fastest", "slower", "impossible"
MERGED, LEFT_OUT = "merged", "left out"
"""Not measured: the code of another one, which has the times; not worth it, as the backend says."""


@dataclass(frozen=True)
class Tried:
    """A configuration with its times (median, 20 % and 80 % quantiles, in milliseconds), how often it was measured,
    what became of it, and why it was not measured where it was not; of merged code, which one has it."""

    config: Config
    times: tuple[float, ...]
    runs: int = 0
    fate: str = SLOWER
    reason: str = ""
    same_as: Config | None = None

    @property
    def median(self) -> float:
        return self.times[0]


@dataclass(frozen=True)
class Report:
    """A search of the kernel ``name`` for ``key``. ``seconds`` is its wall time; ``is_stored``: an earlier one made it,
    and its times were on the disk."""

    name: str
    key: str
    seconds: float
    tried: tuple[Tried, ...]
    is_stored: bool = False

    @property
    def ordered(self) -> tuple[Tried, ...]:
        """The fastest first."""
        return tuple(sorted(self.tried, key=lambda each: each.times))

    def heading(self) -> str:
        fates = {IMPOSSIBLE: "cannot run", MERGED: "are the code of another", LEFT_OUT: "are left out"}
        counts = {text: sum(each.fate == fate for each in self.tried) for fate, text in fates.items()}
        runs = sum(each.runs for each in self.tried)
        which = "".join(f", {count} of which {text}" for text, count in counts.items() if count)
        how = "measured by an earlier search" if self.is_stored else f"{runs} runs, {self.seconds:.2f} s"
        return f"{self.name}, key {self.key}: {len(self.tried)} configurations{which}, {how}"

    def table(self) -> str:
        """A line for each configuration with code of its own, the columns explained, what the lines leave out, and a
        warning where the range of others overlaps the fastest one's."""
        best = min((each.median for each in self.tried), default=math.inf)
        lines = [self.heading(), f"{'median':>10} {'range':>21} {'ratio':>8} {'runs':>5}  configuration"]
        for each in self._rows():
            times = f"{'-':>10} {'-':>21} {'-':>8}"
            if math.isfinite(each.median):
                span = f"{each.times[1]:.4f} to {each.times[-1]:.4f}" if len(each.times) > 1 else "-"
                times = f"{each.median:>10.4f} {span:>21} {each.median / best if best else 1.0:>8.3f}"
            runs = "-" if self.is_stored else each.runs
            lines.append(f"{times} {runs:>5}  {self._named(each.config)}  {each.reason}".rstrip())
        return "\n".join([*lines, *self._notes()])

    def _rows(self) -> tuple[Tried, ...]:
        return tuple(each for each in self.ordered if each.fate != MERGED)

    def _notes(self) -> list[str]:
        notes = ["median and range (20 % to 80 % quantile) of a launch in ms; ratio to the fastest; runs measured"]
        merged = [each for each in self.tried if each.fate == MERGED]
        shown = {name for each in self._rows() for name in self._shown(each.config)}
        rest = {name: value for each in self.tried for name, value in each.config.all_kwargs().items()}
        rest = {name: value for name, value in rest.items() if name not in shown}
        ignored = [name for name in rest if len({repr(t.config.all_kwargs().get(name)) for t in self.tried}) > 1]
        if same := [f"{name}={value}" for name, value in rest.items() if name not in ignored]:
            notes.append(f"all have {', '.join(same)}")
        if merged:
            which = f"with other {', '.join(ignored)}" if ignored else "that differ in what does not change it"
            notes.append(f"not measured again: {len(merged)} configurations {which}, which are the same code")
        if alike := self.alike():
            who = f"the range of {self._named(alike[0].config)} overlaps"
            if len(alike) > 1:
                who = f"the ranges of {len(alike)} others overlap"
            notes.append(f"warning: {who} the fastest one's: another search may choose otherwise")
        return notes

    def _shown(self, config: Config) -> dict[str, object]:
        """Of a configuration: what tells it from others with code of their own; all of it where nothing does."""
        rows = [each.config.all_kwargs() for each in self._rows()]
        names = {name for row in rows for name in row if len({repr(other.get(name)) for other in rows}) > 1}
        given = config.all_kwargs()
        return {name: value for name, value in given.items() if name in names} or given

    def _named(self, config: Config) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._shown(config).items())

    def alike(self) -> tuple[Tried, ...]:
        """Configurations with code of their own that may be as fast as the fastest: the 20 % quantile of their times is
        not above its 80 % quantile."""
        timed = [t for t in self.ordered if t.fate != MERGED and math.isfinite(t.median) and len(t.times) > 1]
        return tuple(each for each in timed[1:] if each.times[1] <= timed[0].times[-1])

    def svg(self) -> str:
        """A bar for each configuration with code of its own, the fastest at the top; a line from quantile to
        quantile."""
        rows = [each for each in self.ordered if math.isfinite(each.median) and each.fate != MERGED]
        longest = max((each.times[-1] for each in rows), default=1.0) or 1.0
        width, height = _LABEL + _BAR + _TIME, _ROW * (len(rows) + 1)
        drawn = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" '
            f'font-size="11">',
            f'<text x="4" y="{_ROW - 5}">{escape(self.heading())}</text>',
        ]
        for number, each in enumerate(rows, 1):
            drawn += _bar(each, self._named(each.config), number * _ROW, _BAR / longest)
        return "\n".join([*drawn, "</svg>"]) + "\n"

    def html(self) -> str:
        """A page with the drawing and the table; it needs nothing else."""
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(self.name)}</title></head>\n'
            f"<body>\n{self.svg()}<pre>{escape(self.table())}</pre>\n</body></html>\n"
        )


def short(config: Config) -> str:
    """A configuration's parameters, and the options that have a value."""
    return ", ".join(f"{name}={value}" for name, value in config.all_kwargs().items())


def _bar(tried: Tried, name: str, top: int, scale: float) -> list[str]:
    middle = top + _ROW // 2
    low, high = (tried.times[1], tried.times[-1]) if len(tried.times) > 1 else (tried.median, tried.median)
    colour = "#2a7" if tried.fate == FASTEST else "#9ab"
    return [
        f'<text x="4" y="{middle + 4}">{escape(name)}</text>',
        f'<rect x="{_LABEL}" y="{top + 3}" width="{tried.median * scale:.1f}" height="{_ROW - 6}" fill="{colour}">'
        f"<title>{escape(name)}: {tried.median:.4f} ms, {tried.runs} runs</title></rect>",
        f'<line x1="{_LABEL + low * scale:.1f}" x2="{_LABEL + high * scale:.1f}" y1="{middle}" y2="{middle}" '
        f'stroke="#333"/>',
        f'<text x="{_LABEL + high * scale + 6:.1f}" y="{middle + 4}">{tried.median:.4f} ms</text>',
    ]
