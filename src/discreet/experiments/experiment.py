"""What an experiment is: a figure of a paper, as cells to measure one by one, claims to judge, and a chart to draw.

parameters   the paper's values, by name; whoever runs it may set others of the same type
scales       what `quick` and `medium` set instead; `full` is the paper's own
cells        the settings of one measurement each, so that a run can stop and go on
measure      a cell in, rows out: what was varied, the method, and the figures
claims       what the paper says, each judged on the rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from discreet.experiments.data import Data

Row: TypeAlias = dict[str, Any]
Settings: TypeAlias = Mapping[str, Any]
Judged: TypeAlias = tuple[bool, str]
SCALES = ("quick", "medium", "full")
NOISE = 0.1  # by which share of the best so far a step may go back where the paper says that a figure grows or falls


@dataclass(frozen=True)
class Chart:
    """What is drawn: `y` over `x`, a line for each `line`, a panel for each `panel`.

    Lines are drawn whose names begin with `only`. Texts call what was varied `named`, or by the column `x`; where every
    panel varies something else, by the panel.
    """

    x: str
    y: str
    panel: str | None = None
    line: str = "method"
    x_label: str = ""
    y_label: str = ""
    log: tuple[str, ...] = ()
    share: bool = False
    only: str = ""
    named: str = ""
    panel_is_x: bool = False

    def place(self, x: Any, panel: Any) -> str:
        """Where a figure stands, in words."""
        name = panel if self.panel_is_x else self.named or self.x
        return f"{name} = {_told(x)}" + (f", {panel}" if panel != "" and not self.panel_is_x else "")


@dataclass(frozen=True)
class Rows:
    """The measured rows, and which of their columns were varied."""

    all: Sequence[Row]
    chart: Chart

    def series(self, y: str, method: str) -> dict[Any, list[tuple[Any, float]]]:
        """The figures of one method over `x`, in every panel."""
        found: dict[Any, list[tuple[Any, float]]] = {}
        for row in self.all:
            if row[self.chart.line] == method and row.get(y) is not None:
                panel = row[self.chart.panel] if self.chart.panel else ""
                found.setdefault(panel, []).append((row[self.chart.x], row[y]))
        return found

    def pairs(self, y: str, one: str, other: str) -> Iterator[tuple[str, float, float]]:
        """The figures of two methods at the same place."""
        theirs = {(panel, x): value for panel, line in self.series(y, other).items() for x, value in line}
        for panel, line in self.series(y, one).items():
            for x, value in line:
                if (panel, x) in theirs:
                    yield self.chart.place(x, panel), value, theirs[panel, x]


@dataclass(frozen=True)
class Claim:
    """What the paper says, how it is judged, and why it does not hold here where that is known."""

    text: str
    judge: Callable[[Rows], Judged]
    why: str = ""


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and whether it holds: None if these rows cannot tell."""

    claim: str
    holds: bool | None
    measured: str
    why: str = ""


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper; the module's docstring says what its parts are."""

    name: str
    paper: str
    title: str
    parameters: Mapping[str, Any]
    cells: Callable[[Settings], Sequence[Row]]
    measure: Callable[[Row, Settings, Data], Iterable[Row]]
    chart: Chart
    claims: Sequence[Claim]
    tables: Sequence[str] = ()  # of `data.TABLES`; none, if the paper's own table is synthetic
    scales: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of numbers, where they are not 1 and none
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)  # that a parameter may be, if not the paper's own
    alike: Sequence[str] = ()  # figures that show other columns of the same rows

    def settings(self, scale: str, given: Settings) -> dict[str, Any]:
        """The parameters of a run."""
        return {**self.parameters, **self.scales.get(scale, {}), **given}

    def judged(self, rows: Sequence[Row]) -> list[Verdict]:
        """Every claim, held against what was measured."""
        found, told = [], Rows(rows, self.chart)
        for claim in self.claims:
            try:
                judged, measured = claim.judge(told)
                holds = bool(judged)  # and not NumPy's, which is neither True nor False
                found.append(Verdict(claim.text, holds, measured, "" if holds else claim.why))
            except ValueError:  # nothing to compare: a parameter left no such rows
                found.append(Verdict(claim.text, None, "not measured with these parameters"))
        return found


def beats(y: str, better: str, worse: str, times: float = 1.0) -> Callable[[Rows], Judged]:
    """Everywhere, the figure of `better` is below that of `worse`, so many times."""

    def judge(rows: Rows) -> Judged:
        ratios = sorted(
            (theirs / ours if ours else float("inf"), where) for where, ours, theirs in rows.pairs(y, better, worse)
        )
        least, where = min(ratios)
        median = ratios[len(ratios) // 2][0]
        return least > times, f"{worse} / {better}: {_told(least)} at least ({where}), {_told(median)} at the median"

    return judge


def under(y: str, method: str, limit: float) -> Callable[[Rows], Judged]:
    """Everywhere, the figure of a method is below a limit."""

    def judge(rows: Rows) -> Judged:
        most = max(value for line in rows.series(y, method).values() for _, value in line)
        return most < limit, f"{method}: {_told(most)} at most"

    return judge


def rises(y: str, method: str, *, times: float = 1.0) -> Callable[[Rows], Judged]:
    """In every panel a method's figure grows at every step, and the last is so many times the first, at least."""
    return _trend(y, method, lambda first, last: last > times * first, up=True)


def falls(y: str, method: str, *, times: float = 1.0) -> Callable[[Rows], Judged]:
    """In every panel a method's figure falls at every step, and the first is so many times the last, at least."""
    return _trend(y, method, lambda first, last: first > times * last, up=False)


def back(line: Sequence[tuple[Any, float]], *, up: bool) -> tuple[float, Any]:
    """By which share of the best so far a line that should rise, or fall, goes back at most, and where."""
    worst, where, best = 0.0, None, line[0][1]
    for x, value in line:
        lost = best - value if up else value - best
        if lost > worst * best:
            worst, where = lost / best if best else float("inf"), x
        best = max(best, value) if up else min(best, value)
    return worst, where


def steady(y: str, method: str, times: float) -> Callable[[Rows], Judged]:
    """In every panel the largest figure of a method is at most so many times the smallest."""

    def judge(rows: Rows) -> Judged:
        spread = {panel: [value for _, value in line] for panel, line in rows.series(y, method).items()}
        found = {panel: max(values) / min(values) if min(values) else float("inf") for panel, values in spread.items()}
        worst = max(found.values())
        return worst <= times, f"{method}: largest / smallest {_told(worst)}"

    return judge


def every(*judges: Callable[[Rows], Judged]) -> Callable[[Rows], Judged]:
    """All of several."""

    def judge(rows: Rows) -> Judged:
        found = [each(rows) for each in judges]
        return all(holds for holds, _ in found), "; ".join(text for _, text in found)

    return judge


def _trend(y: str, method: str, fits: Callable[[float, float], bool], *, up: bool) -> Callable[[Rows], Judged]:
    def judge(rows: Rows) -> Judged:
        lines = {panel: sorted(line) for panel, line in rows.series(y, method).items() if len(line) > 1}
        if not lines:
            raise ValueError(method)
        ends = {panel: (line[0], line[-1]) for panel, line in lines.items()}
        own = rows.chart.panel_is_x
        shown = ", ".join(
            f"{panel + ' ' if panel and not own else ''}{_told(first)} → {_told(last)}"
            for panel, ((_, first), (_, last)) in ends.items()
        )
        span = {
            f"{rows.chart.place(a, panel if own else '')} to {_told(b)}" for panel, ((a, _), (b, _)) in ends.items()
        }
        over = f" ({min(span)})" if len(span) == 1 else ""
        share, where = max((share, rows.chart.place(x, panel)) for panel, (share, x) in _backs(lines, up=up).items())
        steps = f", but back by {share:.0%} on the way ({where})" if share > NOISE else ""
        holds = all(fits(a, b) for (_, a), (_, b) in ends.values())
        return holds and not steps, f"{method}: {shown}{over}{steps}"

    return judge


def _backs(lines: Mapping[Any, Sequence[tuple[Any, float]]], *, up: bool) -> dict[Any, tuple[float, Any]]:
    return {panel: back(line, up=up) for panel, line in lines.items()}


def _told(value: Any) -> str:
    if not isinstance(value, float):
        return told(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def told(value: Any) -> str:
    """A parameter as people write it."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
