"""Where questions are answered: a release loaded into an engine that can touch nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from discreet.answer import sources
from discreet.answer.answer import Answer
from discreet.answer.question import Aggregate, Question, read_question
from discreet.answer.rewrite import rewrite
from discreet.answer.urns import Model
from discreet.engines import connect
from discreet.errors import EngineError, QueryError
from discreet.release.release import Release, open_release


def ask(release: Release | str | Path, question: str) -> Answer:
    """Answer an SQL aggregate from a release, or from the folder that holds one."""
    return (release if isinstance(release, Release) else open_release(release)).ask(question)


class Desk:
    """Answers questions about one release; the engine is sealed before the first is read."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._engine = connect(groups=release.promise.groups)
        try:
            sources.load(self._engine, release)
            self._engine.seal()
        except BaseException:
            self._engine.close()
            raise

    def ask(self, sql: str) -> Answer:
        """Answer one question."""
        question = read_question(sql, self.release.promise)
        self._check_types(question)
        query = self.rewritten(question)
        result = self._run(query)
        width = result.num_columns - len(question.aggregates)
        notes = tuple(_notes(question, result, width))
        text = query.sql(dialect=self._engine.dialect, pretty=True)
        return Answer(sql, result.select(range(width)), text, notes)

    def explain(self, sql: str) -> str:
        """The SQL that answers a question, after the statements that make its tables from the files."""
        dialect = self._engine.dialect
        query = self.rewritten(read_question(sql, self.release.promise)).sql(dialect=dialect, pretty=True)
        return f"{sources.script(self.release, dialect)}\n{query};"

    def rewritten(self, question: Question) -> exp.Select:
        return rewrite(question, self.release.promise)

    def close(self) -> None:
        self._engine.close()

    def _run(self, query: exp.Select) -> pa.Table:
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
            table = "qit" if aggregate.side == "quasi" else "help"
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
        doubtful = sum(least == 0 for least in result.column(width + number).to_pylist())
        if doubtful and aggregate.function != "count":
            rows = "this row" if len(result) == 1 else f"{doubtful} of {len(result)} rows"
            yield f"{aggregate.name}: in {rows} possibly nobody matches; the bounds hold if somebody does"
