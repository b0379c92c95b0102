"""Give rows their groups in Spark, by a plan made from counts alone.

Rows of each value are ranked by chance (`chance.py`): one window over the rows of a value, or over some of them if
there are many. A value and a rank are a place among all rows sorted by value, and the plan's runs say of every place
its group: they are looked up in arrays of a private file (`held.py`), so that nothing is joined.
Cost: one shuffle and sort by value. Memory of an executor: the plan's runs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as t

from discreet.engines.spark.chance import AT_ONCE, words
from discreet.engines.spark.errors import translating
from discreet.engines.spark.held import Held
from discreet.engines.spark.source import FILE, PLACE
from discreet.engines.spark.words import function, functions, quoted

TOGETHER = 1 << 20  # rows of one value that are ranked by one task, about
Ints = npt.NDArray[np.integer[Any]]
CODE, CHANCE, BUCKET, RANK = (
    "discreet code",
    "discreet chance",
    "discreet bucket",
    "discreet rank",
)  # no column is called so


def coded(rows: Any, domain: Held) -> Any:
    """A function of a column: the place of each value in its domain; a missing one has the last."""

    def code(values: pa.Array) -> pa.Array:
        return codes(values, domain.get())

    return function(rows, code, t.IntegerType())


def codes(values: pa.Array | pa.ChunkedArray, domain: pa.Array) -> pa.Array:
    found = pc.index_in(values, value_set=domain.cast(values.type))
    if (found.null_count or 0) > (values.null_count or 0):
        raise ValueError("a value was read that is not among those that were counted")
    return pc.fill_null(found, len(domain)).cast(pa.int32())


def chance_of(rows: Any, key: bytes) -> Any:
    """A function of a row's file and place: 64 bits that nobody can foretell."""

    def chance(file: pa.Array, place: pa.Array) -> pa.Array:
        of, at = (each.to_numpy(zero_copy_only=False) for each in (file, place))
        found, part = np.empty(at.size, np.uint64), at // AT_ONCE
        edges = np.flatnonzero((np.diff(of) != 0) | (np.diff(part) != 0)) + 1
        for start, end in pairwise([0, *edges.tolist(), at.size] if at.size else []):
            drawn = words(key, f"rank {of[start]}", int(part[start]), AT_ONCE)
            found[start:end] = drawn[at[start:end] % AT_ONCE]
        return pa.array(found.view(np.int64))

    return function(rows, chance, t.LongType())


def ranked(rows: Any, by: str, domain: Held, counts: Ints, key: bytes) -> tuple[Any, Ints, int]:
    """Rows with their value's code, a bucket of that and their rank there; where each begins among all rows; how many.

    Buckets are drawn, so that rows of a value that many hold are ranked by several tasks.
    """
    buckets = max(1, -(-int(counts.max()) // TOGETHER))
    f = functions(rows)
    rows = rows.withColumns(
        {
            CODE: coded(rows, domain)(f.col(quoted(by))),
            CHANCE: chance_of(rows, key)(f.col(quoted(FILE)), f.col(quoted(PLACE))),
        }
    ).withColumn(BUCKET, f.pmod(f.col(quoted(CHANCE)), f.lit(buckets)).cast("int"))
    rows = rows.drop(FILE)  # equal chance, at equal places of two files, is not to be expected
    sizes = np.asarray(counts, np.int64)
    if buckets > 1:
        sizes = np.zeros(counts.size * buckets, np.int64)
        with translating():
            found = rows.groupBy(quoted(CODE), quoted(BUCKET)).count().toArrow()
        at = found[CODE].to_numpy().astype(np.int64) * buckets + found[BUCKET].to_numpy()
        sizes[at] = found["count"].to_numpy()
    by_value, by_chance = (", ".join(map(quoted, each)) for each in ((CODE, BUCKET), (CHANCE, PLACE)))
    rank = f.expr(f"ROW_NUMBER() OVER (PARTITION BY {by_value} ORDER BY {by_chance})")
    return rows.withColumn(RANK, rank), np.cumsum(sizes) - sizes, buckets


def grouped(rows: Any, plan: Held, group: str) -> Any:
    """Rows that are `ranked` with their group, from 0.

    The plan has the first places of its runs, their groups, and steps; where each bucket begins, and how many there are
    of each value.
    """

    def placed(code: pa.Array, bucket: pa.Array, rank: pa.Array) -> pa.Array:
        firsts, groups, steps, starts, buckets = plan.get()
        at = code.to_numpy(zero_copy_only=False).astype(np.int64) * buckets + bucket.to_numpy(zero_copy_only=False)
        place = starts[at] + rank.to_numpy(zero_copy_only=False) - 1
        run = np.searchsorted(firsts, place, side="right") - 1
        return pa.array((groups[run] + steps[run] * (place - firsts[run])).astype(np.int32))

    found = rows.withColumn(group, function(rows, placed, t.IntegerType())(*map(quoted, (CODE, BUCKET, RANK))))
    return found.drop(CODE, CHANCE, BUCKET, RANK, PLACE)
