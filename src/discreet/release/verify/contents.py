"""What the data files of a release hold, checked from the files alone: columns, groups, promises, order.

What a guarantee, a group and an order are is written here again: nothing is shared with the code
that makes a release.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias, cast

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp, parse_one

from discreet.engines import Engine, connect, spark_of
from discreet.errors import DiscreetError, EngineError, InputError
from discreet.release.harmless import harmless_values
from discreet.release.layouts import files_of, layout_of
from discreet.release.layouts import plausible as beside
from discreet.release.layouts.file import named
from discreet.release.manifest import Manifest, Promise, Resource
from discreet.release.relations import load_file
from discreet.release.verify.blocks import same_sizes
from discreet.release.verify.boxes import SHOWN
from discreet.release.verify.check import Check, check
from discreet.release.verify.figures import figures
from discreet.release.verify.later import Later
from discreet.release.verify.likeness import LIKENESS, likeness
from discreet.release.verify.order import first_disorder
from discreet.release.verify.parts import parts
from discreet.release.verify.people import people
from discreet.release.verify.plausible import plausible
from discreet.release.verify.runs import Kept, groups_of, kept_of
from discreet.release.verify.shares import OTHERS, largest_share, spare
from discreet.values.columns import kind_of, may_be

Known: TypeAlias = tuple[Callable[[float, pa.DataType], str], str]


def contents(folder: Path, manifest: Manifest, spark: Any = None, memory_limit: str | None = None) -> Iterator[Check]:
    """Check after check; what is counted is counted in Spark, if it is given, and else by an engine of this process.

    If that may take so much memory only, nothing of every row is kept beside it.
    """
    engine = spark_of(spark) if spark is not None else _engine(manifest, memory_limit)
    try:
        wrong = _columns(engine, folder, manifest)
        yield check("columns", wrong, "quasi-identifiers, sensitive value, and our own numbers; nothing else")
        if wrong is None:
            yield from parts(folder, manifest)
            kept = kept_of(manifest.discreet) if spark is None and memory_limit is None else None
            with ThreadPoolExecutor(1) as aside:  # so that what it raises waits until all else was looked at
                order = aside.submit(_order, folder, manifest, kept)
                in_order = kept is not None and order.exception() is None and order.result() is None
                if manifest.discreet.boxes:
                    shown = pa.Table.from_batches(kept.shown) if kept and kept.shown else exp.select("*").from_("qit")
                    engine.load(SHOWN, shown, keep=False)
                yield from _groups(engine, manifest, kept if in_order else None)
                yield from _rows(engine, manifest.discreet, kept if in_order else None)
                yield from people(engine, manifest.discreet)
                yield from layout_of(manifest.discreet).checks(engine, manifest.discreet)
                yield from plausible(engine, manifest.discreet)
                yield check("order", order.result(), "rows follow their content: the source's order left no trace")
    except (EngineError, InputError, pa.ArrowException, OSError, ValueError) as error:
        reason = error.message if isinstance(error, DiscreetError) else type(error).__name__
        yield Check("contents", ok=False, detail=f"the data files cannot be read: {reason}")
    finally:
        engine.close()


def _engine(manifest: Manifest, memory_limit: str | None) -> Engine:
    """An engine of this process; of Parquet files in order, what is promised may be told without it."""
    groups = manifest.discreet.groups
    if memory_limit is not None or any(resource.format == "csv" for resource in manifest.resources):
        return connect(groups=groups, memory_limit=memory_limit)
    return cast("Engine", Later(partial(connect, groups=groups)))


def _columns(engine: Engine, folder: Path, manifest: Manifest) -> str | None:
    """Load the files and read them as `qit` and `st`; say what is wrong with their columns."""
    promise = manifest.discreet
    layout = layout_of(promise)
    for name, file in files_of(promise).items():
        resource = manifest.resource(name)
        for path in resource.paths:
            if not _fits(folder / path, resource):
                return f"`{path}` has other columns, or of other types, than the manifest says"
            if resource.in_parts and pq.read_schema(folder / path) != pq.read_schema(folder / resource.paths[0]):
                return f"`{path}` has columns of other types than the part before it"
        # in CSV a count of 1.4 must not be rounded before it is seen
        kinds = {column: "number" if column in file.added else kind for column, kind in resource.kinds().items()}
        load_file(engine, folder, resource, keep=resource.format == "csv", kinds=kinds)
    for name, query in layout.relations(promise).items():
        engine.load(name, query, keep=False)
    return None


def _fits(path: Path, resource: Resource) -> bool:
    """Whether a file itself names the manifest's columns; a CSV file's types are tried when it is read."""
    kinds = resource.kinds()
    if resource.format == "csv":
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file), []) == list(kinds)
    schema = pq.read_schema(path)
    return schema.names == list(kinds) and all(may_be(kinds[field.name], field.type) for field in schema)


def _groups(engine: Engine, manifest: Manifest, kept: Kept | None) -> Iterator[Check]:
    """The sizes of all groups in both tables, and every promise; but first which values are harmless."""
    promise = manifest.discreet
    harmless = None
    if promise.harmless is not None:
        type_ = engine.schema("st").field("value").type
        fault = spare(engine, promise, type_)
        yield check("harmless", fault, f"whoever holds {promise.spared} is promised nothing but k and beta")
        if fault is not None:
            return
        harmless = harmless_values(promise.harmless, type_)
    apart = layout_of(promise).tally(promise).apart
    found = None if kept is None or apart else groups_of(kept, harmless)
    blocks = _count(engine, promise, found)
    yield from _promises(engine, promise, found)
    if blocks is not None:
        yield same_sizes(engine, blocks)


def _count(engine: Engine, promise: Promise, found: tuple[pa.Table, pa.Table] | None) -> list[str] | None:
    """Make known what each group has: what was found in runs of files in order, or else counted by the engine.

    Returned are, if there are blocks, those that were counted apart: if runs were, all have the rows of groups.
    """
    apart = layout_of(promise).tally(promise).apart
    sliced = layout_of(promise).matching == "margins" and layout_of(promise).member is not None
    files = files_of(promise) if sliced else {}
    blocks = [name for name, file in files.items() if promise.count not in file.columns]
    if found is not None:
        for name, table in zip((ROWS_OF, VALUES_OF), found, strict=True):
            engine.load(name, table, keep=False)
        return [] if sliced else None
    group, type_ = exp.column(promise.group, quoted=True), engine.schema("st").field("value").type
    ends = ENDS if "e" in promise.guarantee else "NULL AS high, NULL AS low"
    values = HELD.replace(":ends", ends).replace(":own", OTHERS if promise.harmless else "TRUE")
    values = values.replace(":infinite", "NOT IS_FINITE(value)" if kind_of(type_) == "float" else "FALSE")
    values = values.replace(":nan", "ISNAN(value)" if kind_of(type_) == "float" else "FALSE")
    of_blocks = [(f"{name} groups", ROWS_OF_GROUPS.replace("qit", f'"{name} file"')) for name in blocks]
    for name, sql in ((ROWS_OF, VALUES_OF_GROUPS if apart else ROWS_OF_GROUPS), (VALUES_OF, values), *of_blocks):
        query = parse_one(sql, dialect="duckdb", into=exp.Select)
        engine.load(name, exp.replace_placeholders(query, group=group), keep=False)
    return blocks if sliced else None


def _promises(engine: Engine, promise: Promise, found: tuple[pa.Table, pa.Table] | None) -> Iterator[Check]:
    """Every group: its rows in both tables, and what is promised of it; as runs tell it, or else by the engine."""
    known = {**PROMISES, **({"k": PROMISES["distinct_l"]} if "e" in promise.guarantee else {})}
    tally = layout_of(promise).tally(promise)
    promised = tally.guarantee
    countable = {name: threshold for name, threshold in promised.items() if name in known}
    counted = None if found is None else figures(*found, countable)
    if counted is None:
        engine.load(BOTH, parse_one(SIDE_BY_SIDE, dialect="duckdb", into=exp.Select), keep=False)
        counted = [int(c[0].as_py() or 0) for c in engine.run(_figures(engine, known, countable)).columns]
    rows, groups, first, last, unlike, least, missing, odd, infinite, share, *broken = counted
    wrong = None
    if (rows, groups) != (tally.people, tally.groups):
        wrong = "the manifest counts other rows or groups than the files hold"
    elif (first, last) != (1, groups):
        wrong = "groups are not numbered from 1 without a gap"
    elif unlike:
        wrong = f"{unlike} groups have another size in the two tables"
    elif least < 1 or odd or (infinite and "e" in promise.guarantee):
        wrong = "a sensitive value is not finite, or its count is not a whole number of at least 1"
    elif missing and promise.missing_sensitive != "value" and promise.sensitive is not None:
        wrong = "there are missing sensitive values, which the policy did not allow"
    yield check("groups", wrong, "every group is whole, and counted alike in all files")
    for name, breaking in zip(countable, broken, strict=True):
        fault = f"{breaking} groups break it" if breaking else None
        threshold = promise.guarantee[name]
        spared = ", as if nobody held a harmless one" if promise.harmless and known[name] is not PROMISES["k"] else ""
        yield check(f"guarantee {name} = {threshold}", fault, known[name][1].format(t=threshold) + spared)
    yield from likeness(engine, promised)
    if "e" in promised:
        yield largest_share(promise, share)
    for name in promised.keys() - countable.keys() - LIKENESS.keys():
        yield Check(f"guarantee {name}", ok=False, detail=f"this software cannot check the guarantee `{name}`")


def _figures(engine: Engine, known: Mapping[str, Known], promised: Mapping[str, float]) -> exp.Select:
    """The query that counts them."""
    type_ = engine.schema("st").field("value").type
    query = parse_one(GROUPS, dialect="duckdb", into=exp.Select)
    for name, threshold in promised.items():
        where = exp.Where(this=exp.condition(known[name][0](threshold, type_), dialect="duckdb"))
        query = query.select(exp.Filter(this=exp.Count(this=exp.Star()), expression=where), copy=False)
    return query


def _rows(engine: Engine, promise: Promise, kept: Kept | None) -> Iterator[Check]:
    """Where rows are numbered, their numbers must tell nothing but their place: if they ascend, by the last of them."""
    files = layout_of(promise).files(promise)
    numbered = [name for name, file in files.items() if promise.row in file.columns]
    wrong = None
    for name in numbered:
        if kept is not None and kept.numbered.get(name, False):
            continue
        row = exp.column(promise.row, quoted=True)
        query = parse_one(ROWS, dialect="duckdb", into=exp.Select).from_(named(f"{name} file"))
        if engine.run(exp.replace_placeholders(query, row=row)).to_pylist() != [{"ok": True}]:
            wrong = f"the rows of `{name}` are not numbered from 1 without a gap"
    if numbered:
        yield check("rows", wrong, "rows are numbered by their place alone")


AT_ONCE = 1 << 17  # rows that are looked at together: their columns stay in the processor's caches
ROWS = "SELECT MIN(:row) = 1 AND MAX(:row) = COUNT(*) AND COUNT(:row) = COUNT(*) AND BOOL_AND(:row = FLOOR(:row)) AS ok"
ROWS_OF_GROUPS = "SELECT :group AS grp, COUNT(*) AS size FROM qit GROUP BY :group"
VALUES_OF_GROUPS = "SELECT grp, SUM(n) AS size FROM st GROUP BY grp"  # of a join, whose rows are in other groups
SIDE_BY_SIDE = """
    SELECT q.grp, q.size AS rows, s.size, s.others, s.least, s.top, s.kinds, s.low, s.high, s.missing, s.odd, s.infinite
    FROM "rows of groups" AS q FULL JOIN "values of groups" AS s ON q.grp = s.grp
"""
GROUPS = """
    SELECT SUM(s.rows), COUNT(s.grp), MIN(s.grp), MAX(s.grp),
           COUNT(*) FILTER (WHERE s.rows IS DISTINCT FROM s.size), MIN(s.least), SUM(s.missing), SUM(s.odd),
           SUM(s.infinite), MAX(CEIL(10000 * s.top / s.others)) FILTER (WHERE s.others > 0)
    FROM "rows and values of groups" AS s
"""
ENDS = "MAX(value) FILTER (WHERE own) AS high, MIN(value) FILTER (WHERE own) AS low"
HELD = """
    SELECT grp, SUM(n) AS size, SUM(n) FILTER (WHERE own) AS others, MIN(n) AS least,
           CAST(MAX(n) FILTER (WHERE own) AS BIGINT) AS top, COUNT(*) FILTER (WHERE own) AS kinds, :ends,
           COUNT(*) - COUNT(value) AS missing,
           COUNT(*) FILTER (WHERE n IS NULL OR n <> FLOOR(n) OR grp <> FLOOR(grp) OR :nan) AS odd,
           COUNT(*) FILTER (WHERE :infinite) AS infinite
    FROM (SELECT grp, value, n, :own AS own FROM st) AS held GROUP BY grp
"""
ROWS_OF, VALUES_OF, BOTH = "rows of groups", "values of groups", "rows and values of groups"
# What breaks a promise, and what is promised.
PROMISES: dict[str, Known] = {
    "k": (lambda t, _: f"s.size < {int(t)}", "every group has at least {t} rows"),
    "l": (
        lambda t, _: f"s.kinds = 0 OR s.top * {int(t)} > s.others",
        "no sensitive value has more than 1/{t} of a group",
    ),
    "distinct_l": (lambda t, _: f"s.kinds < {int(t)}", "every group has at least {t} distinct sensitive values"),
    "e": (
        lambda t, type_: f"s.kinds = 0 OR {_span(type_)} < {_length(t, type_)}",
        "in every group the sensitive values span at least {t}",
    ),
}


def _span(type_: pa.DataType) -> str:
    """How far the values of a group lie apart: exactly, except for floats."""
    match kind_of(type_):
        case "timestamp":
            most, least = (f"EPOCH_{'NS' if type_.unit == 'ns' else 'US'}({end})" for end in ("s.high", "s.low"))
        case "date":
            return "DATE_DIFF('day', s.low, s.high)"
        case "decimal":
            return "s.high - s.low"
        case "float":
            return "CAST(s.high AS DOUBLE) - CAST(s.low AS DOUBLE)"
        case _:
            most, least = "s.high", "s.low"
    return f"CAST({most} AS INT128) - CAST({least} AS INT128)"


def _length(threshold: float, type_: pa.DataType) -> str:
    """The least span as it is compared; of dates and times it is told in days."""
    kind = kind_of(type_)
    if kind in {"float", "decimal"}:
        return f"{Decimal(repr(threshold)):f}"
    day = 86_400 * (10**9 if type_.unit == "ns" else 10**6) if kind == "timestamp" else 1
    return str(ceil(Fraction(repr(threshold)) * day))


def _order(folder: Path, manifest: Manifest, kept: Kept | None) -> str | None:
    """Rows must be sorted by group and then by everything else they show: no other order can hide in them.

    What passes by is kept, unless there is nothing to keep it in.
    """
    promise = manifest.discreet
    orders = layout_of(promise).orders(promise)
    if promise.plausible is not None:
        orders.append(beside.order(promise))
    for files, columns, strict in orders:
        resources = [manifest.resource(name) for name in files]
        wanted = {*columns, *(kept.wanted(columns) if kept is not None else ())}
        rows = _beside([_batches(folder, resource, wanted) for resource in resources])
        if kept is not None and all(
            each.format == "parquet" for each in manifest.resources
        ):  # else runs would speak for some files
            rows = kept.passing(rows, files[0], columns)
        if first_disorder(rows, columns, strict=strict) is not None:
            again = ", or repeats itself" if strict else ""
            return f"`{resources[0].pattern}` is not sorted by {', '.join(columns)}{again}"
    return None


def _beside(files: Sequence[Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """The rows of several files side by side, in their order."""
    held: list[pa.RecordBatch | None] = [next(batches, None) for batches in files]
    while parts := [batch for batch in held if batch is not None]:
        if len(parts) < len(held):
            raise ValueError("files that belong together differ in length")
        rows = min(map(len, parts))
        names = [name for part in parts for name in part.schema.names]
        yield pa.RecordBatch.from_arrays([column.slice(0, rows) for part in parts for column in part.columns], names)
        held = [
            part.slice(rows) if len(part) > rows else next(batches, None)
            for part, batches in zip(parts, files, strict=True)
        ]


def _batches(folder: Path, resource: Resource, wanted: Collection[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a table in their order, with the columns that are wanted of it."""
    if resource.format == "parquet":
        columns = [name for name in resource.kinds() if name in wanted]
        for path in resource.paths:
            with pq.ParquetFile(folder / path) as file:
                yield from file.iter_batches(batch_size=AT_ONCE, columns=columns, use_threads=False)
        return
    engine = connect()
    try:
        engine.load("file", [folder / path for path in resource.paths], kinds=resource.kinds())
        yield from engine.run(exp.select("*").from_("file")).to_batches()
    finally:
        engine.close()
