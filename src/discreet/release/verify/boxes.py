"""Check the boxes of a release from its files: one per group, with ends in order and labels that are explained.

Shares nothing with the code that makes boxes.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.engines.dialect import sql_type, wide_integer
from discreet.release.layouts.file import column, named
from discreet.release.manifest import BoxColumn, Promise
from discreet.release.verify.check import Check, check
from discreet.release.verify.explained import explained, of_side
from discreet.release.verify.later import rows_of
from discreet.values.buffers import array, flags, numbers
from discreet.values.columns import ARROW

SHOWN, TOLD = "rows that show boxes", "rows that explain labels"


def boxes(engine: Engine, promise: Promise) -> Iterator[Check]:
    """Whether the boxes are right; the rows that show them, or one of each run of them, and labels are loaded."""
    wrong = next(_faults(engine, promise, promise.boxes or ()), None)
    yield check("boxes", wrong, "every group shows one box, and every label is explained")


def _faults(engine: Engine, promise: Promise, sides: tuple[BoxColumn, ...]) -> Iterator[str]:
    shown = exp.select(*[column(name) for side in sides for name in side.columns], column(promise.group))
    engine.load("boxes of groups", shown.from_(named(SHOWN)), keep=False)
    rows, ends = rows_of(engine, SHOWN), [side for side in sides if side.label is None]
    if rows is None or not _one_each(rows, promise.group):
        rows = None
        if not _alike(engine, promise.group):  # else there is one row for each group
            engine.load("different boxes", shown.from_(named(SHOWN)).distinct())
            engine.load("boxes of groups", exp.select("*").from_('"different boxes"'), keep=False)
            if not _alike(engine, promise.group):
                yield "rows of one group show different boxes"
    if odd := [side for side in ends if rows is None or not _whole(rows, side)]:
        yield from _halves(engine, odd)
    if labelled := [side for side in sides if side.label is not None]:
        yield from _labels(engine, labelled)


def _labels(engine: Engine, labelled: Sequence[BoxColumn]) -> Iterator[str]:
    """Sides that are shown by labels: what is right as it stands in the rows is not asked of the engine."""
    told = rows_of(engine, TOLD)
    if told is not None and explained(rows_of(engine, SHOWN), told, labelled):
        yield from (MISREAD.format(side.name) for side in labelled if _misread(of_side(told, side)))
        return
    names = ", ".join(exp.convert(side.name).sql() for side in labelled)
    if engine.run(parse_one(NOT_LABELLED.format(names=names), dialect="duckdb")).column(0)[0].as_py():
        yield "`labels` lists a column that is not shown by labels"
    for side in labelled:
        if _count(engine, UNEXPLAINED, side):
            yield f"a label of `{side.name}` is not in `labels`"
        if _count(engine, UNUSED, side):
            yield f"`labels` lists a label that no box of `{side.name}` shows, or a value of another type"
        own = exp.column("column", quoted=True).eq(exp.convert(side.name))
        if _misread(engine.run(exp.select("label", "value").from_('"labels file"').where(own))):
            yield MISREAD.format(side.name)


def _alike(engine: Engine, group: str) -> bool:
    """Whether there are as many rows as groups."""
    groups = exp.Count(this=exp.Distinct(expressions=[column(group)]))
    [[rows], [different]] = engine.run(exp.select("COUNT(*)", groups).from_('"boxes of groups"')).to_pydict().values()
    return bool(rows == different)


def _one_each(rows: pa.Table, group: str) -> bool:
    """Whether there is one row for each group, as far as that can be told without an engine."""
    column = rows[group]
    if column.null_count or not pa.types.is_integer(column.type):
        return False
    groups = numbers(column.combine_chunks())
    return bool((groups[1:] > groups[:-1]).all())


def _whole(rows: pa.Table, side: BoxColumn) -> bool:
    """Whether ends are right in all rows; if that cannot be told here, or they are not, the engine is to look."""
    low, high = rows[side.low], rows[side.high]
    missing = None if side.missing is None else rows[side.missing]
    if low.type != high.type or not (missing is None or pa.types.is_boolean(missing.type)):
        return False
    nothing = pc.is_null(low)
    faults = [pc.xor(nothing, pc.is_null(high)), pc.greater(low, high)]
    if pa.types.is_floating(low.type):
        faults += [pc.invert(pc.is_finite(end)) for end in (low, high)]
    if missing is not None:
        told = pc.fill_null(missing, True)
        faults += [pc.and_not(pc.is_null(missing), nothing), pc.and_(pc.invert(told), nothing)]
    return not any(pc.any(fault).as_py() for fault in faults)


def _halves(engine: Engine, sides: Sequence[BoxColumn]) -> Iterator[str]:
    """Sides that are shown by ends, all of them in one query."""
    wrong = [_told(HALF if side.missing is None else HALF_OR_MISSING, side) for side in sides]
    counts = [exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=each)) for each in wrong]
    found = engine.run(exp.select(*counts).from_('"boxes of groups"')).columns
    for side, count in zip(sides, found, strict=True):
        if count[0].as_py():
            yield f"in `{side.name}` a box has low above high, only one of the two, or an infinite one"


def _count(engine: Engine, sql: str, side: BoxColumn) -> int:
    """How many rows a query of ours finds, told about one side."""
    return int(engine.run(_told(sql, side)).column(0)[0].as_py())


def _told(sql: str, side: BoxColumn) -> exp.Expr:
    """SQL of ours, told about one side."""
    parts = {"low": side.low, "high": side.high, "missing": side.missing, "label": side.label}
    own = {key: column(name) for key, name in parts.items() if name is not None}
    infinite = NOT_FINITE if side.type == "number" else "FALSE"
    sql = sql.replace(":not_finite", infinite).replace(
        ":other_spelling", OTHER_SPELLING if side.type in {"integer", "date"} else "FALSE"
    )
    type_ = wide_integer() if side.type == "integer" else sql_type(ARROW[side.type])
    query = _parsed(sql.replace(":type", type_.sql()))
    return exp.replace_placeholders(query, name=exp.convert(side.name), **own)


@cache
def _parsed(sql: str) -> exp.Expr:
    return parse_one(sql, dialect="duckdb")


def _misread(found: pa.Table) -> bool:
    """Whether a label that is a list of values stands for others; one may stand for itself, as a value can look so."""
    told = defaultdict(list)
    if 0 < found.nbytes < LARGE:
        found = found.filter(_to_be_read(*(part.combine_chunks() for part in found.columns)))
    for label, value in zip(*(part.to_pylist() for part in found.columns), strict=True):
        told[label].append(value)
    return any(values != [label] and _lists_others(label, values) for label, values in told.items())


def _to_be_read(labels: pa.Array, values: pa.Array) -> pa.Array:
    """Which rows are of a label that is not, letter for letter, the list of the values in the rows that have it."""
    coded = labels.dictionary_encode(null_encoding="encode")
    codes = numbers(coded.indices)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    quoted = pc.fill_null(pc.binary_join_element_wise('"', values, '"', ""), "null")
    runs = pa.ListArray.from_arrays(array(np.append(starts, codes.size).astype(np.int32)), quoted)
    texts = pc.binary_join_element_wise("[", pc.binary_join(runs, ", "), "]", "")
    alike = flags(pc.equal(texts, labels.take(array(starts))).fill_null(False))
    escaped = flags(pc.match_substring_regex(values, ESCAPED).fill_null(False))
    alike &= ~np.logical_or.reduceat(escaped, starts) & (np.bincount(codes[starts])[codes[starts]] == 1)
    return pa.array(np.repeat(~alike, np.diff(starts, append=codes.size)))


def _lists_others(label: str, values: Sequence[str | None]) -> bool:
    """Whether a text is a list of texts, and of others than these."""
    try:
        listed = json.loads(label)
    except ValueError:
        return False
    if listed == values or not isinstance(listed, list):  # as a rule they are in the same order
        return False
    texts = all(value is None or isinstance(value, str) for value in listed)
    return bool(listed) and texts and Counter(listed) != Counter(values)


MISREAD = "a label of `{}` that is a list of values has others in `labels`"
LARGE = 2**30  # bytes of labels that are not put into one array
ESCAPED = r'["\\\x00-\x1f]'  # what a text in a list is not written with as it is
NOT_FINITE = "NOT (IS_FINITE(CAST(:low AS DOUBLE)) AND IS_FINITE(CAST(:high AS DOUBLE)))"  # no place on a line
OTHER_SPELLING = "CAST(TRY_CAST(value AS :type) AS VARCHAR) <> value"  # in another way than we would
HALF = "(:low IS NULL) <> (:high IS NULL) OR :low > :high OR :not_finite"
HALF_OR_MISSING = HALF + " OR (:missing IS NULL) AND :low IS NOT NULL OR NOT :missing AND :low IS NULL"
NOT_LABELLED = 'SELECT COUNT(*) FROM "labels file" WHERE "column" IS NULL OR "column" NOT IN ({names})'
UNEXPLAINED = """
    SELECT COUNT(*) FROM "boxes of groups" WHERE :label IS NOT NULL AND :label NOT IN (
      SELECT label FROM "labels file" WHERE "column" = :name AND label IS NOT NULL
    )
"""
UNUSED = """
    SELECT COUNT(*) FROM "labels file" WHERE "column" = :name AND (
      label IS NULL OR label NOT IN (SELECT :label FROM "boxes of groups" WHERE :label IS NOT NULL)
      OR value IS NOT NULL AND TRY_CAST(value AS :type) IS NULL OR :other_spelling
    )
"""
