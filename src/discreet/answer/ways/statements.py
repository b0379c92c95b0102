"""Statements: what is computed from the answers of several core questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.answer.answer import Answer
from discreet.answer.given import told_unused
from discreet.answer.sealed import Sealed, computed
from discreet.answer.statement.ask import Asking, core_questions, outline
from discreet.answer.statement.read import read_statement
from discreet.answer.statement.statement import Statement
from discreet.answer.told import Told
from discreet.answer.ways.core import Core, CoreQuestion, explained
from discreet.answer.ways.way import Asked


@dataclass(frozen=True)
class Statements:
    """Statements whose core questions can all be answered."""

    bounded: ClassVar[bool] = True
    sealed: Sealed
    core: Core

    def read(self, asked: Asked) -> Computed | None:
        statement = read_statement(asked.sql, self.sealed.promise, asked.matches.blocks)
        if statement is None:
            return None
        questions = [self.core.read(replace(asked, sql=sql)) for sql in core_questions(statement)]
        return Computed(self.sealed, self.core, asked, statement, questions)


@dataclass(frozen=True)
class Computed:
    """A statement, and the core questions that it asks."""

    sealed: Sealed
    core: Core
    asked: Asked
    statement: Statement
    questions: list[CoreQuestion]

    def answer(self) -> Answer:
        used: set[str] = set()

        def ask(sql: str) -> Told:
            told = self.core.read(replace(self.asked, sql=sql)).told()
            used.update(told.beside)
            return told

        asking = Asking(self.sealed.engine, self.sealed.left_out, ask)
        with computed():
            answer = asking.answer(self.asked.sql, self.statement, self.asked.basis)
        return replace(answer, notes=(*answer.notes, *told_unused(self.asked.given, used)))

    def check(self) -> None:
        for each in self.questions:
            each.check()

    def explain(self) -> str:
        return "\n".join([explained(self.sealed, self.asked, self.questions), outline(self.statement)])
