"""From a question to its plan: the tables it needs, what must hold of them, and one query. Nothing is run here.

The query is made of relations, each step adding some:

    matched     how many rows of each group satisfy the conditions; see `matches`
    frame       the rows of the answer: every combination of keys that may occur
    draws, candidates, tallies    what aggregates are about, as blind draws from populations; see `draws`
    aggregates  per key: estimate, stderr, low, high, and how many rows match at `least`
    layout      the columns of the answer, sorted and cut as asked

Aggregates that no shuffled value can change are computed from the rows as they are (`exact`). Where a server keeps
one row per group, some questions take fewer steps (`by_group`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from discreet.answer.matches.matches import Guard
from discreet.answer.plan import by_group
from discreet.answer.plan.base_tables import Layout, Statistics, needed
from discreet.answer.plan.context import Context
from discreet.answer.plan.draws import candidates, draws
from discreet.answer.plan.sql import Relations, agree, columns_of, join, piece, select
from discreet.answer.plan.tallies import tallies
from discreet.answer.plan.types import check_types, of_truth
from discreet.answer.question.question import COUNTS, ENDS, OF_A_SAMPLE, SPREADS, Aggregate, Question
from discreet.engines.engine import Relation


@dataclass(frozen=True)
class Plan:
    """What answers a question: tables to be made first, in order, guards to be asked, and the query.

    After the columns of the answer it has one column `least_i` per aggregate, then the keys, and of boxes `cut`.
    """

    tables: Mapping[str, Relation]
    guards: tuple[Guard, ...]
    query: exp.Query
    layout: exp.Query  # its last step alone, over relations that somebody else may supply

    @cached_property
    def wide(self) -> exp.Select:
        """The relations that the layout is made from, side by side: the frame, then those of each aggregate."""
        [inner] = [each for each in self.layout.find_all(exp.Subquery) if each.alias == "answer"]
        keys = [each.unalias() for each in inner.this.expressions if each.alias.startswith("by_key_")]
        query = select(*(key.copy() for key in keys), source="frame") if keys else select("one", source="frame")
        for number, each in enumerate(inner.this.args.get("joins") or ()):
            query.append("joins", each.copy())
            for part in (*ENDS, "least"):
                column = exp.column(part, table=f"answer_{number}")
                query.append("expressions", exp.alias_(column, f"{part}_{number}", copy=False))
        query.set("with_", self.query.args["with_"].copy())
        return query


def plan(question: Question, layout: Layout, statistics: Statistics) -> Plan:
    """The plan of a question that the way in which rows match can answer."""
    kept, types = statistics.kept, statistics.types
    context = Context(question, layout.group, layout.sensitive, layout.matches, layout.left_out, kept, types)
    check_types(context, statistics)
    relations = dict(each for _, added in steps(context) for each in added.items())
    query = relations.pop("layout")
    last = query.copy()
    for name, relation in relations.items():
        query.with_(name, as_=relation, copy=False)
    guards = layout.matches.guards(context)
    tables = needed([query, *(guard.query for guard in guards)], layout.tables(statistics))
    return Plan(tables, guards, query, last)


def steps(context: Context) -> Iterator[tuple[str, Relations]]:
    """The relations that each step adds, by the name of the step."""
    for step in BY_GROUP if by_group.served(context) else STEPS:
        yield step.__name__, step(context)


def matched(context: Context) -> Relations:
    """How many rows of each group satisfy the conditions."""
    return context.matches.relations(context)


def frame(context: Context) -> Relations:
    """The rows of the answer: every combination of keys that may occur, or a single row without keys."""
    return {"frame": context.matches.frame(context) if context.keys() else exp.select("1 AS one")}


def aggregates(context: Context) -> Relations:
    """For each aggregate a relation `answer_i`."""
    found: Relations = {}
    for number, aggregate in enumerate(context.question.aggregates):
        if context.exact(aggregate):
            found[f"answer_{number}"] = _exact(context, aggregate)
        else:
            answer = by_group.answer if by_group.served(context) else context.matches.answer
            found |= answer(context, aggregate, number)
    return found


def layout(context: Context) -> Relations:
    """The columns of the answer in the order of SELECT, then `least_0` and so on, all keys, and `cut` of boxes.

    Where the estimate takes all values of a label as equally likely there is no stderr: nothing says how far it is off.
    """
    question = context.question
    query = exp.Select(from_=exp.From(this=exp.to_table("frame")))
    for column in question.columns:
        if column.key is not None:
            [key] = columns_of("frame", [f"key_{column.key}"])
            query.append("expressions", exp.alias_(key, column.name, quoted=True, copy=False))
            continue
        function, name = question.aggregates[column.aggregate or 0].function, f"answer_{column.aggregate}"
        for part, end in ENDS.items():
            value: exp.Expr = exp.column(part, table=name)
            if not context.estimated and part in {"estimate", "stderr"}:
                value = exp.cast(exp.null(), "DOUBLE")
            elif function in COUNTS:
                value = exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])
            if part == "stderr" and context.matches.cut is not None:
                value = exp.Case(ifs=[exp.If(this=piece(f"{context.matches.cut} < 2"), true=value)])
            value = context.left_out.in_sql(value, function, part, exp.column("least", table=name))
            query.append("expressions", exp.alias_(value, f"{column.name}{end}", quoted=True, copy=False))
    for number in range(len(question.aggregates)):
        name = f"answer_{number}"
        query.append("expressions", piece(f"COALESCE({name}.least, 0) AS least_{number}"))
        join(query, name, agree("frame", name, context.keys()), left=True)
    for key in columns_of("frame", context.keys()):
        query.append("expressions", exp.alias_(key, f"by_{key.name}", copy=False))
    if context.matches.cut is not None:
        query.append("expressions", piece(f"{context.matches.cut} AS cut"))
    return {"layout": in_order(question, query)}


Step = Callable[[Context], Relations]
STEPS: tuple[Step, ...] = (matched, frame, draws, candidates, tallies, aggregates, layout)
BY_GROUP: tuple[Step, ...] = (
    *(by_group.packed, by_group.tallies, by_group.figures, by_group.places, by_group.frame),
    *(aggregates, layout),
)


def _exact(context: Context, aggregate: Aggregate) -> exp.Select:
    """An aggregate over quasi-identifiers alone, which are published as they are."""
    argument = exp.Star() if aggregate.argument is None else context.on_table(aggregate.argument)
    if aggregate.argument is not None and of_truth(aggregate.argument, context.types):
        argument = exp.EQ(this=exp.paren(argument), expression=exp.true())  # which dialects see to be a truth value
    value = _native(aggregate, argument)
    if aggregate.function == "sum":  # as every other sum
        value = exp.cast(value, "DOUBLE")
    counted: exp.Expr = exp.Count(this=argument.copy())
    if aggregate.function in OF_A_SAMPLE:  # which two rows have, and one has not
        counted = exp.Greatest(this=counted - 1, expressions=[exp.Literal.number(0)])
    columns = [exp.alias_(value.copy(), end) for end in ("estimate", "low", "high")]
    columns += [exp.alias_(exp.cast(exp.Literal.number(0), "DOUBLE"), "stderr"), exp.alias_(counted, "least")]
    [side] = context.question.sides or [aggregate.side]
    rows = context.rows(side, *columns)
    return rows.group_by(*(context.on_table(key.expression) for key in context.question.keys), copy=False)


def _native(aggregate: Aggregate, argument: exp.Expr) -> exp.Expr:
    plain = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    if aggregate.function == "distinct":
        return exp.Count(this=exp.Distinct(expressions=[argument]))
    if aggregate.function in SPREADS:
        return exp.func(aggregate.function.upper(), exp.cast(argument, "DOUBLE"), dialect="duckdb")
    if aggregate.function in plain:
        return plain[aggregate.function](this=argument)
    p, q = aggregate.fraction.as_integer_ratio()
    fraction = exp.Literal.number(p / q)
    if aggregate.function == "quantile_disc":
        return exp.PercentileDisc(this=argument, expression=fraction)
    return exp.PercentileCont(this=exp.cast(argument, "DOUBLE"), expression=fraction)  # decimals would be cut off


def in_order(question: Question, answer: exp.Select) -> exp.Select:
    """Sorted as asked, and by the keys what is equal then: every engine shows the same rows; cut as asked."""
    query = select(exp.Star(), source=answer.subquery("answer", copy=False))
    asked = [(order.by, order.descending, bool(order.nulls_first)) for order in question.order]
    for by, descending, nulls_first in [*asked, *((number, False, False) for number in range(len(question.keys)))]:
        column = exp.column(by if isinstance(by, str) else f"by_key_{by}", quoted=True)
        query.order_by(exp.Ordered(this=column, desc=descending, nulls_first=nulls_first), copy=False)
    if question.limit is not None:
        query.limit(question.limit, copy=False)
    if question.offset is not None:
        query.offset(question.offset, copy=False)
    return query
