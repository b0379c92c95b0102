"""Aggregates and windows that have no bounds: in their place, plain questions that tell the same or nearly so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from sqlglot import exp

from discreet.answer.instead.shown import Shown, columns_of, conditions, grouped, summaries

LISTS = (exp.GroupConcat, exp.ArrayAgg, exp.ArrayUniqueAgg, exp.Mode)
NUMERIC = (exp.Sum, exp.Avg, exp.Median, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop)
FIRST = (exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue)
QUANTILES = (exp.Quantile, exp.PercentileCont, exp.PercentileDisc)
SPREADS = {"skewness", "kurtosis", "kurtosis_pop", "entropy", "mad", "sem", "histogram"}


def listed(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """The values in one cell, or the most frequent of them, become a row each, with the number of people."""
    if not isinstance(select, exp.Select) or not select.args.get("from_"):
        return None
    found: list[exp.Expr] = [node for node in select.find_all(*LISTS) if columns_of([node])]
    found += [node for node in select.find_all(exp.Distinct) if isinstance(node.parent, exp.Sum | exp.Avg)]
    found += [node for node in select.find_all(*NUMERIC) if _of_text(node, shown)]
    if not found:
        return None
    group = select.args.get("group")
    keys = [*(group.expressions if group else ()), *columns_of(found)]
    question = grouped(select, keys, [exp.alias_(exp.Count(this=exp.Star()), "n")], conditions(select))
    if isinstance(found[0], exp.Mode):
        question.order_by(exp.Ordered(this=exp.column("n"), desc=True), copy=False)
        return question if group else question.limit(1)
    return question


def _of_text(node: exp.Expr, shown: Shown) -> bool:
    columns = columns_of([node])
    return isinstance(node.this, exp.Column) and not any(shown.is_number(column.name) for column in columns)


def replaced(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """Functions for which there is another of the same meaning, or nearly."""
    return _transformed(select, _other)


def _other(node: exp.Expr) -> exp.Expr:
    rewrite = OTHERS.get(type(node))
    return node if rewrite is None else rewrite(node)


def _day(_: exp.Expr) -> exp.Expr:
    return exp.cast(exp.Literal.string(dt.datetime.now(dt.UTC).date().isoformat()), "DATE")


def _times(node: exp.Expr) -> exp.Expr:
    """A sum of a constant is a count."""
    if not node.this.is_int:
        return node
    rows = exp.Count(this=exp.Star())
    return rows if node.this.name == "1" else exp.Mul(this=rows, expression=node.this.copy())


def _one(node: exp.Expr) -> exp.Expr:
    """The n smallest or largest: the first of them."""
    more = any(value for part, value in node.args.items() if part != "this")
    return type(node)(this=node.this.copy()) if more else node


def _from_the_other_end(node: exp.Expr) -> exp.Expr:
    """A percentile of falling order: the one from the other end, of rising order."""
    fraction, falling = node.this.this, node.expression.expressions[0].args.get("desc")
    if not falling or not isinstance(fraction, exp.Literal) or fraction.is_string:
        return node
    rest = exp.Literal.number(f"{1 - float(fraction.this):.6g}")
    name = "QUANTILE_CONT" if isinstance(node.this, exp.PercentileCont) else "QUANTILE_DISC"
    return exp.func(name, node.expression.expressions[0].this.copy(), rest, dialect="duckdb")


OTHERS: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.ApproxDistinct: lambda node: exp.Count(this=exp.Distinct(expressions=[node.this.copy()])),
    exp.ApproxQuantile: lambda node: exp.PercentileCont(this=node.this.copy(), expression=node.args["quantile"].copy()),
    exp.CurrentDate: _day,
    exp.Sum: _times,
    exp.Min: _one,
    exp.Max: _one,
    exp.WithinGroup: _from_the_other_end,
    **dict.fromkeys(FIRST, lambda node: exp.Min(this=node.this.copy())),
    exp.IgnoreNulls: lambda node: _other(node.this),
}


def several(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """A list of quantiles becomes a column for each; a shape of a distribution becomes quantiles."""
    if not isinstance(select, exp.Select):
        return None
    items: list[exp.Expr] = []
    for item in select.expressions:
        node = item.unalias()
        name = node.name if isinstance(node, exp.Anonymous) else node.key
        many = node.args.get("quantile") or node.args.get("expression") if isinstance(node, QUANTILES) else None
        columns = columns_of([node])
        if isinstance(many, exp.Array):
            items += [_quantile(node.this, each) for each in many.expressions]
        elif name.lower() in SPREADS and len(columns) == 1:
            items += [_quantile(columns[0], exp.Literal.number(each)) for each in ("0.1", "0.25", "0.5", "0.75", "0.9")]
        else:
            items.append(item)
    if len(items) == len(select.expressions):
        return None
    found = select.copy()
    found.set("expressions", [item.copy() for item in items])
    return found


def _quantile(argument: exp.Expr, fraction: exp.Expr) -> exp.Expr:
    name = f"q{fraction.name.removeprefix('0.')}"
    return exp.alias_(exp.func("QUANTILE_CONT", argument.copy(), fraction.copy(), dialect="duckdb"), name)


def unwindowed(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """An aggregate beside every row, over those like it, becomes one by what makes them alike."""
    if not isinstance(select, exp.Select) or select.args.get("group") or not isinstance(_table(select), exp.Table):
        return None
    windows = list(select.find_all(exp.Window))
    if not windows:
        return None
    keys = columns_of([part for window in windows for part in window.args.get("partition_by") or ()])
    aggregates = [window.this.copy() for window in windows if isinstance(window.this, exp.AggFunc)]
    aggregates = [node for node in aggregates if isinstance(node, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max)]
    ranked = [] if aggregates else summaries(shown, ("MIN", "MEDIAN", "MAX"))
    return grouped(select, keys, [*aggregates, *ranked], [part for part in conditions(select) if not shown.mixes(part)])


def _table(select: exp.Select) -> exp.Expr | None:
    source = select.args.get("from_")
    return source.this if source else None


def _transformed(select: exp.Expr, rewritten: Callable[[exp.Expr], exp.Expr]) -> exp.Expr | None:
    found = select.transform(rewritten)
    return found if found != select else None
