"""GROUP BY quasi-identifiers that a release shows as boxes: every value of a key is a condition, asked by itself.

Which values a key may have is found by trying it on all that the boxes may hold in its column. The answer to each has
the bounds of that condition: exact where it cuts through no box, as of columns that are shown as they were, or of bands
whose ends are those of boxes. A value is listed if somebody may have it.
Cost: one question for each combination of keys, of which there are at most MOST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product
from math import prod
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.left_out import LeftOut
from discreet.answer.matches.boxed import Boxed
from discreet.answer.matches.boxes import PublishedBoxes
from discreet.answer.matches.boxes.ordered import Axis
from discreet.answer.plan.plan import in_order
from discreet.answer.question.question import ENDS, Aggregate, Column, Key, Question
from discreet.answer.question.refusals import shown
from discreet.engines import Engine
from discreet.errors import QueryError
from discreet.release.layouts.file import named

MOST, TRIED = 100, 100_000  # combinations of keys, and values of a column
DOMAIN, FOUND, ROWS = "values of a key", "answers by value", "rows of a value"

Ask: TypeAlias = Callable[[Question], pa.Table]
Run: TypeAlias = Callable[[exp.Expr], pa.Table]


def asks_by_value(question: Question, matches: object) -> bool:
    """Whether a question is grouped by what published boxes show."""
    boxed = isinstance(matches, Boxed) and isinstance(matches.boxes, PublishedBoxes)
    return boxed and any(key.side == "quasi" for key in question.keys)


@dataclass(frozen=True)
class ByValue:
    """A question by quasi-identifiers, about boxes: `ask` answers one that is not; `run` sees the boxes."""

    question: Question
    boxes: PublishedBoxes
    engine: Engine
    left_out: LeftOut
    ask: Ask
    run: Run

    def answer(self) -> pa.Table:
        """As any other answer is laid out: its columns, how many rows match at least, the keys, and `cut`."""
        numbers = [number for number, key in enumerate(self.question.keys) if key.side == "quasi"]
        values = self.values()
        pieces = [self._piece(numbers, values, places) for places in product(*(range(len(each)) for each in values))]
        table = pa.concat_tables(piece for piece in pieces if piece is not None)
        cut = max(table.column("cut").to_pylist(), default=0)
        table = table.set_column(table.num_columns - 1, "cut", pa.array([cut] * len(table), pa.int32()))
        self.engine.load(FOUND, table, keep=False)
        try:
            return self.engine.run(in_order(self.question, exp.select("*").from_(named(FOUND))))
        finally:
            self.engine.forget(FOUND)

    def values(self) -> list[pa.Array]:
        """All values that each key may have; raises if they are not known, or too many."""
        values = [self._values(key) for key in self.question.keys if key.side == "quasi"]
        many = prod(map(len, values))
        if many > MOST:
            raise QueryError(
                f"grouped so, there are {many:,} combinations of keys; of boxes at most {MOST} are told apart",
                hint="group by fewer columns, or by bands such as age // 10",
            )
        return values

    def _piece(self, numbers: list[int], values: list[pa.Array], places: tuple[int, ...]) -> pa.Table | None:
        """The rows of the answer in which the keys have these values; nothing if nobody may have them."""
        keys = self.question.keys
        holds = [
            _equals(keys[number].expression, each[at].as_py())
            for number, each, at in zip(numbers, values, places, strict=True)
        ]
        found = self.ask(self._asked(holds))
        rows = found.filter(pa.array([self._may_be(row) for row in found.select(_names(ROWS)).to_pylist()], pa.bool_()))
        constant = {
            number: pa.chunked_array([each.take(pa.array([at] * len(rows), pa.int64()))])
            for number, each, at in zip(numbers, values, places, strict=True)
        }
        own = [number for number, key in enumerate(keys) if key.side != "quasi"]
        by_key = {number: rows.column(f"by_key_{at}") for at, number in enumerate(own)} | constant
        columns = [*self._columns(rows, by_key)]
        columns += [(f"least_{at}", rows.column(f"least_{at}")) for at in range(len(self.question.aggregates))]
        columns += [(f"by_key_{at}", by_key[at]) for at in range(len(keys))]
        columns.append(("cut", rows.column("cut").cast(pa.int32())))
        return pa.table([column for _, column in columns], names=[name for name, _ in columns])

    def _columns(self, rows: pa.Table, by_key: dict[int, pa.ChunkedArray]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        for column in self.question.columns:
            if column.key is not None:
                yield column.name, by_key[column.key]
            else:
                yield from ((name, rows.column(name)) for name in _names(column.name))

    def _asked(self, holds: list[exp.Expr]) -> Question:
        """The question under conditions in the place of its keys, with a count of rows more."""
        question = self.question
        where = {**question.where, "quasi": exp.and_(question.where.get("quasi"), *holds)}
        rows = Aggregate("count", None, "quasi", ROWS)
        columns = [
            *(each for each in question.columns if each.key is None),
            Column(ROWS, aggregate=len(question.aggregates)),
        ]
        return replace(
            question,
            keys=tuple(key for key in question.keys if key.side != "quasi"),
            aggregates=(*question.aggregates, rows),
            columns=tuple(columns),
            where=where,
            order=(),
            limit=None,
            offset=None,
        )

    def _may_be(self, rows: dict[str, Any]) -> bool:
        """Whether anybody who is shown may match; rows left out may match anything, and list no key."""
        most = rows[f"{ROWS}{ENDS['high']}"]
        return bool(rows[ROWS] > 0 if most is None else most > (self.left_out.most or 0))

    def _values(self, key: Key) -> pa.Array:
        """All values that a key may have, in order."""
        names = {column.name for column in key.expression.find_all(exp.Column)}
        if len(names) != 1:
            raise QueryError(
                f"`{shown(key.expression)}` is about several columns, and boxes show each by itself",
                hint="group by each column by itself: GROUP BY a, b",
            )
        [axis] = [axis for axis, _ in self.boxes.shown if axis.name in names]
        self.engine.load(DOMAIN, pa.table({axis.name: self._domain(axis)}), keep=False)
        try:
            value = exp.alias_(key.expression.copy(), "value")
            found = self.engine.run(exp.select(value).distinct().from_(named(DOMAIN)).order_by("value"))
        finally:
            self.engine.forget(DOMAIN)
        return found.column(0).combine_chunks()

    def _domain(self, axis: Axis) -> pa.Array:
        """All values that boxes may hold in a column."""
        i = axis.number
        if axis.form == "labels":
            return self.run(exp.select("value").distinct().from_(f"meanings_{i}")).column(0).combine_chunks()
        flags = (
            f"MAX(CASE WHEN missing_{i} THEN 1 ELSE 0 END)",
            f"MAX(CASE WHEN missing_{i} IS NULL THEN 1 ELSE 0 END)",
        )
        cut = f"MAX(CASE WHEN low_{i} < high_{i} THEN 1 ELSE 0 END)"
        missing, anything, blurred = (
            each[0].as_py() for each in self.run(exp.select(*flags, cut).from_("boxes")).columns
        )
        if anything or axis.ends is None:
            raise QueryError(
                f"some boxes of `{axis.name}` may hold anything, so its values are not known",
                hint="ask with a condition for each value or range that you want to tell apart",
            )
        nobody = [None] * bool(missing)
        if axis.form == "whole" and (axis.span or 0) < TRIED:
            low, _ = axis.ends
            step = 1 if isinstance(low, int) else timedelta(days=1)
            return pa.array([*(low + at * step for at in range((axis.span or 0) + 1)), *nobody], axis.type)
        if blurred:
            raise QueryError(
                f"between the ends of a box `{axis.name}` may have too many values to tell them apart",
                hint="ask with a condition for each range that you want to tell apart, such as x >= 10 AND x < 20",
            )
        values = self.run(exp.select(f"low_{i}").distinct().from_("boxes").where(f"NOT low_{i} IS NULL"))
        return pa.array([*values.column(0).to_pylist(), *nobody], axis.type)


def _names(name: str) -> list[str]:
    return [f"{name}{end}" for end in ENDS.values()]


def _equals(expression: exp.Expr, value: Any) -> exp.Expr:
    """The condition that a key has a value."""
    key = exp.paren(expression.copy())
    if value is None:
        return exp.Is(this=key, expression=exp.null())
    if isinstance(value, bool):
        return key if value else exp.not_(key)
    return exp.EQ(this=expression.copy(), expression=exp.convert(value))
