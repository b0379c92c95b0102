"""Questions that differ in constants only are planned once: the plan is written with marks, which constants replace.

A mark stands where a constant is compared with something, and nowhere else: there the SQL of a constant is the
same wherever it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import replace

from sqlglot import exp

from discreet.answer.question.grammar import Side
from discreet.answer.question.question import Question

MARK = "discreet_constant_"
COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In)


def abstracted(question: Question) -> tuple[Question, list[str]]:
    """The question with marks in its conditions, and the SQL of the constants that they stand for."""
    constants: list[str] = []
    where: dict[Side, exp.Expr | None] = {}
    for side, condition in question.where.items():
        marked = where[side] = None if condition is None else condition.copy()
        for literal in [] if marked is None else list(_compared(marked)):
            literal.replace(exp.var(f"{MARK}{len(constants)}_"))
            constants.append(literal.sql(dialect="duckdb"))
    return replace(question, where=where), constants


def shape(question: Question) -> Hashable:
    """What two questions have in common that are planned alike."""
    return (
        *(question.keys, question.aggregates, question.columns, tuple(question.where.items())),
        *(question.order, question.limit, question.offset),
    )


def filled(sql: str, constants: list[str]) -> str:
    """SQL with constants in the place of their marks; without any, what looks like a mark is somebody's own text."""
    if not constants:
        return sql
    return re.sub(rf"{MARK}(\d+)_", lambda mark: constants[int(mark[1])], sql)


def _compared(condition: exp.Expr) -> Iterator[exp.Expr]:
    return (literal for literal in condition.find_all(exp.Literal) if isinstance(literal.parent, COMPARED))
