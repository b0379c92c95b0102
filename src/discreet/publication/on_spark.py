"""Publish a table that lies in a lake, on Spark: counts, plans and cuts are here, and rows stay with the executors.

The columns that are published are copied once to a private folder beside the release (`engines/spark/source.py`). Of a
partition that needs no more than counts, the plan is made here by runs, and rows are ranked and looked up there. One
that looks at quasi-identifiers first has the table cut into cells (`partition/cells.py`), each of which keeps the
guarantee and is small enough for one task; there its own kernels group the rows. Executors write blocks of groups, and
cut the parts of the release from them (`engines/spark/blocks.py`). The release is verified from its files, as always.
Claim: every_row_once — a release has every row of the source once, whichever executors were lost.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engines.spark import beside, started
from discreet.engines.spark.assign import grouped, ranked
from discreet.engines.spark.blocks import BLOCK, Blocks, Part, cut, stored
from discreet.engines.spark.errors import translating
from discreet.engines.spark.session import check_session, is_session
from discreet.engines.spark.source import cleaned, copied, frame_of, is_frame, seen, types_of
from discreet.engines.spark.workers import check_workers
from discreet.errors import DiscreetWarning, InputError, InternalError, PolicyError
from discreet.guarantees import Guarantee, needed
from discreet.partition import PARTITIONS
from discreet.partition.histogram.runs import Runs
from discreet.policy import Given, Policy, unfit
from discreet.policy.about import members
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import present
from discreet.publication.default import settled
from discreet.publication.draft import Draft, Prepared
from discreet.publication.identified import check_identified
from discreet.publication.in_blocks import Block, InCell
from discreet.publication.in_cells import cells_of, in_cells
from discreet.publication.prepare import promised
from discreet.publication.publish import describe
from discreet.release import Release
from discreet.release.layouts import cut_column
from discreet.release.manifest import Promise, TableSpec
from discreet.release.parts import check_rows_per_part, per_part
from discreet.release.write import Written, complete, free, hidden
from discreet.table import read
from discreet.table.header import check_names
from discreet.table.spread import Spread
from discreet.values.codes import Tally
from discreet.values.columns import Column
from discreet.values.random import RandomSource
from discreet.warnings.checks import judged
from discreet.warnings.near_limit import near_limit
from discreet.warnings.repeats import repeats
from discreet.warnings.tells import tells
from discreet.warnings.text import text

COUNTS = ("deal", "mixed", "anatomize", "min_sum", "min_max", "max_groups", "tightest", "random")
CELLS = ("local", "cluster", "mondrian")
SHOWN = {"anatomy": {"qit": "qit", "st": "st"}, "permutation": {"permuted": "permuted", "mapping": "permuted"}}
ROWS = 2_000_000  # of a part, unless it is said otherwise: each is made by one task
PLANNED = 50_000_000  # rows that are planned one by one, by partitions whose plans are not made of counts alone
LONGEST = 5_000_000  # runs of a plan: every executor holds them
VALUES = 5_000_000  # different values of a column: this process and every executor hold them
DRAWN = 50_000  # rows that are looked at here, to warn of what columns tell
STEPS = ("copying", "counting", "grouping", "writing", "verifying")


def meant(table: Any, engine: Any) -> bool:
    """Whether a table is to be published on Spark."""
    return is_frame(table) or engine == "spark" or is_session(engine)


def publish_on_spark(
    table: Any,
    policy: Given,
    *,
    to: Path,
    engine: Any = "spark",
    strict: bool = False,
    rows_per_part: int | None = None,
    memory_limit: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    also: Mapping[str, Any],
) -> Release:
    """Publish Parquet files, or a frame of Spark's, as a folder that this process and all executors see."""
    _check_asked(table, also)
    check_rows_per_part(rows_per_part, "parquet")
    free(to)
    session, frame = _opened(table, engine, memory_limit)
    source = table if isinstance(table, str) else frame
    columns = _columns(frame)
    rules = Policy.of(policy, check=unfit(columns))
    _check_suits(rules)
    own = beside(session)
    with hidden(to) as folder, ExitStack() as ending:
        work = folder / "work"
        work.mkdir()
        ending.callback(shutil.rmtree, work, ignore_errors=True)
        progress("copying")
        check_workers(own)
        before = seen(session, source)
        looked = Spread.of(session, cleaned(frame, [column.name for column in columns if column.kind], present=None), columns)
        doubts: list[DiscreetWarning] = []
        with looked:
            check_identified(looked, rules)
            doubts += repeats(Prepared(looked, rules, _none(), Guarantee.of({"k": 1}), RandomSource()))
            every = looked.rows
        names = [*rules.quasi, rules.sensitive_column]
        rows = copied(own, cleaned(frame, names, present=present(rules)), work / "rows")
        if seen(session, source) != before:
            raise InputError("the source changed while it was read; nothing was published", hint="publish it again")
        progress("counting")
        made = _Made.of(own, rows, rules, columns, work)
        doubts += made.doubts()
        warned = judged(doubts, made.policy, strict=strict)
        progress("grouping")
        blocks = made.blocks(rows_per_part or ROWS)
        progress("writing")
        promise = made.promise(blocks)
        tables = made.tables(blocks, promise, rows_per_part or ROWS)
        about = members(made.policy.about)
        written = [replace(each, files=[file.rename(folder / file.name) for file in each.files]) for each in tables]
        ending.close()
        release = complete(folder, to, promise, written, progress=progress, about=about)
    return replace(release, warnings=warned, withheld=every - made.size)


def _none() -> Tally:
    return Tally(np.zeros(0, np.int32), pa.array([], pa.int32()), False, np.zeros(0, np.int64))


@dataclass(frozen=True)
class _Made:
    """A table that is copied and counted, and the key of its release."""

    session: Any
    rows: Any
    policy: Policy
    columns: Sequence[Column]
    work: Path
    sensitive: Tally
    guarantee: Guarantee
    key: bytes

    @classmethod
    def of(cls, session: Any, rows: Any, policy: Policy, columns: Sequence[Column], work: Path) -> _Made:
        with translating():
            counted = rows.groupBy(quoted(policy.sensitive_column)).count().limit(VALUES + 1).toArrow()
        sensitive = checked(counted, policy, columns)
        guarantee = promised(policy, sensitive)
        publication = PUBLICATIONS[policy.publication]
        publication.of_values(policy, guarantee).feasible(
            sensitive.counts(), policy.sensitive_column, sensitive.value
        )
        if policy.partition == "auto" and PARTITIONS[policy.grouping].needs == "e":
            _check_planned(policy.grouping, int(sensitive.counts().sum()))
        policy = settled(policy, sensitive, guarantee)
        return cls(session, rows, policy, columns, work, sensitive, guarantee, secrets.token_bytes(32))
