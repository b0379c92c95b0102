"""`//` of figures: DuckDB cuts a quotient of integers, and the engine sees figures as floating-point numbers.

A quotient of counts is cut here. Of what else is computed from figures, a sum of integers say, it is not known whether
the private table has integers: the quotient lies between what is cut and what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from sqlglot import exp

from discreet.answer.statement.cells import Cell

KEPT = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.IntDiv, exp.Abs, exp.Coalesce)  # integers of integers


def is_whole(node: exp.Expr, cells: Mapping[str, Cell]) -> bool:
    """Whether an expression is of an integer type, as far as can be seen."""
    if isinstance(node, exp.Column):
        return node.name in cells and cells[node.name].whole
    if isinstance(node, exp.Literal):
        return not node.is_string and node.this.isdigit()
    return isinstance(node, KEPT) and all(is_whole(each, cells) for each in node.iter_expressions())


def doubtful(node: exp.Expr, cells: Mapping[str, Cell], figures: Collection[str]) -> bool:
    """Whether it divides by `//` what may be of integers or not."""
    return any(of_figures(each, figures) and not is_whole(each, cells) for each in node.find_all(exp.IntDiv))


def cut(cells: Mapping[str, Cell], figures: Collection[str]) -> Callable[[exp.Expr], exp.Expr]:
    """Write `//` of counts as a quotient that is cut, and missing where it divides by 0."""

    def placed(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.IntDiv) or not of_figures(node, figures) or not is_whole(node, cells):
            return node
        one, other = (exp.Paren(this=each.copy().transform(placed)) for each in (node.this, node.expression))
        divisor = exp.Nullif(this=other, expression=exp.Literal.number(0))
        return exp.Trunc(this=exp.Div(this=one, expression=divisor, typed=False, safe=False))

    return placed


def of_figures(node: exp.Expr, figures: Collection[str]) -> bool:
    """Whether some of these columns stand in an expression."""
    return any(column.name in figures for column in node.find_all(exp.Column))
