"""A workload: what people ask of a table, and what the table itself answers.

Questions are drawn in equal parts of these kinds; all but the last are cells of tables, and every cell of a table
is as likely as any other, those that hold nobody included:

    one-way   how many people are in a band of one quasi-identifier and a band of the sensitive column
    two-way   the same with two quasi-identifiers
    sum, avg  of the sensitive column in a band of one or two quasi-identifiers, where it holds numbers
    range     how many people meet conditions on one to three quasi-identifiers and on the sensitive column, each a
              range of values that have an order or a set of others; 5 to 10 % of the rows meet all of them

A band is a value, or of a column with an order and many values one of eight stretches with about as many rows each; of
other columns with many values, one of the eight most frequent. An error is relative to the truth, but to ten
people where fewer are counted: no cell is left out because little is in it. Sums and averages of fewer than ten
people, or whose truth is 0, are not asked.
Source: Xiao and Tao (VLDB 2006), section 6.1, for the ranges.
Claim: every_question_touches_the_sensitive_column — none is answered by the quasi-identifiers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.engines.dialect import sql_type
from discreet.errors import InputError
from discreet.values.codes import Codes
from discreet.values.columns import kind_of

SELECTIVITY = (0.05, 0.10)
FAR = (0.02, 0.20)  # matching rows beyond which a range is drawn again
AGAIN = 20
BANDS = 8
FEW = 10  # people
MOST_COLUMNS = 3
PLAIN = int | float | Decimal | str | bool | date
NUMBERS = {"integer", "float", "decimal"}


@dataclass(frozen=True, slots=True)
class Query:
    """A question in SQL, its kind, the true answer, and what an error is relative to."""

    sql: str
    kind: str
    truth: float
    scale: float


@dataclass(frozen=True)
class Field:
    """A column to draw conditions on."""

    name: str
    type: pa.DataType
    codes: Codes
    ordered: bool

    def bands(self) -> list[exp.Expr]:
        """Conditions on its values that exclude each other, of which a cell has one."""
        counts = self.codes.counts()[: len(self.codes.domain)]
        column, held = exp.column(self.name, quoted=True), np.flatnonzero(counts)
        if held.size <= BANDS or not self.ordered:
            chosen = np.sort(held[np.argsort(-counts[held], kind="stable")[:BANDS]])
            return [exp.EQ(this=column.copy(), expression=self._literal(int(code))) for code in chosen]
        stretch = np.minimum(np.cumsum(counts[held]) * BANDS // (counts.sum() + 1), BANDS - 1)
        parts = [held[stretch == band] for band in np.unique(stretch)]
        ends = [{"low": self._literal(int(part[0])), "high": self._literal(int(part[-1]))} for part in parts]
        return [exp.Between(this=column.copy(), **each) for each in ends]

    def draw(self, share: float, chance: np.random.Generator) -> tuple[exp.Expr, npt.NDArray[np.bool_]]:
        """A condition that about this share of the rows meets, and the rows that do."""
        counts = self.codes.counts()[: len(self.codes.domain)]
        upto = np.cumsum(counts)
        column, codes = exp.column(self.name, quoted=True), self.codes.codes
        if self.ordered:
            start = chance.random() * max(1 - share, 0)
            low, high = np.searchsorted(upto, np.array([start, start + share]) * upto[-1], side="right")
            low, high = min(int(low), upto.size - 1), min(int(high), upto.size - 1)
            ends = {"low": self._literal(low), "high": self._literal(high)}
            return exp.Between(this=column, **ends), (codes >= low) & (codes <= high)
        order = chance.permutation(counts.size)
        enough = int(np.searchsorted(np.cumsum(counts[order]), share * upto[-1])) + 1
        chosen = np.sort(order[:enough])
        listed = exp.In(this=column, expressions=[self._literal(int(code)) for code in chosen])
        return listed, np.isin(codes, chosen)

    def _literal(self, code: int) -> exp.Expr:
        value = self.codes.domain[code].as_py()
        if isinstance(value, PLAIN) and not isinstance(value, datetime):
            return exp.convert(value)
        return exp.cast(exp.Literal.string(str(value)), sql_type(self.type))


@dataclass(frozen=True)
class Asked:
    """The table that is asked: a relation of an engine, whose rows meet the conditions of `kept` to be published."""

    engine: Engine
    relation: str
    quasi: tuple[Field, ...]
    sensitive: Field | None
    kept: tuple[exp.Expr, ...] = ()


def workload(table: Asked, queries: int, chance: np.random.Generator) -> list[Query]:
    """So many different questions, fewer if the table has no more."""
    quasi = [field for field in table.quasi if len(field.codes.domain)]
    sensitive = table.sensitive if table.sensitive is not None and len(table.sensitive.codes.domain) else None
    numeric = sensitive is not None and kind_of(sensitive.type) in NUMBERS
    kinds = ["one-way", *(["two-way"] if len(quasi) > 1 else []), *(["sum", "avg"] if numeric else []), "range"]
    bands = {field.name: field.bands() for field in (*quasi, *([] if sensitive is None else [sensitive]))}
    found: dict[str, Query] = {}
    for number in range(AGAIN * queries if quasi else 0):
        if len(found) == queries:
            break
        kind = kinds[number % len(kinds)]
        if kind == "range":
            conditions = _drawn(quasi, sensitive, chance)
        else:
            several = {"one-way": 1, "two-way": 2}.get(kind, int(chance.integers(1, min(len(quasi), 2) + 1)))
            chosen = [quasi[i] for i in chance.choice(len(quasi), several, replace=False)]
            counted = [sensitive] if sensitive is not None and kind.endswith("way") else []
            names = [field.name for field in (*chosen, *counted)]
            conditions = [bands[name][int(chance.integers(len(bands[name])))] for name in names]
        query = _asked(table, kind, conditions)
        if query is not None:
            found.setdefault(query.sql, query)
    if not found:
        raise InputError(
            "no random question about this table has an answer that can be compared", hint="compare on more rows"
        )
    return list(found.values())


def _asked(table: Asked, kind: str, conditions: Sequence[exp.Expr]) -> Query | None:
    """The question with what the rows that may be published answer; none if too few people are summed up."""
    select = _select(kind, "" if table.sensitive is None else table.sensitive.name)
    rows = select.select(exp.Count(this=exp.Star())).from_(table.relation).where(*conditions, *table.kept)
    value, people = (column[0].as_py() for column in table.engine.run(rows).columns)
    truth = 0.0 if value is None else float(value)
    if kind in {"sum", "avg"} and (people < FEW or not truth):
        return None
    scale = abs(truth) if kind in {"sum", "avg"} else max(truth, FEW)
    return Query(select.from_("microdata").where(*conditions).sql(dialect="duckdb"), kind, truth, scale)


def _drawn(quasi: list[Field], sensitive: Field | None, chance: np.random.Generator) -> list[exp.Expr]:
    """Conditions of about the right selectivity, or the nearest that were drawn."""
    wanted = chance.uniform(*SELECTIVITY)
    drawn: list[tuple[list[exp.Expr], float]] = []
    for _ in range(AGAIN):
        drawn.append(_conditions(quasi, sensitive, wanted, chance))
        if FAR[0] <= drawn[-1][1] <= FAR[1]:
            break
    return min(drawn, key=lambda each: abs(np.log(max(each[1], 1e-9) / wanted)))[0]


def _conditions(
    quasi: list[Field], sensitive: Field | None, wanted: float, chance: np.random.Generator
) -> tuple[list[exp.Expr], float]:
    several = int(chance.integers(1, min(len(quasi), MOST_COLUMNS) + 1))
    chosen = [quasi[i] for i in chance.choice(len(quasi), several, replace=False)]
    if sensitive is not None:
        chosen.append(sensitive)
    parts = [field.draw(wanted ** (1 / len(chosen)), chance) for field in chosen]
    return [condition for condition, _ in parts], float(np.mean(np.logical_and.reduce([rows for _, rows in parts])))


def _select(kind: str, sensitive: str) -> exp.Select:
    column = exp.column(sensitive, quoted=True)
    made: dict[str, exp.Expr] = {"sum": exp.Sum(this=column), "avg": exp.Avg(this=column)}
    return exp.select(exp.alias_(made.get(kind, exp.Count(this=exp.Star())), "answer"))
