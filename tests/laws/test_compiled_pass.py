"""Law: the compiled pass and the plain plan answer the same, but for rounding."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet.answer.session import Session
from discreet.errors import QueryError
from discreet.release import Release
from laws.law import law
from laws.questions import Case, random_case, random_crowd, random_question

RANDOM = st.randoms(use_true_random=True)
KINDS = ("integer", "float", "decimal", "large", "string", "date", "boolean", "timestamp")


def compare(release: Release, questions: Sequence[str], rounding: float) -> None:
    with Session(release, accelerate=True) as fast, Session(release, accelerate=False) as plain:
        for sql in questions:
            note(sql)
            try:
                expected = plain.ask(sql)
            except QueryError as error:
                with pytest.raises(QueryError, match=f"^{error.message[:20]}"):
                    fast.ask(sql)
                continue
            for found in (fast.ask(sql), fast.ask(sql)):  # the second time from what was kept
                assert found.table.schema == expected.table.schema
                assert (found.sql, found.notes) == (expected.sql, expected.notes)
                assert len(found) == len(expected)
                for one, other in zip(found.rows(), expected.rows(), strict=True):
                    assert all(close(one[name], other[name], rounding) for name in one), (one, other)


def close(one: Any, other: Any, rounding: float) -> bool:
    if one == other or one is None or other is None:
        return bool(one == other)
    return bool(float(one) == pytest.approx(float(other), rel=1e-9, abs=rounding))


def rounding(case: Case) -> float:
    """How far sums may be apart that were added up in another order: values near 2**60 cancel out."""
    return 1e4 if case.sensitive.kind == "large" else 1e-9


def questions(rng: Random, case: Case, number: int) -> list[str]:
    return [random_question(rng, case.quasi, case.sensitive, keys=rng.random() < 0.5).sql for _ in range(number)]


@law(6)
@given(RANDOM)
def test_the_pass_equals_the_plan(rng: Random) -> None:
    case = random_case(rng, KINDS, alike=rng.random() < 0.3)
    note(str(case))
    with case.released() as release:
        compare(release, questions(rng, case, 6), rounding(case))


@law(3)
@given(RANDOM)
def test_the_pass_equals_the_plan_in_a_crowd(rng: Random) -> None:
    """One group of many rows, with values that several of them hold."""
    case = random_crowd(rng, rng.randint(20, 300), missing=rng.random() < 0.5)
    note(str(case))
    with case.released() as release:
        compare(release, questions(rng, case, 6), rounding(case))
