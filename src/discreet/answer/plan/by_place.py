"""MIN, MAX and quantiles from the values of each group in order, where a server keeps them (see `by_group`).

A draw of m takes m of the N values of its group for certain: at least the first m in order, and at most the last m. So
MIN lies between the smallest of all values and the smallest of all m-th last ones; and a value at place i is taken by
the lowest draw if i <= m, by the highest if i > N - m.

    places  per draw: its keys, N and m, how many such draws there are, and the values in order (`sorted`)
    ends    per key: how many rows match, and between which values MIN and MAX lie
    runs    per key and value: as elsewhere (`tallies`), but taken out of `sorted`; quantiles are computed from that

MIN is expected to be the first value up to which one is expected. If the m-th last of N values is no larger than x,
then N - m + 1 of them are not, and m (N - m + 1) / N >= 1 of these are expected: none beyond the ends is looked at.
Claim: groups_at_once_change_nothing — answers are those without what the server keeps.
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from sqlglot import exp

from discreet.answer.plan.context import Context
from discreet.answer.plan.kept import widened
from discreet.answer.plan.quantiles import NO_STDERR, SURE
from discreet.answer.plan.sql import Relations, agree, aliased, beside, columns_of, join, over, per_key, piece, select
from discreet.answer.question.question import Function
from discreet.engines.dialect import sql_type

EXTREMES: frozenset[Function] = frozenset({"min", "max"})
QUANTILES: frozenset[Function] = frozenset({"quantile_disc", "quantile_cont"})
ORDERED = EXTREMES | QUANTILES
ENDS: dict[Function, tuple[str, str]] = {  # between what they lie
    "min": ("MIN(sorted[1]) AS min_low", "MIN(sorted[size - matched + 1]) AS min_high"),
    "max": ("MAX(sorted[matched]) AS max_low", "MAX(sorted[size]) AS max_high"),
}
WEIGHT = "SUM(copies * CAST(matched AS DOUBLE) / size) AS weight"
TAKEN = (
    "SUM(CASE WHEN place <= matched THEN copies ELSE 0 END) AS low_forced",
    "SUM(CASE WHEN place > size - matched THEN copies ELSE 0 END) AS high_forced",
)
NONE_FREE = ("CAST(0 AS BIGINT) AS low_free", "CAST(0 AS BIGINT) AS high_free")


def asks(context: Context, functions: Collection[Function] = ORDERED) -> bool:
    """Whether a question asks for one of some functions of values that are drawn."""
    return any(each.function in functions and not context.exact(each) for each in context.question.aggregates)


def suits(context: Context) -> bool:
    """Whether the server has MIN and MAX of such values."""
    return not pa.types.is_boolean(context.types.get(context.sensitive or "", pa.null()))


def places(context: Context, drawn: exp.Select) -> Relations:
    """What MIN, MAX and quantiles are made of, from draws with their values in order."""
    keys = context.keys()
    found: Relations = {"places": select("*", source=aliased(drawn, "drawn"), where="matched > 0")}
    if asks(context, EXTREMES):
        ends = [end for function, both in ENDS.items() if asks(context, {function}) for end in both]
        found["ends"] = per_key(keys, "places", "SUM(copies * matched) AS least", *ends)
    if asks(context, QUANTILES):
        [number] = {each.number for each in context.subjects.values() if each.argument is not None}
        runs = select(*columns_of("places", keys), "held", WEIGHT, *TAKEN, source="places")
        columns = (_own(context, "held", "value"), "weight", "low_forced", "high_forced", *NONE_FREE)
        found[f"runs_{number}"] = select(*keys, *columns, source=aliased(_by_value(runs), "runs"))
    return found


def extreme(context: Context, name: str, *, smallest: bool) -> Relations:
    """MIN, or MAX; the last relation has this name."""
    keys = context.keys()
    this, order = ("min", "ASC") if smallest else ("max", "DESC")
    bound, near = ("min_high", "<=") if smallest else ("max_low", ">=")
    held = select(*columns_of("places", keys), "held AS value", WEIGHT, source="places")
    held.where(piece(f"sorted[{1 if smallest else 'size'}] {near} {bound}"), copy=False)
    held.where(piece(f"held {near} {bound}"), copy=False)
    reached = f"{this.upper()}(value) FILTER (WHERE expected >= {SURE}) AS reached"
    ends = [_own(context, each, end) for each, end in ((f"{this}_low", "low"), (f"{this}_high", "high"))]
    estimate = _own(context, f"COALESCE(reached, {bound})", "estimate")
    return {
        f"{name}_held": _by_value(join(held, "ends", agree("places", "ends", keys))),
        f"{name}_steps": select(*keys, "value", f"SUM(weight) {over(keys, order)} AS expected", source=f"{name}_held"),
        f"{name}_reached": per_key(keys, f"{name}_steps", reached),
        name: beside(keys, "ends", f"{name}_reached", estimate, NO_STDERR, *ends, "least"),
    }


def _by_value(query: exp.Select) -> exp.Select:
    """A query of `places` that looks at their values one by one (`held`, at a `place`), grouped by keys and value."""
    alias = exp.TableAlias(this=exp.to_identifier("each"), columns=[exp.to_identifier("held")])
    values = exp.Unnest(expressions=[piece("places.sorted")], alias=alias, offset=exp.to_identifier("place"))
    query.join(values, join_type="cross", copy=False)
    by = [each.unalias().copy() for each in query.expressions if not each.find(exp.AggFunc)]
    query.set("group", exp.Group(expressions=by))
    return query


def _own(context: Context, value: str, name: str) -> exp.Expr:
    """A value with the type that its column has, if it is kept with another."""
    type_ = context.types.get(context.sensitive or "", pa.null())
    found = piece(value)
    if widened(type_) is not None:
        found = exp.Cast(this=found, to=sql_type(type_))
    return exp.alias_(found, name, copy=False)
