"""Law: a question that joins tables of one's own has the answers of the table with their columns beside it."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, note
from hypothesis import strategies as st

from discreet.answer import Session
from laws.law import law
from laws.questions import KINDS, Case, Column, random_case, random_question
from laws.test_answers_brute_force import NUMBERS, OTHERS, _check
from laws.worlds import Measure, Question, Worlds, worlds

RANDOM = st.randoms(use_true_random=True)


def own_table(rng: Random, column: Column) -> pa.Table:
    """A row for some values of a column and not for others, and rows without a key, which nobody has."""
    values = [value for value in KINDS[column.kind].values if rng.random() < 0.7]
    values = rng.sample(values, len(values))
    size = len(values) + 2
    return pa.table(
        {
            "their key": pa.array([*values, None, None], KINDS[column.kind].type),
            "label": pa.array([rng.choice(["x", "y", None]) for _ in range(size)], pa.string()),
            "weight": pa.array([rng.choice([-1, 0, 2, 5, None]) for _ in range(size)], pa.int64()),
        }
    )


@law(8)
@given(RANDOM)
def test_joins_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    chosen = [rng.choice(case.quasi), case.sensitive]
    rng.shuffle(chosen)
    chosen = chosen[: rng.choice([1, 2])]
    tables = {f"own{at}": own_table(rng, column) for at, column in enumerate(chosen)}
    ways = [rng.choice(["JOIN", "INNER JOIN", "LEFT JOIN"]) for _ in chosen]
    note(
        f"{[column.name for column in chosen]}, {ways}: { {name: table.to_pydict() for name, table in tables.items()} }"
    )
    joins = "".join(
        f" {way} own{at} AS o{at} ON {rng.choice(['{0} = {1}', '{1} = {0}']).format(f'm.{column.quoted}', own_key(at))}"
        for at, (column, way) in enumerate(zip(chosen, ways, strict=True))
    )
    possible = worlds(case.table, case.sensitive.name, case.groups)
    for at, column in enumerate(chosen):
        beside(possible, at, column, tables[f"own{at}"])
    with (
        case.released() as release,
        Session(release, accelerate=True) as fast,
        Session(release, accelerate=False) as plain,
    ):
        for keys in (False, True, True):
            question = asked(rng, case, len(chosen), keys=keys)
            there = [f'"there {at}"' for at, way in enumerate(ways) if way != "LEFT JOIN"]
            where = " AND ".join(f"({part})" for part in [question.where, *there] if part) or None
            expected = possible.answer(replace(question, where=where))
            sql = question.sql.replace("FROM microdata", f"FROM microdata AS m{joins}")
            for at in range(len(chosen)):
                sql = sql.replace(f'"label {at}"', f"o{at}.label").replace(f'"weight {at}"', f"o{at}.weight")
            note(sql)
            for session in (fast, plain):
                answer = session.ask(sql, tables=tables)
                told = tuple(each for each in answer.notes if not each.startswith("of the tables"))
                _check(question, replace(answer, notes=told), expected)
    possible.close()


def beside(possible: Worlds, at: int, column: Column, table: pa.Table) -> None:
    """Lay the columns of a table of one's own beside the rows of every world."""
    possible.connection.register(f"own{at}", table)
    possible.connection.execute(
        f'CREATE OR REPLACE TABLE pairs AS SELECT pairs.*, o.label AS "label {at}", o.weight AS "weight {at}",'
        f' o."their key" IS NOT NULL AS "there {at}" FROM pairs LEFT JOIN own{at} AS o ON pairs.{column.quoted} = o."their key"'
    )


def own_key(at: int) -> str:
    return f'o{at}."their key"'


def asked(rng: Random, case: Case, joined: int, *, keys: bool) -> Question:
    """A question about columns of either table."""
    question = random_question(rng, case.quasi, case.sensitive, keys=keys)
    at = rng.randrange(joined)
    measures: list[Any] = [
        Measure("COUNT(*)", "count"),
        Measure(f'SUM("weight {at}")', "sum", f'"weight {at}"'),
        Measure(f'MIN("label {at}")', "min", f'"label {at}"'),
        Measure(f'AVG("weight {at}" + 1)', "avg", f'"weight {at}" + 1'),
    ]
    conditions = [
        f'"weight {at}" > 0',
        f"\"label {at}\" = 'x'",
        f'"label {at}" IS NULL',
        f'COALESCE("weight {at}", 1) < 2',
    ]
    parts = [question.where] if question.where and rng.random() < 0.5 else []
    parts += [rng.choice(conditions)] if rng.random() < 0.6 else []
    by = (*question.keys[:1], f'"label {rng.randrange(joined)}"') if keys else ()
    where = " AND ".join(f"({part})" for part in parts) or None
    return Question(tuple(dict.fromkeys(by)), tuple(rng.sample(measures, 2)), where)
