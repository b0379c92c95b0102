"""Answers from a swapped table: the values as shown, and how far they may lie from those that were swapped away.

A row that shows a value really holds one whose rank lies in that value's window, and no two rows hold the
same rank. Neither end of a window falls as values rise. So of the rows that match, sorted by what they
show, the j-th has at least the rank j + max(low_i - i) over the i up to j, and at most j + min(high_i - i)
over the i from j on; these two lots of ranks are possible, and every other lot lies between them, rank
by rank. All aggregates rise with the values, so they give the bounds. Rows that show the same value stay
side by side, hence one step per key and value shown:

    shown    the values that the matching rows show, and how often (`hits`)
    placed   the same with their windows, and how many matching rows show less (`before`)
    spans    for both bounds: the `hits` ranks after `start` that such rows get
    pieces   the values at these ranks, and those shown themselves, for the estimate
    steps    the same with the number of rows up to them, and of all (`total`)

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 7.1, which leaves
the bounds out. Cost: one grouping of the matching rows, then near linear in the values they show.
Claim: swapped_bounds_equal_brute_force — low and high are the extremes over all different ranks in the windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlglot import exp

from discreet.answer.matches.matches import Guard
from discreet.answer.plan.aggregates import INSIDE
from discreet.answer.plan.context import Context
from discreet.answer.plan.quantiles import NO_STDERR, NUMBER
from discreet.answer.plan.sql import Relations, grouped, join, over, per_key, select
from discreet.answer.question.question import SPREADS, Aggregate, Question
from discreet.answer.question.refusals import shown
from discreet.errors import QueryError
from discreet.release.layouts.file import column, named
from discreet.release.layouts.swap import ends_of
from discreet.release.manifest import Promise

BOUNDS = ("estimate", "low", "high")


@dataclass(frozen=True)
class Swapped:
    """Matches of a swapped table: rows are shown with a value, and the true one lies in a window around it."""

    columns: ClassVar[tuple[str, ...]] = ()  # nothing is drawn: bounds come from windows
    key: ClassVar[str] = "windows"
    exact: ClassVar[bool] = True
    opaque: ClassVar[bool] = True
    blocks: ClassVar[None] = None
    cut: ClassVar[None] = None
    promise: Promise

    def check(self, question: Question) -> Question:
        """The question, if swapped values tell anything certain about it; a count of them is a count of rows."""
        if question.asks_of_sensitive:
            parts = [question.where["sensitive"], *(key.expression for key in question.keys if key.side == "sensitive")]
            first = next(part for part in parts if part is not None)
            raise QueryError(
                f"`{shown(first)}`: a swapped table answers no condition on the sensitive column, and no GROUP BY it,"
                " as a row shows the value of another one",
                hint="ask for SUM, AVG, MIN, MAX, MEDIAN or QUANTILE of it, by quasi-identifiers",
            )
        return replace(question, aggregates=tuple(map(_answerable, question.aggregates)))

    def tables(self) -> Mapping[str, exp.Expr]:
        return _tables(self.promise)

    def guards(self, context: Context) -> tuple[Guard, ...]:  # noqa: ARG002
        return ()

    def relations(self, context: Context) -> Relations:
        return {} if all(map(context.exact, context.question.aggregates)) else _relations(context)

    def frame(self, context: Context) -> exp.Select:
        return context.rows("quasi").distinct(copy=False)

    def draws(self, context: Context) -> Relations:  # noqa: ARG002
        return {}

    def answer(self, context: Context, aggregate: Aggregate, number: int) -> Relations:
        """The relations that compute one aggregate from `steps`."""
        ends = [f"{_measured(aggregate, f'bound = {bound!r}')} AS {bound}" for bound in BOUNDS]
        least = "SUM(hits) FILTER (WHERE bound = 'estimate') AS least"
        columns = (INSIDE, NO_STDERR, "low", "high", "least")
        return {
            f"answer_{number}_bounds": per_key(context.keys(), "steps", *ends, least),
            f"answer_{number}": select(*context.keys(), *columns, source=f"answer_{number}_bounds"),
        }


def _tables(promise: Promise) -> dict[str, exp.Expr]:
    """The queries that make the tables: `qit` with the value that each row shows, and `windows`, by value."""
    group = exp.alias_(exp.cast(exp.Literal.number(1), "INTEGER"), promise.group, quoted=True)
    shown = [column(name) for name in promise.columns]
    value, count = column(promise.sensitive_column), column(promise.count)
    names = dict(zip(("n", "low", "high"), (promise.count, *ends_of(promise)), strict=True))
    columns = [exp.alias_(exp.cast(column(name), "BIGINT"), alias) for alias, name in names.items()]
    upto = exp.Window(this=exp.Sum(this=count), order=exp.Order(expressions=[value.copy()]))
    ranked = exp.select(exp.alias_(value, "value"), *columns, exp.alias_(exp.cast(upto, "BIGINT"), "upto"))
    return {
        "qit": exp.select(*shown, group).from_(named("swapped file")),
        "windows": exp.select("value", "low", "high", "upto - n AS below", "upto").from_(
            ranked.from_(named("windows file")).subquery("ranked")
        ),
    }


def _answerable(aggregate: Aggregate) -> Aggregate:
    if aggregate.side == "quasi" or aggregate.argument is None:
        return aggregate
    argument = aggregate.argument.unnest()
    if not isinstance(argument, exp.Column):
        raise QueryError(
            f"`{shown(argument)}` computes with the sensitive column, whose values were swapped",
            hint="ask about the column as it is, and compute with the answer",
        )
    if aggregate.function == "distinct" or aggregate.function in SPREADS:
        what = "how many different values rows hold" if aggregate.function == "distinct" else "how far values spread"
        raise QueryError(
            f"a swapped table does not bound {what}",
            hint=f"ask for MIN, MAX, AVG, MEDIAN or QUANTILE of `{argument.sql(dialect='duckdb')}`",
        )
    if aggregate.function == "count":  # no value is missing
        return replace(aggregate, argument=None, side="quasi")
    return replace(aggregate, argument=argument)


def _measured(aggregate: Aggregate, here: str) -> str:
    """An aggregate of the steps that are `here`."""
    p, q = aggregate.fraction.numerator, aggregate.fraction.denominator
    match aggregate.function:
        case "sum":
            return f"SUM({NUMBER} * hits) FILTER (WHERE {here})"
        case "avg":
            return f"SUM({NUMBER} * hits) FILTER (WHERE {here}) / SUM(hits) FILTER (WHERE {here})"
        case "quantile_disc":
            return f"MIN(value) FILTER (WHERE {here} AND {q} * upto >= {p} * total)"
        case "quantile_cont":  # between two places of the rows in order
            place = f"{p} * (total - 1)"
            before, after = (
                f"MIN({NUMBER}) FILTER (WHERE {here} AND {q} * upto > {at})" for at in (place, f"{place} + {q - 1}")
            )
            return f"{before} + CAST(MAX({place}) % {q} AS DOUBLE) / {q} * ({after} - {before})"
        case function:
            return f"{function.upper()}(value) FILTER (WHERE {here})"


def _relations(context: Context) -> Relations:
    """The relations that all aggregates of the sensitive values share, the last of them `steps`."""
    keys = context.keys()
    up, down = over(keys, "ASC"), over(keys, "DESC")
    value = exp.column(context.sensitive or "", table="qit", quoted=True)
    low, high = f"before + MAX(low - before - 1) {up}", f"before + MIN(high - before - hits) {down}"
    before = f"CAST(SUM(hits) {up} - hits AS BIGINT) AS before"
    placed = select(*keys, "value", "hits", "low", "high", before, source="shown")
    cut = "LEAST(start + hits, upto) - GREATEST(start, below) AS hits"
    values = select(*keys, "bound", "windows.value", cut, source="spans")
    return {
        "shown": grouped(context.rows("quasi", exp.alias_(value, "value"), "COUNT(*) AS hits")),
        "placed": placed.join("windows", using="value", copy=False),
        "spans": exp.union(
            select(*keys, "'low' AS bound", f"{low} AS start", "hits", source="placed"),
            select(*keys, "'high' AS bound", f"{high} AS start", "hits", source="placed"),
            distinct=False,
        ),
        "pieces": exp.union(
            select(*keys, "'estimate' AS bound", "value", "hits", source="shown"),
            join(values, "windows", "below < start + hits AND start < upto"),
            distinct=False,
        ),
        "steps": _steps(keys),
    }


def _steps(keys: list[str]) -> exp.Select:
    """Beside each piece how many rows its bound gives values up to it, and how many in all."""
    of_bound = [*keys, "bound"]
    upto, total = f"SUM(hits) {over(of_bound, 'ASC')} AS upto", f"SUM(hits) {over(of_bound)} AS total"
    return select(*of_bound, "value", "hits", upto, total, source="pieces")
