"""Benchmarks over a range of sizes, as tables and, where matplotlib is installed, as plots."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

Row = tuple[tuple[Any, ...], list[tuple[float, float | None, float | None]]]
"""(x values, [(value, low, high) of each line])."""


class Benchmark:
    """One plot: ``line_vals`` of the argument ``line_arg``, each measured at ``x_vals`` of the arguments
    ``x_names``.

    >>> bench = tritonx.testing.Benchmark(["n"], [1, 2], "by", [10, 20], ["ten", "twenty"], "products", {})
    >>> bench.table(bench.measure(lambda n, by: float(n * by)))
    [['n', 'ten', 'twenty'], ['1', '10.000000', '20.000000'], ['2', '20.000000', '40.000000']]
    """

    def __init__(
        self,
        x_names: Sequence[str],
        x_vals: Sequence[Any],
        line_arg: str,
        line_vals: Sequence[Any],
        line_names: Sequence[str],
        plot_name: str,
        args: dict[str, Any],
        xlabel: str = "",
        ylabel: str = "",
        x_log: bool = False,
        y_log: bool = False,
        styles: Sequence[tuple[str, str]] | None = None,
    ) -> None:
        self.x_names = list(x_names)
        self.x_vals = list(x_vals)
        self.x_log = x_log
        self.line_arg = line_arg
        self.line_vals = list(line_vals)
        self.line_names = list(line_names)
        self.y_log = y_log
        self.styles = styles
        self.xlabel = xlabel
        self.ylabel = ylabel
        self.plot_name = plot_name
        self.args = args

    def _xs(self) -> list[tuple[Any, ...]]:
        xs: list[tuple[Any, ...]] = []
        for x in self.x_vals:
            if isinstance(x, list | tuple):
                if len(x) != len(self.x_names):  # pyright: ignore[reportUnknownArgumentType]  # a user's values, of any type
                    raise ValueError(f"Expected {len(self.x_names)} values, got {x}")
                xs.append(tuple(x))  # pyright: ignore[reportUnknownArgumentType]  # a user's values, of any type
            else:
                xs.append((x,) * len(self.x_names))
        return xs

    def measure(self, fn: Callable[..., Any], **kwargs: object) -> list[Row]:
        """``fn`` returns a value, or a value with its low and high."""
        rows: list[Row] = []
        for x in self._xs():
            values: list[tuple[float, float | None, float | None]] = []
            for line in self.line_vals:
                result = fn(**dict(zip(self.x_names, x, strict=True)), **{self.line_arg: line}, **self.args, **kwargs)
                values.append(tuple(result) if isinstance(result, tuple | list) else (result, None, None))  # pyright: ignore  # a user's values, of any type
            rows.append((x, values))
        return rows

    def table(self, rows: Sequence[Row]) -> list[list[str]]:
        """Header and rows as text."""
        unit = f" ({self.ylabel})" if self.ylabel else ""
        header = [*self.x_names, *(name + unit for name in self.line_names)]
        return [header, *([*map(str, x), *(f"{v[0]:.6f}" for v in values)] for x, values in rows)]


def _print_table(cells: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


class Mark:
    """A benchmarked function; ``run`` measures it.

    >>> bench = tritonx.testing.Benchmark(["n"], [1, 2], "by", [10], ["ten"], "products", {})
    >>> tritonx.testing.Mark(lambda n, by: float(n * by), bench).run(print_data=True)
    products:
    n        ten
    1  10.000000
    2  20.000000
    """

    def __init__(self, fn: Callable[..., Any], benchmarks: Benchmark | Sequence[Benchmark]) -> None:
        self.fn = fn
        self.benchmarks = benchmarks

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Measure. ``save_path`` gets a CSV file and a plot for each benchmark; ``return_df`` (needs pandas) the
        data."""
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks: Sequence[Benchmark] = (
            [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else self.benchmarks
        )
        frames: list[Any] = []
        for bench in benchmarks:
            rows = bench.measure(self.fn, **kwargs)
            cells = bench.table(rows)
            if show_plots or save_path:
                _plot(bench, rows, show_plots, save_path)
            if save_path:
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as file:
                    file.writelines(",".join(row) + "\n" for row in cells)
            if print_data:
                print(bench.plot_name + ":")
                _print_table(cells)
            if return_df:
                frames.append(_frame(bench, rows))
        if return_df:
            return frames[0] if single else frames
        return None


def _frame(bench: Benchmark, rows: Sequence[Row]) -> Any:
    try:
        pandas: Any = import_module("pandas")  # optional
    except ImportError as error:
        raise ImportError("return_df=True needs pandas") from error
    header = bench.table([])[0]
    data = [[*x, *(v[0] for v in values)] for x, values in rows]
    return pandas.DataFrame(data, columns=header)


def _plot(bench: Benchmark, rows: Sequence[Row], show: bool, save_path: str) -> None:
    try:
        plot: Any = import_module("matplotlib.pyplot")  # optional
    except ImportError:
        if show:
            raise ImportError("show_plots=True needs matplotlib") from None
        return
    figure, axes = plot.subplots()
    xs = [x[0] for x, _ in rows]
    for i, name in enumerate(bench.line_names):
        color, style = bench.styles[i] if bench.styles else (None, None)
        values = [row[i] for _, row in rows]
        axes.plot(xs, [v[0] for v in values], label=name, color=color, linestyle=style)
        bounds = [(v[1], v[2]) for v in values]
        if all(low is not None and high is not None for low, high in bounds):
            axes.fill_between(xs, [b[0] for b in bounds], [b[1] for b in bounds], alpha=0.15, color=color)
    axes.legend()
    axes.set_xlabel(bench.xlabel or bench.x_names[0])
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if save_path:
        figure.savefig(os.path.join(save_path, f"{bench.plot_name}.png"))
    if show:
        plot.show()
    plot.close(figure)


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """Mark a function as the measurement of these benchmarks.

    >>> @tritonx.testing.perf_report(tritonx.testing.Benchmark(["n"], [1, 2], "by", [10], ["ten"], "products", {}))
    ... def product(n, by):
    ...     return float(n * by)
    >>> product.run(print_data=True)
    products:
    n        ten
    1  10.000000
    2  20.000000
    """
    return lambda fn: Mark(fn, benchmarks)
