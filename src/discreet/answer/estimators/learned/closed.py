"""A question that has bounds, asked of every plausible table at once.

A count or a sum of a table in which nobody matches is 0; a mean or a quantile of nobody is none, and left out. Where
all tables count alike and bounds leave it open, the stderr is that of one table more that counts one row otherwise, or
sums up to the other bound; at most that of `even`. M tables that agree do not make it certain, so a mean, an extreme or
a quantile in which they do has no stderr.
Cost: per table one pass of the engine over the rows.
Claim: learned_is_mean_and_spread — estimate and stderr are those of the question's answers on the tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.answer.estimators.columns import ROUNDING, Flags, Floats, Put, floats, in_rows, is_number, told_moved
from discreet.answer.estimators.estimator import Estimated
from discreet.answer.estimators.learned.tables import Tables
from discreet.answer.prepared import Asking
from discreet.answer.question.question import COUNTS, Aggregate, Question
from discreet.engines import Engine
from discreet.release.layouts.file import named
from discreet.values.coded import to_arrow

ZERO_OF_NOBODY = COUNTS | {"sum"}
AT_ONCE, ANY = 50, "any"  # tables in one query


def estimated(asking: Asking, tables: Tables) -> Estimated:
    """The answer with the figures of the tables in the place of those of `even`."""
    question, engine = asking.question, asking.engine
    relations = asking.relations()
    asked = _asked(question)
    parts = [tables.names[first : first + AT_ONCE] for first in range(0, len(tables.names), AT_ONCE)]
    drawn = [engine.run(_together([_about(asked, name) for name in part])) for part in parts]
    engine.load("drawn answers", pa.concat_tables(drawn), keep=False)
    notes: list[str] = []
    others: dict[int, str] = {}
    for number, aggregate in enumerate(question.aggregates):
        if not question.untouched(aggregate):
            even = relations[f"answer_{number}"]
            stats = _statistics(engine, even, number, len(question.keys))
            put = _numbers if is_number(even.schema.field("low").type) else _values
            found = put(aggregate, even, stats, len(tables.names))
            relations[f"answer_{number}"], others[number] = found.answer, found.made_by("learned")
            notes += found.notes
    engine.forget("drawn answers")
    return Estimated(asking.laid_out(relations), (*notes, *tables.notes), others)


def _asked(question: Question) -> exp.Select:
    """The question's keys and aggregates of any table."""
    select = exp.select().from_(named(ANY))
    for at, key in enumerate(question.keys):
        select = select.select(exp.alias_(key.expression.copy(), f"key_{at}"))
    for at, aggregate in enumerate(question.aggregates):
        select = select.select(exp.alias_(_tree(aggregate), f"x_{at}"))
    for condition in question.where.values():
        if condition is not None:
            select = select.where(condition.copy())
    return select.group_by(*(key.expression.copy() for key in question.keys)) if question.keys else select


def _together(selects: list[exp.Select]) -> exp.Expr:
    return exp.union(*selects, distinct=False) if len(selects) > 1 else selects[0]


def _about(asked: exp.Select, table: str) -> exp.Select:
    """The same of one table."""
    placed = asked.copy()
    for each in placed.find_all(exp.Table):
        each.set("this", exp.to_identifier(table, quoted=True))
    return placed


def _tree(aggregate: Aggregate) -> exp.Expr:
    """An aggregate in SQL."""
    argument = exp.Star() if aggregate.argument is None else aggregate.argument.copy()
    if aggregate.function in {"quantile_disc", "quantile_cont"}:
        share = exp.Literal.number(repr(float(aggregate.fraction)))
        return exp.Anonymous(this=aggregate.function.upper(), expressions=[argument, share])
    if aggregate.function == "distinct":
        return exp.Count(this=exp.Distinct(expressions=[argument]))
    return exp.func(aggregate.function.upper(), argument, dialect="duckdb")


def _statistics(engine: Engine, even: pa.Table, number: int, keys: int) -> pa.Table:
    """Beside each row of an answer: in how many tables it has a figure, and mean and spread, or the middle one."""
    x = exp.column(f"x_{number}", table="d", quoted=True)
    figure = exp.cast(x, "DOUBLE")
    found = (
        [exp.func("AVG", figure), exp.func("VAR_POP", figure.copy())]
        if is_number(even.schema.field("low").type)
        else [exp.Anonymous(this="QUANTILE_DISC", expressions=[x.copy(), exp.Literal.number("0.5")])]
    )
    place = pa.array(np.arange(len(even)))
    engine.load("even answer", even.append_column("place", place), keep=False)
    same = [
        exp.NullSafeEQ(this=exp.column(f"key_{at}", table="d"), expression=exp.column(f"key_{at}", table="e"))
        for at in range(keys)
    ]
    query = exp.select(exp.func("COUNT", x.copy()), *found).from_(named("even answer").as_("e"))
    query = query.join(named("drawn answers").as_("d"), on=exp.and_(*same) if same else exp.true(), join_type="left")
    at = exp.column("place", table="e")
    result = engine.run(query.group_by(at).order_by(at.copy()))
    engine.forget("even answer")
    return result


def _numbers(aggregate: Aggregate, even: pa.Table, stats: pa.Table, tables: int) -> Put:
    """Mean and spread over the tables, inside the bounds."""
    present, mean, variance = (floats(column) for column in stats.columns)
    low, high, before = (floats(even.column(part)) for part in ("low", "high", "estimate"))
    if aggregate.function in ZERO_OF_NOBODY:
        share = present / tables
        some = np.nan_to_num(mean)
        spread = present * (np.nan_to_num(variance) + some**2 * (1 - share)) / (tables - 1)
        estimate, counted = some * share, np.full_like(present, tables)
    else:
        estimate, counted = mean, present
        spread = np.where(present > 1, variance * present / np.maximum(present - 1, 1), np.nan)
    stderr = np.sqrt(spread * (1 + 1 / np.maximum(counted, 1)))
    agree = (stderr <= ROUNDING * np.abs(estimate)) & (high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high)))
    if aggregate.function in ZERO_OF_NOBODY:
        otherwise = np.ones_like(low) if aggregate.function in COUNTS else high - low
        once = np.fmin(sqrt(1 / (tables + 1)) * otherwise, floats(even.column("stderr")))
        stderr = np.where(agree, once, stderr)
    else:
        stderr = np.where(agree, np.nan, stderr)
    asked = ~np.isnan(before)  # else nobody can match
    usable = asked & ~np.isnan(estimate)
    inside = np.fmin(np.fmax(estimate, low), high)
    moved = usable & (np.abs(inside - estimate) > ROUNDING * np.maximum(np.abs(inside), 1))
    new = _with(even, "estimate", np.where(usable, inside, before))
    new = _with(new, "stderr", np.where(usable, np.where(low == high, 0, stderr), floats(even.column("stderr"))))
    nobody = asked & (present == 0) & ~usable
    told = _told(aggregate, moved, nobody, usable & (present < tables))
    return Put(new, [*told, *_told_agreed(aggregate, usable & agree)], usable, nobody)


def _values(aggregate: Aggregate, even: pa.Table, stats: pa.Table, tables: int) -> Put:
    """The middle one of the tables, of dates and other values that cannot be added."""
    middle = stats.column(1).cast(even.schema.field("estimate").type)
    present = floats(stats.column(0))
    asked = np.asarray(even.column("estimate").is_valid().to_numpy(), np.bool_)
    usable, nobody = asked & (present > 0), asked & (present == 0)
    at = even.column_names.index("estimate")
    new = even.set_column(at, "estimate", pc.if_else(pa.array(usable), middle, even.column("estimate")))
    told = _told(aggregate, np.zeros_like(usable), nobody, usable & (present < tables))
    return Put(new, [*told], usable, nobody)


def _told(aggregate: Aggregate, moved: Flags, nobody: Flags, some: Flags) -> Iterator[str]:
    yield from told_moved(aggregate.name, moved)
    if nobody.any():
        yield f"{aggregate.name}: in {in_rows(nobody)} nobody matches in any plausible table; the estimate is by `even`"
    if some.any() and aggregate.function not in ZERO_OF_NOBODY:
        yield f"{aggregate.name}: in {in_rows(some)} somebody matches in only some plausible tables; it is about those"


def _told_agreed(aggregate: Aggregate, agree: Flags) -> Iterator[str]:
    if agree.any() and aggregate.function not in ZERO_OF_NOBODY:
        yield f"{aggregate.name}: in {in_rows(agree)} all plausible tables agree; that is no certainty, so no stderr"


def _with(answer: pa.Table, part: str, found: Floats) -> pa.Table:
    new = pc.if_else(pa.array(np.isnan(found)), pa.scalar(None, pa.float64()), to_arrow(found))
    return answer.set_column(answer.column_names.index(part), part, new)
