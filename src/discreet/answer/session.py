"""Where questions are answered: a release loaded into an engine that can touch nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import pyarrow as pa
from sqlglot import exp

from discreet.answer.answer import Answer
from discreet.answer.matches import margins, swapped
from discreet.answer.matches.boxes.boxes import Boxes, Given, check_generalized
from discreet.answer.matches.boxes.published import Published, check_joined
from discreet.answer.matches.boxes.truths import kind_of
from discreet.answer.plan import base_tables
from discreet.answer.plan.context import Model
from discreet.answer.plan.plan import rewrite
from discreet.answer.question.parse import read_question
from discreet.answer.question.question import ENDS, Aggregate, Question
from discreet.engines import connect
from discreet.errors import EngineError, QueryError
from discreet.release.manifest import Promise
from discreet.release.release import Release, open_release

REMEMBERED = 256
MOST_COMBINATIONS = 1_000_000


def ask(release: Release | str | Path, question: str, *, generalized: bool | Given = False) -> Answer:
    """Answer an SQL aggregate from a release, or from the folder that holds one; see `Release.ask`."""
    opened = release if isinstance(release, Release) else open_release(release)
    return opened.ask(question, generalized=generalized)


@dataclass(frozen=True)
class _Prepared:
    """A question and the SQL that answers it."""

    question: Question
    sql: str
    made: dict[str, exp.Expr]


class Session:
    """Answers questions about one release; the engine is sealed before the first is read."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._prepared: dict[object, _Prepared] = {}
        self._engine = connect(groups=release.promise.groups)
        try:
            base_tables.load(self._engine, release)
            self._engine.seal()
        except BaseException:
            self._engine.close()
            raise

    def ask(self, sql: str, *, generalized: bool | Given = False) -> Answer:
        """Answer one question; if `generalized`, from the boxes of the groups alone."""
        prepared = self._prepare(sql, self._boxes_for(generalized=generalized))
        result = self._run(prepared.sql)
        question = prepared.question
        width = result.num_columns - len(question.aggregates) - len(question.keys)
        notes = (*_left_out(self.release.promise), *_notes(question, result, width))
        return Answer(sql, result.select(range(width)), prepared.sql, notes)

    def explain(self, sql: str, *, generalized: bool | Given = False) -> str:
        """The SQL that answers a question, after the statements that make its tables from the files."""
        prepared = self._prepare(sql, self._boxes_for(generalized=generalized))
        return f"{base_tables.script(self._engine, self.release, prepared.made)}\n{prepared.sql};"

    def _prepare(self, sql: str, boxes: Boxes | Published | None) -> _Prepared:
        """Read and rewrite a question once, however often it is asked."""
        asked = (sql, None if boxes is None else boxes.given)
        if asked not in self._prepared:
            question = self._read(sql, boxes)
            with _computed():
                prepared = self._rewritten(question, boxes)
            while len(self._prepared) >= REMEMBERED:
                self._prepared.pop(next(iter(self._prepared)))
            self._prepared[asked] = prepared
        return self._prepared[asked]

    def _read(self, sql: str, boxes: Boxes | Published | None) -> Question:
        """The question, if this release can answer it, from the boxes or in its own way."""
        with _not_too_deep():
            question = read_question(sql, self.release.promise, apart=self._apart(boxes))
            if self.release.promise.window is not None:
                question = swapped.answerable(question)
            if boxes is not None:
                check_generalized(question)
            check_joined(question, self.release.promise.join)
            self._check_types(question)
            if self._apart(boxes):
                self._check_size(question)
        return question

    def _rewritten(self, question: Question, boxes: Boxes | Published | None) -> _Prepared:
        """The SQL that answers a question, and the tables that it needs beside those of every question."""
        with _not_too_deep():
            query = rewrite(question, self.release.promise, boxes, apart=self._apart(boxes))
            made: dict[str, exp.Expr] = {} if boxes is None else {**boxes.tables()}
            return _Prepared(question, query.sql(dialect=self._engine.dialect, pretty=True), made)

    def _apart(self, boxes: Boxes | Published | None) -> bool:
        """Whether each column is looked at by itself."""
        return self.release.promise.publication == "full_permutation" and boxes is None

    def _boxes_for(self, *, generalized: bool | Given) -> Boxes | Published | None:
        """The boxes to answer from, if boxes they are to be."""
        if self.release.promise.boxes is not None:
            if not isinstance(generalized, bool) and len(generalized) > 0:
                raise QueryError("a generalized release has boxes of its own", hint="ask it as it is")
            return self._published
        if isinstance(generalized, bool):
            return self._boxes if generalized else None
        return self._boxes.widened(generalized, self._engine.run)

    @cached_property
    def _boxes(self) -> Boxes:
        """The tight boxes of the groups, made when first needed."""
        promise = self.release.promise
        if promise.window is not None:
            raise QueryError(
                f"a release by `{promise.publication}` has no groups to generalize", hint="ask it as it is"
            )
        types = self._types()
        boxes = Boxes({name: kind_of(types[name]) for name in promise.quasi}, promise.group)
        self._make(boxes.tables())
        return boxes

    @cached_property
    def _published(self) -> Published:
        """The boxes that a generalized release shows, made when first needed."""
        promise = self.release.promise
        group = promise.group if promise.join is None else promise.join.group
        boxes = Published.of(promise.boxes or (), group, self._types(), self._engine.run)
        self._make(boxes.tables())
        return boxes

    def _types(self) -> dict[str, str]:
        columns = self._engine.run(exp.Describe(this=exp.to_table("qit")))
        return dict(zip(columns["column_name"].to_pylist(), columns["column_type"].to_pylist(), strict=True))

    def _make(self, tables: Mapping[str, exp.Expr]) -> None:
        for name, query in tables.items():
            self._engine.load(name, query)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._engine.close()

    def _run(self, query: exp.Select | str) -> pa.Table:
        with _computed():
            return self._engine.run(query)

    def _check_size(self, question: Question) -> None:
        """Raise for an answer with too many combinations of keys: columns that were shuffled apart have them all."""
        if len({key.side for key in question.keys}) < 2:
            return
        model = Model(question, self.release.promise.group, self.release.promise.sensitive, apart=True)
        rows = self._run(margins.combinations(model)).column(0)[0].as_py()
        if rows > MOST_COMBINATIONS:
            raise QueryError(
                f"grouped by so many columns, {rows:,.0f} combinations in groups may occur; at most"
                f" {MOST_COMBINATIONS:,} are told apart",
                hint="group by fewer columns, or by ranges such as age // 10",
            )

    def _check_types(self, question: Question) -> None:
        """Let the engine type every argument, on no rows, before anything is summed."""
        model = Model(question, self.release.promise.group, self.release.promise.sensitive)
        for aggregate in question.aggregates:
            if aggregate.argument is None:
                continue
            table = "held" if aggregate.side == "sensitive" else "qit"
            probe = exp.select(model.on_table(aggregate.argument)).from_(table).limit(0)
            _check_type(aggregate, self._run(probe).schema.field(0).type)


@contextmanager
def _computed() -> Iterator[None]:
    try:
        yield
    except EngineError as error:
        raise QueryError(f"the question cannot be computed: {error.message}") from None


@contextmanager
def _not_too_deep() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise QueryError("the question is nested too deeply", hint="use IN for long lists of values") from None


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


def _left_out(promise: Promise) -> Iterator[str]:
    """Say what the bounds are about, where rows were allowed to be left out."""
    if promise.suppression:
        yield f"up to {promise.suppression:.3%} of the table's rows were left out; the answer is about the others"


def _notes(question: Question, result: pa.Table, width: int) -> Iterator[str]:
    """Say where the bounds hold only if at least one person matches."""
    for number, aggregate in enumerate(question.aggregates):
        if aggregate.function == "count":
            continue
        least = result.column(width + number).to_pylist()
        nobody = [low is None for low in result.column(f"{aggregate.name}{ENDS['low']}").to_pylist()]
        perhaps = sum(rows == 0 and not none for rows, none in zip(least, nobody, strict=True))
        if any(nobody):
            yield f"{aggregate.name}: in {_rows(sum(nobody), result)} nobody matches"
        if perhaps:
            then = "that counts as a sum of 0" if aggregate.function == "sum" else "the bounds hold if somebody does"
            yield f"{aggregate.name}: in {_rows(perhaps, result)} possibly nobody matches; {then}"


def _rows(number: int, result: pa.Table) -> str:
    return "this row" if len(result) == 1 else f"{number} of {len(result)} rows"
