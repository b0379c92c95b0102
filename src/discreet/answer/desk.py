"""Where questions are answered: a release loaded into an engine that can touch nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from discreet.answer import help_table, sources
from discreet.answer.answer import Answer
from discreet.answer.question import Aggregate, Question, read_question
from discreet.answer.rewrite import rewrite, untouched
from discreet.answer.slots import Slots
from discreet.answer.urns import Form, Model
from discreet.engines import connect
from discreet.errors import EngineError, QueryError
from discreet.release.release import Release, open_release

REMEMBERED = 256
MOST_SLOTS = 8


def ask(release: Release | str | Path, question: str) -> Answer:
    """Answer an SQL aggregate from a release, or from the folder that holds one."""
    return (release if isinstance(release, Release) else open_release(release)).ask(question)


@dataclass(frozen=True)
class _Prepared:
    """A question and the SQL that answers it."""

    question: Question
    sql: str
    made: dict[str, exp.Expr]


class Desk:
    """Answers questions about one release; the engine is sealed before the first is read."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._prepared: dict[str, _Prepared] = {}
        self._slots: list[Slots] = []
        self._engine = connect(groups=release.promise.groups)
        try:
            sources.load(self._engine, release)
            self._engine.seal()
        except BaseException:
            self._engine.close()
            raise

    def ask(self, sql: str) -> Answer:
        """Answer one question."""
        prepared = self._prepare(sql)
        result = self._run(prepared.sql)
        question = prepared.question
        width = result.num_columns - len(question.aggregates) - len(question.keys)
        notes = tuple(_notes(question, result, width))
        return Answer(sql, result.select(range(width)), prepared.sql, notes)

    def explain(self, sql: str) -> str:
        """The SQL that answers a question, after the statements that make its tables from the files."""
        prepared = self._prepare(sql)
        return f"{sources.script(self._engine, self.release, prepared.made)}\n{prepared.sql};"

    def _prepare(self, sql: str) -> _Prepared:
        """Read and rewrite a question once, however often it is asked."""
        if sql not in self._prepared:
            try:
                question = read_question(sql, self.release.promise)
                self._check_types(question)
                slots, form = self._slots_for(question), self._form_for(question)
                query = rewrite(question, self.release.promise, slots, form)
                made = {} if form is None else help_table.tables(form, kind=sources.sensitive_kind(self.release))
                if slots is not None:
                    made[slots.name] = slots.table(self.release.promise.group)
            except RecursionError:
                raise QueryError("the question is nested too deeply", hint="use IN for long lists of values") from None
            while len(self._prepared) >= REMEMBERED:
                self._prepared.pop(next(iter(self._prepared)))
            self._prepared[sql] = _Prepared(question, query.sql(dialect=self._engine.dialect, pretty=True), made)
        return self._prepared[sql]

    def _slots_for(self, question: Question) -> Slots | None:
        """The slots to count hits in, made when first needed; None when counting by group is better."""
        condition = question.where["quasi"]
        if condition is None or any(key.side == "quasi" for key in question.keys):
            return None
        if all(untouched(question, aggregate) for aggregate in question.aggregates):
            return None
        columns = tuple(sorted({column.name for column in condition.find_all(exp.Column)}))
        for slots in self._slots:
            if slots.columns == columns:
                return slots if slots.serves(condition) else None
        slots = Slots(f"slots_{len(self._slots)}", columns, *self._sizes)
        if not (columns and slots.serves(condition) and len(self._slots) < MOST_SLOTS):
            return None
        self._engine.load(slots.name, slots.table(self.release.promise.group))
        self._slots.append(slots)
        return slots

    def _form_for(self, question: Question) -> Form | None:
        """The form of the help table, if it serves any aggregate; made when first needed."""
        return self._form if any(help_table.serves(question, aggregate) for aggregate in question.aggregates) else None

    @cached_property
    def _form(self) -> Form | None:
        rows, runs, missing = (
            self._engine.run(
                exp.select("SUM(n) AS rows", "COUNT(*) AS runs", "COUNT(*) - COUNT(value) AS missing").from_("held")
            )
            .to_pylist()[0]
            .values()
        )
        if missing:
            return None
        form = help_table.choose(int(rows), int(runs))
        for name, query in help_table.tables(form, kind=sources.sensitive_kind(self.release)).items():
            self._engine.load(name, query)
        return form

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        """The smallest and the largest size of a group."""
        least, most = self._engine.run(exp.select("MIN(size)", "MAX(size)").from_("signatures")).to_pylist()[0].values()
        return int(least), int(most)

    def close(self) -> None:
        self._engine.close()

    def _run(self, query: exp.Select | str) -> pa.Table:
        try:
            return self._engine.run(query)
        except EngineError as error:
            raise QueryError(f"the question cannot be computed: {error.message}") from None

    def _check_types(self, question: Question) -> None:
        """Let the engine type every argument, on no rows, before anything is summed."""
        model = Model(question, self.release.promise.group, self.release.promise.sensitive)
        for aggregate in question.aggregates:
            if aggregate.argument is None:
                continue
            table = "qit" if aggregate.side == "quasi" else "held"
            probe = exp.select(model.on_table(aggregate.argument)).from_(table).limit(0)
            _check_type(aggregate, self._run(probe).schema.field(0).type)


def _check_type(aggregate: Aggregate, kind: pa.DataType) -> None:
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if aggregate.function in {"sum", "avg", "quantile_cont"} and not numeric:
        wanted = "MEDIAN" if aggregate.function == "quantile_cont" else aggregate.function.upper()
        other = "QUANTILE(x, 0.5)" if wanted == "MEDIAN" else "COUNT, MIN or MAX, or GROUP BY it"
        raise QueryError(
            f"{wanted} needs numbers, but `{aggregate.argument.sql(dialect='duckdb') if aggregate.argument else ''}`"
            f" holds {kind}",
            hint=f"use {other}",
        )


def _notes(question: Question, result: pa.Table, width: int) -> Iterator[str]:
    """Say where the bounds hold only if at least one person matches."""
    for number, aggregate in enumerate(question.aggregates):
        if aggregate.function == "count":
            continue
        least = result.column(width + number).to_pylist()
        nobody = [estimate is None for estimate in result.column(aggregate.name).to_pylist()]
        perhaps = sum(rows == 0 and not none for rows, none in zip(least, nobody, strict=True))
        if any(nobody):
            yield f"{aggregate.name}: in {_rows(sum(nobody), result)} nobody matches"
        if perhaps:
            then = "that counts as a sum of 0" if aggregate.function == "sum" else "the bounds hold if somebody does"
            yield f"{aggregate.name}: in {_rows(perhaps, result)} possibly nobody matches; {then}"


def _rows(number: int, result: pa.Table) -> str:
    return "this row" if len(result) == 1 else f"{number} of {len(result)} rows"
