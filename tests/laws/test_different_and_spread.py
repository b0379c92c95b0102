"""Law: different values and spreads, against every table that the release allows."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from statistics import pvariance, variance
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet.answer import Session
from laws.law import law
from laws.questions import Case, Column, random_case, random_question
from laws.test_answers_brute_force import NUMBERS, OTHERS
from laws.test_shuffled_brute_force import shuffled, small_case, small_question
from laws.worlds import Measure, Question, Worlds, worlds

RANDOM = st.randoms(use_true_random=True)
SPREADS = ("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV")
ENDS = ("", "_stderr", "_low", "_high")


def different(rng: Random, case: Case) -> Measure:
    argument = rng.choice([*case.quasi, case.sensitive]).value(rng)
    return Measure(f"COUNT(DISTINCT {argument})", "distinct", argument)


def spread(rng: Random, case: Case) -> Measure:
    argument = rng.choice([*case.quasi, case.sensitive]).number(rng)
    return Measure(f"{rng.choice(SPREADS)}({argument})", "var", argument)


def of_world(measure: Measure, held: list[Any]) -> tuple[int, Any]:
    """How many values there are, and what an aggregate is of them."""
    return len(held), figure(measure, held)


def figure(measure: Measure, held: list[Any]) -> Any:
    """A spread of nobody, or of a sample of one, is nothing."""
    if measure.function == "distinct":
        return len(set(held))
    name = measure.text.partition("(")[0]
    whole = name.endswith("POP")
    if len(held) < (1 if whole else 2):
        return None
    found = float((pvariance if whole else variance)(list(map(float, held))))
    return found**0.5 if name.startswith("STDDEV") else found


@law(8)
@given(RANDOM)
def test_different_values_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, (*NUMBERS, *OTHERS), alike=rng.random() < 0.3)
    note(str(case))
    questions = [random_question(rng, case.quasi, case.sensitive, keys=keys) for keys in (False, False, True)]
    ask(case, [replace(each, measures=(different(rng, case), different(rng, case))) for each in questions])


@law(8)
@given(RANDOM)
def test_spreads_equal_brute_force(rng: Random) -> None:
    case = random_case(rng, ("integer", "float", "decimal"), alike=rng.random() < 0.3)
    note(str(case))
    questions = [random_question(rng, case.quasi, case.sensitive, keys=keys) for keys in (False, False, True)]
    ask(case, [replace(each, measures=(spread(rng, case), spread(rng, case))) for each in questions])


@law(4)
@given(RANDOM)
def test_shuffled_columns_hold_different_values_within_bounds(rng: Random) -> None:
    case = small_case(rng, ("integer", "decimal"))
    note(str(case))
    possible = shuffled(case.table, case.groups)
    with case.released() as release:
        for keys in (False, True):
            question = small_question(rng, case, keys=keys)
            question = replace(question, measures=(different(rng, case), spread(rng, case)))
            check(question, release.ask(question.sql).rows(), possible, mean=False)
    possible.close()


def test_of_boxes_each_row_matches_by_itself() -> None:
    """Ages lie anywhere from 1 to 4, so half of them up to 2: 5 is there with 1 - 1/4, 6 with 1/2."""
    table = pa.table({"age": [1, 4, 2], "held": [5, 5, 6]})
    age, held = (Column.of(name, "integer", [1]) for name in table.column_names)
    with Case((age,), held, table, (0, 0, 0), "generalization").released() as release:
        sql = "SELECT COUNT(DISTINCT held) AS d, VAR_POP(held) AS v FROM microdata WHERE age <= 2"
        [row] = release.ask(sql).rows()
        assert [row[f"d{end}"] for end in ENDS] == pytest.approx([1.25, (3 / 16 + 1 / 4) ** 0.5, 0, 2])
        assert (row["v_low"], row["v_high"]) == pytest.approx((0, 1 / 4))
        [bounds] = release.ask("SELECT COUNT(DISTINCT held) AS d FROM microdata WHERE age <= 9").rows()
        assert [bounds[f"d{end}"] for end in ENDS] == [2, 0, 2, 2]


def test_bounds_of_several_groups_are_worth_something() -> None:
    """A condition that takes most of each group: the bounds of a deviation lie within a few per cent of each other."""
    held = [value for _ in range(20) for value in range(0, 100, 10)]
    table = pa.table({"age": [i % 10 for i in range(200)], "held": held})
    age, salary = (Column.of(name, "integer", [1]) for name in table.column_names)
    with Case((age,), salary, table, tuple(i // 10 for i in range(200))).released() as release:
        [row] = release.ask("SELECT STDDEV(held) AS s, COUNT(DISTINCT held) AS d FROM microdata WHERE age > 0").rows()
    assert row["s"] == pytest.approx(28.8, abs=0.2)
    assert row["s_low"] > 23
    assert row["s_high"] < 31
    assert (row["d_low"], row["d_high"]) == (9, 10)


def ask(case: Case, questions: list[Question]) -> None:
    possible = worlds(case.table, case.sensitive.name, case.groups)
    alone = len(set(case.groups)) == 1
    with case.released() as release, Session(release, accelerate=True) as session:
        for question in questions:
            answer = session.ask(question.sql)
            check(question, answer.rows(), possible, mean=True, alone=alone)
            spreads = [at for at, each in enumerate(question.measures) if each.function != "distinct"]
            told = {text.partition(":")[0] for text in answer.notes}
            assert told <= {f"m{at}" for at in spreads}, question.sql
    possible.close()


def check(question: Question, rows: list[dict[str, Any]], possible: Worlds, *, mean: bool, alone: bool = False) -> None:
    width = len(question.keys)
    expected = possible.figures(question, of_world)
    found = {tuple(row.values())[:width]: row for row in rows}
    assert set(found) == set(expected), question.sql
    for keys, measures in expected.items():
        for number, (measure, figures) in enumerate(zip(question.measures, measures, strict=True)):
            got = [found[keys][f"m{number}{end}"] for end in ENDS]
            wrong = fault(measure, got, figures, mean=mean, alone=alone)
            assert wrong is None, (
                f"{question.sql}: at {keys}, m{number} is {got}, {wrong}; {sorted(set(map(str, figures)))}"
            )


def fault(measure: Measure, got: list[Any], worlds: list[tuple[int, Any]], *, mean: bool, alone: bool) -> str | None:
    """What is wrong, if anything; `mean` if the estimate must be that of all worlds, `alone` if there is one group."""
    estimate, stderr, low, high = got
    counts, figures = zip(*worlds, strict=True)
    some = [each for each in figures if each is not None]
    if not some:
        return None if (estimate, low, high) == (None, None, None) else "a figure of nobody"
    if measure.function == "distinct":
        slack, exact = 1e-9, mean
        wrong = alone and mean and (low, high) != (min(some), max(some))
        wrong |= mean and stderr < np.std(some) - 1e-6
    else:
        slack, exact = 1e-7 * max(1.0, *map(abs, some)), mean and len({*counts}) == 1
        certain = exact and len({*figures}) == 1 and stderr == 0
        wrong = certain and high - low > 1e-6 * max(1.0, high)
        exact &= measure.text.startswith("VAR")
    inside = low - slack <= min(some) <= max(some) <= high + slack
    faults = {
        "a world beyond the bounds": not inside,
        "estimate beyond the bounds": estimate is not None and not low - slack <= estimate <= high + slack,
        "bounds that are not the extremes, or too small a stderr": wrong,
        "another mean": exact and estimate != pytest.approx(np.mean(some), rel=1e-7, abs=slack),
    }
    return next((what for what, there in faults.items() if there), None)
