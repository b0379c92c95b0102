"""An answer: a small table of estimates, standard errors and hard bounds, and the SQL that computed it."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from discreet.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SHOWN = 20


@dataclass(frozen=True)
class Answer:
    """What a release tells about a question. Each aggregate `x` has columns `x`, `x_stderr`, `x_low`, `x_high`."""

    question: str
    table: pa.Table = field(repr=False)
    sql: str = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        return list(self.table.column_names)

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return rows

    def to_arrow(self) -> pa.Table:
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        try:
            import pandas as pd  # noqa: F401 - pyarrow needs it
        except ImportError:
            raise MissingExtraError("pandas is not installed", hint="pip install 'discreet[pandas]'") from None
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        try:
            import polars as pl
        except ImportError:
            raise MissingExtraError("Polars is not installed", hint="pip install 'discreet[polars]'") from None
        return pl.DataFrame(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return "\n".join([*_lines(self.columns, _cells(self.table)), *_rest(self)])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _cells(self.table)
        )
        rest = "".join(f"<p>{escape(line)}</p>" for line in _rest(self))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def shown(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return (
            f"{value:,.0f}"
            if value.is_integer() and abs(value) < 1e15
            else f"{value:,.4g}"
            if abs(value) < 1000
            else f"{value:,.1f}"
        )
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return str(value)


def _cells(table: pa.Table) -> list[list[str]]:
    return [[shown(value) for value in row.values()] for row in table.slice(0, SHOWN).to_pylist()]


def _lines(columns: list[str], cells: list[list[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(columns, *cells, strict=True)]
    return ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in [columns, *cells]]


def _rest(answer: Answer) -> list[str]:
    more = [f"… and {len(answer) - SHOWN} more rows"] if len(answer) > SHOWN else []
    return [*more, *(f"note: {note}" for note in answer.notes)]
