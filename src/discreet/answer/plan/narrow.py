"""Decimal constants beside floats of four bytes, compared as files are: as floats of four bytes.

1.1 is no float, and the nearest of four bytes is another than the nearest of eight. The embedded engine compares a
column of four bytes with the former; servers and Spark compare it with the latter, which no value equals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from discreet.answer.plan.shapes import COMPARED
from discreet.answer.question.question import Question

ARITHMETIC = (exp.Add, exp.Sub, exp.Mul)


def narrowed(question: Question, types: Mapping[str, pa.DataType]) -> Question:
    """The question with such constants cast, wherever they are compared with such a column."""
    if pa.float32() not in types.values():
        return question
    where = {side: None if each is None else _cast(each, types) for side, each in question.where.items()}
    keys = tuple(replace(each, expression=_cast(each.expression, types)) for each in question.keys)
    aggregates = tuple(
        each if each.argument is None else replace(each, argument=_cast(each.argument, types))
        for each in question.aggregates
    )
    return replace(question, where=where, keys=keys, aggregates=aggregates)


def _cast(expression: exp.Expr, types: Mapping[str, pa.DataType]) -> exp.Expr:
    expression = expression.copy()
    for node in list(expression.find_all(*COMPARED, *ARITHMETIC)):
        sides = list(node.iter_expressions())
        if any(_narrow(side, types) for side in sides):
            for side in filter(_decimal, sides):
                side.replace(exp.cast(side.copy(), "FLOAT"))
    return expression


def _narrow(node: exp.Expr, types: Mapping[str, pa.DataType]) -> bool:
    """Whether it is of four bytes where the embedded engine asks: such a column, or computed of it and of constants."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return node.name in types and types[node.name].equals(pa.float32())
    if isinstance(node, exp.Neg):
        return _narrow(node.this, types)
    if not isinstance(node, ARITHMETIC):
        return False
    sides = node.this, node.expression
    return any(_narrow(side, types) for side in sides) and all(
        _narrow(side, types) or _decimal(side) or isinstance(side, exp.Cast) for side in sides
    )


def _decimal(node: exp.Expr) -> bool:
    """Whether it is a number that is written without an exponent; one with it is of eight bytes everywhere."""
    number = node.unnest()
    number = number.this if isinstance(number, exp.Neg) else number
    return isinstance(number, exp.Literal) and not number.is_string and "e" not in number.name.lower()
