"""Raise whole columns of a table of Spark's to one level each, by how often each combination of values occurs.

What comes here are the different combinations of published values, with counts: `full_domain` needs no more. The
lattice is searched on them, and the tables of a release are written from the counts of groups, part by part, each by a
task: so no row leaves its executor, or is moved.
Cost: one pass over the rows, which Spark counts; here that of `full_domain`, of the combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.engines.spark.blocks import Part, plain, written
from discreet.engines.spark.copied import Copied
from discreet.engines.spark.held import Held
from discreet.engines.spark.source import counted_together
from discreet.errors import InputError, InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.guarantees.dominance import dominating, largest_share
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.draft import Draft
from discreet.publication.generalization import Shown, groups_of
from discreet.publication.in_blocks import coded
from discreet.publication.prepare import promised
from discreet.table import Table
from discreet.values.codes import Codes, Tally
from discreet.values.random import RandomSource

MOST = 5_000_000  # combinations: this process holds them, and searches among them
ROWS = 2**31 - 1  # counts are no larger


@dataclass(frozen=True)
class Combinations:
    """Different rows as codes, axis by axis, the sensitive value of each, and how often it occurs."""

    axes: Sequence[Axis]
    sensitive: Codes
    times: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: Copied, known: Sequence[Axis], sensitive: str, values: Tally) -> Combinations:
        """Those of a table of which the values of each column are counted."""
        if (total := int(values.counts().sum())) > ROWS:
            raise InputError(
                f"`full_domain` is not made of more than {ROWS:,} rows on Spark", hint='set partition = "mondrian"'
            )
        names = [*(axis.name for axis in known), sensitive]
        found = counted_together(rows.rows, names, MOST)
        if found is None:
            raise InputError(
                f"the published columns have more than {MOST:,} different combinations of values, too many to search "
                "the levels of `full_domain`",
                hint='make columns coarser, publish fewer, or set partition = "mondrian", which cuts cells',
            )
        columns = [
            column.cast(rows.schema.field(name).type) for column, name in zip(found.columns, names, strict=False)
        ]
        axes = [replace(axis, codes=coded(column, axis.codes)) for axis, column in zip(known, columns, strict=False)]
        times = found["n"].to_numpy()
        if int(times.sum()) != total:
            raise InternalError("rows were lost on the way, or are there twice; nothing was published")
        return cls(axes, coded(columns[-1], values), times.astype(np.int32))

    def grouped(self, table: Table, policy: Policy, guarantee: Guarantee) -> Draft:
        """The groups of the best levels, as a draft of combinations; those that are suppressed are not in it."""
        from discreet.partition.spatial.full_domain.full_domain import search

        partition = PARTITIONS[policy.grouping]
        options: dict[str, Any] = {name: value for name, value in policy.options.items() if name in partition.options}
        groups = search(partition.view(self.axes), self.sensitive.codes, guarantee, times=self.times, **options).groups
        kept, axes = groups >= 0, self.axes
        if not kept.all():
            axes = [axis.kept(kept) for axis in axes]
        groups, values, times = groups[kept], self.sensitive.codes[kept], self.times[kept]
        counts = np.bincount(values, times, self.sensitive.size).astype(np.int64)
        sensitive = Tally(values[:0], self.sensitive.domain, self.sensitive.missing, counts)
        histograms = Histograms.of_counts(groups, values, times)
        if not promised(policy, sensitive).holds(histograms).all():
            raise InternalError("`full_domain` broke the guarantee; nothing was published")
        return Draft(table, policy, sensitive, groups, histograms, RandomSource(), axes)


@dataclass(frozen=True)
class Combined:
    """Groups made of counts, which lie in a private file; the rest is as in `Blocks`."""

    draft: Draft
    held: Held
    labels: pa.Table | None
    groups: tuple[int, ...]
    rows: tuple[int, ...]
    share: float
    worst: tuple[int, int, int]

    @classmethod
    def of(cls, draft: Draft, work: Path) -> Combined:
        groups, histograms = groups_of(draft), draft.histograms
        held = Held.put(work, "groups", Shown.of(groups))
        spared = promised(draft.policy, draft.sensitive).harmless
        share = largest_share(histograms, spared)
        worst = dominating(histograms, draft.sensitive.counts(), spared) or (0, 0, 0)
        counted = (int(histograms.sizes.size),), (int(histograms.sizes.sum()),)
        return cls(draft, held, groups.boxes.labels() if groups.boxes.labelled else None, *counted, share, worst)

    def cut(self, session: Any, parts: Sequence[Part], _group: str, _row: str, *, at_once: int) -> None:
        """Write parts of the table of rows, so many by a task."""
        held = self.held

        def make(part: Part) -> pa.RecordBatchReader:
            shown: Shown = held.get()
            return plain(shown.some(part.first + 1, part.last + 1).rows())

        written(session, parts, make, at_once=at_once)

    def read(self, _: str) -> Iterator[pa.Table]:
        """The labels, as of one block."""
        return iter([] if self.labels is None else [self.labels])
