"""What an outsider could do with the table as it is today: uniqueness, and the guarantees it could carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.errors import InputError
from discreet.table.table import RELATION, Table
from discreet.table.telling import Telling, tellings
from discreet.values.columns import Column
from discreet.words import nearest


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


@dataclass(frozen=True, slots=True)
class Profile:
    """The profile of a private table. It is the steward's to read: never publish it.

    `tells` has what each quasi-identifier tells of the sensitive value, and the pairs that tell more.
    """

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi: QuasiProfile | None
    sensitive: SensitiveProfile | None
    tells: tuple[Telling, ...] = ()


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
    )


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
