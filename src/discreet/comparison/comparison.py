"""What a comparison found: for each method errors, widths, loss and time, as a table and as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

NOTE = "These are statistics of the private table: they are for its steward, and not to be published."
COLUMNS = ("method", "error", "mean error", "width", "loss", "dm", "groups", "publish", "per query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one method came to, or why it was `refused`.

    `error` is the median of |estimate - truth| / |truth| over the questions that it `answered`, `mean_error`
    their mean, `errors` the median for each aggregate; `width` the mean of (high - low) / |truth|. `outside` counts
    the questions whose truth lies outside the bounds, which only rows that were `suppressed` can bring about.
    `loss` is the normalised certainty penalty as a share; `dm` the discernibility. Times are in seconds: to
    publish, and the median to answer a question. `unanswered` says why questions had no answer.
    """

    method: str
    refused: str | None = None
    answered: int = 0
    unanswered: str | None = None
    error: float | None = None
    mean_error: float | None = None
    errors: Mapping[str, float] = field(default_factory=dict)
    width: float | None = None
    outside: int = 0
    loss: float | None = None
    dm: float | None = None
    groups: int | None = None
    suppressed: int = 0
    publish_seconds: float | None = None
    query_seconds: float | None = None

    def cells(self) -> list[str]:
        """The outcome as people read it, in the order of `COLUMNS`."""
        if self.refused is not None:
            return [self.method, "refused", *["–"] * (len(COLUMNS) - 2)]
        shares = [_shown(value, "{:,.1%}") for value in (self.error, self.mean_error, self.width, self.loss)]
        sizes = [_shown(value, "{:,.0f}") for value in (self.dm, self.groups)]
        per_query = None if self.query_seconds is None else 1000 * self.query_seconds
        times = [_shown(self.publish_seconds, "{:,.2f} s"), _shown(per_query, "{:,.1f} ms")]
        return [self.method, *shares, *sizes, *times]

    def remarks(self) -> list[str]:
        """What the figures do not say."""
        found = []
        if self.refused is not None:
            found.append(f"refused: {self.refused}")
        if self.unanswered is not None:
            found.append(f"not answered: {self.unanswered}")
        if self.suppressed:
            found.append(f"{self.suppressed:,} rows were suppressed")
        if self.outside:
            found.append(f"{self.outside:,} of {self.answered:,} truths lie outside the bounds")
        return [f"{self.method}: {remark}" for remark in found]


@dataclass(frozen=True)
class Comparison:
    """The outcomes of several methods at the same guarantee, on the same table and questions."""

    table: str
    rows: int
    guarantee: Mapping[str, float]
    queries: int
    outcomes: tuple[Outcome, ...]

    @property
    def title(self) -> str:
        promises = ", ".join(f"{name} = {threshold:,}" for name, threshold in self.guarantee.items())
        return f"{self.table}: {self.rows:,} rows, {promises}, {self.queries:,} random questions"

    def cells(self) -> list[list[str]]:
        return [outcome.cells() for outcome in self.outcomes]

    def remarks(self) -> list[str]:
        """Why methods were refused, and what else the figures do not say."""
        return [remark for outcome in self.outcomes for remark in outcome.remarks()]

    def chart(self, path: str | Path) -> Path:
        """Draw errors, widths and losses into a PNG or SVG file; needs the extra `charts`."""
        from discreet.comparison.chart import draw

        return draw(self, Path(path))

    def __repr__(self) -> str:
        lines = [list(COLUMNS), *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join(
                f"{cell:<{w}}" if i == 0 else f"{cell:>{w}}"
                for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in lines
        ]
        return "\n".join([self.title, *table, *self.remarks(), NOTE])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells())
        rest = "".join(f"<p>{escape(line)}</p>" for line in (*self.remarks(), NOTE))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<p>{escape(self.title)}</p>{table}{rest}"


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)
