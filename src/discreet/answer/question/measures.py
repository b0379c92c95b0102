"""Which figure an aggregate of a question asks for, of what, and by what name."""

from __future__ import annotations

import re
from fractions import Fraction

from sqlglot import exp

from discreet.answer.question.question import SPREADS, Function
from discreet.answer.question.refusals import refusal, shown
from discreet.errors import QueryError

PLAIN: dict[type[exp.Expr], Function] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}


def measure(node: exp.Expr) -> tuple[Function, exp.Expr | None, Fraction]:
    """The function, what it is taken of (None: of rows), and the fraction of a quantile."""
    half = Fraction(1, 2)
    if any(value for part, value in node.args.items() if part not in {"this", "expression", "quantile", "big_int"}):
        raise refusal(node)  # MIN(x, n), IGNORE NULLS and the like
    if isinstance(node, exp.WithinGroup):
        order = node.expression.expressions
        if (
            not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc)
            or len(order) != 1
            or order[0].args.get("desc")
        ):
            raise refusal(node.this)
        continuous = isinstance(node.this, exp.PercentileCont)
        return "quantile_cont" if continuous else "quantile_disc", order[0].this, _fraction(node.this.this)
    if isinstance(node, exp.Count):
        counted = node.this
        if isinstance(counted, exp.Distinct):
            return "distinct", _one_of(counted), half
        return "count", None if isinstance(counted, exp.Star | exp.Literal | None) else counted, half
    if isinstance(node.this, exp.Distinct):
        raise refusal(node.this)
    if isinstance(node, exp.Median):
        return "quantile_cont", node.this, half
    if isinstance(node, exp.PercentileCont | exp.PercentileDisc | exp.Quantile):
        function: Function = "quantile_cont" if isinstance(node, exp.PercentileCont) else "quantile_disc"
        return function, node.this, _fraction(node.args.get("quantile") or node.args.get("expression"))
    return PLAIN[type(node)], node.this, half


def _one_of(distinct: exp.Distinct) -> exp.Expr:
    """What is counted once for each of its values."""
    if len(distinct.expressions) != 1 or isinstance(distinct.expressions[0], exp.Tuple) or distinct.args.get("on"):
        raise QueryError(
            "COUNT(DISTINCT …) takes one column or expression",
            hint="group by all columns but one, or join them as text: COUNT(DISTINCT a || ' ' || b)",
        )
    found: exp.Expr = distinct.expressions[0]
    return found


def _fraction(node: exp.Expr | None) -> Fraction:
    if (
        isinstance(node, exp.Literal)
        and not node.is_string
        and re.fullmatch(r"[\d.]{1,40}(e-?\d{1,2})?", node.this, re.IGNORECASE)
    ):
        fraction = Fraction(node.this).limit_denominator(10**9)  # times rows, it must fit into 64 bits
        if 0 <= fraction <= 1:
            return fraction
    got = "" if node is None else f", not `{shown(node)}`"
    raise QueryError(
        f"a quantile needs a fraction between 0 and 1{got}", hint="one for each column, such as QUANTILE(x, 0.9)"
    )


def word(node: exp.Expr, function: Function) -> str:
    """The word for an aggregate in the name of its column."""
    words: dict[type[exp.Expr], str] = {exp.Median: "median", exp.Variance: "variance", exp.Stddev: "stddev"}
    whole = {"distinct": "count_distinct", **{each: each for each in SPREADS}}
    return words.get(type(node)) or whole.get(function) or function.split("_")[0]
