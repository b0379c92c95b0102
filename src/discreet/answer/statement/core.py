"""Core questions: parts at one level are asked in one, and read from its answer by their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.question.question import ENDS
from discreet.answer.statement.statement import Part


@dataclass(frozen=True, eq=False)
class Core:
    """The answer to a core question: the keys, then four columns per part, then how many rows match at least."""

    sql: str
    table: pa.Table
    keys: int
    estimators: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def parts(self) -> list[tuple[pa.ChunkedArray, ...]]:
        width = len(ENDS)
        return [
            tuple(self.table.column(self.keys + width * at + end) for end in range(width))
            for at in range(len(self.estimators))
        ]

    def least(self, at: int, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """How many rows match a part at least, by row; 0 where that is not told."""
        column = self.keys + len(ENDS) * len(self.estimators) + at
        if column >= self.table.num_columns:
            return np.zeros(len(places), np.int64)
        found = np.append(np.asarray(self.table.column(column).cast(pa.int64()).fill_null(0).to_numpy(), np.int64), 0)
        return found[places]


def core_question(parts: Sequence[Part], keys: Sequence[exp.Expr]) -> str:
    """The question for parts of one level."""
    level = parts[0].level
    items = [exp.alias_(keys[at].copy(), f"key_{at}", quoted=True) for at in level.keys]
    items += [exp.alias_(part.aggregate.copy(), part.text, quoted=True) for part in parts]
    query = exp.Select(expressions=items, from_=level.source.copy())
    if level.joins:
        query.set("joins", [each.copy() for each in level.joins])
    if level.where:
        query.set("where", exp.Where(this=exp.and_(*(each.copy() for each in level.where))))
    if level.keys:
        query.set("group", exp.Group(expressions=[keys[at].copy() for at in level.keys]))
    return query.sql(dialect="duckdb")
