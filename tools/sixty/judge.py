"""Ask a release one of the sixty questions, and hold the answer against the private table."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp

import discreet
from discreet.errors import QueryError
from sixty.table import CODE_LISTS, staff

ENDS = ("_stderr", "_low", "_high")
Kind = Literal["exact", "estimate", "no bounds", "refused"]


@dataclass(frozen=True)
class Asked:
    """One of the sixty questions."""

    number: int
    title: str
    sql: str

    @property
    def sensitive(self) -> str:
        """The sensitive column of the release that it is asked of."""
        return "reason" if re.search(r"\breason\b", self.sql) else "salary"


@dataclass(frozen=True)
class Outcome:
    """What came of a question; `faults` says what is wrong with it, and is empty if all is well."""

    kind: Kind
    truth: pa.Table
    answer: discreet.Answer | None = None
    refusal: QueryError | None = None
    instead: Outcome | None = None  # what came of the question that the refusal says to write
    faults: tuple[str, ...] = ()

    def every_fault(self) -> tuple[str, ...]:
        return (*self.faults, *(() if self.instead is None else self.instead.every_fault()))


def questions() -> list[Asked]:
    text = (Path(__file__).parent / "questions.sql").read_text(encoding="utf-8")
    found = re.findall(r"^-- (.+)\n((?:(?!-- ).*\n)*)", text, re.MULTILINE)
    return [Asked(number, title, sql.strip()) for number, (title, sql) in enumerate(found, 1)]


def truth(sql: str) -> pa.Table:
    """What plain DuckDB says of the private table."""
    with duckdb.connect() as database:
        for name, table in {"staff": staff(), **CODE_LISTS}.items():
            database.register(name, table)
        return database.sql(sql).to_arrow_table()


def judged(release: discreet.Release, sql: str, estimator: str | None = None) -> Outcome:
    """Ask, and compare; a refusal must say what to write instead, and that must be answered."""
    tables = {name: table for name, table in CODE_LISTS.items() if re.search(rf"(FROM|JOIN|,)\s+{name}\b", sql)}
    true = truth(sql)
    try:
        answer = release.ask(sql, estimator=estimator, tables=tables)
    except QueryError as error:
        return _refused(release, error, true, estimator)
    wrong = tuple(faults(sql, answer, true))
    return Outcome(_kind(answer), true, answer, faults=wrong)


def _refused(release: discreet.Release, error: QueryError, true: pa.Table, estimator: str | None) -> Outcome:
    wanted = getattr(error, "instead", "")
    if not wanted:
        return Outcome("refused", true, refusal=error, faults=("the refusal says nothing to write instead",))
    shown = wanted in str(error)
    instead = judged(release, wanted, estimator)
    faults = ["what to write instead is not in the message"] * (not shown)
    faults += ["what the refusal says to write instead is refused"] * (instead.kind == "refused")
    return Outcome("refused", true, refusal=error, instead=instead, faults=tuple(faults))


def measures(answer: discreet.Answer) -> list[str]:
    """The columns that have bounds beside them."""
    return [name for name in answer.columns if f"{name}_low" in answer.columns]


def plain(answer: discreet.Answer) -> list[str]:
    """The columns that the question asked for."""
    ends = {f"{name}{end}" for name in measures(answer) for end in ENDS}
    return [name for name in answer.columns if name not in ends]


def _kind(answer: discreet.Answer) -> Kind:
    rows = answer.rows()
    cells = [(row[name], row[f"{name}_low"], row[f"{name}_high"]) for row in rows for name in measures(answer)]
    if all(low == high and low is not None for value, low, high in cells if value is not None):
        return "exact"
    bare = [name for name in measures(answer) if all(row[f"{name}_low"] is None is row[f"{name}_high"] for row in rows)]
    return "no bounds" if bare else "estimate"


def faults(sql: str, answer: discreet.Answer, true: pa.Table) -> Iterator[str]:
    """Everything in which an answer and the truth do not go together."""
    names = plain(answer)
    if len(names) != true.num_columns:
        yield f"{len(names)} columns in the answer, {true.num_columns} in the truth"
        return
    at = {name: place for place, name in enumerate(names)}
    keys = [name for name in names if name not in measures(answer)]
    if not measures(answer):
        if sorted(map(str, _tuples(answer.table))) != sorted(map(str, _tuples(true))):
            yield "the answer has no bounds, and is not the truth"
        return
    every = whole(sql)
    places = [at[name] for name in keys]
    shown = by_key(true, places)
    real = shown if every is None else by_key(truth(every), places)
    counts = _counts(sql)
    seen = set()
    for row in answer.rows():
        key = tuple(plain_value(row[name]) for name in keys)
        seen.add(key)
        found = real.get(key)
        for name in measures(answer):
            value = found[at[name]] if found is not None else (0 if at[name] in counts else None)
            if value is not None and not _between(row[f"{name}_low"], value, row[f"{name}_high"]):
                yield f"{name} of {key}: {value} lies outside {row[f'{name}_low']} to {row[f'{name}_high']}"
    missing = [key for key in shown if key not in seen]
    if missing and every is None:
        yield f"rows of the truth are missing: {missing[:3]}"
    if missing and every is not None and not answer.notes:
        yield f"rows of the truth are missing, and no note says why: {missing[:3]}"


def whole(sql: str) -> str | None:
    """The question without what leaves rows out by figures: HAVING, LIMIT, a condition on a subquery's results."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    source = tree.args.get("from_")
    over_query = source is not None and isinstance(source.this, exp.Subquery)
    left = ["having", "limit", "qualify", *(["where"] if over_query else [])]
    if not any(tree.args.get(clause) for clause in left):
        return None
    for clause in left:
        tree.set(clause, None)
    return tree.sql(dialect="duckdb")


def _counts(sql: str) -> set[int]:
    """Which columns count: without a row they are 0."""
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    return {at for at, item in enumerate(tree.selects) if isinstance(item.unalias(), exp.Count)}


def _tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [[plain_value(value) for value in table.column(i).to_pylist()] for i in range(table.num_columns)]
    return list(zip(*columns, strict=True))


def by_key(table: pa.Table, keys: Sequence[int]) -> Mapping[tuple[Any, ...], tuple[Any, ...]]:
    return {tuple(row[at] for at in keys): row for row in _tuples(table)}


def plain_value(value: Any) -> Any:
    """A value such that two that mean the same are equal."""
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return round(value, 9) if isinstance(value, float) and math.isfinite(value) else value


def _between(low: Any, value: Any, high: Any) -> bool:
    """Whether bounds hold, up to rounding; one that is missing says nothing."""
    slack = 1e-9 * max(1.0, abs(float(value)))
    return (low is None or float(low) <= float(value) + slack) and (high is None or float(high) >= float(value) - slack)
