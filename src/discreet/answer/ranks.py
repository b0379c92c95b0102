"""Ranks: how many rows of a group are up to each value of a column, so that hits are a difference of two numbers.

The values of a column that has few (or of several, taken together) are numbered in their order, a missing one last. A
group keeps, for each number, how many of its rows have it or a smaller one; several such ranks share a word. A
condition on these columns, whatever it says, holds for some runs of numbers, which are found once, from the distinct
values. The hits of a group are its rank at the end of each run less that before its start: no row is looked at.
Cost: to make them, the rows x the words of a group, once; to ask, a word or two of every group, however large it is.
Claim: ranks_count_as_rows_do — hits are the same as counted row by row, whatever the condition on the columns says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlglot import exp

from discreet.answer.plan.sql import agree
from discreet.answer.slots import MOST_PLACES

MOST_VALUES = 512
MOST_RUNS = 8
PER_WORD = {8: 7, 16: 3, 32: 1}  # ranks of so many bits that a word has room for, its sign aside
COUNTED = 256  # a group of so many rows has most values more than once: they are counted before they are ranked


@dataclass(frozen=True)
class Ranks:
    """Ranks of values: what their words are called, how many values there are, how many rows the largest group has."""

    name: str
    values: int
    most: int

    @property
    def bits(self) -> int:
        """How many bits a rank takes."""
        return next((bits for bits in PER_WORD if self.most < 2**bits), max(PER_WORD))

    @property
    def words(self) -> list[str]:
        """The names of the words."""
        return [f"{self.name}_{j}" for j in range(-(-self.values // PER_WORD[self.bits]))]

    @property
    def dictionary(self) -> str:
        """The name of the table that numbers the values."""
        return f"numbers_{self.name}"

    @property
    def serves(self) -> bool:
        """Whether words are few enough: of groups of few rows, the rows themselves are told in hardly more."""
        return self.values <= MOST_VALUES and (self.most > MOST_PLACES or len(self.words) <= 3 * self.most)

    def numbers(self, columns: Sequence[exp.Expr], table: str) -> exp.Select:
        """The query that numbers the values of columns, and says what a row with each adds to every word."""
        distinct = exp.select(*_named(columns)).distinct().from_(table).subquery("distinct_values")
        values = [f"value_{i}" for i in range(len(columns))]
        order = ", ".join(f"{value} NULLS LAST" for value in values)
        number = f"CAST(ROW_NUMBER() OVER (ORDER BY {order}) - 1 AS INTEGER) AS number"
        numbered = exp.select(*values, number, dialect="duckdb").from_(distinct).subquery("numbered")
        per_word, bits = PER_WORD[self.bits], self.bits
        steps = [
            " + ".join(
                f"CASE WHEN number <= {j * per_word + k} THEN {1 << bits * k} ELSE 0 END" for k in range(per_word)
            )
            for j in range(len(self.words))
        ]
        added = [f"CAST({step} AS BIGINT) AS {word}" for step, word in zip(steps, self.words, strict=True)]
        return exp.select(*values, "number", *added).from_(numbered)

    def of_groups(self, group: exp.Expr, columns: Sequence[exp.Expr], table: str, n: str | None = None) -> exp.Select:
        """The query that makes the words of every group `grp`; a row of the table counts `n` times, or once."""
        rows = exp.select(exp.alias_(group, "grp"), *_named(columns)).from_(table)
        if n is not None:
            rows = rows.select(f"{n} AS n")
        elif self.most >= COUNTED:
            rows, n = rows.select("COUNT(*) AS n").group_by(group.copy(), *(value.copy() for value in columns)), "n"
        times = "" if n is None else "n * "
        sums = [f"CAST(SUM({times}{self.dictionary}.{word}) AS BIGINT) AS {word}" for word in self.words]
        same = agree("rows", self.dictionary, [f"value_{i}" for i in range(len(columns))])
        return exp.select("grp", *sums).from_(rows.subquery("rows")).join(self.dictionary, on=same).group_by("grp")

    def hits(self, holds: Sequence[bool]) -> exp.Expr | None:
        """How many rows of a group have a value for which a condition holds; None if it would be long to say."""
        ends = [(holds_, len(list(run))) for holds_, run in groupby(holds)]
        found: list[str] = []
        upto = 0
        for holds_, length in ends:
            if holds_:
                found.append(f"{self._rank(upto + length)}{f' - {self._rank(upto)}' if upto else ''}")
            upto += length
        if len(found) > MOST_RUNS:
            return None
        kind = "UTINYINT" if self.bits == min(PER_WORD) else "INTEGER"
        return exp.cast(exp.condition(" + ".join(found) or "0", dialect="duckdb"), kind, dialect="duckdb")

    def _rank(self, numbers: int) -> str:
        """The rank of the last of so many first numbers."""
        word, place = divmod(numbers - 1, PER_WORD[self.bits])
        shifted = f"({self.words[word]} >> {place * self.bits})" if place else self.words[word]
        return f"({shifted} & {2**self.bits - 1})"


def _named(columns: Sequence[exp.Expr]) -> list[exp.Expr]:
    return [exp.alias_(column.copy(), f"value_{i}") for i, column in enumerate(columns)]
