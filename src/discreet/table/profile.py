"""What an outsider could do with the table as it is today: uniqueness, and the guarantees it could carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.errors import InputError
from discreet.risk.risks import Risks
from discreet.table.looks import looks
from discreet.table.possible import PossibleL, PossibleRange, of_l, of_ranges
from discreet.table.read import read
from discreet.table.risks import Combination, riskiest, risks
from discreet.table.roles import Role, suggested
from discreet.table.summary import Grid, summary
from discreet.table.table import RELATION, Table
from discreet.table.telling import Telling, tellings
from discreet.values.codes import Codes
from discreet.values.columns import Column
from discreet.visible import in_a_line, visible
from discreet.words import aligned, nearest


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column: its kind, its distinct and missing values, the rows that alone hold their value; perhaps a role."""

    name: str
    kind: str
    distinct: int
    missing: int
    unique: int
    suggestion: str
    suggested: Role = "quasi"
    why: str = ""


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
    """What the sensitive column allows: the share of its most frequent value, and the largest l.

    Where values are harmless, it is of the rows that hold none; where people have several rows, the l is one that all
    of them together keep.
    """

    sensitive: str
    distinct: int
    top_share: float
    largest_l: int
    possible: tuple[PossibleL, ...] = ()
    ranges: tuple[PossibleRange, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """The profile of a private table. It is the steward's to read: never publish it.

    `tells` has what each quasi-identifier tells of the sensitive value, and two or three that tell more. `notes` say
    which columns may be something else than what they were read as. `people` is how many there are, where they may have
    several rows: then what is said of quasi-identifiers is about people. `risks` are what the quasi-identifiers risk,
    and `combinations` the few columns that single people out most.
    """

    name: str
    rows: int
    columns: tuple[ColumnProfile, ...]
    quasi: QuasiProfile | None
    sensitive: SensitiveProfile | None
    tells: tuple[Telling, ...] = ()
    notes: tuple[str, ...] = ()
    people: int | None = None
    risks: Risks | None = None
    combinations: tuple[Combination, ...] = ()

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
    person: str | None = None,
    harmless: Sequence[Any] = (),
    csv: Mapping[str, Any] | None = None,
    excel: Mapping[str, Any] | None = None,
) -> Profile:
    """What an outsider could do with a table (a `Table`, or anything that `read` takes) as it is today.

    `quasi` are the columns that an outsider may know, `sensitive` is the one to protect. `person` tells people apart
    who have several rows, and `harmless` are sensitive values that need no protection, as in a policy. What comes out
    is about private data: keep it to yourself.
    """
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    if isinstance(source, Table):
        return profile(source, quasi=names, sensitive=sensitive, person=person, harmless=harmless)
    with read(source, csv=csv, excel=excel) as table:
        return profile(table, quasi=names, sensitive=sensitive, person=person, harmless=harmless)


def profile(
    table: Table,
    *,
    quasi: Sequence[str] = (),
    sensitive: str | None = None,
    person: str | None = None,
    harmless: Sequence[Any] = (),
) -> Profile:
    """Profile `table`; see `Table.inspect`."""
    for name in [*quasi, *(name for name in (sensitive, person) if name)]:
        if name not in table.names():
            raise InputError(f"there is no column `{name}`", hint=nearest(name, table.names()))
    columns = column_profiles(table)
    spared = harmless if sensitive else ()
    kept = _spared(table.codes(sensitive), spared) if sensitive and spared else None
    known = [name for name in quasi if table[name].kind is not None] if table.rows else []
    held = sensitive if sensitive and table[sensitive].kind is not None else None
    return Profile(
        table.name,
        table.rows,
        columns,
        _quasi(table, tuple(quasi), person) if quasi else None,
        _sensitive(table, sensitive, person, spared) if sensitive else None,
        tellings(table, quasi, sensitive, among=_looked_at(table, sensitive, person, spared)) if sensitive else (),
        tuple(_notes(table)),
        None if person is None else _integers(table, exp.select(_people(person)).from_(RELATION))[0],
        risks(table, known, sensitive=held, spared=kept, person=person) if known else None,
        riskiest(table, known) if known and person is None else (),
    )


def column_profiles(table: Table) -> tuple[ColumnProfile, ...]:
    """What each column of a table holds, and which role it may have."""
    table.hold(table.names())
    return tuple(_column(table, column) for column in table.columns)


def _people(person: str) -> exp.Expr:
    return exp.Count(this=exp.Distinct(expressions=[exp.column(person, quoted=True)]))


def _looked_at(
    table: Table, sensitive: str, person: str | None, harmless: Sequence[Any]
) -> npt.NDArray[np.int64] | None:
    """The places of the rows that tell something: one of each person; and those that hold no harmless value."""
    if person is not None:
        return np.sort(np.unique(table.codes(person).codes, return_index=True)[1])
    if not harmless:
        return None
    codes = table.codes(sensitive)
    return np.flatnonzero(~_spared(codes, harmless)[codes.codes])


def _spared(codes: Codes, harmless: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Of each value of the sensitive column whether it is harmless; a missing one is not."""
    try:
        named = pa.array(list(harmless)).cast(codes.domain.type)
    except pa.ArrowException:
        raise InputError(
            f"harmless values are not of the sensitive column's type, {codes.domain.type}",
            hint="write them as the column has them",
        ) from None
    spared = np.zeros(codes.size, np.bool_)
    spared[: len(codes.domain)] = pc.is_in(codes.domain, named)
    return spared


def _notes(table: Table) -> Iterator[str]:
    for look in looks(table):
        yield f"`{look.column}` is text, but looks like {look.like}: {look.advice}"
    for column in table.columns:
        if column.refused is not None:
            yield f"`{column.name}` {column.refused}"


def _tally(names: Sequence[str], person: str | None = None) -> exp.Select:
    """How many rows, or people, hold each combination of values."""
    keys = [exp.column(name, quoted=True) for name in names]
    count = exp.alias_(exp.Count(this=exp.Star()) if person is None else _people(person), "n")
    return (
        exp.select(*(exp.alias_(key, f"key_{i}") for i, key in enumerate(keys)), count).from_(RELATION).group_by(*keys)
    )


def _integers(table: Table, query: exp.Select) -> list[int]:
    """The one row of a query, as integers."""
    return [int(column[0].as_py()) for column in table.engine.run(query).columns]


def _column(table: Table, column: Column) -> ColumnProfile:
    missing = "COALESCE(SUM(n) FILTER (WHERE key_0 IS NULL), 0)"
    words = "COALESCE(SUM(LENGTH(key_0) - LENGTH(REPLACE(key_0, ' ', ''))), 0)" if column.kind == "string" else "0"
    query = exp.select("COUNT(key_0)", missing, "COUNT(*) FILTER (WHERE n = 1)", words).from_(
        _tally([column.name]).subquery("t")
    )
    distinct, missing_rows, unique, spaces = _integers(table, query)
    per_text = 1 + spaces / max(distinct, 1)
    role = suggested(column.name, column.kind or "not supported", table.rows, distinct, unique, per_text)
    return ColumnProfile(
        column.name,
        column.kind or f"not supported ({column.type})",
        distinct,
        missing_rows,
        unique,
        _suggest(column, distinct, role.role),
        role.role,
        role.why,
    )


def _suggest(column: Column, distinct: int, role: Role) -> str:
    if column.kind is not None and distinct <= 1:
        return "constant: drop or quasi"
    return {"identifiers": "identifier?", "drop": "drop" if column.kind is None else "drop?"}.get(
        role, "quasi or sensitive?"
    )


def _quasi(table: Table, quasi: tuple[str, ...], person: str | None) -> QuasiProfile:
    query = exp.select("COUNT(*)", "COUNT(*) FILTER (WHERE n = 1)", "COALESCE(SUM(n) FILTER (WHERE n < 5), 0)").from_(
        _tally(quasi, person).subquery("t")
    )
    combinations, unique, below_5 = _integers(table, query)
    of = table.rows if person is None else _integers(table, exp.select(_people(person)).from_(RELATION))[0]
    return QuasiProfile(quasi, combinations, unique, below_5, min(combinations / of, 1.0) if of else 0.0)


def _sensitive(table: Table, sensitive: str, person: str | None, harmless: Sequence[Any]) -> SensitiveProfile:
    if harmless:
        codes = table.codes(sensitive)
        counts = codes.counts()[~_spared(codes, harmless)]
        distinct, top, rows = int(np.count_nonzero(counts)), int(counts.max(initial=0)), int(counts.sum())
    else:
        tally = _tally([sensitive]).subquery("t")
        distinct, top = _integers(table, exp.select("COUNT(*)", "COALESCE(MAX(n), 0)").from_(tally))
        rows = table.rows
    most = 1
    if person is not None:
        (most,) = _integers(table, exp.select("COALESCE(MAX(n), 1)").from_(_tally([person]).subquery("t")))
    possible: tuple[PossibleL, ...] = ()
    ranges: tuple[PossibleRange, ...] = ()
    if person is None and table[sensitive].kind is not None:
        codes = table.codes(sensitive)
        possible = of_l(codes.counts() if not harmless else codes.counts()[~_spared(codes, harmless)])
        ranges = of_ranges(codes)
    largest = rows // (top * most) if top else 0
    return SensitiveProfile(sensitive, distinct, top / rows if top else 0.0, largest, possible, ranges)
