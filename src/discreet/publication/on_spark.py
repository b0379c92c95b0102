"""Publish a table that lies in a lake, on Spark: counts, plans and cuts are here, and rows stay with the executors.

The columns that are published are copied once to a private folder beside the release (`engines/spark/copied.py`). Of a
partition that needs no more than counts, the plan is made here by runs, and rows are shared out by it there. One
that looks at quasi-identifiers first has the table cut into cells (`partition/cells.py`), each of which keeps the
guarantee and is small enough for one task; there its own kernels group the rows. Executors write blocks of groups, and
cut the parts of the release from them (`engines/spark/blocks.py`). One that raises whole columns needs no rows at all,
but counts of combinations (`in_combinations.py`). The release is verified from its files, as always.
Claim: every_row_once — a release has every row of the source once, whichever executors were lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engines.spark import beside, started
from discreet.engines.spark.copied import Copied
from discreet.engines.spark.session import check_session
from discreet.engines.spark.source import cleaned, frame_of, is_frame, of_people, schema_of, seen, size_of, types_of
from discreet.engines.spark.workers import check_workers
from discreet.errors import DiscreetError, DiscreetWarning, EngineError, InputError
from discreet.partition import PARTITIONS
from discreet.policy import Given, Policy, unfit
from discreet.policy.about import members
from discreet.publication.axes import present
from discreet.publication.earlier import doubts as earlier_doubts
from discreet.publication.earlier import opened as opened_earlier
from discreet.publication.earlier import watched
from discreet.publication.identified import check_figures
from discreet.publication.made_on_spark import CAN, RAISED, OnExecutors
from discreet.release import Release
from discreet.release.parts import check_rows_per_part
from discreet.release.write import complete, free, hidden
from discreet.scratch import remove
from discreet.table.header import check_names
from discreet.values.columns import Column
from discreet.warnings.checks import judged
from discreet.warnings.repeats import repeating

ROWS = 2_000_000  # of a part, unless it is said otherwise: each is made by one task
VERIFYING = "512MB"  # of this process: as much however many rows there are
QUIET = 1.0  # seconds in which a task of Spark's that is to end makes no folder again
RESERVED = "discreet "  # how columns begin that are added on the way


def publish_on_spark(
    table: Any,
    policy: Given,
    *,
    to: Path,
    engine: Any = "spark",
    earlier: Sequence[str | Path | Release] = (),
    strict: bool = False,
    rows_per_part: int | None = None,
    memory_limit: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Release:
    """Publish Parquet files, or a frame of Spark's, as a folder that this process and all executors see."""
    check_rows_per_part(rows_per_part, "parquet")
    free(to)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")  # nor is it asked to
        warnings.filterwarnings("ignore", message="The SQL config")
        own, frame, source = _opened(table, engine, memory_limit)
        asked = _Asked(policy, to, earlier, strict, rows_per_part or ROWS, progress)
        return _published(own, frame, source, asked)


@dataclass(frozen=True)
class _Asked:
    """What is asked for, as in `publish_on_spark`."""

    policy: Given
    to: Path
    earlier: Sequence[str | Path | Release]
    strict: bool
    rows_per_part: int
    progress: Callable[[str], None]


def _published(own: Any, frame: Any, source: Any, asked: _Asked) -> Release:
    """Publish a frame that comes from a source, by a session of our own."""
    progress, to = asked.progress, asked.to.absolute()
    columns = _columns(frame)
    rules = Policy.of(asked.policy, check=unfit(columns))
    _check_suits(rules, columns)
    others = opened_earlier(asked.earlier, rules)
    watch = watched(others)
    with hidden(to, watch) as folder, _emptied(own, folder / "work") as work:
        progress("checking")
        check_workers(own, work)
        before = seen(own, source, schema_of(frame))
        progress("copying")
        names = [*rules.quasi, rules.sensitive_column]
        published = [next(column for column in columns if column.name == name) for name in names]
        schema = pa.schema([(column.name, column.type) for column in published])
        shown = cleaned(frame, [*names, *rules.identifiers], present=present(rules))
        private = Copied.of(own, shown, schema, work / "rows")
        progress("counting")
        every, rows, doubts = _looked_at(frame, private, rules)
        made = OnExecutors.of(private, rules, published, work, progress)
        if seen(own, source, schema_of(frame)) != before or made.size != rows or every < rows:
            raise InputError("the source changed while it was read; nothing was published", hint="publish it again")
        doubts += [*earlier_doubts(others, rules), *made.doubts()]
        progress("grouping")
        blocks = made.blocks()
        warned = judged([*doubts, *made.doubts_of(blocks)], made.policy, strict=asked.strict)
        progress("writing")
        promise = made.promise(blocks)
        written, needs = made.tables(blocks, promise, asked.rows_per_part), made.needs(blocks)
        ready = [replace(each, files=[file.rename(folder / file.name) for file in each.files]) for each in written]
        remove(work)
        about = members(made.policy.about)
        release = complete(
            folder, to, promise, ready, progress=progress, about=about, watch=watch, memory_limit=VERIFYING
        )
    release = replace(release, withheld=every - rows, suppressed=rows - promise.rows, needs=needs)
    return replace(release, path=asked.to, warnings=warned)


@contextmanager
def _emptied(session: Any, work: Path) -> Iterator[Path]:
    """A private folder for rows on their way, and none if anything fails: tasks that still go on are stopped."""
    work.mkdir()
    try:
        yield work
    except BaseException as error:
        with suppress(Exception):  # Spark may have ended
            session.interruptAll()
        told = isinstance(error, DiscreetError) and not isinstance(error, EngineError)
        remove(work, quiet=0.0 if told else QUIET)
        raise


def _opened(table: Any, engine: Any, memory_limit: str | None) -> tuple[Any, Any, Any]:
    """A session beside the user's, the rows as a frame, and where they come from."""
    if is_frame(table):
        session = table.sparkSession
    elif isinstance(table, str | Path):
        session = started(memory_limit) if engine == "spark" else engine
    else:
        raise InputError(
            "Spark publishes its own frames, and Parquet files", hint="give a DataFrame, or 'rows/*.parquet'"
        )
    check_session(session)
    own = beside(session)
    own.conf.set("spark.sql.legacy.parquet.nanosAsLong", "false")  # no time may become a number
    own.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    if is_frame(table):
        return own, table, table
    return own, frame_of(own, str(table)), str(table)


def _columns(frame: Any) -> list[Column]:
    """The columns of a frame, those without a type of ours with the reason why they are refused."""
    found = types_of(frame)
    check_names([name for name, _, _ in found])
    columns = []
    for name, type_, told in found:
        if name.lower().startswith(RESERVED):
            raise InputError(f"no column may begin with `{RESERVED}`: `{name}`", hint="give it another name")
        why = None if type_ is not None else f"has the type {told} of Spark, which cannot be published; cast or drop it"
        columns.append(Column(name, type_ or pa.null(), why))
    return columns


def _check_suits(policy: Policy, columns: list[Column]) -> None:
    """Raise for what is not done on Spark, by name, with what can be."""
    grouping = policy.grouping
    partitions = CAN.get(policy.publication)
    if partitions is None:
        _refuse(f"the publication `{policy.publication}`", f"`publication` may be {_either(CAN)}")
    elif policy.person is not None:
        _refuse("people with several rows (`person`)", "publish one row per person")
    elif grouping not in partitions:
        _refuse(f"the partition `{grouping}`", f"`partition` may be {_either(partitions)}")
    elif PARTITIONS[grouping].cuts(policy.options) == "fitted" and not _harmless_cuts(policy):
        _refuse('cuts = "fitted"', 'set options.cuts = "blind": such cuts tell nothing of values')
    elif policy.options.get("cells") is not None:
        _refuse("the option `cells` of `mixed`", 'leave it out, or set partition = "local"')
    for column in columns:
        if column.name in policy.identifiers and column.refused:
            raise InputError(f"the column `{column.name}` {column.refused}", hint="or cast it to text")


def _harmless_cuts(policy: Policy) -> bool:
    """Whether cuts that are fitted to values need no attack on rows before they are published.

    None of `full_domain` is made anywhere: where more than `k` is promised, the policy has to accept that.
    """
    return policy.grouping == RAISED and (policy.guarantee.keys() <= {"k"} or "looks" in policy.accept)


def _refuse(what: str, instead: str) -> None:
    raise InputError(
        f"{what} cannot be made on Spark",
        hint=f"{instead}; or publish the table without Spark, if one machine holds it",
    )


def _either(names: Any) -> str:
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def _looked_at(frame: Any, private: Copied, policy: Policy) -> tuple[int, int, list[DiscreetWarning]]:
    """How many rows there are, how many are published, and what is doubtful of identifiers; raise if people repeat.

    Identifiers are those of the copy: a frame that is looked at again may find other rows.
    """
    every = private.size if present(policy) is None else size_of(frame)
    if not every:
        raise InputError("the table has no rows", hint="there is nothing to publish")
    if not policy.identifiers:
        return every, private.size, []
    rows, missing, people, held, values = of_people(private.rows, policy.identifiers)
    check_figures(policy, rows, missing, people)
    return every, rows, list(repeating(policy, held, values)) if len(policy.identifiers) > 1 else []
