"""What the data files of a release hold, checked from the files alone: columns, groups, promises, order.

What a guarantee, a group and an order are is written here again: nothing is shared with the code
that makes a release.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

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
from discreet.release.verify.batches import batches
from discreet.release.verify.batches import beside as side_by_side
from discreet.release.verify.blocks import same_sizes
from discreet.release.verify.boxes import SHOWN, TOLD
from discreet.release.verify.check import Check, check
from discreet.release.verify.counted import PROMISES, Known, count, counted, counted_in_slices
from discreet.release.verify.figures import figures
from discreet.release.verify.later import Later
from discreet.release.verify.likeness import LIKENESS, likeness
from discreet.release.verify.order import first_disorder
from discreet.release.verify.parts import parts
from discreet.release.verify.people import people
from discreet.release.verify.plausible import plausible
from discreet.release.verify.runs import Kept, groups_of, kept_of
from discreet.release.verify.shares import largest_share, spare
from discreet.values.columns import may_be


def contents(folder: Path, manifest: Manifest, spark: Any = None, memory_limit: str | None = None) -> Iterator[Check]:
    """Check after check; what is counted is counted in Spark, if it is given, and else by an engine of this process.

    If that may take so much memory only, nothing of every row is kept beside it, and groups are counted in slices.
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
                    if kept and kept.told and in_order:
                        engine.load(TOLD, pa.Table.from_batches(kept.told), keep=False)
                yield from _groups(engine, folder, manifest, kept if in_order else None, memory_limit)
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


def _groups(
    engine: Engine, folder: Path, manifest: Manifest, kept: Kept | None, memory_limit: str | None
) -> Iterator[Check]:
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
    blocks = count(engine, promise, found)
    known, promised = _known(promise)
    told = None if found is None else figures(*found, promised)
    if told is None and memory_limit is not None:
        told = counted_in_slices(folder, manifest, known, promised, harmless, memory_limit)
    yield from _promises(engine, promise, told or counted(engine, known, promised))
    if blocks is not None:
        yield same_sizes(engine, blocks)


def _known(promise: Promise) -> tuple[dict[str, Known], dict[str, float]]:
    """What can be counted of groups, and what is promised of these."""
    known = {**PROMISES, **({"k": PROMISES["distinct_l"]} if "e" in promise.guarantee else {})}
    promised = layout_of(promise).tally(promise).guarantee
    return known, {name: threshold for name, threshold in promised.items() if name in known}


def _promises(engine: Engine, promise: Promise, told: Sequence[int]) -> Iterator[Check]:
    """Every group: its rows in both tables, and what is promised of it, by what was counted."""
    tally = layout_of(promise).tally(promise)
    promised, (known, countable) = tally.guarantee, _known(promise)
    rows, groups, first, last, unlike, least, missing, odd, infinite, share, *broken = told
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


ROWS = "SELECT MIN(:row) = 1 AND MAX(:row) = COUNT(*) AND COUNT(:row) = COUNT(*) AND BOOL_AND(:row = FLOOR(:row)) AS ok"


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
        coded = {*(kept.boxes if kept is not None else ())} - {*columns}
        rows = side_by_side([batches(folder, resource, wanted, coded=coded) for resource in resources])
        if kept is not None and all(
            each.format == "parquet" for each in manifest.resources
        ):  # else runs would speak for some files
            rows = kept.passing(rows, files[0], columns)
        if first_disorder(rows, columns, strict=strict) is not None:
            again = ", or repeats itself" if strict else ""
            return f"`{resources[0].pattern}` is not sorted by {', '.join(columns)}{again}"
    return None
