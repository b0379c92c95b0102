"""Write a statement without names for its pieces: WITH is put where it is named, plain inner SELECTs are merged.

An inner SELECT that only filters, renames or computes columns says no more than an expression in its place: its columns
become what they stand for, and its condition is joined to the outer one.
Cost: linear in the statement once WITH is written out, which is limited.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.answer.question.refusals import shown
from discreet.errors import QueryError
from discreet.words import nearest

MOST = 5_000  # nodes of a statement, once WITH is written out
PLAIN = {"kind", "expressions", "from_", "joins", "where", "order"}


def written_out(query: exp.Query) -> exp.Query:
    """The query with what WITH defines in the place of its names."""
    return _inlined(query.copy(), {})


def _inlined(query: exp.Query, known: Mapping[str, exp.Query]) -> exp.Query:
    """In place."""
    defined = dict(known)
    with_ = query.args.get("with_")
    if with_ is not None:
        if with_.args.get("recursive"):
            raise QueryError(
                "WITH RECURSIVE is not supported: a release has no chains to follow",
                hint="leave RECURSIVE out where nothing refers to itself",
            )
        for each in with_.expressions:
            inner = _inlined(each.this, defined)
            names = each.args["alias"].columns
            defined[each.alias.lower()] = _named(inner, [name.name for name in names]) if names else inner
        query.set("with_", None)
    for table in list(query.find_all(exp.Table)):
        meant = defined.get(table.name.lower()) if isinstance(table.this, exp.Identifier) and not table.db else None
        if meant is not None and _outermost_with(table, query):
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
            table.replace(exp.Subquery(this=meant.copy(), alias=alias))
            if sum(1 for _ in query.walk()) > MOST:
                raise QueryError("the statement is too long once its WITH is written out", hint="ask in several")
    for inner in list(query.find_all(exp.Query)):
        if inner is not query and inner.args.get("with_") is not None:
            _inlined(inner, defined)
    return query


def _outermost_with(table: exp.Table, query: exp.Query) -> bool:
    """Whether no WITH of a query in between may mean something else by the name."""
    around = table.parent
    while around is not None and around is not query:
        if isinstance(around, exp.Query) and around.args.get("with_") is not None:
            return False
        around = around.parent
    return True


def _named(query: exp.Query, names: list[str]) -> exp.Query:
    """A query whose columns have other names."""
    first = query
    while isinstance(first, exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select) or len(names) > len(first.expressions):
        raise QueryError("WITH names more columns than its SELECT has", hint="give as many names as columns")
    items = [
        exp.alias_(item.unalias(), names[at], quoted=True) if at < len(names) else item
        for at, item in enumerate(first.expressions)
    ]
    first.set("expressions", items)
    return query


def merged(select: exp.Select) -> exp.Select:
    """The same SELECT over what its inner SELECTs are over, as long as these are plain."""
    while True:
        source = select.args.get("from_")
        around = source.this if source is not None else None
        inner = around.unnest() if isinstance(around, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or select.args.get("joins") or not is_plain(inner):
            return select
        _merge(select, inner, around.alias if around is not None else "")


def is_plain(select: exp.Select) -> bool:
    """Whether it filters, renames and computes, row by row."""
    if any(value for clause, value in select.args.items() if clause not in PLAIN) or select.args.get("from_") is None:
        return False
    return not any(node.find(exp.AggFunc, exp.Window, exp.Subquery) for node in select.expressions)


def _merge(outer: exp.Select, inner: exp.Select, alias: str) -> None:
    stands = {item.alias_or_name.lower(): item.unalias() for item in inner.expressions if not item.is_star}
    everything = any(isinstance(item, exp.Star) and not any(item.args.values()) for item in inner.expressions)
    if not everything and any(item.is_star for item in inner.expressions):
        raise QueryError("`*` with a table's name or exceptions is not supported", hint="name the columns, or write *")
    own = {item.alias.lower() for item in outer.expressions if isinstance(item, exp.Alias)}
    for column in list(outer.find_all(exp.Column)):
        if _inside(column, outer) or isinstance(column.this, exp.Star):
            continue
        name = column.name.lower()
        meant = stands.get(name)
        if column.table and column.table.lower() != alias.lower():
            raise QueryError(f"there is no column `{shown(column)}`", hint=f"write `{column.name}` alone")
        if meant is not None and not (name in own and not column.table and _sorts(column, outer)):
            _put(column, meant)
        elif not everything and name not in own:
            raise QueryError(f"there is no column `{column.name}`", hint=nearest(column.name, [*stands]))
        elif column.table:
            column.set("table", None)
    conditions = [each.args["where"].this for each in (inner, outer) if each.args.get("where") is not None]
    outer.set("where", exp.Where(this=exp.and_(*conditions)) if conditions else None)
    outer.set("from_", inner.args["from_"])
    outer.set("joins", inner.args.get("joins"))


def _put(column: exp.Column, meant: exp.Expr) -> None:
    """What a column stands for in its place; an item of SELECT keeps the column's name."""
    placed = meant.copy()
    if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
        placed = exp.alias_(placed, column.name, quoted=True)
    elif not isinstance(placed, exp.Column | exp.Literal):
        placed = exp.Paren(this=placed)
    column.replace(placed)


def _sorts(column: exp.Column, select: exp.Select) -> bool:
    found = column.find_ancestor(exp.Order)
    return found is not None and found is select.args.get("order")


def _inside(column: exp.Column, select: exp.Select) -> bool:
    """Whether a column stands in another SELECT, inside this one."""
    found = column.find_ancestor(exp.Select)
    return found is not select
