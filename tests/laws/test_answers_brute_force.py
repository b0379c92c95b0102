"""Law: answers equal what enumerating every table that the release allows gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from decimal import Decimal
from itertools import chain
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet.answer import Answer, Session
from discreet.errors import QueryError
from laws.law import law
from laws.questions import (
    MEASURABLE,
    Case,
    Column,
    random_case,
    random_doubt,
    random_lookup,
    random_quantile,
    random_question,
    side_by_side,
)
from laws.worlds import Expected, Measure, Question, worlds

NUMBERS = ("integer", "float", "decimal", "large")
OTHERS = ("string", "date", "boolean", "timestamp", "integer")
WAYS = (True, False)  # the compiled pass, the plain plan
RANDOM = st.randoms(use_true_random=True)
WORTH_A_LOOK = {
    "all missing": pa.array([None] * 6, pa.int64()),
    "infinite": pa.array([float("inf"), 1.0, 2.0, float("-inf"), None, 1.0]),
    "nanoseconds": pa.array([1, 2, 3, 1, 1, 5], pa.timestamp("ns")),
    "single precision": pa.array([0.1, 0.2, 0.3, 0.1, None, 0.7], pa.float32()),
    "tiny and huge": pa.array([5e-324, 1e308, -1e308, 1e-300, 2.0, 1e-300]),
    "unsigned": pa.array([2**64 - 1, 2**63, 0, 0, 1, None], pa.uint64()),
    "long decimals": pa.array(
        [Decimal(10) ** 30, Decimal("0.01"), None, None, Decimal("-0.01"), None], pa.decimal128(38, 2)
    ),
    "times": pa.array([time(0), time(23, 59, 59), None, time(12), time(12), time(0)]),
    "empty words": pa.array(["", None, "a", "", "", "a"]),
}


@law(9)
@given(RANDOM)
def test_answers_about_numbers_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, NUMBERS)
    note(str(case))
    _ask(case, [random_question(rng, case.quasi, case.sensitive) for _ in range(4)])


@law(8)
@given(RANDOM)
def test_answers_about_other_kinds_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, OTHERS)
    note(str(case))
    _ask(case, [random_question(rng, case.quasi, case.sensitive) for _ in range(4)])


@law(9)
@given(RANDOM)
def test_grouped_answers_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    _ask(case, [random_question(rng, case.quasi, case.sensitive, keys=True) for _ in range(4)])


@law(8)
@given(RANDOM)
def test_answers_from_groups_alike_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS), alike=True)
    note(str(case))
    _ask(case, [random_question(rng, case.quasi, case.sensitive, keys=keys) for keys in (False, True, False)])


@law(6)
@given(RANDOM)
def test_answers_about_measured_values_equal_brute_force(rng: Random) -> None:
    """The aggregates of a permutation whose sensitive values are all there."""
    alike = rng.random() < 0.3
    case = replace(random_case(rng, MEASURABLE, alike=alike, gaps=False), publication="permutation")
    note(str(case))
    _ask(case, [random_lookup(rng, case.quasi, case.sensitive) for _ in range(3)])


@law(2)
@given(RANDOM)
def test_answers_about_an_unknown_number_of_rows_equal_brute_force(rng: Random) -> None:
    way = rng.choice(["anatomy", "permutation"])
    cases = [replace(random_doubt(rng), publication=way) for _ in range(40)]
    note("\n".join(f"{which}: {case}" for which, case in enumerate(cases)))
    possible = [worlds(case.table, "held", case.groups) for case in cases]
    with side_by_side(cases).released() as release:
        for _ in range(3):
            quantiles = [random_quantile(rng, function, "held") for function in ("cont", "cont", "disc")]
            others = [
                Measure(f"{name}(held)", name.lower(), "held") for name in rng.sample(["SUM", "AVG", "MIN", "MAX"], 2)
            ]
            question = Question(("which",), (Measure("COUNT(*)", "count"), *quantiles, *others), "hit AND held < 99")
            found = {(i,): one.answer(replace(question, keys=()))[()] for i, one in enumerate(possible)}
            expected = {which: row for which, row in found.items() if row[0].high > 0}
            for way in WAYS:
                with Session(release, accelerate=way) as session:
                    _check(question, session.ask(question.sql), expected)
    for one in possible:
        one.close()


@pytest.mark.parametrize(
    ("name", "publication"),
    [
        *((name, "anatomy") for name in WORTH_A_LOOK),
        *((name, "permutation") for name in WORTH_A_LOOK if name not in {"times", "empty words"}),
    ],
)
def test_answers_about_rare_values_equal_brute_force(name: str, publication: str) -> None:
    values = WORTH_A_LOOK[name]
    age = Column.of("age", "integer", [1, 2, 3, 7])
    table = pa.table({"age": [1, 2, 3, 1, 2, 7], "held": values})
    case = Case((age,), Column("held", "none", ()), table, (0, 0, 0, 1, 1, 1), publication)
    texts = [("COUNT(held)", "count"), ("MIN(held)", "min"), ("MAX(held)", "max"), ("QUANTILE(held, 0.5)", "disc")]
    measures = tuple(Measure(text, function, "held") for text, function in texts)
    wheres = (None, "age > 1", "age = 2 AND held IS NULL", "age < 3 AND held IS NOT NULL")
    _ask(case, [Question(keys, measures, where) for where in wheres for keys in ((), ("age",), ("held",))])


@law(6)
@given(RANDOM)
def test_order_by_sorts_and_limit_cuts(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    with case.released() as release:
        for _ in range(3):
            question = random_question(rng, case.quasi, case.sensitive, keys=True)
            rows = release.ask(question.sql).rows()
            ends = [f"{name}{end}" for name in question.names if name[0] == "m" for end in ("", "_low", "_high")]
            ends = [name for name in ends if not any(isinstance(row[name], float) for row in rows)]  # they are noisy
            names = [*rng.sample(ends, rng.randint(0, min(2, len(ends)))), *question.names[: len(question.keys)]]
            ways = {name: rng.choice(["", " ASC", " DESC", " DESC NULLS FIRST", " NULLS FIRST"]) for name in names}
            limit, offset = rng.randint(0, len(rows) + 1), rng.randint(0, 2)
            order = ", ".join(_named(rng, question, name) + way for name, way in ways.items())
            asked = question.phrased(group_by=question.keys, rest=f" ORDER BY {order} LIMIT {limit} OFFSET {offset}")
            assert _alike(release.ask(asked).rows(), _sorted(rows, ways)[offset : offset + limit]), asked
            default = {f"k{i}": "" for i in range(len(question.keys))}
            assert rows == _sorted(rows, default), question.sql


@law(6)
@given(RANDOM)
def test_the_same_question_in_other_words_has_the_same_answer(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    note(str(case))
    with case.released() as release:
        question = random_question(rng, case.quasi, case.sensitive, keys=True)
        rows = release.ask(question.sql).rows()
        width = len(question.keys)
        by_number = question.phrased(group_by=[str(i + 1) for i in range(width)])
        by_alias = question.phrased(group_by=[f"K{i}" for i in range(width)])
        through_alias, shouted = question.sql.replace("FROM microdata", "FROM microdata AS m"), question.sql
        for column in (*case.quasi, case.sensitive):
            through_alias = through_alias.replace(column.quoted, f"m.{column.quoted}")
            shouted = shouted.replace(column.quoted, column.quoted.upper())
        for words in (by_number, by_alias, through_alias, shouted):
            assert _alike(release.ask(words).rows(), rows), words
        hidden = question.phrased(group_by=question.keys, show_keys=False)
        found = release.ask(hidden).rows()
        for row in rows:
            shown = dict(list(row.items())[width:])
            found.remove(next(other for other in found if _alike([other], [shown])))
        assert not found, hidden


def test_group_by_means_a_column_before_an_alias_of_the_same_name() -> None:
    table = pa.table({"age": [1, 2, 3, 3], "sex": ["f", "m", "f", "m"], "held": [1, 2, 3, 4]})
    age, sex, held = (Column(name, "none", ()) for name in table.column_names)
    with Case((age, sex), held, table, (0, 0, 1, 1)).released() as release:
        with pytest.raises(QueryError, match="neither an aggregate nor in GROUP BY"):
            release.ask("SELECT sex AS age, COUNT(*) FROM microdata GROUP BY age")
        answer = release.ask("SELECT COUNT(*) AS age FROM microdata GROUP BY age")
        assert sorted(row["age"] for row in answer.rows()) == [1, 1, 2]


def _ask(case: Case, questions: list[Question]) -> None:
    possible = worlds(case.table, case.sensitive.name, case.groups)
    with (
        case.released() as release,
        Session(release, accelerate=True) as fast,
        Session(release, accelerate=False) as plain,
    ):
        for question in questions:
            expected = possible.answer(question)
            for session in (fast, plain):
                _check(question, session.ask(question.sql), expected)
    possible.close()


def _named(rng: Random, question: Question, name: str) -> str:
    """A column of the answer as ORDER BY may call it: by name, by number, or a key by its expression."""
    ways = [name, name.upper()]
    if name in question.names and name[0] == "k":
        ways += [str(question.names.index(name) + 1), question.keys[question.names.index(name)]]
    return rng.choice(ways)


def _sorted(rows: list[dict[str, Any]], ways: dict[str, str]) -> list[dict[str, Any]]:
    """Rows in the order that ORDER BY asks for; missing values come last unless it says otherwise."""
    for name, way in reversed(ways.items()):
        present = [row for row in rows if row[name] is not None]
        present = sorted(present, key=lambda row: row[name], reverse="DESC" in way)
        missing = [row for row in rows if row[name] is None]
        rows = [*missing, *present] if "NULLS FIRST" in way else [*present, *missing]
    return rows


def _alike(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> bool:
    """Whether rows have the same cells, but for the noise that another order of summing makes."""
    pairs = zip(chain.from_iterable(map(dict.values, rows)), chain.from_iterable(map(dict.values, others)), strict=True)
    same = (_same(one, other, 1e-9 if isinstance(one, float) else None) for one, other in pairs)
    return list(map(len, rows)) == list(map(len, others)) and all(same)


def _check(question: Question, answer: Answer, expected: dict[tuple[Any, ...], list[Expected]]) -> None:
    """Compare a whole answer, read by the place of its columns."""
    width = len(question.keys)
    rows = {tuple(row[:width]): row[width:] for row in (list(row.values()) for row in answer.rows())}
    assert len(rows) == len(answer), f"{question.sql}: a row stands twice"
    assert set(rows) == set(expected), question.sql
    for keys, row in rows.items():
        for number, (measure, wanted) in enumerate(zip(question.measures, expected[keys], strict=True)):
            got = row[4 * number : 4 * number + 4]
            wrong = _fault(measure, got, wanted)
            assert wrong is None, f"{question.sql}: at {keys}, m{number} is {got}, wrong {wrong}, expected {wanted}"
    _check_notes(question, answer, list(expected.values()))


def _fault(measure: Measure, got: list[Any], wanted: Expected) -> str | None:
    """Which of estimate, stderr, low and high is wrong, if any."""
    estimate, stderr, low, high = got
    if wanted.low is None:
        return "value" if (estimate, low, high) != (None, None, None) or stderr not in {None, 0} else None
    if not (_same(low, wanted.low, wanted.rounding) and _same(high, wanted.high, wanted.rounding)):
        return "bounds"
    if not _within(estimate, low, high, wanted.rounding):
        return "estimate beyond the bounds"
    if measure.function in {"count", "sum", "avg"}:
        rounding = wanted.rounding or 1e-9
        right = _same(estimate, wanted.estimate, rounding), _same(stderr, wanted.stderr, 10 * rounding)
        return None if all(right) else "estimate" if right[1] else "stderr"
    if wanted.estimate is not None and estimate != wanted.estimate:
        return "estimate"
    return None if stderr is None or (stderr == 0 and low == high) else "stderr"


def _same(got: Any, wanted: Any, rounding: float | None) -> bool:
    if got is None or wanted is None or rounding is None:
        return got == wanted
    return float(got) == pytest.approx(float(wanted), rel=1e-9, abs=rounding)


def _within(got: Any, low: Any, high: Any, rounding: float | None) -> bool:
    if got is None or rounding is None:
        return got is not None and low <= got <= high
    return float(low) - rounding <= float(got) <= float(high) + rounding


def _check_notes(question: Question, answer: Answer, expected: list[list[Expected]]) -> None:
    """A note says of every aggregate but COUNT whether possibly nothing matches."""
    doubtful = {
        f"m{number}"
        for number, measure in enumerate(question.measures)
        if measure.function != "count" and any(row[number].least == 0 for row in expected)
    }
    assert {note.partition(":")[0] for note in answer.notes} == doubtful, f"{question.sql}: {answer.notes}"
