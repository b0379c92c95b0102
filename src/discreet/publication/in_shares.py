"""Send rows to the blocks of their groups, by a plan made from counts alone.

The task of a file shares its rows out among the blocks (`partition/histogram/shares.py`): how many of each value go to
each block follows from counts and the key, and which of them is drawn. All that it needs lies in a private file
(`engines/spark/held.py`), so that nothing is ranked over all rows, and nothing joined.
Cost: two passes over one column, and one over all rows, which are then brought together by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.engines.spark.chance import words
from discreet.engines.spark.copied import Copied, File, codes
from discreet.engines.spark.errors import translating
from discreet.engines.spark.held import Held
from discreet.engines.spark.shuffle import Shuffled
from discreet.partition.kernels import IntArray, shuffle_by_value


@dataclass(frozen=True)
class Before:
    """How many rows of each value the files before each have, in a file that executors map, and do not read whole."""

    path: str

    @classmethod
    def put(cls, work: Path, counts: IntArray) -> Before:
        """Of a row for each file: less than 2³¹ of a value, as `shares.py` asks."""
        found = np.zeros((len(counts) + 1, counts.shape[1]), np.int32)
        np.cumsum(counts, axis=0, out=found[1:])
        path = work / "before.npy"
        np.save(path, found)
        return cls(str(path))

    def get(self) -> IntArray:
        found: IntArray = np.load(self.path, mmap_mode="r")
        return found


def counted_by_file(copied: Copied, column: str, domain: Held, wanted: IntArray) -> IntArray:
    """How often each file has each of the wanted values, given by their codes, sorted: a row for each file."""

    def count(file: File) -> Iterator[pa.RecordBatch]:
        of = codes(file.rows([column]).column(0), domain.get()).to_numpy()
        times = np.bincount(of, minlength=int(wanted[-1]) + 1)[wanted]
        there = np.flatnonzero(times)
        where = pa.array(np.full(there.size, file.number), pa.int64())
        yield pa.record_batch({"file": where, "value": pa.array(there), "n": pa.array(times[there])})

    found = np.zeros((len(copied.files), wanted.size), np.int32)  # a file has no more rows than that
    if wanted.size:
        with translating():
            told = copied.each(count, "file long, value long, n long").toArrow()
        found[told["file"].to_numpy(), told["value"].to_numpy()] = told["n"].to_numpy()
    return found


def shared_out(
    copied: Copied, column: str, plan: Held, before: Before, blocks: int, key: bytes, work: Path
) -> Shuffled:
    """Rows by their blocks; the plan is the domain of the column, and its shares."""

    def block_of(file: File, rows: pa.RecordBatch) -> IntArray:
        domain, shares = plan.get()
        of = codes(rows.column(column), domain).to_numpy()
        own = np.bincount(of, minlength=shares.values)
        found = np.empty(of.size, np.int32)
        found[shuffle_by_value(of, own, words(key, "file", file.number, of.size))] = shares.of_file(
            file.number, own, before.get(), lambda node: halving(key, node)
        )
        return found

    return Shuffled.of(copied, blocks, block_of, work / "shuffled")


def halving(key: bytes, node: int) -> np.random.Generator:
    """The generator that says how many places fall to the first half of some files: only how many, never which."""
    return np.random.Generator(np.random.Philox(key=words(key, "halving", node, 2)))
