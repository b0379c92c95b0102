"""A table whose rows Spark holds, on its way to a release: counted, planned or cut here, grouped and written there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from secrets import token_bytes
from typing import Any

import numpy as np

from discreet.engines.spark.blocks import Blocks, Part, stored
from discreet.engines.spark.chance import Drawn
from discreet.engines.spark.copied import Copied
from discreet.engines.spark.held import Held
from discreet.engines.spark.needs import Needs, at_once
from discreet.engines.spark.shuffle import Shuffled
from discreet.errors import DiscreetWarning, InputError, InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.guarantees.harmless import as_told, harmless
from discreet.partition import PARTITIONS, RANGES
from discreet.partition.cells import MOST, SIZE
from discreet.partition.histogram import deal
from discreet.partition.histogram.runs import Runs
from discreet.partition.histogram.shares import Shares
from discreet.partition.kernels import IntArray
from discreet.policy import Policy
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import Axis, axis_of
from discreet.publication.default import settled
from discreet.publication.draft import Draft, Prepared
from discreet.publication.generalization import merged
from discreet.publication.in_blocks import Block, Finish, InCell, coded
from discreet.publication.in_cells import cells_of, in_cells
from discreet.publication.in_columns import Columns
from discreet.publication.in_combinations import Combinations, Combined
from discreet.publication.in_shares import Before, counted_by_file, shared_out
from discreet.publication.prepare import checked, promised
from discreet.publication.publish import describe
from discreet.release.layouts import LAYOUTS, cut_column
from discreet.release.manifest import Promise
from discreet.release.parts import cut as parted
from discreet.release.parts import per_part
from discreet.release.rows import store_rows
from discreet.release.write import Written
from discreet.scratch import remove
from discreet.table import read
from discreet.values.codes import Tally
from discreet.values.columns import UNORDERED, Column
from discreet.values.random import RandomSource
from discreet.warnings.coarse import few
from discreet.warnings.dominant import of_group
from discreet.warnings.lookalikes import spelled
from discreet.warnings.minimality import looks
from discreet.warnings.near_limit import near_limit
from discreet.warnings.tells import tells
from discreet.warnings.text import text

COUNTS = ("deal", "mixed", "anatomize", *RANGES)  # what needs no more than counts
CELLS = ("local", "mondrian", "cluster")  # what is done cell by cell
RAISED = "full_domain"  # what is made of counts of combinations, where these are all that is shown
CAN = {"anatomy": (*COUNTS, *CELLS), "permutation": (*COUNTS, *CELLS), "generalization": (*CELLS, RAISED)}
OF_BLOCKS = {"mapping": "permuted"}  # which table of blocks a table is cut from, where it has another name
LABELS = "labels"
PLANNED = 20_000_000  # rows that are planned one by one, by partitions whose plans are not made of counts alone
LONGEST = 5_000_000  # runs of a plan: every executor holds them
SMALL = 1 << 17  # rows: smaller parts are written by one task until there are so many
COPIES = 4  # of its block, that a task holds at most


@dataclass(frozen=True)
class OnExecutors:
    """A table that is copied and counted, and the key of its release, which is in no file and no message."""

    rows: Copied
    policy: Policy
    known: Columns
    work: Path
    sensitive: Tally
    guarantee: Guarantee
    _key: bytes
    tell: Callable[[str], None]  # how far a step is

    @classmethod
    def of(
        cls, rows: Copied, policy: Policy, columns: Sequence[Column], work: Path, tell: Callable[[str], None]
    ) -> OnExecutors:
        known = Columns(rows, columns)
        sensitive = known.tally(policy.sensitive_column)
        checked(sensitive, policy)
        guarantee = promised(policy, sensitive)
        guarantee.feasible(sensitive.counts(), policy.sensitive_column, sensitive.value)
        if PARTITIONS[policy.grouping].needs == "e":
            _check_planned(policy.grouping, int(sensitive.counts().sum()))
        policy = settled(policy, sensitive, guarantee)
        return cls(rows, policy, known, work, sensitive, guarantee, token_bytes(32), tell)

    def __repr__(self) -> str:
        return "<a table of Spark's>"

    @property
    def size(self) -> int:
        return int(self.sensitive.counts().sum())

    @cached_property
    def _sketch(self) -> Any:
        """Some of the rows, drawn at random, as a table of this process."""
        return read(self.known.some)

    def doubts(self) -> Iterator[DiscreetWarning]:
        """What is doubtful of the table: of counts, and of the rows that were drawn."""
        policy, secret = self.policy, RandomSource()
        yield from near_limit(Prepared(self._sketch, policy, self.sensitive, self.guarantee, secret))
        values = self._sketch.engine.run(self._sketch.select([policy.sensitive_column])).column(0)
        some = coded(values.cast(self.sensitive.domain.type), self.sensitive)
        drawn_ = Prepared(self._sketch, policy, some, self.guarantee, secret)
        if some.codes.size:
            yield from tells(drawn_)
            yield from text(drawn_)
        yield from spelled(policy.sensitive_column, self.sensitive, lambda _: NOT_COUNTED)

    def doubts_of(self, blocks: Blocks | Combined) -> Iterator[DiscreetWarning]:
        """What is doubtful of the groups."""
        if isinstance(blocks, Combined):
            yield from looks(blocks.draft)
        if "e" in self.policy.guarantee and blocks.worst[1]:
            yield of_group(self.policy, self.sensitive, *blocks.worst)
        yield from few(self.policy, sum(blocks.rows), sum(blocks.groups))

    def blocks(self) -> Blocks | Combined:
        """Give every row its group, and write blocks of groups to private files, or counts of groups to one."""
        if self.policy.grouping == RAISED:
            found = Combinations.of(self.rows, self._axes, self.policy.sensitive_column, self.sensitive)
            return Combined.of(found.grouped(self._sketch, self.policy, self.guarantee), self.work)
        return self._blocks()

    def _blocks(self) -> Blocks:
        rows, block = self._in_cells() if self.policy.grouping in CELLS else self._by_plan()
        each = self.size // rows.blocks
        self.tell(f"grouping: {rows.blocks:,} blocks of about {each:,} rows, {self._needs(rows.blocks)}")
        finish = Finish(Held.put(self.work, "block", block), self._key)
        found = stored(self.rows.session, rows, self.work / "blocks", finish)
        remove(Path(rows.folder))
        if sum(found.rows) != self.size:
            raise InternalError("rows were lost on the way, or are there twice; nothing was published")
        return found

    def needs(self, blocks: Blocks | Combined) -> Needs | None:
        """What memory it took to make these blocks; of counts, none that grows with the rows."""
        return None if isinstance(blocks, Combined) else self._needs(len(blocks.rows))

    def _needs(self, blocks: int) -> Needs:
        rows = self.known.some
        task = COPIES * (self.size // blocks) * rows.nbytes // max(rows.num_rows, 1)
        return Needs.of(task, None if self._at_once is None else min(self._at_once, blocks))

    @cached_property
    def _at_once(self) -> int | None:
        return at_once(self.rows.session)

    def _block(self, by: Shares | InCell) -> Block:
        shown = self._axes if PUBLICATIONS[self.policy.publication].boxed else ()
        return Block(self.policy, self.sensitive, self.sensitive.counts(), self.guarantee, by, shown)

    def _in_cells(self) -> tuple[Shuffled, Block]:
        policy, axes = self.policy, self._axes
        rule = self.guarantee.rule
        cells = cells_of(self.rows, axes, policy.sensitive_column, self.sensitive, rule, self.work, self.tell)
        by = InCell(policy.grouping, dict(policy.options), axes)
        self.tell("grouping: rows to cells")
        return in_cells(self.rows, cells, self._key, self.work), self._block(by)

    @cached_property
    def _axes(self) -> list[Axis]:
        """The quasi-identifiers, of which is known how often each value occurs."""
        kinds = {column.name: column.kind for column in self.known.columns}
        ordered = {name: kinds[name] not in UNORDERED or name in self.policy.ordered for name in self.policy.quasi}
        found = []
        for i, name in enumerate(ordered, 1):
            self.tell(f"grouping: column {i} of {len(ordered)}")
            found.append(axis_of(self.policy, name, self.known.tally(name), ordered=ordered[name]))
        return found

    def _by_plan(self) -> tuple[Shuffled, Block]:
        runs = self._runs()
        self._check_runs(runs.firsts.size)
        ends = runs.groups + runs.steps * (np.append(runs.firsts[1:], self.size) - 1 - runs.firsts)
        groups = int(ends.max()) + 1
        per = max(1, SIZE * groups // self.size)
        shares = Shares.of(runs, self.sensitive.counts(), per)
        _check_block(self.policy.grouping, shares.largest)
        column, domain = self.policy.sensitive_column, self.sensitive.domain
        self.tell("grouping: rows to blocks")
        files = self._by_file(Held.put(self.work, "domain", domain), shares.spread)
        plan, before = Held.put(self.work, "plan", (domain, shares)), Before.put(self.work, files)
        blocks = -(-groups // per)
        return shared_out(self.rows, column, plan, before, blocks, self._key, self.work), self._block(shares)

    def _by_file(self, domain: Held, wanted: IntArray) -> IntArray:
        """How often each file has each of the wanted values; a single one has them all."""
        if len(self.rows.files) == 1:
            return self.sensitive.counts()[wanted].astype(np.int32)[None]
        return counted_by_file(self.rows, self.policy.sensitive_column, domain, wanted)

    def _runs(self) -> Runs:
        """The plan, by counts alone."""
        name, counts = self.policy.grouping, self.sensitive.counts()
        if name == "deal":
            _check_block(name, self.size // deal.groups_of(counts, self.guarantee.rule))
            self._check_runs(deal.longest(counts, self.guarantee.rule))
            return deal.runs(counts, self.guarantee.rule)
        _check_planned(name, self.size)
        values = np.repeat(np.arange(counts.size, dtype=np.int32), counts)
        options = self.policy.options
        placed = PARTITIONS[name].place([], values, self.guarantee, Drawn(self._key, "plan"), options)
        return Runs.of(placed.groups, values)

    def _check_runs(self, runs: int) -> None:
        if runs > LONGEST:
            raise InputError(
                f"the plan of `{self.policy.grouping}` has more than {LONGEST:,} parts, too many for every executor",
                hint='set partition = "local", or "deal" with smaller groups; or make the sensitive values coarser',
            )

    def promise(self, blocks: Blocks | Combined) -> Promise:
        """What the manifest will say."""
        policy, draft = self.policy, self._draft(blocks)
        about: dict[str, Any] = {"for_publication": True, "rows": sum(blocks.rows), "groups": sum(blocks.groups)}
        spared = harmless(policy.harmless, draft.sensitive, policy.sensitive_column)
        if spared is not None:
            there = np.flatnonzero(spared & (draft.sensitive.counts() > 0))  # others are in no file
            about["harmless"] = tuple(as_told(draft.sensitive.decode(there))) or None
        if "e" in policy.guarantee:
            about["largest_share"] = blocks.share
        if LAYOUTS[policy.publication].matching == "counted":
            partition = PARTITIONS[policy.grouping].chosen(policy.options)
            about["randomness"] = partition.randomness
            about["estimator"] = "even" if partition.randomness is None else partition.estimator
        return describe(policy, **about, **PUBLICATIONS[policy.publication].members(draft))

    def tables(self, blocks: Blocks | Combined, promise: Promise, rows_per_part: int) -> list[Written]:
        """Cut every table of the release from the blocks, in parts of about so many rows."""
        parts, found = [], []
        for file in PUBLICATIONS[self.policy.publication].files(self._draft(blocks)):
            if file.name == LABELS:
                found.append(Written(file.name, file.table, self._labels(blocks, promise, rows_per_part)))
                continue
            step, by_group = per_part(promise, file.name, rows_per_part), cut_column(promise, file.name) is not None
            total, of = promise.groups if by_group else promise.rows, OF_BLOCKS.get(file.name, file.name)
            names = tuple(field.name for field in file.table.fields)
            own = [
                Part(of, at, min(at + step, total), str(self.work / f"{file.name}.{i}.parquet"), by_group, names)
                for i, at in enumerate(range(0, total, step))
            ]
            parts += own
            found.append(Written(file.name, file.table, [Path(part.to) for part in own]))
        self.tell(f"writing: {len(parts):,} parts")
        blocks.cut(self.rows.session, parts, promise.group, promise.row, at_once=max(1, SMALL // rows_per_part))
        return found

    def _labels(self, blocks: Blocks | Combined, promise: Promise, rows_per_part: int) -> list[Path]:
        """Write what labels stand for, which many blocks may show, once."""
        path = self.work / f"{LABELS}.parquet"
        store_rows(merged(blocks.read(LABELS)), path)
        return parted(path, promise, LABELS, rows_per_part)

    def _draft(self, blocks: Blocks | Combined) -> Draft:
        """What says what the files of the release are called, and their columns: of blocks, a draft without a row."""
        if isinstance(blocks, Combined):
            return blocks.draft
        nothing = np.zeros(0, np.int32)
        empty = Histograms(nothing, nothing, nothing, np.zeros(0, np.int64), np.zeros(0, np.int64))
        axes = self._axes if PUBLICATIONS[self.policy.publication].boxed else ()
        return Draft(self._sketch, self.policy, self.sensitive, nothing, empty, RandomSource(), axes)


NOT_COUNTED = "what would be left of the promise if they mean the same is not counted on Spark"


def _check_block(name: str, rows: int) -> None:
    if rows > MOST:
        raise InputError(
            f"groups of `{name}` have so many rows that one task would hold {rows:,}; it holds at most {MOST:,}",
            hint="ask for less, such as a smaller k or l, or publish the table without Spark, if one machine holds it",
        )


def _check_planned(name: str, rows: int) -> None:
    if rows > PLANNED:
        raise InputError(
            f"`{name}` plans every row by itself, and is not made of more than {PLANNED:,} rows on Spark",
            hint='set partition = "deal" or "local", which plan by counts',
        )
