"""Aggregates from one row per group, where a server keeps such rows: values are looked up, not joined one by one.

Most of what a question takes in a server is going through every value of every group, and after that counting the
rows of every group by itself. Of what a server keeps (`kept`), one row per group is looked at instead.

Where no value is missing and no condition is on the sensitive column, all N candidates of a group count, and a draw of
m takes m of them for certain. Bounds of SUM are then sums that can be looked up, those of AVG the same divided by m.
A COUNT with a condition that compares the sensitive column with constants needs how many of `sorted` satisfy it.

    packed   by key: the rows that match of several neighbouring groups (a `batch`) in one number, some bits for each
    tally    as elsewhere (`tallies`), for counts
    figures  by key: what SUM and AVG are made of
    places   what MIN, MAX and quantiles are made of; see `by_place`

Everything else is answered from `runs`. Claim: groups_at_once_change_nothing — answers are those without these tables.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from discreet.answer.plan import by_place, by_slice
from discreet.answer.plan.context import Context
from discreet.answer.plan.kept import Kept
from discreet.answer.plan.sql import Piece, Relations, aliased, columns_of, grouped, join, once, per_key, piece, select
from discreet.answer.plan.tallies import taken
from discreet.answer.question.question import Aggregate, Function
from discreet.errors import InternalError

COMPARED: dict[type[exp.Expr], str] = {  # how many values of a group satisfy a comparison
    exp.EQ: "EQUAL_TO(kept.sorted, low)",
    exp.NEQ: "kept.size - EQUAL_TO(kept.sorted, low)",
    exp.LTE: "AT_MOST(kept.sorted, low)",
    exp.GT: "kept.size - AT_MOST(kept.sorted, low)",
    exp.LT: "AT_MOST(kept.sorted, low) - EQUAL_TO(kept.sorted, low)",
    exp.GTE: "kept.size - AT_MOST(kept.sorted, low) + EQUAL_TO(kept.sorted, low)",
    exp.Between: ("GREATEST(AT_MOST(kept.sorted, high) - AT_MOST(kept.sorted, low) + EQUAL_TO(kept.sorted, low), 0)"),
}
CONSTANTS = (exp.Literal, exp.Var, exp.Boolean)  # marks of constants are of the second kind
NONE: frozenset[Function] = frozenset()
COUNTED: frozenset[Function] = frozenset({"count"})
SUMMED: frozenset[Function] = frozenset({"sum", "avg"})
SLICED: frozenset[Function] = frozenset({"sum"})  # under a condition on the values
FIGURES = ("mean", "spread", "smallest")
HIGHEST = {False: "largest[matched + 1]", True: "smallest[size + 1] - smallest[size - matched + 1]"}  # if exact


def served(context: Context) -> bool:
    """Whether a question is answered from such rows."""
    question = context.question
    drawn = [each for each in question.aggregates if not context.exact(each)]
    condition = question.where["sensitive"]
    return (
        context.kept is not None
        and context.matches.key == "counted"
        and bool(drawn)
        and (question.where["quasi"] is not None or bool(context.keys("quasi")))
        and not context.keys("sensitive")
        and (condition is None or _compares(condition))
        and all(_of_values(each.argument, context.sensitive) and each.function in _functions(context) for each in drawn)
    )


def _functions(context: Context) -> Collection[Function]:
    """What can be answered of values of the release, under the condition that the question has on them."""
    kept, condition = _kept(context), context.question.where["sensitive"]
    if condition is not None:
        return COUNTED | SLICED if kept.exact and type(condition.unnest()) in by_slice.BELOW else COUNTED
    return COUNTED | (by_place.ORDERED if by_place.suits(context) else NONE) | (SUMMED if kept.sums else NONE)


def packed(context: Context) -> Relations:
    """How many rows of each group match, those of several groups in one number."""
    kept = _kept(context)
    group = exp.column(context.group, table="qit", quoted=True).sql(dialect="duckdb")
    columns = (f"{kept.first(group)} AS batch", f"SUM(1 << ({kept.shift(group)})) AS packed")
    return {"packed": grouped(context.rows("quasi", *map(piece, columns)))}


def tallies(context: Context) -> Relations:
    """`tally` of every subject that is counted."""
    counted = {
        context.subjects[number].number
        for number, each in enumerate(context.question.aggregates)
        if not context.exact(each) and each.function == "count"
    }
    return {f"tally_{number}": _tally(context) for number in counted}


def figures(context: Context) -> Relations:
    """What SUM and AVG are made of, if they are asked for; how many rows match is known for certain."""
    if not _summed(context):
        return {}
    if context.question.where["sensitive"] is not None:
        below, total = _compared(context, by_slice.BELOW), _total(context)
        neighbours = (exp.alias_(below, "below"), exp.alias_(total, "total"), f"{by_slice.NEGATIVE} AS negative")
        drawn = _drawn(context, "signature_arrays", "kept.signature", *neighbours)
        return {"figures": by_slice.figures(context, drawn)}
    kept = _kept(context)
    found = per_key(
        context.keys(),
        "drawn",
        "SUM(copies * matched) AS least",
        "CAST(SUM(copies * matched) AS DOUBLE) AS drawn_rows",
        "SUM(copies * matched * mean) AS total",
        "SUM(copies * smallest[matched + 1]) AS low",
        f"SUM(copies * ({HIGHEST[kept.exact]})) AS high",
        "SUM(copies * matched * CAST(size - matched AS DOUBLE) / GREATEST(size - 1, 1) / size * spread) AS variance",
    )
    columns = FIGURES if kept.exact else (*FIGURES, "largest")
    drawn = once(_drawn(context, kept.sums or "", *columns))
    found.set("from_", exp.From(this=aliased(drawn, "drawn")))
    return {"figures": found}


def places(context: Context) -> Relations:
    """What MIN, MAX and quantiles are made of, if they are asked for."""
    return by_place.places(context, _drawn(context, "signature_arrays", "sorted")) if by_place.asks(context) else {}


def frame(context: Context) -> Relations:
    """The keys of rows that match; with a condition on values, of groups that have both."""
    keys = context.keys()
    if not keys:
        return {"frame": exp.select("1 AS one")}
    if by_place.asks(context):
        drawn = "ends" if by_place.asks(context, by_place.EXTREMES) else "places"
    else:
        subject = next(iter(context.subjects.values()))
        drawn = "figures" if _summed(context) else f"tally_{subject.number}"
    return {"frame": select(*keys, source=drawn).distinct(copy=False)}


def answer(context: Context, aggregate: Aggregate, number: int) -> Relations:
    """One aggregate, the last relation of which is `answer_NUMBER`."""
    function, name = aggregate.function, f"answer_{number}"
    if function in SUMMED:
        return {name: _of_sums(context, function)}
    if function in by_place.EXTREMES:
        return by_place.extreme(context, name, smallest=function == "min")
    return context.matches.answer(context, aggregate, number)


def _of_sums(context: Context, function: str) -> exp.Select:
    """SUM or AVG."""
    per = " / NULLIF(drawn_rows, 0)" if function == "avg" else ""
    low, high = f"low{per}", f"high{per}"
    return select(
        *context.keys(),
        f"LEAST(GREATEST(total{per}, {low}), {high}) AS estimate",  # rounding must not carry it over a bound
        f"SQRT(CASE WHEN variance < 0 THEN 0 ELSE variance END){per} AS stderr",
        f"LEAST({low}, {high}) AS low",
        f"GREATEST({low}, {high}) AS high",
        "least",
        source="figures",
    )


def _tally(context: Context) -> exp.Select:
    """Draws that take as many from as many, and of as many that count, are the same draw."""
    keys, columns = context.keys(), ("size", "matched", "total")
    drawn = _drawn(context, "signature_arrays", exp.alias_(_total(context), "total"))
    if _kept(context).own:
        each, drawn = drawn, per_key([*keys, *columns], "each", "COUNT(*) AS copies")
        drawn.set("from_", exp.From(this=aliased(once(each), "each")))
    return select(
        *columns_of("drawn", [*keys, "copies", *columns]),
        *taken(context),
        source=aliased(drawn, "drawn"),
        where="LEAST(matched, total) > 0",
    )


def _drawn(context: Context, table: str, *columns: Piece) -> exp.Select:
    """Per draw: its keys, size N, how many are `matched` m, how many such draws there are, and what is kept of it."""
    kept, keys = _kept(context), context.keys()
    if kept.own:
        matched = _matched(kept, "kept.signature")
        found = select(*columns_of("packed", keys), "size", matched, "1 AS copies", *columns, source="packed")
        return join(found, aliased(table, "kept"), f"packed.batch = {kept.first('kept.signature')}")
    matched = _matched(kept, "signatures.grp")
    each = select(*columns_of("packed", keys), "signature", matched, "COUNT(*) AS copies", source="packed")
    same = f"packed.batch = {kept.first('signatures.grp')} AND {_ones(kept, 'signatures.grp')} > 0"
    draws = aliased(grouped(join(each, "signatures", same)), "draws")
    found = select(*columns_of("draws", keys), "kept.size", "matched", "copies", *columns, source=draws)
    return join(found, aliased(table, "kept"), "draws.signature = kept.signature")


def _matched(kept: Kept, group: str) -> str:
    """The rows of one group that match, out of the number of its batch."""
    return f"CAST({_ones(kept, group)} AS INTEGER) AS matched"


def _ones(kept: Kept, group: str) -> str:
    """What the number of a batch says of one group."""
    return f"((packed >> ({kept.shift(group)})) & {(1 << kept.bits) - 1})"


def _total(context: Context) -> exp.Expr:
    """How many values of a group satisfy the condition on them."""
    if context.question.where["sensitive"] is None:
        return piece("kept.size")
    return _compared(context, COMPARED)


def _compared(context: Context, numbers: Mapping[type[exp.Expr], str]) -> exp.Expr:
    """A number of values that depends on how the condition compares them, and with what."""
    condition = context.question.where["sensitive"]
    if condition is None:
        raise InternalError("values are not compared with anything")
    condition = condition.unnest()
    constants = _constants(condition)

    def filled(node: exp.Expr) -> exp.Expr:
        named = isinstance(node, exp.Column) and not node.table
        return constants[node.name].copy() if named else node

    return piece(numbers[type(condition)]).transform(filled)


def _compares(condition: exp.Expr) -> bool:
    """Whether it compares the sensitive column with constants, and says nothing else."""
    condition = condition.unnest()
    if type(condition) not in COMPARED or not isinstance(condition.this, exp.Column):
        return False
    others = _constants(condition).values()
    return all(isinstance(each.this if isinstance(each, exp.Neg | exp.Cast) else each, CONSTANTS) for each in others)


def _constants(condition: exp.Expr) -> dict[str, exp.Expr]:
    """What a condition compares with: from `low` to `high`, or `low` alone."""
    if isinstance(condition, exp.Between):
        return {end: condition.args[end] for end in ("low", "high")}
    return {"low": condition.expression}


def _summed(context: Context) -> bool:
    return any(each.function in SUMMED and not context.exact(each) for each in context.question.aggregates)


def _of_values(argument: exp.Expr | None, sensitive: str | None) -> bool:
    return argument is None or (isinstance(argument, exp.Column) and argument.name == sensitive)


def _kept(context: Context) -> Kept:
    if context.kept is None:
        raise InternalError("nothing is kept of groups")
    return context.kept
