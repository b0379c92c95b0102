"""Whether arguments are numbers where numbers are needed, from the types of the columns alone."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from discreet.answer.plan.base_tables import Statistics
from discreet.answer.plan.context import Context
from discreet.answer.question.question import SPREADS, Aggregate, Question
from discreet.answer.question.refusals import shown
from discreet.engines.dialect import LookedUp, sql_type
from discreet.errors import QueryError

# Of these, a text among the operands may be meant as a number: only the engine knows.
OPEN = (exp.Binary, exp.Case, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.If, exp.Neg, exp.Paren)


def check_types(context: Context, statistics: Statistics) -> None:
    """Raise for a sum, a mean or a median of something that is certainly no number.

    What cannot be told here fails when it is computed.
    """
    for each in _expressions(context.question):
        for found in each.find_all(LookedUp):
            _check_joined(found, statistics)
    for aggregate in context.question.aggregates:
        if aggregate.argument is None or aggregate.function not in {"sum", "avg", "quantile_cont", *SPREADS}:
            continue
        kind = _kind(aggregate.argument, statistics)
        if kind is not None and not _numeric(kind):
            raise _refusal(aggregate, aggregate.argument, kind)


def _expressions(question: Question) -> list[exp.Expr]:
    found = [*(key.expression for key in question.keys), *(each.argument for each in question.aggregates)]
    return [each for each in (*found, *question.where.values()) if each is not None]


def _check_joined(found: LookedUp, statistics: Statistics) -> None:
    """Raise where text would be compared with numbers: the engine would read one as the other, or fail."""
    for column, kind in zip(found.expressions, found.args["kinds"], strict=True):
        type_ = statistics.types.get(column.name) if isinstance(column, exp.Column) else None
        ours = "" if type_ is None else "text" if pa.types.is_string(type_) else "numbers" if _numeric(type_) else ""
        if kind and ours and kind != ours:
            raise QueryError(
                f"`{column.name}` holds {ours}, and what it is joined with in `{found.args['table']}` {kind}",
                hint="give the table with a key of the same type, or use CAST in the question",
            )


def _kind(argument: exp.Expr, statistics: Statistics) -> pa.DataType | None:
    """The type of an argument, if it is a column or certainly a text or a boolean."""
    if isinstance(argument.unnest(), exp.Column):
        return statistics.types[argument.unnest().name]
    texts = any(literal.is_string for literal in argument.find_all(exp.Literal))
    if texts and isinstance(argument, OPEN) and not isinstance(argument, exp.DPipe | exp.Predicate):
        return None
    found = _annotated(argument, statistics.types)
    if found is None:
        return None
    if found.is_type(*exp.DataType.TEXT_TYPES):
        return pa.string()
    return pa.bool_() if found.is_type(exp.DType.BOOLEAN) else None


def of_truth(expression: exp.Expr, types: Mapping[str, pa.DataType]) -> bool:
    """Whether an expression is certainly true, false or missing."""
    found = _annotated(expression, types)
    return found is not None and found.is_type(exp.DType.BOOLEAN)


def _annotated(expression: exp.Expr, types: Mapping[str, pa.DataType]) -> exp.DataType | None:
    def typed(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.name not in types:
            return node
        return exp.Cast(this=exp.null(), to=sql_type(types[node.name]))

    return annotate_types(expression.transform(typed), dialect="duckdb").type


def _numeric(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _refusal(aggregate: Aggregate, argument: exp.Expr, kind: pa.DataType) -> QueryError:
    wanted = "MEDIAN" if aggregate.function == "quantile_cont" else aggregate.function.upper()
    other = "QUANTILE(x, 0.5)" if wanted == "MEDIAN" else "COUNT, MIN or MAX, or GROUP BY it"
    words = ((pa.types.is_date, "dates"), (pa.types.is_temporal, "times"), (pa.types.is_boolean, "true and false"))
    held = next((word for applies, word in words if applies(kind)), "texts")
    return QueryError(f"{wanted} needs numbers, but `{shown(argument)}` holds {held}", hint=f"use {other}")
