"""Which estimator answers, how an answer names it, and that a detour over relations changes no figure."""

from __future__ import annotations

import json
from shutil import copytree

import pytest

import discreet
from discreet import Policy, publish
from discreet.answer import prepared
from discreet.answer.session import Session
from discreet.answer.ways.core import UNSTATED
from discreet.errors import QueryError

QUESTIONS = (
    "SELECT COUNT(*) FROM microdata WHERE age < 50 AND salary > 60000",
    "SELECT sex, AVG(salary) AS mean, COUNT(*) FROM microdata WHERE age < 50 GROUP BY sex ORDER BY mean DESC LIMIT 1",
    "SELECT salary > 60000 AS much, education, MAX(age), SUM(age) FROM microdata GROUP BY education, 1",
    "SELECT MEDIAN(salary), MIN(salary) FROM microdata WHERE age > 1000",
)


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = Policy(
        quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4}, partition="deal"
    )
    return publish(people, policy, to=tmp_path_factory.mktemp("releases") / "people", seed=1)


def test_an_answer_names_its_estimator_column_by_column(release):
    answer = release.ask("SELECT COUNT(*) AS n, AVG(salary) AS mean FROM microdata WHERE age < 50")
    assert answer.estimator == "even"
    assert answer.estimators == {"n": "exact", "mean": "even"}
    assert answer.assumption == (
        "the truth is certain to lie between low and high. Estimate and stderr assume that the values of a group are spread"
        " over its people at random (estimator `even`); where they are not, the truth can be many stderr away"
    )
    [row] = discreet.ask(release.path, QUESTIONS[0], estimator="even").rows()
    assert row == pytest.approx(release.ask(QUESTIONS[0]).rows()[0])


def test_what_is_no_estimator_is_refused(release):
    for act in (release.ask, release.explain):
        with pytest.raises(QueryError, match="`evn` is no estimator") as raised:
            act(QUESTIONS[0], estimator="evn")
        assert raised.value.hint == "did you mean `even`?"


def test_an_older_release_is_estimated_evenly_and_says_so(release, tmp_path):
    older = copytree(release.path, tmp_path / "older")
    manifest = json.loads((older / "datapackage.json").read_text())
    del manifest["discreet"]["randomness"], manifest["discreet"]["estimator"]
    (older / "datapackage.json").write_text(json.dumps(manifest))
    with discreet.open_release(older) as opened:
        assert opened.ask(QUESTIONS[0]).notes == (UNSTATED,)
        assert opened.ask("SELECT COUNT(*) FROM microdata").notes == ()
    assert release.ask(QUESTIONS[0]).notes == ()


@pytest.mark.parametrize("accelerate", [True, False])
def test_relations_are_laid_out_as_the_direct_answer_is(release, monkeypatch, accelerate):
    with Session(release, accelerate=accelerate) as session:
        direct = [session.ask(sql).rows() for sql in QUESTIONS]
        monkeypatch.setattr(prepared.Asking, "direct", lambda self: self.laid_out(self.relations()))
        for sql, expected in zip(QUESTIONS, direct, strict=True):
            found = session.ask(sql).rows()
            assert [[*row] for row in found] == [[*row] for row in expected]
            assert all(row == pytest.approx(other) for row, other in zip(found, expected, strict=True)), sql
