"""Draw what an experiment measured: a panel for each table, a line for each method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.comparison.chart import GREY, INK, LINES
from discreet.errors import MissingExtraError
from discreet.experiments.experiment import Chart, Row, Rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
ACROSS = 3
FEW, SHORTENED = 10, 1_000  # places that each have their number; numbers that are written with a letter
WIDE = 2.5  # powers of ten from which a logarithmic axis has a number at each power alone


def check() -> None:
    """Raise unless charts can be drawn: better before the work than after it."""
    try:
        import matplotlib.figure  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtraError(
            "matplotlib is not installed", hint="pip install 'discreet[charts]', or leave charts out with --no-charts"
        ) from None


def draw(title: str, chart: Chart, rows: Sequence[Row], path: Path) -> None:
    """Draw the rows into a file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(row[chart.panel] if chart.panel else "" for row in rows)) or [""]
    across = 2 if len(panels) == 4 else min(len(panels), ACROSS)
    down = -(-len(panels) // across)
    with rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(max(7.5, 4.8 * across), 1.2 + 4 * down), layout="constrained")
        figure.suptitle(title, fontsize=11, fontweight="bold", color=INK, wrap=True)
        grid = figure.subplots(down, across, squeeze=False)
        for number, axes in enumerate(grid.flat):
            if number < len(panels):
                _panel(axes, chart, rows, panels[number])
            else:
                axes.set_visible(False)
        handles, labels = grid.flat[0].get_legend_handles_labels()
        across = max(1, int(figure.get_figwidth() / (0.6 + 0.085 * max(map(len, labels), default=0))))
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), across) or 1, frameon=False)
        figure.savefig(path, dpi=130, metadata={"Date": None} if path.suffix == ".svg" else None)


def _panel(axes: Axes, chart: Chart, rows: Sequence[Row], panel: str) -> None:
    measured = Rows(rows, chart)
    lines = {
        line: sorted(measured.series(chart.y, line).get(panel, []))
        for line in dict.fromkeys(row[chart.line] for row in rows)
        if line.startswith(chart.only)
    }
    for number, (line, points) in enumerate(lines.items()):
        lost = "y" in chart.log and points and not any(y for _, y in points)  # no logarithm of 0
        color, mark = LINES[number % len(LINES)], MARKS[number % len(MARKS)]
        axes.plot(
            *zip(*points, strict=True) if points else ([], []),
            f"{mark}-",
            color=color,
            label=f"{line}: 0" if lost else line,
            markersize=5,
        )
    if chart.panel and not chart.panel_is_x:
        axes.set_title(str(panel), fontsize=10, loc="left", color=INK)
    axes.set_xlabel(str(panel) if chart.panel_is_x else chart.x_label or chart.x, color=INK)
    axes.set_ylabel(chart.y_label or chart.y, color=INK)
    places = sorted({x for points in lines.values() for x, _ in points})
    if "x" in chart.log and places and places[-1] >= 10 * places[0]:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(lambda *_: "")
        axes.tick_params(axis="x", which="minor", length=0)
    if len(places) <= FEW:
        axes.set_xticks(places, [_short(x) for x in places])
    else:
        axes.xaxis.set_major_formatter(lambda x, _: _short(x))
    if "y" in chart.log:
        _log(axes, [y for points in lines.values() for _, y in points if y > 0])
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.3g}%" if chart.share else _told(y))
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK)
    for edge in ("top", "right"):
        axes.spines[edge].set_visible(False)
    for edge in ("left", "bottom"):
        axes.spines[edge].set_color(GREY)


def _log(axes: Axes, values: Sequence[float]) -> None:
    """A logarithmic axis with as many numbers as it needs: at 1, 2 and 5 of every power if there are few of these."""
    from matplotlib.ticker import LogLocator

    axes.set_yscale("log")
    powers = math.log10(max(values, default=1) / min(values, default=1))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if powers < WIDE else (1,), numticks=20))
    axes.yaxis.set_minor_formatter(lambda *_: "")


def _short(value: float) -> str:
    """A number of what was varied, briefly enough to stand beside others: 10k, 2M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size and value % (size / 10) == 0 and value >= SHORTENED:
            return f"{value / size:g}{letter}"
    return f"{value:,.6g}"


def _told(value: float) -> str:
    """A number as an axis has it."""
    if abs(value) >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
