"""What a server keeps of groups beside their signatures, so that no question goes through every value anew.

    signature_arrays  per signature: its size, and its values in order (`sorted`), each as often as it occurs
    signature_sums    of numbers: size, mean and spread, and by m + 1 the sum of the m `smallest` and `largest` values
    signature_squares  the same of whole numbers whose squares floats add up exactly, with the sum of the `squares` of
                       the m smallest in place of the largest, whose sum is what the others leave

They are kept where no value is missing and no group is very large, and say nothing that `signature_values` does not.
Sums are kept where floats can hold them and the squares of their values; a server refuses to compute others.
Cost: the values of each signature are sorted, from either end where sums are not exact.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types
from sqlglot import exp

from discreet.answer.plan.sql import piece, select
from discreet.engines import Engine
from discreet.engines.dialect import sql_type

EXACT = 2**53  # whole numbers up to that are floats
LARGEST = 1_000  # rows of a group: an array is read as a whole, whatever is looked up in it
BITS = 30  # by which the last group of a batch is moved, at most


@dataclass(frozen=True)
class Kept:
    """The `largest` group has so many rows; each is its `own` signature, or some share one; which `sums` there are."""

    largest: int
    own: bool
    sums: str | None  # the name of their table

    @property
    def exact(self) -> bool:
        """Whether the sum of any values that are neighbours, and of their squares, is a difference of sums."""
        return self.sums == "signature_squares"

    @property
    def bits(self) -> int:
        """That the number of matching rows of one group may take."""
        return self.largest.bit_length()

    @property
    def batch(self) -> int:
        """How many groups are counted in one number."""
        return BITS // self.bits + 1

    def first(self, group: str) -> str:
        """The number of a group's batch."""
        return f"{group} - {group} % {self.batch}"

    def shift(self, group: str) -> str:
        """Where in the number of its batch a group is counted."""
        return f"{self.bits} * CAST({group} % {self.batch} AS INTEGER)"


def looked_up(engine: Engine, there: Collection[str]) -> Kept:
    """What can be known of groups whose rows are kept in tables that are `there`."""
    own = "MIN(CASE WHEN grp = signature THEN 1 ELSE 0 END) AS own"
    asked = select("MAX(size) AS largest", own, source="signatures")
    [found] = engine.run(asked).to_pylist()
    sums = next((name for name in ("signature_squares", "signature_sums") if name in there), None)
    return Kept(found["largest"], found["own"] == 1, sums)


def made(engine: Engine, type_: pa.DataType) -> dict[str, exp.Expr]:
    """The queries that make what is kept of values of a type; none where nothing is."""
    asked = ["MAX(n) AS most", "MAX(below + n) AS largest", "COUNT(*) - COUNT(value) AS missing"]
    if types.is_floating(type_):
        asked.append(f"SUM({BEYOND}) AS beyond")
    if types.is_integer(type_):
        asked.append("MAX(ABS(CAST(value AS DOUBLE))) AS farthest")
    [found] = engine.run(select(*asked, source="signature_values")).to_pylist()
    if found["missing"] or not 0 < found["largest"] <= LARGEST:
        return {}
    # of `qit`, which has a row for each that holds a value: there may be fewer different values than that
    numbers = f"SELECT CAST(ROW_NUMBER() OVER () AS INTEGER) AS i FROM qit LIMIT {found['most']}"  # noqa: S608
    queries = {"signature_arrays": ARRAYS.format(value=_compared(type_).sql(dialect="duckdb"), numbers=numbers)}
    number = types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)
    if number and not found.get("beyond"):
        exact = types.is_integer(type_) and found["farthest"] ** 2 * found["largest"] <= EXACT
        name, others = ("signature_squares", SQUARES) if exact else ("signature_sums", FROM_THE_LAST)
        queries[name] = SUMS.format(numbers=numbers, **others)
    return {name: piece(query) for name, query in queries.items()}


# What is no number, or one whose square a float cannot hold: a server refuses to compute such a square.
BEYOND = """
    CASE WHEN NOT IS_FINITE(value) THEN 1 WHEN ABS(value) > 1e100 THEN 1
         WHEN value <> 0 AND ABS(value) < 1e-100 THEN 1 ELSE 0 END
"""


def widened(type_: pa.DataType) -> pa.DataType | None:
    """The type with which values are kept, if it is not their own.

    The server compares them with constants, which in an array it would take for the type of the values.
    """
    if types.is_floating(type_) and type_.bit_width < 64:
        return pa.float64()
    return pa.int32() if types.is_integer(type_) and type_.bit_width < 32 else None


def _compared(type_: pa.DataType) -> exp.Expr:
    """A value as it is kept."""
    wide = widened(type_)
    return exp.column("value") if wide is None else exp.Cast(this=exp.column("value"), to=sql_type(wide))


ARRAYS = """
    SELECT signature, CAST(COUNT(*) AS INTEGER) AS size, ARRAY_AGG({value} ORDER BY below + i) AS sorted
    FROM signature_values JOIN ({numbers}) AS numbers ON i <= n GROUP BY signature ORDER BY signature
"""
SUMS = """
    SELECT signature, CAST(COUNT(*) AS INTEGER) AS size, MAX(mean) AS mean,
           SUM((number - mean) * (number - mean)) AS spread,
           LIST_CONCAT([CAST(0 AS DOUBLE)], ARRAY_AGG(low ORDER BY place)) AS smallest,
           LIST_CONCAT([CAST(0 AS DOUBLE)], ARRAY_AGG(other ORDER BY {order})) AS {name}
    FROM (
        SELECT signature, place, number,
               SUM(number) OVER (PARTITION BY signature) / COUNT(*) OVER (PARTITION BY signature) AS mean,
               SUM(number) OVER (PARTITION BY signature ORDER BY place ROWS UNBOUNDED PRECEDING) AS low,
               SUM({added}) OVER (PARTITION BY signature ORDER BY {order} ROWS UNBOUNDED PRECEDING) AS other
        FROM (
            SELECT signature, below + i AS place, CAST(value AS DOUBLE) AS number
            FROM signature_values JOIN ({numbers}) AS numbers ON i <= n
        ) AS places
    ) AS upto GROUP BY signature ORDER BY signature
"""
SQUARES = {"name": "squares", "added": "number * number", "order": "place"}
FROM_THE_LAST = {"name": "largest", "added": "number", "order": "place DESC"}
