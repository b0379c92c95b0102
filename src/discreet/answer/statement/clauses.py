"""The clauses of a SELECT that act on rows which are there: conditions on figures, names, order and cut."""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.question.question import ENDS
from discreet.answer.statement.statement import Step
from discreet.answer.statement.trees import Read
from discreet.errors import QueryError
from discreet.values.names import numbered


def step_of(
    select: exp.Select,
    items: list[tuple[str, exp.Expr]],
    read: Read,
    *,
    where: bool,
    groups: tuple[exp.Expr, ...] | None = None,
) -> Step:
    """The clauses of a SELECT that act on rows which are there."""
    clauses = {name: select.args.get(name) for name in ("where", "having", "qualify")}
    found = {
        name: read(clause.this) if clause is not None else None
        for name, clause in clauses.items()
        if name != "where" or where
    }
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise QueryError(
            "DISTINCT ON is not supported", hint="use ROW_NUMBER() OVER (PARTITION BY …) and a condition on it"
        )
    taken: set[str] = set()
    named = []
    for name, node in items:
        fresh = numbered(name, taken, tuple(ENDS.values()))
        taken.update(f"{fresh}{end}" for end in ENDS.values())
        named.append((fresh, node))
    if not where and found["having"] is not None:  # over the table, HAVING is a condition on the rows of its answer
        found["where"], found["having"] = found["having"], None
    return Step(
        tuple(named),
        groups=groups,
        distinct=distinct is not None,
        order=order_of(select, tuple(named), read),
        limit=number_of(select, "limit"),
        offset=number_of(select, "offset"),
        **found,
    )


def order_of(
    query: exp.Expr,
    items: tuple[tuple[str, exp.Expr], ...],
    read: Read,
) -> tuple[exp.Ordered, ...]:
    """What to sort by: over the columns of the answer (`item_0`, `item_0_low`) and over those that it is made from."""
    order = query.args.get("order")
    found = []
    for each in order.expressions if order is not None else ():
        wanted = each.this if isinstance(each, exp.Ordered) else each
        meant = _answered(wanted, items)
        if meant is None:
            meant = read(wanted)
        found.append(
            exp.Ordered(this=meant, desc=bool(each.args.get("desc")), nulls_first=bool(each.args.get("nulls_first")))
        )
    return tuple(found)


def _answered(wanted: exp.Expr, items: tuple[tuple[str, exp.Expr], ...]) -> exp.Expr | None:
    """A column of the answer, by its number or its name."""
    if isinstance(wanted, exp.Literal) and not wanted.is_string:
        return exp.column(f"answer_{_position(wanted, len(items))}", quoted=True)
    if isinstance(wanted, exp.Column) and not wanted.table:
        names = {
            f"{name}{end}".lower(): f"answer_{at}{end}" for at, (name, _) in enumerate(items) for end in ENDS.values()
        }
        if wanted.name.lower() in names:
            return exp.column(names[wanted.name.lower()], quoted=True)
    return None


def _position(wanted: exp.Expr, many: int) -> int:
    at = int(wanted.this) if wanted.this.isdigit() and len(wanted.this) < 9 else 0
    if not 1 <= at <= many:
        raise QueryError(f"there is no column number {wanted.this} in SELECT", hint="count from 1")
    return at - 1


def meant(wanted: exp.Expr, items: list[tuple[str, exp.Expr]], read: Read) -> exp.Expr:
    """What GROUP BY means by a number or a name."""
    if isinstance(wanted, exp.Literal) and not wanted.is_string:
        return items[_position(wanted, len(items))][1]
    return read(wanted)


def check_grouping(group: exp.Expr | None) -> None:
    if group is not None and any(value for name, value in group.args.items() if name not in {"expressions", "all"}):
        raise QueryError(
            "ROLLUP, CUBE and GROUPING SETS are not supported",
            hint="ask for each grouping, and join them with UNION ALL",
        )


def number_of(query: exp.Expr, clause: str) -> int | None:
    node = query.args.get(clause)
    if node is None:
        return None
    number = node.expression
    if (
        isinstance(number, exp.Literal)
        and number.this.isdigit()
        and len(number.this) < 19
        and not node.args.get("limit_options")
    ):
        return int(number.this)
    raise QueryError(f"{clause.upper()} needs a whole number", hint=f"write {clause.upper()} 10")
