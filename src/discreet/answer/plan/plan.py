"""Rewrite a question into the SQL that answers it from a release.

Aggregates that no sensitive value can change are computed from the quasi-identifier table as they
are. The others go through the urns: there is one subject for all aggregates about the same thing, then one
relation per aggregate. Swapped values have a way of their own. All are joined key by key.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.matches import margins, swapped
from discreet.answer.matches.boxes.boxes import Boxes
from discreet.answer.matches.boxes.published import Published
from discreet.answer.plan import aggregates
from discreet.answer.plan.context import Model
from discreet.answer.plan.draws import subject
from discreet.answer.plan.sql import Relations, agree
from discreet.answer.question.question import ENDS, Aggregate, Question
from discreet.release.manifest import Promise


def rewrite(
    question: Question,
    promise: Promise,
    boxes: Boxes | Published | None = None,
    *,
    apart: bool = False,
) -> exp.Select:
    """The query; after the columns of the answer it has one column `least_i` per aggregate, then the keys."""
    model = Model(question, promise.group, promise.sensitive, boxes, apart)
    relations: Relations = {} if boxes is None else boxes.relations(question.where["quasi"])
    relations |= margins.relations(model) if apart else {}
    relations["frame"] = _frame(model)
    subjects: dict[str, str] = {}
    for number, aggregate in enumerate(question.aggregates):
        name = f"answer_{number}"
        if boxes is None and untouched(question, aggregate):
            relations[name] = _exact(model, aggregate)
            continue
        if promise.window is not None:
            relations |= {} if "steps" in relations else swapped.steps(model)
            relations |= swapped.write(model, aggregate, name)
            continue
        about = _about(aggregate)
        if about not in subjects:
            subjects[about] = str(len(subjects))
            relations |= _subject(model, about, subjects[about], question)
        relations |= aggregates.write(model, aggregate, subjects[about], name)
    query = _sorted(question, _laid_out(model))
    for name, relation in relations.items():
        query.with_(name, as_=relation, copy=False)
    return query


def untouched(question: Question, aggregate: Aggregate) -> bool:
    """Whether an aggregate is about one side alone, which is published as it is: no sensitive value can change it."""
    about = {*question.sides, *([] if aggregate.argument is None else [aggregate.side])}
    return len(about) <= 1 and "sensitive" not in about


def _about(aggregate: Aggregate) -> str:
    """What an aggregate is about; aggregates about the same share their subject."""
    return "rows" if aggregate.argument is None else f"{aggregate.side} {aggregate.argument.sql(dialect='duckdb')}"


def _subject(model: Model, about: str, name: str, question: Question) -> Relations:
    sharing = [aggregate for aggregate in question.aggregates if _about(aggregate) == about]
    numeric = any(aggregate.function in {"sum", "avg"} for aggregate in sharing)
    side = "sensitive" if about == "rows" else sharing[0].side
    return subject(model, side, sharing[0].argument, name, numeric=numeric)


def _frame(model: Model) -> exp.Select:
    """The rows of the answer: every combination of keys that may occur, or a single row without keys."""
    if not model.keys():
        return exp.select("1 AS one")
    if model.apart:
        return margins.frame(model)
    quasi = model.rows("quasi").distinct()
    if not model.keys("sensitive") and model.question.where["sensitive"] is None:
        return quasi
    groups = model.rows("quasi", model.group_column("grp")).distinct()
    if model.boxes is not None:
        groups = exp.select("grp").from_("hits").where("picks > 0")
    values = model.rows("sensitive", "signature").distinct()
    return (
        exp.select(*model.keys())
        .distinct()
        .from_(groups.subquery("rows"))
        .join("signatures", on='"rows".grp = signatures.grp')
        .join(values.subquery("vals"), on="vals.signature = signatures.signature")
    )


def _exact(model: Model, aggregate: Aggregate) -> exp.Select:
    """An aggregate over quasi-identifiers alone, which are published as they are."""
    argument = exp.Star() if aggregate.argument is None else model.on_table(aggregate.argument)
    value = _native(aggregate, argument)
    if aggregate.function == "sum":  # as every other sum
        value = exp.cast(value, "DOUBLE")
    counted = exp.Count(this=argument.copy())
    columns = [exp.alias_(value.copy(), end) for end in ("estimate", "low", "high")]
    columns += [exp.alias_(exp.cast(exp.Literal.number(0), "DOUBLE"), "stderr"), exp.alias_(counted, "least")]
    [side] = model.question.sides or [aggregate.side]
    rows = model.rows(side, *columns)
    return rows.group_by(*(model.on_table(key.expression) for key in model.question.keys))


def _native(aggregate: Aggregate, argument: exp.Expr) -> exp.Expr:
    plain = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg, "min": exp.Min, "max": exp.Max}
    if aggregate.function in plain:
        return plain[aggregate.function](this=argument)
    p, q = aggregate.fraction.as_integer_ratio()
    fraction = exp.Literal.number(p / q)
    if aggregate.function == "quantile_disc":
        return exp.PercentileDisc(this=argument, expression=fraction)
    return exp.PercentileCont(this=exp.cast(argument, "DOUBLE"), expression=fraction)  # decimals would be cut off


def _laid_out(model: Model) -> exp.Select:
    """The columns of the answer in the order of SELECT, then `least_0`, `least_1` and so on, then all keys."""
    question = model.question
    query = exp.select().from_("frame")
    for column in question.columns:
        if column.key is not None:
            key = exp.column(f"key_{column.key}", table="frame")
            query = query.select(exp.alias_(key, column.name, quoted=True))
            continue
        for part, end in ENDS.items():
            value: exp.Expr = exp.column(part, table=f"answer_{column.aggregate}")
            if model.boxes is not None and not model.measured and part in {"estimate", "stderr"}:
                value = exp.cast(exp.null(), "DOUBLE")
            elif question.aggregates[column.aggregate or 0].function == "count":
                value = exp.func("COALESCE", value, exp.Literal.number(0))
            query = query.select(exp.alias_(value, f"{column.name}{end}", quoted=True))
    for number in range(len(question.aggregates)):
        name = f"answer_{number}"
        query = query.select(f"COALESCE({name}.least, 0) AS least_{number}")
        query = query.join(name, on=agree("frame", name, model.keys()), join_type="left")
    return query.select(*(exp.alias_(exp.column(key, table="frame"), f"by_{key}") for key in model.keys()))


def _sorted(question: Question, answer: exp.Select) -> exp.Select:
    """Sorted as asked, else by the keys; cut as asked."""
    query = exp.select("*").from_(answer.subquery("answer"))
    for order in question.order:
        column = exp.column(order.by if isinstance(order.by, str) else f"by_key_{order.by}", quoted=True)
        query = query.order_by(exp.Ordered(this=column, desc=order.descending, nulls_first=bool(order.nulls_first)))
    if not question.order:
        for number in range(len(question.keys)):
            query = query.order_by(exp.Ordered(this=exp.column(f"by_key_{number}", quoted=True), nulls_first=False))
    if question.limit is not None:
        query = query.limit(question.limit)
    if question.offset is not None:
        query = query.offset(question.offset)
    return query
