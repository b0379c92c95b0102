"""Pieces of SQL: each text is parsed once, and trees are put together without being copied."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from sqlglot import exp, parse_one

from discreet.engines.dialect import placeless

Relations: TypeAlias = dict[str, exp.Query]
Piece: TypeAlias = exp.Expr | str


@lru_cache(maxsize=4096)
def _parsed(text: str) -> exp.Expr:
    return placeless(parse_one(text, dialect="duckdb"))


def piece(text: Piece) -> exp.Expr:
    """A tree that nobody else holds, from a text of our own; a tree is taken as it is."""
    return _parsed(text).copy() if isinstance(text, str) else text


def select(*columns: Piece, source: Piece, where: Piece | None = None) -> exp.Select:
    """The columns of one relation."""
    table = exp.to_table(source) if isinstance(source, str) else source
    query = exp.Select(expressions=[piece(column) for column in columns], from_=exp.From(this=table))
    return query if where is None else query.where(piece(where), copy=False)


def join(query: exp.Select, table: Piece, on: Piece, *, left: bool = False) -> exp.Select:
    """The same query with another relation beside it; it is changed in place."""
    joined = exp.to_table(table) if isinstance(table, str) else table
    return query.join(joined, on=piece(on), join_type="left" if left else None, copy=False)


def aliased(table: Piece, alias: str) -> exp.Expr:
    """A relation, or a query, under another name."""
    named = exp.TableAlias(this=exp.to_identifier(alias))
    return (
        exp.Table(this=exp.to_identifier(table), alias=named)
        if isinstance(table, str)
        else exp.Subquery(this=table, alias=named)
    )


def columns_of(table: str, names: Iterable[str]) -> list[exp.Column]:
    return [exp.column(name, table=table) for name in names]


def agree(left: str, right: str, keys: Iterable[str], *also: Piece) -> exp.Expr:
    """The condition that two relations agree on keys, a missing key being equal to itself; no `population` is missing.

    Not every engine can look up what is compared in the first way: some try each row with each.
    """
    ways = ((key, exp.EQ if key == "population" else exp.NullSafeEQ) for key in keys)
    same = [way(this=exp.column(key, table=left), expression=exp.column(key, table=right)) for key, way in ways]
    return exp.and_(*map(piece, also), *same, copy=False) if same or also else exp.true()


def once(query: exp.Select) -> exp.Select:
    """A query whose columns are computed once: a server that sees no end to it would do that for every use of one."""
    return query.offset(0, copy=False)


def grouped(query: exp.Select) -> exp.Select:
    """Group a query by everything it selects that is not an aggregate."""
    by = [item.unalias().copy() for item in query.expressions if not item.find(exp.AggFunc)]
    if by:
        query.set("group", exp.Group(expressions=by))
    return query


def per_key(keys: Iterable[str], relation: str, *columns: Piece) -> exp.Select:
    """Aggregates of a relation, by key."""
    names = list(keys)
    query = select(*names, *columns, source=relation)
    if names:
        query.set("group", exp.Group(expressions=[exp.column(name) for name in names]))
    return query


def beside(keys: Iterable[str], left: str, name: str, *columns: Piece, right: exp.Expr | None = None) -> exp.Select:
    """Two relations side by side, key by key; `right` is what `name` stands for, if not a relation of that name."""
    names = list(keys)
    query = select(*columns_of(left, names), *columns, source=left)
    return join(query, name if right is None else right, agree(left, name, names))


def over(keys: Iterable[str], order: str | None = None) -> str:
    """A window over the values of one key: all of them, or up to this one in ascending or descending order."""
    by = ", ".join(keys)
    by = f"PARTITION BY {by} " if by else ""
    if order is None:
        return f"OVER ({by})"
    return f"OVER ({by}ORDER BY value {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
