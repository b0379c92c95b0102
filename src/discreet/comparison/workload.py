"""A workload: random questions about a private table, and what the table itself answers.

A question has conditions on one to three random quasi-identifiers, and in half of the cases on the
sensitive column: a range of values that have an order, a set of others. The columns of a question are
given equal parts in a selectivity of 5 to 10 % of the rows, as if they were independent; a question
that is far from it is drawn again, a few times. It counts people, or, where the sensitive column
holds numbers, in half of the cases sums or averages them. A question whose answer is 0 is left out: an error
relative to it would mean nothing.
Source: Xiao and Tao (VLDB 2006), section 6.1, with ranges beside sets.
Claim: questions_have_the_selectivity_that_was_asked_for — where the columns allow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines.dialect import sql_type
from discreet.errors import InputError
from discreet.policy import Policy
from discreet.publication.axes import present
from discreet.table import Table
from discreet.table.table import RELATION
from discreet.values.codes import Codes
from discreet.values.columns import UNORDERED

SELECTIVITY = (0.05, 0.10)
FAR = (0.02, 0.20)  # matching rows beyond which a question is drawn again
AGAIN = 20
MOST_COLUMNS = 3
PLAIN = int | float | Decimal | str | bool | date
NUMBERS = {"integer", "float", "decimal"}


@dataclass(frozen=True, slots=True)
class Query:
    """A question in SQL, its aggregate, the share of rows that match, and the true answer."""

    sql: str
    aggregate: str
    matching: float
    truth: float


@dataclass(frozen=True)
class _Field:
    """A column to draw conditions on."""

    name: str
    type: pa.DataType
    codes: Codes
    ordered: bool

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


def workload(table: Table, policy: Policy, queries: int, chance: np.random.Generator) -> list[Query]:
    """So many questions, fewer if the table has no more."""
    quasi = [field for name in policy.quasi if len((field := _field(table, policy, name)).codes.domain)]
    sensitive = None if policy.sensitive is None else _field(table, policy, policy.sensitive)
    numeric = sensitive is not None and table[sensitive.name].kind in NUMBERS
    found: list[Query] = []
    for _ in range(AGAIN * queries if quasi else 0):
        if len(found) == queries:
            break
        conditions, matching = _drawn(quasi, sensitive, chance)
        aggregate = str(chance.choice(["count", "count", "sum", "avg"])) if numeric else "count"
        select = _select(aggregate, "" if sensitive is None else sensitive.name)
        truth = _truth(table, policy, select, conditions)
        if truth:
            asked = select.from_("microdata").where(*conditions)
            found.append(Query(asked.sql(dialect="duckdb"), aggregate, matching, truth))
    if not found:
        raise InputError("no question about this table has an answer to compare with", hint="compare on more rows")
    return found


def _field(table: Table, policy: Policy, name: str) -> _Field:
    column = table[name]
    ordered = column.kind not in UNORDERED or name in policy.ordered
    return _Field(name, column.type, table.codes(name, present=present(policy)), ordered)


def _drawn(quasi: list[_Field], sensitive: _Field | None, chance: np.random.Generator) -> tuple[list[exp.Expr], float]:
    """Conditions of about the right selectivity, or the nearest that were drawn, and the share of rows they meet."""
    wanted = chance.uniform(*SELECTIVITY)
    drawn: list[tuple[list[exp.Expr], float]] = []
    for _ in range(AGAIN):
        drawn.append(_conditions(quasi, sensitive, wanted, chance))
        if FAR[0] <= drawn[-1][1] <= FAR[1]:
            break
    return min(drawn, key=lambda each: abs(np.log(max(each[1], 1e-9) / wanted)))


def _conditions(
    quasi: list[_Field], sensitive: _Field | None, wanted: float, chance: np.random.Generator
) -> tuple[list[exp.Expr], float]:
    several = int(chance.integers(1, min(len(quasi), MOST_COLUMNS) + 1))
    chosen = [quasi[i] for i in chance.choice(len(quasi), several, replace=False)]
    if chance.random() < 0.5 and sensitive is not None and len(sensitive.codes.domain):
        chosen.append(sensitive)
    parts = [field.draw(wanted ** (1 / len(chosen)), chance) for field in chosen]
    return [condition for condition, _ in parts], float(np.mean(np.logical_and.reduce([rows for _, rows in parts])))


def _select(aggregate: str, sensitive: str) -> exp.Select:
    column = exp.column(sensitive, quoted=True)
    made: dict[str, exp.Expr] = {
        "count": exp.Count(this=exp.Star()),
        "sum": exp.Sum(this=column),
        "avg": exp.Avg(this=column),
    }
    return exp.select(exp.alias_(made[aggregate], "answer"))


def _truth(table: Table, policy: Policy, select: exp.Select, conditions: list[exp.Expr]) -> float:
    """What the rows that may be published answer."""
    rows = select.from_(RELATION).where(*conditions, *_kept(policy))
    value: Any = table.engine.run(rows).column(0)[0].as_py()
    return 0.0 if value is None else float(value)


def _kept(policy: Policy) -> Iterator[exp.Expr]:
    if (name := present(policy)) is not None:
        yield exp.column(name, quoted=True).is_(exp.null()).not_()
