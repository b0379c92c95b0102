"""Law: answers equal what enumerating every table that the release allows gives."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from discreet.answer import Answer
from laws.questions import Case, random_case, random_question
from laws.worlds import Expected, Measure, Question, worlds

NUMBERS = ("integer", "float", "decimal", "large")
OTHERS = ("string", "date", "boolean", "timestamp", "integer")
RANDOM = st.randoms(use_true_random=True)


def law(examples: int) -> Any:
    """The same examples on every run; they are small as they are, and shrinking one takes minutes."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    phases = [Phase.explicit, Phase.generate]
    return settings(max_examples=examples, deadline=None, derandomize=True, phases=phases, suppress_health_check=checks)


@law(40)
@given(RANDOM)
def test_answers_about_numbers_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, NUMBERS)
    _ask(case, [random_question(rng, case.quasi, case.sensitive) for _ in range(4)])


@law(30)
@given(RANDOM)
def test_answers_about_other_kinds_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, OTHERS)
    _ask(case, [random_question(rng, case.quasi, case.sensitive) for _ in range(4)])


@law(40)
@given(RANDOM)
def test_grouped_answers_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS))
    _ask(case, [random_question(rng, case.quasi, case.sensitive, keys=True) for _ in range(4)])


@law(30)
@given(RANDOM)
def test_answers_from_groups_alike_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS), alike=True)
    _ask(case, [random_question(rng, case.quasi, case.sensitive, keys=keys) for keys in (False, True, False)])


def _ask(case: Case, questions: list[Question]) -> None:
    note(str(case))
    possible = worlds(case.table, case.sensitive.name, case.groups)
    with case.released() as release:
        for question in questions:
            _check(question, release.ask(question.sql), possible.answer(question))


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
