"""Clauses and names that a question cannot have: in their place, plain ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from sqlglot import exp

from discreet.answer.instead.shown import Shown
from discreet.answer.statement.flatten import merged, written_out
from discreet.errors import QueryError
from discreet.words import closest


def keyed(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Columns that stand beside aggregates, and are not grouped by, become keys; GROUP BY names no figure."""
    if not isinstance(select, exp.Select) or not select.find(exp.AggFunc):
        return None
    if select.args.get("group") and select.args["group"].find(exp.Rollup, exp.Cube, exp.GroupingSets):
        return None
    found = [item.unalias() for item in select.expressions if not item.find(exp.AggFunc, exp.Query)]
    keys = [item for item in found if any(shown.block(column.name) is not None for column in item.find_all(exp.Column))]
    other = select.copy()
    other.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
    if found != keys:
        return None
    return other if other != select else None


def flat(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """A SELECT over another that only passes rows on becomes one over the table."""
    if not isinstance(select, exp.Select) or not select.find(exp.Subquery, exp.CTE):
        return None
    try:
        found = written_out(select)
        found = merged(found) if isinstance(found, exp.Select) else found
    except QueryError:
        return None
    return found if found != select else None


def fewer(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Of several columns to group by one is left out: the first that holds numbers, as it has most values."""
    group = select.args.get("group")
    if not isinstance(select, exp.Select) or group is None or len(group.expressions) < 2:
        return None
    numbers = [key for key in group.expressions if isinstance(key, exp.Column) and shown.is_number(key.name)]
    if not numbers:
        return None
    found = select.copy()
    found.set("expressions", [item.copy() for item in select.expressions if item.unalias() != numbers[0]])
    found.set("group", exp.Group(expressions=[key.copy() for key in group.expressions if key != numbers[0]]))
    return found


def totals(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """ROLLUP, CUBE and GROUPING SETS become a question for each set of keys, one below the other."""
    group = select.args.get("group")
    if not isinstance(select, exp.Select) or group is None:
        return None
    clauses = [each for each in group.expressions if isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets)]
    clauses += [each for kind in ("rollup", "cube", "grouping_sets") for each in group.args.get(kind) or ()]
    if len(clauses) != 1 or not isinstance(clauses[0], exp.Expr):
        return None
    plain = [each for each in group.expressions if each is not clauses[0]]
    every = [key for keys in _sets(clauses[0]) for key in keys]
    questions = [_by(select, [*plain, *keys], every) for keys in _sets(clauses[0])]
    return exp.union(*questions, distinct=False) if len(questions) > 1 else questions[0]


def _sets(clause: exp.Expr) -> list[list[exp.Expr]]:
    """The sets of keys that it stands for, the finest first."""
    keys = [_listed(each) for each in clause.expressions]
    match clause:
        case exp.Rollup():
            taken: Iterator[Sequence[list[exp.Expr]]] = (keys[:end] for end in range(len(keys), -1, -1))
        case exp.Cube():
            sizes = range(len(keys), -1, -1)
            taken = itertools.chain.from_iterable(itertools.combinations(keys, size) for size in sizes)
        case _:
            return keys
    return [[key for part in parts for key in part] for parts in taken]


def _listed(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node.unnest()]


def _by(select: exp.Select, keys: Sequence[exp.Expr], every: Sequence[exp.Expr]) -> exp.Select:
    """The question grouped by these keys; others are missing in it."""
    found = select.copy()
    for clause in ("group", "order", "limit", "offset"):
        found.set(clause, None)
    items = []
    for item in found.expressions:
        left_out = item.unalias() in every and item.unalias() not in keys
        items.append(exp.alias_(exp.null(), item.alias_or_name) if left_out else item)
    found.set("expressions", items)
    return found.group_by(*(key.copy() for key in keys)) if keys else found


def unpivoted(statement: exp.Expr, _: Shown) -> exp.Expr | None:
    """PIVOT becomes GROUP BY: a row in place of a cell."""
    pivot = statement if isinstance(statement, exp.Pivot) else statement.find(exp.Pivot)
    if pivot is None or not isinstance(pivot.this, exp.Table):
        return None
    group = pivot.args.get("group")
    across = [each.this if isinstance(each, exp.In) else each for each in pivot.expressions]
    keys = [*(group.expressions if group else ()), *across]
    figures = pivot.args.get("using") or [exp.Count(this=exp.Star())]
    found = exp.select(*(each.copy() for each in (*keys, *figures))).from_(pivot.this.copy())
    return found.group_by(*(key.copy() for key in keys))


def meant(statement: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Names of no column and no table become those that are nearest."""
    own = {shown.table.lower(), "microdata"}
    aliases = {each.alias.lower() for each in statement.find_all(exp.Alias, exp.TableAlias, exp.CTE) if each.alias}
    known = {name.lower() for name in shown.columns}

    def rewritten(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            name = node.name.lower()
            near = None if name in known | aliases else closest(node.name, shown.columns)
            return node if near is None else exp.column(near, table=node.args.get("table"))
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier) and not node.args.get("db"):
            near = None if node.name.lower() in own | aliases else closest(node.name, own)
            return node if near is None else exp.Table(this=exp.to_identifier(near), alias=node.args.get("alias"))
        return node

    found = statement.transform(rewritten)
    return found if found != statement else None


def plain(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """Without a sample, a lock, or an order by something that the answer does not have."""
    if not isinstance(select, exp.Select):
        return None
    found = select.copy()
    for node in list(found.find_all(exp.TableSample)):
        node.pop()
    for clause in ("sample", "locks", "order", "into"):
        found.set(clause, None)
    return found if found != select else None
