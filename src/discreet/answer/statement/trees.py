"""Walks over the tree of a statement: what stands in an expression, and the same with its operands read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from discreet.answer.question.parse import label
from discreet.answer.question.refusals import refusal
from discreet.answer.statement.windows import FUNCTIONS

WINDOWS = (*FUNCTIONS, exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max)
LONGEST_NAME = 60
Read: TypeAlias = Callable[[exp.Expr], exp.Expr]


def windowed(node: exp.Window, read: Read) -> exp.Expr:
    """A window with what it is over read, too."""
    if not isinstance(node.this, WINDOWS) or node.args.get("alias"):
        raise refusal(node.this if not isinstance(node.this, WINDOWS) else node)
    function = node.this.copy()
    for name, value in list(function.args.items()):
        if isinstance(value, exp.Expr) and not isinstance(value, exp.Star):
            function.set(name, read(value))
    found = exp.Window(this=function, over="OVER")
    by = [read(each) for each in node.args.get("partition_by") or ()]
    found.set("partition_by", by)
    order = node.args.get("order")
    if order is not None:
        ordered = [
            exp.Ordered(
                this=read(each.this), desc=bool(each.args.get("desc")), nulls_first=bool(each.args.get("nulls_first"))
            )
            for each in order.expressions
        ]
        found.set("order", exp.Order(expressions=ordered))
    spec = node.args.get("spec")
    if spec is not None:
        found.set("spec", spec.copy())
    return found


def rebuilt(node: exp.Expr, read: Read) -> exp.Expr:
    """A node with its operands read. No operand is copied first: of a deep tree, all of it would be at every level."""
    found = type(node)(**{name: _rebuilt(value, read) for name, value in node.args.items()})
    found.type = node.type
    found.meta.update(node.meta)
    return found


def _rebuilt(value: object, read: Read) -> object:
    """What a node has, for a new one."""
    if isinstance(value, list):
        return [_rebuilt(each, read) for each in value]
    if not isinstance(value, exp.Expr):
        return value
    found = value if isinstance(value, exp.DataType | exp.Identifier | exp.Star) else read(value)
    return found.copy() if found.parent is not None else found  # what belongs to another tree stays there


def outside_subqueries(node: exp.Expr, change: Read) -> exp.Expr:
    """Every column outside subqueries changed."""
    if isinstance(node, exp.Column):
        return change(node)
    if isinstance(node, exp.Subquery | exp.Select):
        return node
    return rebuilt(node, lambda inner: outside_subqueries(inner, change))


def aggregates(node: exp.Expr) -> bool:
    """Whether an aggregate stands in an expression, outside of a window's own function."""
    for found in node.find_all(exp.AggFunc):
        if not isinstance(found.parent, exp.Window) or found.arg_key != "this":
            return True
    return False


def name_of(node: exp.Expr) -> str:
    """The name of a column without an alias."""
    plain = node.this if isinstance(node, exp.Filter) else node
    if isinstance(plain, exp.AggFunc) and not isinstance(plain.this, exp.Distinct):
        return "_".join(filter(None, [plain.key, "" if isinstance(plain.this, exp.Star) else label(plain.this)]))[
            :LONGEST_NAME
        ]
    return label(node)[:LONGEST_NAME] or "column"
