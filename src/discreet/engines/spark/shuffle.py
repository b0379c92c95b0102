"""Bring the rows of each block together, through files of the private folder.

A task writes the rows of one file of the copy again, block by block, each block one batch of an Arrow file; whoever
makes a block reads its batch of every such file. Spark's own exchange would take rows apart into Java's, sort them, and
put them together again, several times as long; and what it has on an executor's disk is lost with the executor, while
these files are where the copy is. A task that is run again writes the same bytes.
Cost: all rows are written once and read once. Memory of a task: one file of the copy, or a block, about twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.engines.spark.copied import Copied, File
from discreet.engines.spark.errors import translating
from discreet.engines.spark.tasks import at_once
from discreet.errors import InternalError
from discreet.values.rule import IntArray

BlockOf = Callable[[File, pa.RecordBatch], IntArray]


@dataclass(frozen=True)
class Shuffled:
    """Rows by block, in as many files as the copy had; `blocks` are how many there are. Executors hold it, too."""

    folder: str
    files: int
    blocks: int

    @classmethod
    def of(cls, copied: Copied, blocks: int, block_of: BlockOf, folder: Path) -> Shuffled:
        """Let every row go to the block that `block_of` says."""
        folder.mkdir()
        found = cls(str(folder), len(copied.files), blocks)

        def send(file: File) -> Iterator[pa.RecordBatch]:
            rows = file.rows()
            numbers = np.asarray(block_of(file, rows))
            if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < blocks:
                raise InternalError("a row has no block; nothing was published")
            found._write(file.number, rows, numbers)
            yield from ()

        with translating():
            copied.each(send, "nothing int").toArrow()
        return found

    def _write(self, number: int, rows: pa.RecordBatch, blocks: IntArray) -> None:
        small = blocks.astype(np.uint16 if self.blocks <= 1 << 16 else np.uint32)  # short ones are sorted fast
        sorted_ = rows.take(pa.array(np.argsort(small, kind="stable")))
        ends = np.cumsum(np.bincount(blocks, minlength=self.blocks)).tolist()
        with at_once(self._path(number)) as path, pa.OSFile(str(path), "wb") as file:
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.ipc.new_file(file, rows.schema, options=options) as writer:
                for start, end in zip([0, *ends], ends, strict=False):
                    writer.write_batch(sorted_.slice(start, end - start))

    def block(self, number: int) -> pa.Table:
        """All rows of a block."""
        found = []
        for i in range(self.files):
            with pa.memory_map(str(self._path(i))) as file, pa.ipc.open_file(file) as reader:
                found.append(reader.get_batch(number))
        return pa.Table.from_batches(found)

    def _path(self, number: int) -> Path:
        return Path(self.folder) / f"{number}.arrow"
