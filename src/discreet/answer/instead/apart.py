"""Expressions over what a release shows apart: in their place, parts that are each about one side, or keys."""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.instead.shown import Shown, columns_of, conditions, grouped, measured
from discreet.answer.question.grammar import conjuncts


def filtered(select: exp.Expr, _: Shown) -> exp.Expr | None:
    """`AVG(CASE WHEN a THEN x END)` becomes `AVG(x) FILTER (WHERE a)`, `COUNT(x)` becomes `COUNT(*)` under a filter."""
    found = select.transform(_filtered)
    return found if found != select else None


def _filtered(node: exp.Expr) -> exp.Expr:
    rows = exp.Count(this=exp.Star())
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and not isinstance(node.parent, exp.Filter):
        return exp.Filter(this=rows, expression=exp.Where(this=exp.not_(node.this.copy().is_(exp.null()))))
    case = node.this if isinstance(node, exp.Sum | exp.Avg | exp.Count | exp.Min | exp.Max | exp.Median) else None
    if not isinstance(case, exp.Case) or case.this or len(case.args["ifs"]) != 1:
        return node
    [branch], otherwise = case.args["ifs"], case.args.get("default")
    nothing = otherwise is None or isinstance(otherwise, exp.Null)
    zero = isinstance(node, exp.Sum) and isinstance(otherwise, exp.Literal) and otherwise.this == "0"
    if not nothing and not zero:
        return node
    where, value = exp.Where(this=branch.this.copy()), branch.args["true"]
    if isinstance(node, exp.Sum) and value.is_int and int(value.name) == 1:
        return exp.Filter(this=rows, expression=where)
    found = exp.Filter(this=type(node)(this=value.copy()), expression=where)
    return exp.func("COALESCE", found, exp.Literal.number(0)) if zero else found


def disjoint(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """`WHERE a OR b` becomes a sum of two that share nobody: those with a, and of the others those with b."""
    if not isinstance(select, exp.Select):
        return None
    parts = conditions(select)
    mixed = [part for part in parts if shown.mixes(part)]
    if len(mixed) != 1:
        return None
    either = _either(mixed[0])
    if either is None:
        return None
    first, second = either
    rest = [part for part in parts if part is not mixed[0]]
    others = exp.and_(
        exp.Not(this=exp.Is(this=exp.paren(first.copy()), expression=exp.true())), *conjuncts(second.copy())
    )
    found = select.copy()
    plain = [node for node in found.find_all(exp.AggFunc) if not isinstance(node.parent, exp.AggFunc | exp.Filter)]
    for node in plain:
        summed = _summed(node, first, others)
        if summed is None:
            return None
        node.replace(summed)
    found.set("where", exp.Where(this=exp.and_(*(part.copy() for part in rest))) if rest else None)
    return found


def _either(part: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The two of which at least one must be true."""
    node = part.unnest()
    if isinstance(node, exp.Or):
        return node.left.unnest(), node.right.unnest()
    inner = node.this.unnest() if isinstance(node, exp.Not) else None
    if isinstance(inner, exp.And):
        return exp.not_(inner.left.copy()), exp.not_(inner.right.copy())
    return None


def _summed(node: exp.Expr, first: exp.Expr, others: exp.Expr) -> exp.Expr | None:
    """An aggregate over both, made of the aggregates over either."""

    def over(aggregate: exp.Expr, condition: exp.Expr) -> exp.Expr:
        return exp.Filter(this=aggregate.copy(), expression=exp.Where(this=condition.copy()))

    def total(aggregate: exp.Expr) -> exp.Expr:
        return exp.Add(this=over(aggregate, first), expression=over(aggregate, others))

    match node:
        case exp.Count() if not isinstance(node.this, exp.Distinct):
            return total(node)
        case exp.Sum() if not isinstance(node.this, exp.Distinct):
            zero = exp.Literal.number(0)
            parts = (exp.func("COALESCE", over(node, each), zero.copy()) for each in (first, others))
            return exp.Add(this=next(parts), expression=next(parts))
        case exp.Avg():
            both = total(exp.Sum(this=node.this.copy())), total(exp.Count(this=node.this.copy()))
            return exp.Div(this=exp.paren(both[0]), expression=exp.paren(both[1]))
        case exp.Min():
            return exp.func("LEAST", over(node, first), over(node, others))
        case exp.Max():
            return exp.func("GREATEST", over(node, first), over(node, others))
    return None


def by_columns(select: exp.Expr, shown: Shown) -> exp.Expr | None:
    """A figure that needs each person's values of two sides becomes figures of one side by the columns of the other."""
    if not isinstance(select, exp.Select) or select.args.get("joins") or not select.args.get("from_"):
        return None
    group = select.args.get("group")
    aliases = {item.alias.lower(): item.unalias() for item in select.expressions if item.alias}
    asked = [aliases.get(key.name.lower(), key) if isinstance(key, exp.Column) else key for key in _keys(group, select)]
    everything = [*select.expressions, *conditions(select), *asked]
    mixed = [node for node in everything if any(shown.mixes(part) for part in _innermost(node))]
    if not mixed:
        return None
    columns = columns_of([*mixed, *asked])
    told = _told(columns, shown)
    keys = [column for column in columns if told is None or column.name.lower() != told.name.lower()]
    kept = [part for part in conditions(select) if not shown.mixes(part)]
    figures = [measured("AVG", told.name)] if told is not None else []
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    found = grouped(select, keys, [count, *figures], kept)
    return found.order_by(*(key.copy() for key in keys)) if keys else found


def _keys(group: exp.Expr | None, select: exp.Select) -> list[exp.Expr]:
    """What it is grouped by, numbers of columns resolved."""
    found = []
    for key in group.expressions if group else ():
        number = int(key.this) if isinstance(key, exp.Literal) and key.this.isdigit() else 0
        found.append(select.expressions[number - 1].unalias() if 1 <= number <= len(select.expressions) else key)
    return found


def _innermost(node: exp.Expr) -> list[exp.Expr]:
    """The aggregates in an expression, or else itself: only what stands in one of them must be about one side."""
    found: list[exp.Expr] = [
        each for each in node.find_all(exp.AggFunc) if not isinstance(each.parent, exp.WithinGroup)
    ]
    return found or [node]


def _told(columns: list[exp.Column], shown: Shown) -> exp.Column | None:
    """The column to tell of: the sensitive one if it holds numbers, else the last that does."""
    numbers = [column for column in columns if shown.is_number(column.name)]
    return next(filter(shown.is_sensitive, numbers), None) or (numbers[-1] if _apart(numbers, shown) else None)


def _apart(numbers: list[exp.Column], shown: Shown) -> bool:
    return len(numbers) > 1 and shown.sensitive not in {column.name for column in numbers}
