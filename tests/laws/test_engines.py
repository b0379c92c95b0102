"""Law: the engine changes nothing. What a release in PostgreSQL or Spark answers is what its files answer."""

from __future__ import annotations

from random import Random
from uuid import uuid4

import pyarrow as pa
import pytest

import discreet
from alike import alike
from discreet.answer import Session
from discreet.errors import QueryError
from laws.questions import random_case, random_question

KINDS = ("integer", "float", "decimal", "large", "string", "date", "boolean", "timestamp")


@pytest.mark.parametrize("seed", range(12))
def test_the_engine_changes_nothing(server, seed):
    rng = Random(seed)  # noqa: S311
    case = random_case(rng, KINDS)
    questions = [random_question(rng, case.quasi, case.sensitive, keys=i % 2 == 1) for i in range(5)]
    with (
        case.released() as release,
        discreet.load(release, server.url(), name=f"law_{uuid4().hex}") as there,
        Session(release, accelerate=False) as here,
    ):
        for question in questions:
            found, expected = there.ask(question.sql), here.ask(question.sql)
            assert alike(found, expected), (question.sql, found.rows(), expected.rows())


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(1))
def test_spark_changes_nothing(spark, seed):
    """Fewer questions than of PostgreSQL: each takes Spark about a second."""
    rng = Random(seed)  # noqa: S311
    case = random_case(rng, KINDS)
    questions = [random_question(rng, case.quasi, case.sensitive, keys=i % 2 == 1) for i in range(2)]
    with (
        case.released() as release,
        discreet.open_release(release.path, engine=spark) as there,
        Session(release, accelerate=False) as here,
    ):
        for question in questions:
            found, expected = there.ask(question.sql), here.ask(question.sql)
            assert alike(found, expected), (question.sql, found.rows(), expected.rows())


FLAGS = (
    "SELECT MIN(smokes), MAX(smokes), COUNT(smokes) FROM microdata",
    "SELECT town, MAX(NOT smokes), MIN(COALESCE(smokes, FALSE)) FROM microdata GROUP BY town",
    "SELECT MIN(smokes), MAX(town = 'Ulm'), MAX(CASE WHEN town = 'Ulm' THEN smokes END) FROM microdata WHERE town > 'C'",
    "SELECT MIN(smokes), MAX(smokes) FROM microdata WHERE ill = 'i1'",
    "SELECT ill, MAX(smokes), QUANTILE_DISC(smokes, 0.5) FROM microdata GROUP BY ill",
)


@pytest.fixture(scope="module")
def smokers(server, tmp_path_factory):
    """A release in files and in the server, with truth values, and with texts that are numbers."""
    table = pa.table(
        {
            "smokes": [None if i % 7 == 0 else i % 3 == 0 for i in range(60)],
            "town": [("Ulm", "Bonn", "Köln")[i % 3] for i in range(60)],
            "zip": [str(10 + i % 5) for i in range(60)],
            "ill": [f"i{i % 4}" for i in range(60)],
        }
    )
    policy = {"quasi": ["smokes", "town", "zip"], "sensitive": "ill", "guarantee": {"l": 2}}
    here = discreet.publish(table, policy, to=tmp_path_factory.mktemp("smokers") / "r", seed=1)
    with discreet.load(here, server.url(), name=f"law_{uuid4().hex}") as there:
        yield here, there


@pytest.mark.parametrize("question", FLAGS)
def test_the_least_of_truth_values(smokers, question):
    """PostgreSQL has no MIN and MAX of them."""
    here, there = smokers
    found, expected = (each.ask(question, estimator="even") for each in (there, here))
    assert alike(found, expected), (found.rows(), expected.rows())


NO_SUCH = pytest.mark.xfail(
    raises=QueryError, strict=True, reason="PostgreSQL compares no text with a number: CAST(zip AS INTEGER) says it"
)
NUMERALS = ("zip > 11", "12 = zip", "zip BETWEEN 11 AND 12", "zip IN (11, 13)")


@pytest.mark.parametrize("condition", [pytest.param(each, marks=NO_SUCH) for each in NUMERALS])
def test_texts_beside_numbers(smokers, condition):
    here, there = smokers
    question = f"SELECT COUNT(*) FROM microdata WHERE {condition} AND ill = 'i1'"
    expected = here.ask(question, estimator="even")
    assert alike(there.ask(question, estimator="even"), expected)


@pytest.mark.parametrize("condition", NUMERALS)
def test_texts_as_numbers(smokers, condition):
    """What the refusal offers to write instead."""
    here, there = smokers
    written = condition.replace("zip", "CAST(zip AS INTEGER)")
    answers = [
        each.ask(f"SELECT COUNT(*) FROM microdata WHERE {written} AND ill = 'i1'", estimator="even")
        for each in (there, here)
    ]
    assert alike(*answers)
