"""After each step of a plan its relations have the columns and the grain that the next steps rely on."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from discreet import Policy, publish
from discreet.answer.plan import plan as plans
from discreet.answer.plan.context import Context
from discreet.answer.plan.plan import STEPS, plan, steps
from discreet.answer.question.parse import read_question

ROWS = 240
RULES = {
    "anatomy": {"guarantee": {"l": 3}, "partition": "local"},
    "alike": {"guarantee": {"l": 3}, "partition": "deal"},
    "permutation": {"guarantee": {"k": 3, "e": 4}, "publication": "permutation"},
    "full_permutation": {"guarantee": {"l": 3}, "publication": "full_permutation"},
    "slicing": {"guarantee": {"l": 3}, "publication": "slicing", "together": [["age", "town"]]},
    "generalization": {"guarantee": {"l": 3}, "partition": "mondrian", "publication": "generalization"},
}
QUESTIONS = [
    "SELECT COUNT(*), SUM(pay) FROM microdata",
    "SELECT COUNT(*), MEDIAN(pay) FROM microdata WHERE age > 40 AND pay < 7",
    "SELECT pay, COUNT(*), MIN(pay) FROM microdata WHERE age > 40 GROUP BY pay",
    "SELECT sex, pay, AVG(pay) FROM microdata WHERE age > 40 AND pay < 7 GROUP BY sex, pay",
    "SELECT sex, COUNT(*), SUM(age), MAX(age) FROM microdata WHERE pay < 7 GROUP BY sex",
]
ANSWER = ["estimate", "stderr", "low", "high", "least"]


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    rng, place = np.random.default_rng(3), tmp_path_factory.mktemp("steps")
    town = pa.array(rng.choice(["Ulm", "Bonn"], ROWS), mask=rng.random(ROWS) < 0.1)
    columns = {"age": rng.integers(18, 90, ROWS), "sex": rng.choice(["f", "m"], ROWS), "town": town}
    table = pa.table({**columns, "pay": rng.integers(0, 15, ROWS)})
    return {
        name: publish(table, Policy(quasi=[*columns], sensitive="pay", **rules), to=place / name, seed=3)
        for name, rules in RULES.items()
    }


def grain(context: Context, name: str) -> tuple[list[str], list[str]] | None:
    """The columns that tell the rows of a relation apart, and the other columns that it must have."""
    kind, _, number = name.rpartition("_")
    subject = next((each for each in context.subjects.values() if str(each.number) == number), None)
    mine = [] if subject is None else context.keys(subject.side)
    others = context.other_keys(context.drawn[name]) if name in context.drawn else []
    spread = ["mean", "spread"] if subject is not None and subject.numeric else []
    drawn = ["population", "size", *context.matches.columns]
    seen = [column for column in drawn if column != "fewest"]
    known = {
        "frame": (context.keys(), [] if context.keys() else ["one"]),
        "draws": ([*others, *drawn], ["copies"]),
        "candidates": ([*mine, "population", "value"], ["n", "below"]),
        "populations": ([*mine, "population"], ["total", *spread]),
        "tally": (
            [*context.keys(), *seen, "forced"],
            ["copies", "total", "most", "expected", "per_spread", "per_mean"],
        ),
        "runs": ([*context.keys(), "value"], ["weight", "low_forced", "low_free", "high_forced", "high_free"]),
        "answer": (context.keys(), ANSWER),
    }
    return known.get(kind or name)


def broken(session, context: Context) -> str | None:
    """The step whose relations are not what they should be, and which relation it is."""
    done: dict[str, exp.Query] = {}
    for step, added in steps(context):
        for name, relation in added.items():
            done[name] = relation
            expected = grain(context, name)
            if expected is None:
                continue
            by, others = expected
            query = exp.select(exp.Star()).from_(name)
            for each, made in done.items():
                query = query.with_(each, as_=made.copy())
            table = session.run(query, context.matches)
            if not {*by, *others} <= {*table.column_names}:
                return f"{step}: `{name}` lacks {sorted({*by, *others} - {*table.column_names})}"
            rows = len(table.select(by).group_by(by).aggregate([])) if by else min(len(table), 1)
            if rows != len(table):
                return f"{step}: `{name}` has {len(table)} rows, but {rows} by {by}"
    return None


def contexts(release):
    session = release.session
    matches, promise = session.matches(), release.promise
    for sql in QUESTIONS:
        if promise.publication == "generalization" and ("sex" in sql or "SUM(age)" in sql):
            continue
        question = matches.check(read_question(sql, promise, matches.blocks))
        yield sql, Context(question, promise.group, promise.sensitive, matches)


@pytest.mark.parametrize("name", RULES)
def test_every_step_keeps_its_grain(name, releases):
    for sql, context in contexts(releases[name]):
        assert broken(releases[name].session, context) is None, sql


def test_a_broken_step_is_named(releases, monkeypatch):
    def tallies(context):
        found = plans.tallies(context)
        return {name: exp.union(each, each.copy(), distinct=False) for name, each in found.items()}

    monkeypatch.setattr(plans, "STEPS", tuple(tallies if step.__name__ == "tallies" else step for step in STEPS))
    _, context = next(contexts(releases["anatomy"]))
    assert broken(releases["anatomy"].session, context).startswith("tallies: `tally_0` has")


@pytest.mark.parametrize("name", RULES)
def test_a_plan_runs_nothing(name, releases, monkeypatch):
    """And the same question has the same plan."""
    session = releases[name].session
    asked = list(contexts(releases[name]))
    layout, statistics = session.sealed.layout(session.matches()), session.sealed.statistics
    monkeypatch.setattr(session.sealed.engine, "run", None)
    monkeypatch.setattr(session.sealed.engine, "load", None)
    for _, context in asked:
        one, other = (plan(context.question, layout, statistics) for _ in range(2))
        assert one.query.sql() == other.query.sql()
        assert one.tables.keys() == other.tables.keys()
