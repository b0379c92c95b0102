"""What tasks of publishing on Spark take: CPU seconds for a million rows x 20 columns, and memory.

    python bench/spark.py constants

The functions are those that executors run, on a file of a table of a billion rows. In place of Spark's session stands
one that runs tasks here, one after the other, so that neither Spark nor Java is needed. Two tables are measured: with
100 values in each column, and with random numbers in all quasi-identifiers and 5,000 sensitive values.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines.spark.blocks import Blocks, Part, in_order, put
from discreet.engines.spark.copied import Copied, File
from discreet.engines.spark.held import Held
from discreet.engines.spark.shuffle import Shuffled
from discreet.guarantees import Guarantee
from discreet.partition import cells
from discreet.partition.histogram import deal
from discreet.partition.histogram.shares import Shares
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.in_blocks import Block, InCell
from discreet.publication.in_cells import cells_of, in_cells
from discreet.publication.in_shares import Before, counted_by_file, halving, shared_out
from discreet.values.codes import Tally, encode

ROWS = 1_000_000_000  # of the table
FILES = 954  # that its copy has, at least
PART = 2_000_000  # rows
L = 10
QUASI = tuple(f"q{i}" for i in range(19))
NAMES = (*QUASI, "value")
GUARANTEE = Guarantee.of({"l": L})
KEY = bytes(range(32))
CELL = 600  # rows of a cell that is cut no more: so a file alone is cut as often as the table
LIMITS = {"100 values in each column": (100, 100), "random numbers": (2**31 - 1, 5_000)}
Cost = tuple[float, int]  # CPU seconds for a million rows, and bytes


@dataclass
class Here:
    """Stands in for a session of Spark, and for frames that tasks make: they run here, and what they take is kept."""

    jobs: list[tuple[float, int]] = field(default_factory=list)
    numbers: range = range(0)
    task: Callable[..., Any] = iter

    def range(self, first: int, end: int, *_: int) -> Here:
        return Here(self.jobs, range(first, end))

    def mapInArrow(self, task: Callable[..., Any], _: str) -> Here:  # noqa: N802 - as Spark has it
        return Here(self.jobs, self.numbers, task)

    def groupBy(self, _: str) -> Here:  # noqa: N802
        return self  # of one file, every number is told once

    def agg(self, _: dict[str, str]) -> Here:
        return self

    def toArrow(self) -> pa.Table:  # noqa: N802
        found: list[pa.RecordBatch] = []
        ids = [pa.record_batch({"id": pa.array([number])}) for number in self.numbers]
        self.jobs.append(taken(lambda: found.extend(self.task(iter(ids)))))
        told = pa.Table.from_batches(found) if found else pa.table({})
        return told.append_column("sum(n)", told["n"]) if told.column_names == ["number", "n"] else told


def taken(act: Callable[[], object]) -> tuple[float, int]:
    """CPU seconds of all threads, and by how many bytes this process grew at most."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the most that was held so far is forgotten
    before, start = _held("VmRSS"), time.process_time()
    act()
    return time.process_time() - start, _held("VmHWM") - before


def _held(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise SystemExit("only Linux tells what a process holds")
    return int(found[1]) * 1024


@dataclass
class Lake:
    """A file of the table's copy, and what is known of all its rows."""

    folder: Path
    quasi: int  # values of a quasi-identifier
    values: int  # sensitive ones, each held by as many rows

    @cached_property
    def counts(self) -> np.ndarray:
        return np.full(self.values, ROWS // self.values, np.int64)

    @cached_property
    def by_file(self) -> np.ndarray:
        """How often each file has each value."""
        ends = np.arange(FILES + 1, dtype=np.int64)[:, None] * self.counts // FILES
        return np.diff(ends, axis=0).astype(np.int32)

    @cached_property
    def chance(self) -> np.random.Generator:
        return np.random.default_rng(1)

    @property
    def size(self) -> int:
        """The rows of the file."""
        return int(self.by_file[0].sum())

    def rows(self, values: np.ndarray) -> pa.Table:
        columns = [self.chance.integers(0, self.quasi, values.size).astype(np.int32) for _ in QUASI]
        return pa.table([*columns, self.chance.permutation(values).astype(np.int32)], names=NAMES)

    @cached_property
    def copied(self) -> Copied:
        """The copy, of which one file is here."""
        table, path = self.rows(np.repeat(np.arange(self.values), self.by_file[0])), self.folder / "0.parquet"
        pq.write_table(table, path, compression="lz4")
        return Copied(Here(), None, (str(path),), table.schema, table.num_rows)

    @property
    def found(self) -> pa.Table:
        """The rows of the file as a task reads them."""
        return pa.Table.from_batches([File(0, self.copied.files[0], self.copied.schema).rows()])

    @cached_property
    def sensitive(self) -> Tally:
        return Tally.of(pa.chunked_array([np.arange(self.values, dtype=np.int32)]), self.counts)

    @cached_property
    def axes(self) -> list[Axis]:
        """Quasi-identifiers, whose values are counted in the one file."""
        found = []
        for name in QUASI:
            codes = encode(self.found[name])
            found.append(Axis(name, Tally(np.zeros(0, np.int32), codes.domain, False, codes.counts()), None, True))
        return found

    @cached_property
    def shares(self) -> Shares:
        return Shares.of(deal.runs(self.counts, GUARANTEE.rule), self.counts, self.groups)

    @property
    def groups(self) -> int:
        """Of a block."""
        return cells.SIZE // L

    @property
    def blocks(self) -> int:
        return -(-ROWS // L // self.groups)

    def block(self, partition: str, by: Shares | InCell) -> Block:
        policy = Policy(quasi=QUASI, sensitive="value", guarantee={"l": L}, partition=partition)
        return Block(policy, self.sensitive, self.counts, GUARANTEE, by)


def constants(place: Path) -> None:
    print(f"{ROWS:,} rows x {len(NAMES)} columns of 4 bytes, by anatomy, l = {L}; CPU seconds for a million rows,")
    print(f"and memory beside the {_held('VmRSS') >> 20} MB that Python takes with what it imports")
    for name, (quasi, values) in LIMITS.items():
        folder = place / f"{values}-values"
        folder.mkdir()
        measure(name, Lake(folder, quasi, values))


def measure(name: str, lake: Lake) -> None:
    copied, folder = lake.copied, lake.folder
    stretches = lake.shares.block.size
    print(f"{name}: a file of {lake.size:,} rows, {lake.blocks:,} blocks, {stretches:,} stretches of the plan")
    read = twice(lambda: lake.found, lake.size)
    tell("read a file of the copy", read)
    found = sent_by_plan(lake)
    tell("share it out among blocks (seconds per file)", (found["shares"][0] * lake.size / 1e6, found["shares"][1]))
    tell("count its values, one column", found["count"])
    tell("read it, share it out and send it", found["send"])
    sent = next((folder / "sent").glob("*/shuffled/0.arrow"))
    print(f"  a file of {copied.size * 4 * len(NAMES) / 1e6:.0f} MB is {sent.stat().st_size / 1e6:.0f} MB when sent")
    number = lake.blocks // 2
    back = Shuffled(str(linked(folder / "shuffled", sent, "{}.arrow", FILES)), FILES, lake.blocks)
    size = back.block(number).num_rows
    tell("read a block back", twice(lambda: back.block(number), size))
    planned = lake.rows(lake.shares.of_block(number)[0])
    made_of(lake.block("deal", lake.shares), planned, number, "by the plan", folder)
    by = InCell("local", {}, lake.axes)
    made_of(lake.block("local", by), lake.found.slice(0, ROWS // 2048), number, "in a cell, by `local`", folder)
    tell(f"cut a part of {PART:,} rows", part_cut(lake, planned.num_rows))
    levels(lake)


def twice(act: Callable[[], object], rows: int) -> Cost:
    """What an act takes once all is compiled."""
    return least([taken(act) for _ in range(2)], rows)


def tell(what: str, cost: Cost) -> None:
    print(f"  {what:<52} {cost[0]:6.2f}   {max(cost[1] >> 20, 1):5,} MB", flush=True)


def sent_by_plan(lake: Lake) -> dict[str, Cost]:
    """What the tasks of a file take by a plan of counts: they are run twice."""
    shares, session, found = lake.shares, lake.copied.session, {}
    works = [lake.folder / "sent" / str(i) for i in range(2)]
    for work in works:
        work.mkdir(parents=True)
        domain = Held.put(work, "domain", lake.sensitive.domain)
        plan, before = Held.put(work, "plan", (lake.sensitive.domain, shares)), Before.put(work, lake.by_file)
        session.jobs.clear()
        counted_by_file(lake.copied, "value", domain, shares.spread)
        shared_out(lake.copied, "value", plan, before, lake.blocks, KEY, work)
        for name, job in zip(("count", "send"), session.jobs, strict=True):
            found.setdefault(name, []).append(job)
    own, before = lake.by_file[0], Before.put(works[0], lake.by_file)
    found["shares"] = [
        taken(lambda: shares.of_file(0, own, before.get(), lambda node: halving(KEY, node))) for _ in works
    ]
    return {name: least(jobs, lake.size) for name, jobs in found.items()}


def least(jobs: Sequence[tuple[float, int]], rows: int) -> Cost:
    """The shortest time, and what was held the last time: at first, what is compiled is loaded, too."""
    return min(seconds for seconds, _ in jobs) / rows * 1e6, jobs[-1][1]


def linked(folder: Path, file: Path, name: str, times: int) -> Path:
    """A folder in which one file has many names."""
    folder.mkdir()
    for i in range(times):
        (folder / name.format(i)).symlink_to(file)
    return folder


def made_of(block: Block, rows: pa.Table, number: int, how: str, folder: Path) -> None:
    """What it takes to sort a block, to make its tables, and to write them."""
    n, tables = rows.num_rows, []
    sort = twice(lambda: in_order(rows, block.policy.columns), n)
    tell(f"sort a block {how}", (sort[0], sort[1] + rows.nbytes))

    def make() -> None:
        tables[:] = block.made(rows, number, KEY).tables.items()

    made = twice(make, n)
    tell("    form groups, lay out what is shown", (made[0] - sort[0], made[1] + rows.nbytes))
    write = twice(lambda: [put(table, folder / f"{name}.parquet") for name, table in tables], n)
    shown = sum(table.nbytes for _, table in tables)
    tell("    write it", (write[0], write[1] + rows.nbytes + shown))
    if block.policy.grouping == "deal":
        for name, _ in tables:
            (folder / f"{name}.parquet").rename(folder / f"planned-{name}.parquet")


def part_cut(lake: Lake, rows: int) -> Cost:
    """What it takes to cut a part of the larger table from blocks, which are all the same here."""
    many = PART // rows + 3
    folder = linked(lake.folder / "blocks", lake.folder / "planned-qit.parquet", "qit-{}.parquet", many)
    blocks = Blocks(folder, (lake.groups,) * many, (rows,) * many, 0.0, (0, 0, 0))
    names, first = (*QUASI, "group"), lake.groups // 2
    part = Part("qit", first, first + PART // L, str(lake.folder / "part.parquet"), True, names)
    session = Here()
    for _ in range(2):
        blocks.cut(session, [part], "group", "row", at_once=1)
    return least(session.jobs, PART)


def levels(lake: Lake) -> None:
    """What the levels of cuts take, and to send rows to the cells."""
    work, session, size = lake.folder / "cells", lake.copied.session, cells.SIZE
    work.mkdir()
    session.jobs.clear()
    axes = lake.axes
    try:
        cells.SIZE = CELL
        found = cells_of(lake.copied, axes, "value", lake.sensitive, GUARANTEE.rule, work)
    finally:
        cells.SIZE = size
    each = [seconds / lake.size * 1e6 for seconds, _ in session.jobs]
    told = f"one of {len(each)} levels of cuts, W = {found.width:,} (mean)"
    tell(told, (float(np.mean(each)), max(grown for _, grown in session.jobs)))
    print(f"    the first level {each[0]:.2f}, the last {each[-1]:.2f}; {found.tree.size:,} cells")
    session.jobs.clear()
    in_cells(lake.copied, found, KEY, work)
    tell("read a file, find its cells and send it", least(session.jobs, lake.size))
