"""Count people and not rows: `COUNT(DISTINCT person)`, where a release has people with several rows.

A person's rows are in one group and have the same quasi-identifiers, so a condition on these holds in all of them or
in none: such people are counted, and the answer is exact. With a condition on the sensitive column, c of a group's n
rows hold a value that is asked for, and of its people those who match otherwise have r_1, r_2, … rows, h in all. If
every pairing of rows and values is equally likely, none of r given rows holds one with probability
z(r) = C(n-c, r) / C(n, r). So

    estimate  the sum over i of 1 - z(r_i)
    variance  the sum over i of z(r_i) - z(r_i)², and over pairs i, j of z(r_i + r_j) - z(r_i) · z(r_j)
    high      the values on as many people as there are: min(c, people)
    low       the values on other rows first, of which there are n - h, then on the people with most rows

Groups are independent, and each extreme can be reached in all of them at once: the bounds are exact.
Cost: linear in the rows that match, and in the pairs of different numbers of rows in a group.
Claim: people_bounds_are_the_extremes — over all assignments of values to rows, both are reached and never passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.answer.question.parse import check_length, read_question
from discreet.answer.question.question import ENDS, Question
from discreet.engines import Engine
from discreet.errors import QueryError
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
ANSWER = "people that were counted"


@dataclass(frozen=True)
class CountOfPeople:
    """A question whose only aggregate counts people; `question` is the same with COUNT(*)."""

    question: Question
    promise: Promise

    @classmethod
    def read(cls, sql: str, promise: Promise) -> CountOfPeople | None:
        """The question, if it counts people."""
        if promise.person is None or "distinct" not in sql.lower():
            return None
        try:
            check_length(sql)
            asked = sqlglot.parse_one(sql, dialect="duckdb")
        except (SqlglotError, RecursionError):
            return None  # whoever reads it next says what is wrong
        found = [count for count in asked.find_all(exp.Count) if _of_people(count, promise.person)]
        if not isinstance(asked, exp.Select) or not any(asked.find_all(exp.Count)):
            return None
        if not found:
            return None
        for count in found:
            plain = exp.Count(this=exp.Star())
            count.replace(exp.alias_(plain, "people") if count.parent is asked else plain)
        question = read_question(asked.sql(dialect="duckdb"), promise)
        if len(question.aggregates) > 1:
            raise QueryError(
                f"COUNT(DISTINCT {promise.person}) cannot stand beside another aggregate",
                hint="ask for people and for rows in two questions",
            )
        return cls(question, promise)

    def answer(self, engine: Engine) -> tuple[pa.Table, str]:
        """The answer, and the query that it was computed from. The engine has `qit` and `st`."""
        asks = self.question.asks_of_sensitive
        query = self._paired() if asks else self._certain()
        found = engine.run(query.copy())
        laid = _combined(found, len(self.question.keys)) if asks else found
        engine.load(ANSWER, self._at_least_one(laid), keep=False)
        try:
            return engine.run(self._layout()), engine.written(query)
        finally:
            engine.forget(ANSWER)

    def _side(self, side: str) -> tuple[list[exp.Expr], exp.Expr | None]:
        """The keys of one side, each under its number, and its condition, on the columns of `qit` or `st`."""

        def placed(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            return exp.column("value" if node.name == self.promise.sensitive else node.name, quoted=True)

        keys = [
            exp.alias_(key.expression.transform(placed), f"key_{i}")
            for i, key in enumerate(self.question.keys)
            if key.side == side
        ]
        condition = self.question.where.get("sensitive" if side == "sensitive" else "quasi")
        return keys, None if condition is None else condition.transform(placed)

    def _certain(self) -> exp.Select:
        """Everybody who matches, by key."""
        keys, condition = self._side("quasi")
        who = exp.column(self.promise.person or "", quoted=True)
        number = exp.Count(this=exp.Distinct(expressions=[who]))
        parts = [exp.cast(number, "DOUBLE"), exp.cast(exp.Literal.number(0), "DOUBLE"), number, number]
        measures = [exp.alias_(part.copy(), name) for part, name in zip(parts, ENDS, strict=True)]
        query = exp.select(*keys, *measures).from_("qit").group_by(*(key.unalias().copy() for key in keys))
        return query if condition is None else query.where(condition)

    def _paired(self) -> exp.Select:
        """By key, group and number of rows: the people who have so many and may match, and the values to be had."""
        keys, condition = self._side("quasi")
        who, group = (exp.column(name or "", quoted=True) for name in (self.promise.person, self.promise.group))
        names = [key.alias for key in keys]
        rows = exp.select(*keys, exp.alias_(group, "grp"), exp.alias_(who, "who")).from_("qit")
        rows = rows if condition is None else rows.where(condition)
        persons = exp.select(*names, "grp", "who", "COUNT(*) AS own").from_(rows.subquery("r"))
        persons = persons.group_by(*names, "grp", "who")
        hits = exp.select(*names, "grp", "own", "COUNT(*) AS people").from_(persons.subquery("p"))
        hits = hits.group_by(*names, "grp", "own")
        values, sensitive = self._side("sensitive")
        value_names = [key.alias for key in values]
        asked = exp.select(*values, "grp", "n").from_("st")
        asked = asked if sensitive is None else asked.where(sensitive)
        held = exp.select(*value_names, "grp", "SUM(n) AS held").from_(asked.subquery("v"))
        held = held.group_by(*value_names, "grp")
        sizes = exp.select("grp", "SUM(n) AS size").from_("st").group_by("grp")
        every = sorted([*names, *value_names], key=lambda name: int(name.removeprefix("key_")))
        whole = [f"CAST({name} AS BIGINT) AS {name}" for name in ("hits.grp", "own", "people", "held", "size")]
        return (
            exp.select(*every, *(text.replace("AS hits.grp", "AS grp") for text in whole))
            .from_(hits.subquery("hits"))
            .join(held.subquery("held_by"), on="hits.grp = held_by.grp")
            .join(sizes.subquery("sizes"), on="hits.grp = sizes.grp")
            .order_by(*every, "grp", "own DESC")
        )

    def _at_least_one(self, laid: pa.Table) -> pa.Table:
        """Without keys there is always a row: nobody is 0 people."""
        if self.question.keys or len(laid):
            return laid
        return pa.table({"estimate": [0.0], "stderr": [0.0], "low": [0], "high": [0]})

    def _layout(self) -> exp.Select:
        """The columns and the order that were asked for."""
        columns, names = [], {}
        for column in self.question.columns:
            if column.key is not None:
                columns.append(exp.alias_(exp.column(f"key_{column.key}"), column.name, quoted=True))
                continue
            for part, end in ENDS.items():
                names[f"{column.name}{end}"] = part
                columns.append(exp.alias_(exp.column(part), f"{column.name}{end}", quoted=True))
        numbers = {column.name: f"key_{column.key}" for column in self.question.columns if column.key is not None}
        query = exp.select(*columns).from_(named(ANSWER))
        asked = [(order.by, order.descending, order.nulls_first) for order in self.question.order]
        for by, descending, nulls in [*asked, *((i, False, None) for i in range(len(self.question.keys)))]:
            name = f"key_{by}" if isinstance(by, int) else names.get(by) or numbers[by]
            ordered = exp.Ordered(this=exp.column(name), desc=descending, nulls_first=bool(nulls))
            query = query.order_by(ordered, copy=False)
        query = query if self.question.limit is None else query.limit(self.question.limit)
        return query if self.question.offset is None else query.offset(self.question.offset)


def _of_people(count: exp.Count, person: str) -> bool:
    told = count.this
    if not isinstance(told, exp.Distinct) or len(told.expressions) != 1:
        return False
    [column] = told.expressions
    return isinstance(column, exp.Column) and column.name.lower() == person.lower()


@dataclass(frozen=True)
class _Counted:
    """People by key, group and number of rows (`own`, the most first): how many may match, and of how many values.

    `part` numbers the runs of one key and group, which begin at `starts`.
    """

    own: Longs
    people: Longs
    held: Longs
    size: Longs
    part: Longs
    starts: Longs

    @cached_property
    def none(self) -> Floats:
        """The probability that none of somebody's rows holds a value."""
        return _none(self.own, self.held, self.size)

    def summed(self, amounts: Any) -> Any:
        """The sum of each run."""
        return np.add.reduceat(amounts, self.starts)

    def variance(self) -> Floats:
        """The variance of how many people of each run hold a value."""
        found: Floats = self.summed(self.people * (self.none - self.none**2))
        ends = np.append(self.starts[1:], self.part.size)
        for apart in range(int((ends - self.starts).max())):
            a = np.flatnonzero(np.arange(self.part.size) + apart < ends[self.part])
            b = a + apart
            pairs = self.people[a] * (self.people[a] - 1) if apart == 0 else 2 * self.people[a] * self.people[b]
            together = _none(self.own[a] + self.own[b], self.held[a], self.size[a])
            apart_ = self.none[a] * self.none[b]
            np.add.at(found, self.part[a], np.where(pairs > 0, pairs * (together - apart_), 0))
        return found

    def least(self) -> Longs:
        """How many people must hold a value, if as many as can be lie on other rows, and then on those with most."""
        rows = self.own * self.people
        before = np.cumsum(rows) - rows
        before -= before[self.starts][self.part]
        left = np.maximum(self.held - (self.size - self.summed(rows)[self.part]) - before, 0)
        found: Longs = np.minimum(self.people, -(-left // self.own))
        return found


def _combined(found: pa.Table, keys: int) -> pa.Table:
    """Estimate, stderr, low and high by key, from the people of each group by their number of rows."""
    own, people, held, size = (found.column(name).to_numpy() for name in ("own", "people", "held", "size"))
    key = _runs([found.column(i).combine_chunks() for i in range(keys)], len(found))
    part = _runs([pa.array(key), found.column("grp").combine_chunks()], len(found))
    first, starts = (np.flatnonzero(np.diff(each, prepend=-1)) for each in (key, part))
    of_part, number = key[starts], int(first.size)
    counted = _Counted(own, people, held, size, part, starts)
    measures = [np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)]
    if number:
        most = np.minimum(counted.held[starts], counted.summed(counted.people))
        low, high = _totals(key, counted.least(), number), _totals(of_part, most, number)
        stderr = np.sqrt(np.maximum(np.bincount(of_part, counted.variance(), number), 0))
        # sums of fractions end beside whole numbers: what is certain has no error
        estimate = np.clip(np.bincount(key, counted.people * (1 - counted.none), number), low, high)
        measures = [estimate, np.where(low == high, 0.0, stderr), low, high]
    names = {f"key_{i}": found.column(i).take(pa.array(first)) for i in range(keys)}
    return pa.table({**names, **dict(zip(ENDS, measures, strict=True))})


def _totals(at: Longs, amounts: Longs, number: int) -> Longs:
    found = np.zeros(number, np.int64)
    np.add.at(found, at, amounts)
    return found


def _runs(columns: list[pa.Array], rows: int) -> Longs:
    """The number of the run that each of the rows is in, in which these columns do not change; missing is a value."""
    new = np.zeros(rows, np.bool_)
    for column in columns:
        codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
        new[1:] |= codes[1:] != codes[:-1]
    found: Longs = np.cumsum(new)
    return found


def _none(rows: Longs, held: Longs, size: Longs) -> Floats:
    """The probability that none of so many rows holds a value that `held` of `size` rows hold."""
    found = np.ones(rows.size)
    for i in range(int(rows.max(initial=0))):
        found *= np.where(i < rows, np.maximum(size - held - i, 0) / np.maximum(size - i, 1), 1.0)
    return found
