"""What an outsider could do with the table as it is today: uniqueness, and the guarantees it could carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from sqlglot import exp

from discreet.errors import InputError
from discreet.table.looks import looks
from discreet.table.read import read
from discreet.table.summary import Grid, summary
from discreet.table.table import RELATION, Table
from discreet.table.telling import Telling, tellings
from discreet.values.columns import Column
from discreet.visible import in_a_line, visible
from discreet.words import aligned, nearest


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column: its kind, its distinct and missing values, the rows that alone hold their value."""

    name: str
    kind: str
    distinct: int
    missing: int
    unique: int
    suggestion: str


@dataclass(frozen=True, slots=True)
class QuasiProfile:
    """How far a set of quasi-identifiers singles people out."""

    quasi: tuple[str, ...]
    combinations: int
    unique: int
    below_5: int
    risk: float


@dataclass(frozen=True, slots=True)
class SensitiveProfile:
    """What the sensitive column allows: the share of its most frequent value, and the largest l."""

    sensitive: str
    distinct: int
    top_share: float
    largest_l: int


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """The profile of a private table. It is the steward's to read: never publish it.

    `tells` has what each quasi-identifier tells of the sensitive value, and the pairs that tell more. `notes` say which
    columns may be something else than what they were read as.
    """

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi: QuasiProfile | None
    sensitive: SensitiveProfile | None
    tells: tuple[Telling, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines: list[str] = []
        for part in summary(self):
            lines += [visible(part)] if isinstance(part, str) else _aligned(part)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def _aligned(grid: Grid) -> Iterator[str]:
    rows = [[in_a_line(cell) for cell in row] for row in grid.rows]
    return aligned([in_a_line(name) for name in grid.columns], rows, left=grid.left)


def inspect(
    source: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | None = None,
    csv: Mapping[str, Any] | None = None,
    excel: Mapping[str, Any] | None = None,
) -> Profile:
    """What an outsider could do with a table (a `Table`, or anything that `read` takes) as it is today.

    `quasi` are the columns that an outsider may know, `sensitive` is the one to protect. What comes out is
    about private data: keep it to yourself.
    """
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    if isinstance(source, Table):
        return profile(source, quasi=names, sensitive=sensitive)
    with read(source, csv=csv, excel=excel) as table:
        return profile(table, quasi=names, sensitive=sensitive)


def profile(table: Table, *, quasi: Sequence[str] = (), sensitive: str | None = None) -> Profile:
    """Profile `table`; see `Table.inspect`."""
    for name in [*quasi, *([sensitive] if sensitive else [])]:
        if name not in table.names():
            raise InputError(f"there is no column `{name}`", hint=nearest(name, table.names()))
    table.hold(table.names())
    columns = tuple(_column(table, column) for column in table.columns)
    return Profile(
        table.name,
        table.rows,
        columns,
        _quasi(table, tuple(quasi)) if quasi else None,
        _sensitive(table, sensitive) if sensitive else None,
        tellings(table, quasi, sensitive) if sensitive else (),
        tuple(_notes(table)),
    )


def _notes(table: Table) -> Iterator[str]:
    for look in looks(table):
        yield f"`{look.column}` is text, but looks like {look.like}: {look.advice}"
    for column in table.columns:
        if column.refused is not None:
            yield f"`{column.name}` {column.refused}"


def _tally(names: Sequence[str]) -> exp.Select:
    """How many rows hold each combination of values."""
    keys = [exp.column(name, quoted=True) for name in names]
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    return (
        exp.select(*(exp.alias_(key, f"key_{i}") for i, key in enumerate(keys)), count).from_(RELATION).group_by(*keys)
    )


def _integers(table: Table, query: exp.Select) -> list[int]:
    """The one row of a query, as integers."""
    return [int(column[0].as_py()) for column in table.engine.run(query).columns]


def _column(table: Table, column: Column) -> ColumnProfile:
    missing = "COALESCE(SUM(n) FILTER (WHERE key_0 IS NULL), 0)"
    query = exp.select("COUNT(key_0)", missing, "COUNT(*) FILTER (WHERE n = 1)").from_(
        _tally([column.name]).subquery("t")
    )
    distinct, missing_rows, unique = _integers(table, query)
    return ColumnProfile(
        column.name,
        column.kind or f"not supported ({column.type})",
        distinct,
        missing_rows,
        unique,
        _suggest(column, table.rows, distinct, unique),
    )


def _suggest(column: Column, rows: int, distinct: int, unique: int) -> str:
    if column.kind is None:
        return "drop"
    if distinct <= 1:
        return "constant: drop or quasi"
    if rows and unique / rows > 0.9 and column.kind in {"string", "integer"}:
        return "identifier?"
    return "quasi or sensitive?"


def _quasi(table: Table, quasi: tuple[str, ...]) -> QuasiProfile:
    query = exp.select("COUNT(*)", "COUNT(*) FILTER (WHERE n = 1)", "COALESCE(SUM(n) FILTER (WHERE n < 5), 0)").from_(
        _tally(quasi).subquery("t")
    )
    combinations, unique, below_5 = _integers(table, query)
    return QuasiProfile(quasi, combinations, unique, below_5, combinations / table.rows if table.rows else 0.0)


def _sensitive(table: Table, sensitive: str) -> SensitiveProfile:
    distinct, top = _integers(
        table, exp.select("COUNT(*)", "COALESCE(MAX(n), 0)").from_(_tally([sensitive]).subquery("t"))
    )
    return SensitiveProfile(sensitive, distinct, top / table.rows if top else 0.0, table.rows // top if top else 0)
