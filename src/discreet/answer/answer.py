"""An answer: a small table of estimates, standard errors and hard bounds, and the SQL that computed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.answer.question.question import ENDS
from discreet.values import frames
from discreet.visible import in_a_cell, in_a_line

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SHOWN = 20


@dataclass(frozen=True)
class Basis:
    """What the estimates of one `estimator` assume, and how far from the truth they may be."""

    estimator: str
    what: str
    truth: str = "; where they are not, the truth can be many stderr away"

    def sentence(self, *, stderr: bool, bounds: bool) -> str:
        """It speaks of stderr, and of low and high, only where there are any."""
        certain = "the truth is certain to lie between low and high. " if bounds else ""
        assumed = "Estimate and stderr assume" if stderr else "The estimate assumes"
        truth = self.truth if stderr else "; the truth can be far away"
        said = f"{certain}{assumed} that {self.what} (estimator `{self.estimator}`){truth}"
        return said[0].lower() + said[1:]


DRAWN = Basis("even", "the values of a group are spread over its people at random")
SWAPPED = Basis(
    "even", "every row holds the value that it shows", "; where it does not, the truth can be many stderr away"
)
EVEN = DRAWN.sentence(stderr=True, bounds=True)


@dataclass(frozen=True)
class Answer:
    """What a release tells about a question. Each aggregate `x` has columns `x`, `x_stderr`, `x_low`, `x_high`."""

    question: str
    table: pa.Table = field(repr=False)
    sql: str = field(repr=False)
    notes: tuple[str, ...] = ()
    basis: Basis = DRAWN
    estimators: Mapping[str, str] = field(default_factory=dict)  # of each aggregate, `exact`, or two: `design, even`

    @property
    def estimator(self) -> str:
        """What the question was answered by: `even`, `design` or another; `estimators` says it column by column."""
        return self.basis.estimator

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def cells(self, most: int | None = None) -> list[list[str]]:
        """The rows (at most so many) as people read them."""
        measures = {
            f"{name}{end}" for name in self.columns if f"{name}_stderr" in self.columns for end in ENDS.values()
        }
        return [
            [measure(value) if name in measures else key(value) for name, value in row.items()]
            for row in self.table.slice(0, most).to_pylist()
        ]

    @property
    def assumption(self) -> str | None:
        """What the estimates stand on; nothing where all of them are exact."""
        found = []
        for name in self.columns:
            if f"{name}_stderr" in self.columns:
                rows = zip(*(self.table[f"{name}{end}"].to_pylist() for end in ENDS.values()), strict=True)
                found += [row for row in rows if _estimated(*row)]
        if not found:
            return None
        stderr = any(row[1] is not None for row in found)
        bounds = any(end is not None for row in found for end in row[2:])
        return self.basis.sentence(stderr=stderr, bounds=bounds)

    def to_arrow(self) -> pa.Table:
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        return frames.to_pandas(self.table)

    def to_polars(self) -> pl.DataFrame:
        return frames.to_polars(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return "\n".join([*_lines(self.columns, self.cells(SHOWN)), *map(in_a_line, _rest(self))])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(in_a_line(name))}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.cells(SHOWN)
        )
        rest = "".join(f"<p>{escape(in_a_line(line))}</p>" for line in _rest(self))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _estimated(estimate: Any, stderr: Any, low: Any, high: Any) -> bool:
    """Whether a figure is not exact; rows that a release leaves out widen bounds, and leave a stderr of 0."""
    return estimate is not None and stderr != 0 and not low == estimate == high


def measure(value: Any) -> str:
    """A measured value as people read it."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return key(value)
    if isinstance(value, float) and not abs(value) < 1e15:  # also what is no number
        return f"{value:.6g}"
    if isinstance(value, int) or (value == value.to_integral() if isinstance(value, Decimal) else value.is_integer()):
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(float(value)) < 1000 else f"{value:,.1f}"


def key(value: Any) -> str:
    """A key of an answer as people read it."""
    return "–" if value is None else in_a_line(str(value))


def _lines(columns: list[str], rows: list[list[str]]) -> list[str]:
    columns, *cells = ([*map(in_a_cell, row)] for row in (columns, *rows))
    widths = [max(len(cell) for cell in column) for column in zip(columns, *cells, strict=True)]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in [columns, *cells]]


def _rest(answer: Answer) -> list[str]:
    more = [f"… and {len(answer) - SHOWN} more rows"] if len(answer) > SHOWN else []
    return [*more, *(f"note: {note}" for note in said(answer))]


def said(answer: Answer) -> list[str]:
    """All that is to be said beside the figures of an answer."""
    return [*answer.notes, *([] if answer.assumption is None else [answer.assumption])]
