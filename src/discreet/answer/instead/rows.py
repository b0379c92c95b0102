"""Single people, pairs of people, people against others: in their place, figures of the groups that they are in."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.answer.instead.shown import Shown, columns_of, conditions, grouped, summaries


def different(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Different values become a row each, with the number of people who hold them."""
    if not isinstance(select, exp.Select) or not select.args.get("distinct") or select.find(exp.AggFunc, exp.Window):
        return None
    columns = columns_of(select.expressions)
    if not columns or any(shown.block(column.name) is None for column in columns):
        return None
    found = grouped(select, select.expressions, [exp.alias_(exp.Count(this=exp.Star()), "n")], conditions(select))
    for clause in ("order", "limit"):
        found.set(clause, select.args[clause].copy() if select.args.get(clause) else None)
    return found


def counted(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Rows become the number of people by what is shown of them, and the sensitive column a figure of those.

    Sorted by the sensitive column, as in a list of the best paid, the figure is the largest or the smallest.
    """
    if not isinstance(select, exp.Select) or select.find(exp.AggFunc) or select.args.get("group"):
        return None
    if not isinstance(_source(select), exp.Table):
        return None
    keys = [] if any(item.is_star for item in select.expressions) else columns_of(select.expressions)
    keys = [key for key in keys if shown.block(key.name) is not None and not _told_by_figures(key, shown)]
    order = select.args.get("order")
    ends = (
        [each for each in order.expressions if any(map(shown.is_sensitive, each.find_all(exp.Column)))] if order else []
    )
    function = "AVG" if not ends else "MAX" if ends[0].args.get("desc") else "MIN"
    kept = [part for part in conditions(select) if not shown.mixes(part) and not part.find(exp.Query)]
    found = grouped(select, keys, summaries(shown, (function,) if keys or ends else ("MIN", "AVG", "MAX")), kept)
    if keys:
        by = found.expressions[-1].alias
        found.order_by(exp.Ordered(this=exp.column(by), desc=function != "MIN"), copy=False)
    limit = select.args.get("limit")
    return found.limit(limit.expression.copy()) if limit and keys else found


def _told_by_figures(key: exp.Column, shown: Shown) -> bool:
    return shown.is_sensitive(key) and shown.is_number(key.name)


def _source(select: exp.Select) -> exp.Expr | None:
    source = select.args.get("from_")
    return source.this if source else None


def unpaired(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Pairs of people, from a join of the table with itself, become figures by the columns that the two share."""
    if not isinstance(select, exp.Select) or not select.args.get("joins"):
        return None
    source = _source(select)
    own = shown.table.lower(), "microdata"
    joins = [
        join for join in select.args["joins"] if isinstance(join.this, exp.Table) and join.this.name.lower() in own
    ]
    if not isinstance(source, exp.Table) or source.name.lower() not in own or not joins:
        return None
    shared = [equal for join in joins if join.args.get("on") for equal in join.args["on"].find_all(exp.EQ)]
    used = [name for join in joins for name in join.args.get("using") or ()]
    keys = [*columns_of(shared), *(exp.column(name.name) for name in used)]
    keys = [key for key in keys if not _told_by_figures(key, shown)]
    plain = select.copy()
    plain.args["from_"].this.set("alias", None)
    figures = summaries(shown, ("MIN", "MEDIAN", "MAX"))
    return grouped(plain, keys, figures, [])


def filled(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Subqueries in conditions that are one figure of the table, and exactly known, become that figure."""
    if not isinstance(select, exp.Select) or select.args.get("where") is None:
        return None
    changed = False

    def rewritten(node: exp.Expr) -> exp.Expr:
        nonlocal changed
        if not isinstance(node, exp.Subquery) or len(node.this.selects) != 1:
            return node
        value = shown.figure(node.this.sql(dialect="duckdb"))
        if value is None:
            return node
        changed = True
        return exp.Literal.number(f"{value:.15g}")

    found = select.copy()
    found.set("where", found.args["where"].transform(rewritten))
    return found if changed else None


def uncompared(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """People held against a figure of others, by a subquery, become figures by the keys that such others share."""
    if not isinstance(select, exp.Select):
        return None
    parts = conditions(select)
    own = shown.table.lower(), "microdata"
    compared = [part for part in parts if part.find(exp.Query)]
    tables = [table for part in compared for table in part.find_all(exp.Table)]
    others = not all(table.name.lower() in own for table in tables)
    if not compared or others or not isinstance(_source(select), exp.Table):
        return None
    group = select.args.get("group")
    aliases = {item.alias: item.unalias() for item in select.expressions if item.alias}
    keys = columns_of([aliases.get(key.name, key) for key in group.expressions] if group else [])
    keys = [key for key in keys if not _told_by_figures(key, shown)]
    plain = select.copy()
    plain.args["from_"].this.set("alias", None)
    kept = [_bare(part) for part in parts if part not in compared]
    return grouped(plain, keys, summaries(shown, ("AVG", "MEDIAN")), kept)


def _bare(part: exp.Expr) -> exp.Expr:
    """A condition without the names of tables."""
    return part.transform(lambda node: exp.Column(this=node.this) if isinstance(node, exp.Column) else node)


def unconditioned(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """Conditions on the sensitive column, and what is computed of it, become its median and quantiles by other keys."""
    if not isinstance(select, exp.Select) or select.args.get("joins") or not isinstance(_source(select), exp.Table):
        return None
    asked = [node for node in _everything(select) if any(map(shown.is_sensitive, node.find_all(exp.Column)))]
    if not asked or shown.sensitive is None or not shown.is_number(shown.sensitive):
        return None
    group = select.args.get("group")
    aliases = {item.alias: item for item in select.expressions if item.alias}
    keys = [_key(key, select, aliases) for key in (group.expressions if group else ())]
    keys = [key for key in keys if not any(map(shown.is_sensitive, key.find_all(exp.Column)))]
    kept = [part for part in conditions(select) if part not in asked and not part.find(exp.Query)]
    return grouped(select, keys, summaries(shown, ("MIN", "MEDIAN", "MAX")), kept)


def counts(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """Figures that a release cannot give are left out; how many people there are remains."""
    if not isinstance(select, exp.Select) or not isinstance(_source(select), exp.Table):
        return None
    kept = [item for item in select.expressions if not item.find(exp.AggFunc) or _counts_rows(item.unalias())]
    if len(kept) == len(select.expressions):
        return None
    found = select.copy()
    more = [] if any(_counts_rows(item.unalias()) for item in kept) else [exp.alias_(exp.Count(this=exp.Star()), "n")]
    found.set("expressions", [*(item.copy() for item in kept), *more])
    for clause in ("having", "order", "qualify"):
        found.set(clause, None)
    return found


def _counts_rows(node: exp.Expr) -> bool:
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)


def _everything(select: exp.Select) -> list[exp.Expr]:
    group = select.args.get("group")
    return [*select.expressions, *conditions(select), *(group.expressions if group else ())]


def _key(key: exp.Expr, select: exp.Select, aliases: Mapping[str, exp.Expr]) -> exp.Expr:
    """What GROUP BY means by a number or an alias, as it stands in SELECT."""
    number = int(key.this) if isinstance(key, exp.Literal) and key.this.isdigit() else 0
    if 1 <= number <= len(select.expressions):
        found: exp.Expr = select.expressions[number - 1]
        return found
    return aliases.get(key.name, key) if isinstance(key, exp.Column) else key
