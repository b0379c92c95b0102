"""What every group of a release has, counted by the engine, and how many break each promise: as a whole, or in slices.

Claim: slices_count_what_the_whole_does — the same figures, in memory that does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp, parse_one

from discreet.engines import Engine, connect
from discreet.release.layouts import files_of, layout_of
from discreet.release.manifest import Manifest, Promise
from discreet.release.verify.shares import OTHERS
from discreet.release.verify.slices import Unsliced, slices
from discreet.values.columns import kind_of

Known: TypeAlias = tuple[Callable[[float, pa.DataType], str], str]


def count(engine: Engine, promise: Promise, found: tuple[pa.Table, pa.Table] | None = None) -> list[str] | None:
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


def _query(engine: Engine, known: Mapping[str, Known], promised: Mapping[str, float]) -> exp.Select:
    """The query that counts them."""
    type_ = engine.schema("st").field("value").type
    query = parse_one(GROUPS, dialect="duckdb", into=exp.Select)
    for name, threshold in promised.items():
        where = exp.Where(this=exp.condition(known[name][0](threshold, type_), dialect="duckdb"))
        query = query.select(exp.Filter(this=exp.Count(this=exp.Star()), expression=where), copy=False)
    return query


def counted(engine: Engine, known: Mapping[str, Known], promised: Mapping[str, float]) -> list[int]:
    """The figures of the groups that `count` made known, then how many break each promise; none where there is none."""
    engine.load(BOTH, parse_one(SIDE_BY_SIDE, dialect="duckdb", into=exp.Select), keep=False)
    return _numbers(engine, _query(engine, known, promised))


def counted_in_slices(
    folder: Path,
    manifest: Manifest,
    known: Mapping[str, Known],
    promised: Mapping[str, float],
    harmless: pa.Array | None,
    memory_limit: str,
) -> list[int] | None:
    """The same, slice by slice, by an engine that knows no more than one; none where files have no slices."""
    promise, engine, found = manifest.discreet, connect(memory_limit=memory_limit), list[list[int]]()
    relations = layout_of(promise).relations(promise)
    needed = {table.name.removesuffix(" file") for each in relations.values() for table in each.find_all(exp.Table)}
    try:
        if harmless is not None:
            engine.load("harmless", pa.table({"value": harmless}))
        for tables in slices(folder, manifest):
            if not needed <= tables.keys():  # a file without a row of these groups
                return None
            for name, rows in tables.items():
                engine.load(f"{name} file", rows, keep=False)
            if not found:
                engine.load("qit", _of_groups(relations["qit"], promise.group), keep=False)
                engine.load("st", relations["st"], keep=False)
                count(engine, promise)
                engine.load(BOTH, parse_one(SIDE_BY_SIDE, dialect="duckdb", into=exp.Select), keep=False)
                query = _query(engine, known, promised)
            found.append(_numbers(engine, query))
    except Unsliced:
        return None
    finally:
        engine.close()
    return [how(each) for how, each in zip((*HOW, *(sum for _ in promised)), zip(*found, strict=True), strict=True)]


def _of_groups(rows: exp.Select, group: str) -> exp.Select:
    """Of rows their groups alone."""
    rows = rows.copy()
    rows.set("order", None)
    return rows.select(*(each for each in rows.expressions if each.alias_or_name == group), append=False)


def _numbers(engine: Engine, query: exp.Select) -> list[int]:
    """The figures that a query finds; those of nothing are 0."""
    return [int(column[0].as_py() or 0) for column in engine.run(query.copy()).columns]


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
HOW: tuple[Callable[[Sequence[int]], int], ...] = (sum, sum, min, max, sum, min, sum, sum, sum, max)  # of slices
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
