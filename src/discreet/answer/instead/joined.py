"""Lists from a table of one's own, in a subquery: in their place, a join with that table."""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.instead.shown import Shown, conditions

PLAIN = {"kind", "expressions", "from_", "where", "distinct"}


def joined(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """`x IN (SELECT y FROM t WHERE c)` becomes a join with t on x = y, under c; NOT IN, what the join leaves alone."""
    if not isinstance(select, exp.Select) or select.args.get("joins"):
        return None
    table = select.args["from_"].this if select.args.get("from_") else None
    parts = conditions(select)
    lists = [part for part in parts if _list(part, shown) is not None]
    if not isinstance(table, exp.Table) or len(lists) != 1:
        return None
    inside, negated = _list(lists[0], shown) or (exp.In(), False)
    query = inside.args["query"].this
    other = query.args["from_"].this
    own = table.alias_or_name
    mine = _of(inside.this, own)
    theirs = _of(query.expressions[0].unalias(), other.alias_or_name)
    narrowed = [_of(part, other.alias_or_name) for part in conditions(query)]
    kept = [_of(part, own) for part in parts if part is not lists[0]]
    on = exp.EQ(this=mine.copy(), expression=theirs.copy())
    found = select.copy()
    found.set("expressions", [_of(item, own) for item in select.expressions])
    for clause in ("group", "order", "having"):
        if found.args.get(clause):
            found.set(clause, _of(found.args[clause], own, found))
    if negated:
        found.join(other.copy(), on=exp.and_(on, *narrowed), join_type="left", copy=False)
        every = [*kept, exp.not_(mine.is_(exp.null())), theirs.is_(exp.null())]
    else:
        found.join(other.copy(), on=on, copy=False)
        every = [*kept, *narrowed]
    found.set("where", exp.Where(this=exp.and_(*every)) if every else None)
    return found


def _list(part: exp.Expr, shown: Shown) -> tuple[exp.In, bool] | None:
    """The list that a condition looks in, if it comes from another table, and whether it must not be there."""
    negated = isinstance(part, exp.Not)
    node = part.this.unnest() if negated else part.unnest()
    query = node.args.get("query") if isinstance(node, exp.In) else None
    if not isinstance(node, exp.In) or query is None or not isinstance(query.this, exp.Select):
        return None
    clauses = {name for name, value in query.this.args.items() if value} - PLAIN
    source = query.this.args["from_"].this if query.this.args.get("from_") else None
    if clauses or not isinstance(source, exp.Table) or len(query.this.expressions) != 1:
        return None
    if source.name.lower() in {shown.table.lower(), "microdata"}:
        return None
    return node, negated


def _of(node: exp.Expr, table: str, select: exp.Select | None = None) -> exp.Expr:
    """An expression whose columns are of one table; aliases of a SELECT stay as they are."""
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)} if select else set()

    def named(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Column) and not each.table and each.name.lower() not in aliases:
            return exp.Column(this=each.this.copy(), table=exp.to_identifier(table))
        return each

    return node.transform(named)
