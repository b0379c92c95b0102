"""Law: the engine changes nothing. What a release in PostgreSQL or Spark answers is what its files answer."""

from __future__ import annotations

from random import Random
from uuid import uuid4

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


@pytest.mark.xfail(raises=QueryError, strict=True, reason="PostgreSQL has no MIN and MAX of a column of truth values")
def test_the_least_of_a_column_of_truth_values(server):
    rng = Random(22)  # noqa: S311
    case = random_case(rng, KINDS)
    with case.released() as release, discreet.load(release, server.url(), name=f"law_{uuid4().hex}") as there:
        there.ask('SELECT MAX("group") AS m0 FROM microdata')
