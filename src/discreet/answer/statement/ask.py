"""Ask a statement: its parts are asked as core questions, and the answer is laid out like theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.answer.answer import Answer, Basis
from discreet.answer.left_out import LeftOut
from discreet.answer.question.question import ENDS
from discreet.answer.statement.core import Core, core_question
from discreet.answer.statement.evaluate import Evaluation
from discreet.answer.statement.sheet import Sheet
from discreet.answer.statement.side_by_side import by_level
from discreet.answer.statement.statement import Statement, asked_in, spelled
from discreet.answer.told import Told
from discreet.engines import Engine
from discreet.values.names import numbered


@dataclass(frozen=True)
class Asking:
    """What a statement is computed with."""

    engine: Engine
    left_out: LeftOut
    core: Callable[[str], Told]

    def answer(self, text: str, statement: Statement, basis: Basis) -> Answer:
        queries: list[str] = []

        def ask(sql: str) -> Core:
            told = self.core(sql)
            queries.append(told.sql)
            question = told.question
            names = [each.name for each in question.aggregates]
            return Core(sql, told.table, len(question.keys), tuple(told.estimators[name] for name in names), told.notes)

        evaluation = Evaluation(self.engine, self.left_out, ask)
        with np.errstate(all="ignore"):  # what is not a number or has no end is looked for, not warned of
            sheet = evaluation.rows(statement)
        table, estimators = _shown(sheet, statement.names)
        return Answer(
            text, table, "\n".join(f"{query};" for query in queries), tuple(evaluation.told), basis, estimators
        )


def core_questions(statement: Statement | None) -> Iterator[str]:
    """All core questions that a statement asks."""
    for asked in [] if statement is None else asked_in(statement):
        for names in by_level(asked):
            yield core_question([asked.parts[name] for name in names], asked.keys)


def outline(statement: Statement) -> str:
    """What is computed from the answers, as a comment."""
    lines = ["-- from these answers, by estimates and by interval arithmetic for low and high:"]
    for asked in asked_in(statement):
        lines += [f"--   {name}: {part.described}" for name, part in asked.parts.items()]
    lines += [f"--   {line}" for line in spelled(statement)]
    return "\n".join(lines)


def _shown(sheet: Sheet, names: tuple[str, ...]) -> tuple[pa.Table, dict[str, str]]:
    """The columns as they are called; figures with their ends."""
    columns: dict[str, pa.ChunkedArray] = {}
    estimators: dict[str, str] = {}
    for at, wanted in enumerate(names):
        made = sheet.made[f"item_{at}"]
        ends = tuple(ENDS.values()) if made else ("",)
        name = numbered(wanted, columns, ends)
        for end in ends:
            columns[f"{name}{end}"] = sheet.table.column(f"item_{at}{end}")
        if made:
            others = sorted({each for several in made for each in several.split(", ")} - {"exact"})
            estimators[name] = ", ".join(others) or "exact"
    return pa.table(columns), estimators
