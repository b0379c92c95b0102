"""Count whole numbers over all rows of a table of Spark's, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from discreet.engines.spark.copied import Copied, File
from discreet.engines.spark.errors import translating
from discreet.values.rule import IntArray

FULL = 1 << 22  # numbers that are kept before they are counted


def tallied(copied: Copied, numbers: Callable[[pa.RecordBatch], Sequence[IntArray]]) -> tuple[IntArray, IntArray]:
    """Each whole number that `numbers` finds in the rows, and how often: of a batch, arrays of them."""

    def count(file: File) -> Iterator[pa.RecordBatch]:
        found: IntArray = np.zeros(0, np.int64)
        times, waiting, kept = found, list[IntArray](), 0
        for batch in file.batches():
            new = numbers(batch)
            waiting += new
            kept += sum(each.size for each in new)
            if kept > FULL:
                found, times = _together(found, times, waiting)
                waiting, kept = [], 0
        found, times = _together(found, times, waiting)
        for start in range(0, max(found.size, 1), 1 << 16):
            part = slice(start, start + (1 << 16))
            yield pa.record_batch({"number": pa.array(found[part]), "n": pa.array(times[part])})

    with translating():
        told = copied.each(count, "number long, n long").groupBy("number").agg({"n": "sum"}).toArrow()
    return told["number"].to_numpy(), told["sum(n)"].to_numpy()


def _together(found: IntArray, times: IntArray, waiting: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Numbers that were counted before and others that wait, counted."""
    if not waiting:
        return found, times
    new = np.concatenate(waiting)
    end = 1 + max(int(new.max(initial=0)), int(found.max(initial=0)))
    if end <= 2 * FULL:  # they are counted faster than sorted
        counts = np.bincount(new, minlength=end)
        counts[found] += times
        both = np.flatnonzero(counts)
        return both, counts[both]
    new, again = np.unique(new, return_counts=True)
    both, at = np.unique(np.concatenate([found, new]), return_inverse=True)
    return both, np.bincount(at, np.concatenate([times, again])).astype(np.int64)
