"""Queries that carry the relations that they are made of in front of them, as WITH: nothing is created for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from discreet.engines.dialect import LookedUp
from discreet.engines.engine import Relation


def spoken_of(query: exp.Expr) -> set[str]:
    """The relations that a query speaks of, but for its own and those of a schema."""
    own = {each.alias for each in query.find_all(exp.CTE)}
    looked_up = {each.args["relation"] for each in query.find_all(LookedUp)}
    return {table.name for table in query.find_all(exp.Table) if not table.db} - own | looked_up


def needed(query: exp.Expr, known: Mapping[str, Relation], also: Collection[str] = ()) -> set[str]:
    """The relations that a query is made of, at any depth: known ones, and those `also` that are made elsewhere."""
    wanted: set[str] = set()
    waiting = [query]
    while waiting:
        names = (spoken_of(waiting.pop()) & (known.keys() | {*also})) - wanted
        wanted |= names
        waiting += [known[name].query for name in names if name in known]
    return wanted


def carrying(query: exp.Expr, carried: Mapping[str, Relation]) -> exp.Expr:
    """A query with relations in front of it, in their order; its own stand behind them."""
    found = query.copy()
    if carried:
        own = found.args.get("with_")
        before = [_named(name, each.query.copy(), keep=each.keep) for name, each in carried.items()]
        every = [*before, *(own.expressions if own is not None else ())]
        recursive = bool(own is not None and own.args.get("recursive"))
        found.set("with_", exp.With(expressions=every, recursive=recursive))
    return found


def _named(name: str, query: exp.Expr, *, keep: bool) -> exp.CTE:
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias, materialized=keep)
