"""What the rows of each group that match add up to, by the keys of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.accelerator import Held
from discreet.answer.matches import Counted
from discreet.answer.plan.context import Context
from discreet.answer.plan.sql import Piece, grouped
from discreet.answer.question.question import Question
from discreet.release.groups import Ints
from discreet.release.manifest import Promise
from discreet.values.coded import code, combined, to_arrow, to_numpy


@dataclass(frozen=True, eq=False)
class Numbered:
    """Rows of keys as numbers, and the keys in the order of these."""

    numbers: Ints
    names: pa.Table


def numbered(keys: pa.Table) -> Numbered:
    """The number of every row among the different ones."""
    numbers, first = combined([code(column).codes for column in keys.columns])
    return Numbered(numbers, keys.take(to_arrow(first)))


def queries(question: Question, promise: Promise) -> Iterator[exp.Select]:
    """All that is asked of quasi-identifiers to answer a question."""
    asked: dict[exp.Select, None] = {}
    for each in question.aggregates:
        if question.untouched(each) or each.function in {"min", "max"}:
            continue
        argument = None if each.side == "sensitive" else each.argument
        if argument is not None and each.function.startswith("quantile"):
            asked[query_of_values(question, promise, argument)] = None
        else:
            asked[query(question, promise, argument)] = None
    yield from asked


def query(question: Question, promise: Promise, argument: exp.Expr | None) -> exp.Select:
    """Per group and key, the amounts; of an argument that is added up somewhere, all of them."""
    numeric = any(each.function in {"sum", "avg"} for each in question.aggregates if each.argument == argument)
    context = Context(question, promise.group, promise.sensitive, Counted())
    columns: list[Piece] = ["COUNT(*) AS amount_0"]
    if argument is not None:
        held = context.on_table(argument)
        columns = [exp.alias_(exp.Count(this=held), "amount_0")]
    if argument is not None and numeric:
        number = exp.cast(held.copy(), "DOUBLE")
        square = exp.Mul(this=number.copy(), expression=number.copy())
        columns += [exp.alias_(exp.Sum(this=each), f"amount_{1 + i}") for i, each in enumerate((number, square))]
    rows = context.rows("quasi", context.group_column("grp"), *columns)
    return grouped(rows).order_by(exp.column("grp"), copy=False)


def query_of_values(question: Question, promise: Promise, argument: exp.Expr) -> exp.Select:
    """Per group, key and value of an argument, how many rows there are."""
    context = Context(question, promise.group, promise.sensitive, Counted())
    value = exp.alias_(context.on_table(argument), "value")
    rows = context.rows("quasi", context.group_column("grp"), value, "COUNT(*) AS amount_0")
    present = exp.Not(this=exp.Is(this=exp.paren(context.on_table(argument)), expression=exp.null()))
    return grouped(rows.where(present, copy=False)).order_by(exp.column("grp"), copy=False)


def from_plan(found: pa.Table, first: int, groups: int) -> Held:
    """What such a query found, the first group having the number `first`."""
    at = to_numpy(found.column("grp").cast(pa.int64())) - first
    names = [name for name in found.column_names if name.startswith("key_")]
    amounts = [name for name in found.column_names if name.startswith("amount_")]
    keys = numbered(found.select(names)) if names else Numbered(np.zeros(len(found), np.int32), pa.table({}))
    columns = [to_numpy(found.column(name).cast(pa.float64()).fill_null(0)) for name in amounts]
    offsets = np.searchsorted(at, np.arange(groups + 1)).astype(np.int64)
    return Held(offsets, keys.numbers, np.stack(columns, axis=1), keys.names)


def of_all(size: Ints) -> Held:
    """The rows of each group, all of which match."""
    offsets = np.arange(size.size + 1)
    return Held(offsets, np.zeros(size.size, np.int32), size.astype(float)[:, None], pa.table({}))
