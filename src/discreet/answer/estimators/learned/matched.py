"""The results of one query on several tables as one: rows are matched by what tells them apart, numbers are pooled.

Rows are told apart by the columns that the query is grouped by, and by all that hold no numbers. A row that only some
of the tables have is about those, and says in how many it is.
Cost: the results of all tables, grouped once.
Claim: rows_are_matched_by_their_keys — each row is pooled with the rows of the same keys, and with no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.estimators.columns import is_number
from discreet.answer.estimators.learned.select import AnySelect
from discreet.answer.estimators.learned.tables import Tables
from discreet.answer.question.question import ENDS
from discreet.engines import Engine
from discreet.errors import QueryError
from discreet.release.layouts.file import named
from discreet.values.coded import to_arrow
from discreet.values.names import numbered

TOGETHER = "results"
MOST = 1_000_000  # rows of a result
FINITE = "CASE WHEN IS_FINITE(CAST(:x AS DOUBLE)) THEN CAST(:x AS DOUBLE) END"
POOLED = {"c": "AVG(:x)", "s": "STDDEV_SAMP(:x) * SQRT(1 + 1.0 / NULLIF(COUNT(:x), 0))", "n": "COUNT(:x)"}
HALF = 0.5  # of the tables that a row is in on average: with fewer they are not the same rows


@dataclass(frozen=True)
class _Column:
    """A column of the result: its name in the answer, and whether it tells rows apart."""

    name: str
    is_key: bool


def matched(engine: Engine, select: AnySelect, tables: Tables) -> tuple[pa.Table, list[str], list[str]]:
    """The answer, the names of its measures, and what is to be said."""
    results = [engine.run(select.asked_of(name)) for name in tables.names]
    columns = _columns(results[0], select)
    most = max(map(len, results))
    if most > MOST:
        raise QueryError(f"the question has more than {MOST:,} rows", hint="group by less, or use LIMIT")
    engine.load(TOGETHER, _together(results), keep=False)
    try:
        _check_apart(engine, columns, most)
        found = engine.run(_pooled(columns, select))
    finally:
        engine.forget(TOGETHER)
    found = found.slice(0, len(found) if sum(map(len, results)) else 0)
    present = found.column("present").to_numpy()
    notes = [*_told(present, columns, found, len(results))]
    return _laid_out(found, columns, present, len(results)), [each.name for each in columns if not each.is_key], notes


def _columns(result: pa.Table, select: AnySelect) -> list[_Column]:
    keys = (
        select.keys if select.keys is not None and len(select.query.expressions) == result.num_columns else frozenset()
    )
    taken: set[str] = set()
    found = []
    for at, field in enumerate(result.schema):
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            raise QueryError(
                f"the column `{field.name}` holds neither numbers nor plain values", hint="ask for its parts"
            )
        is_key = at in keys or not is_number(field.type)
        ends = ("",) if is_key else tuple(ENDS.values())
        name = numbered(re.sub(r"\W+", "_", field.name).strip("_") or "result", taken, ends)
        taken.update(f"{name}{end}" for end in ends)
        found.append(_Column(name, is_key))
    return found


def _together(results: Sequence[pa.Table]) -> pa.Table:
    """All results, with the number of the table and the place of the row in its result."""
    names = [f"c{at}" for at in range(results[0].num_columns)]
    parts = []
    for number, result in enumerate(results):
        where = {"drawn": np.full(len(result), number), "place": np.arange(len(result))}
        parts.append(pa.table([*result.columns, *map(to_arrow, where.values())], names=[*names, *where]))
    return pa.concat_tables(parts)


def _keys(columns: Sequence[_Column]) -> list[exp.Expr]:
    return [exp.column(f"c{at}") for at, each in enumerate(columns) if each.is_key]


def _check_apart(engine: Engine, columns: Sequence[_Column], most: int) -> None:
    """Raise if a table has two rows of the same keys."""
    keys = _keys(columns)
    if not keys:
        if most > 1:
            raise QueryError("the rows of the result cannot be told apart: none of its columns is a key", hint=_APART)
        return
    twice = exp.select("1").from_(named(TOGETHER)).group_by("drawn", *keys).having("COUNT(*) > 1").limit(1)
    if len(engine.run(twice)):
        several = ", ".join(f"`{each.name}`" for each in columns if each.is_key)
        raise QueryError(f"the rows of the result cannot be told apart: some have the same {several}", hint=_APART)


_APART = "group by what tells rows apart, and show it; a number that does so as text: CAST(age AS VARCHAR)"


def _pooled(columns: Sequence[_Column], select: AnySelect) -> exp.Expr:
    """By key the mean of each number, its stderr, in how many tables it is a number, and in how many the row is."""
    keys = _keys(columns)
    query = exp.select(exp.alias_(exp.func("COUNT", exp.Star()), "present"), *keys).from_(named(TOGETHER))
    for at, each in enumerate(columns):
        if not each.is_key:
            x = exp.column(f"c{at}")
            for alias, sql in POOLED.items():
                part = exp.replace_placeholders(exp.maybe_parse(sql.replace(":x", FINITE), dialect="duckdb"), x=x)
                query = query.select(exp.alias_(part, f"{alias}{at}"))
    if keys:
        order = [exp.Ordered(this=key.copy(), nulls_first=False) for key in keys]
        query = query.group_by(*(key.copy() for key in keys))
        query = query.order_by(*([exp.func("AVG", exp.column("place"))] if select.ordered else []), *order)
    return query


def _told(present: np.ndarray, columns: Sequence[_Column], found: pa.Table, tables: int) -> Iterator[str]:
    """Which rows, and which figures, only some of the tables have; raise if hardly any row is in most of them."""
    some = int((present < tables).sum())
    if some and present.mean() < HALF * tables:
        raise QueryError(
            f"the rows of the result differ between the {tables} plausible tables so much that they cannot be matched:"
            f" of {len(present)} only {len(present) - some} are in all of them",
            hint="group by columns whose values are the same in every table, such as quasi-identifiers",
        )
    if some:
        yield (
            f"{some} of {len(present)} rows are in only some of the {tables} plausible tables: `tables` says in how"
            " many, and their figures are about those"
        )
    for at, each in enumerate(columns):
        if not each.is_key:
            without = int((found.column(f"n{at}").to_numpy() < present).sum())
            if without:
                where = "this row" if len(present) == 1 else f"{without} of {len(present)} rows"
                yield f"{each.name}: in {where} it is missing, or no number, in some tables; it is about the others"


def _laid_out(found: pa.Table, columns: Sequence[_Column], present: np.ndarray, tables: int) -> pa.Table:
    parts: dict[str, pa.ChunkedArray | pa.Array] = {}
    for at, each in enumerate(columns):
        parts[each.name] = found.column(f"c{at}")
        if not each.is_key:
            nothing = pa.nulls(len(found), pa.float64())
            parts |= {f"{each.name}_stderr": found.column(f"s{at}"), f"{each.name}_low": nothing}
            parts[f"{each.name}_high"] = nothing
    if (present < tables).any():
        parts[numbered("tables", parts)] = found.column("present")
    return pa.table(parts)
