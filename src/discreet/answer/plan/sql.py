"""Relations that answers are made of, and what they have in common."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

Relations = dict[str, exp.Query]


def agree(left: str, right: str, keys: Iterable[str], *also: exp.Expr) -> exp.Expr:
    """The condition that two relations agree on keys, a missing key being equal to itself."""
    same = [exp.NullSafeEQ(this=exp.column(key, table=left), expression=exp.column(key, table=right)) for key in keys]
    return exp.and_(*also, *same) if same or also else exp.true()


def grouped(query: exp.Select) -> exp.Select:
    """Group a query by everything it selects that is not an aggregate."""
    return query.group_by(*(item.unalias().copy() for item in query.expressions if not item.find(exp.AggFunc)))
