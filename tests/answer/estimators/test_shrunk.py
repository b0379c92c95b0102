"""`shrunk`: even where nothing is related, near the truth where something is, and open about its bias."""

from __future__ import annotations

import numpy as np
import pytest

from answer.estimators.dealt import dealt, people, shuffled
from discreet.errors import QueryError
from discreet.learn.design import Design
from discreet.learn.shrunk import Shrinkage
from laws.test_design_coverage import VALUES, design_of

ROWS, SIZE = 6000, 6


def expected(design: Design, groups: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """What `even` expects of every value: what a group has, shared out evenly."""
    offsets, keys = np.arange(design.size.size + 1), np.zeros(design.size.size, np.int32)
    return design.gather(offsets, keys, np.bincount(groups, amounts)[:, None], 1)[0]


def one(*, related: bool, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of rows, their groups, and which of them match."""
    rng = np.random.default_rng(seed)
    school = rng.integers(0, 8, ROWS)
    values = np.clip((4 + (2 * school if related else 8) + rng.normal(0, 3, ROWS)).round(), 0, VALUES - 1).astype(int)
    return values, shuffled(ROWS, SIZE, seed), (school > 5).astype(float)


def test_shrunk_is_even_without_a_relation():
    values, groups, match = one(related=True, seed=1)
    design = design_of(values, groups)
    even = expected(design, groups, match)
    wanted = np.diag(design.totals)
    mean = np.repeat(design.means(even), VALUES, axis=0)
    found, _ = Shrinkage(design, ordered=True, shares=()).totals(wanted, mean, mean)
    assert found == pytest.approx(even[0])


def test_the_larger_the_relation_the_nearer_to_design():
    values, groups, match = one(related=True, seed=2)
    design = design_of(values, groups)
    means = design.means(expected(design, groups, match))
    wanted = (design.totals * (np.arange(VALUES) > 15))[None]
    plain, even = float((wanted @ means.T)[0, 0]), float(expected(design, groups, match)[0] @ (np.arange(VALUES) > 15))
    [little], _ = Shrinkage(design, ordered=False, shares=(1e-9,)).totals(wanted, means, means)
    [much], _ = Shrinkage(design, ordered=False, shares=(1 - 1e-9,)).totals(wanted, means, means)
    assert abs(little - even) < 0.01 * abs(plain - even)
    assert abs(much - plain) < 0.05 * abs(plain - even)


@pytest.mark.slow
def test_it_is_as_good_as_even_where_nothing_is_related_and_nearer_than_design_where_something_is():
    errors: dict[bool, list[tuple[float, float, float, bool]]] = {True: [], False: []}
    for related, found in errors.items():
        for seed in range(60):
            values, groups, match = one(related=related, seed=seed)
            design = design_of(values, groups)
            even = expected(design, groups, match)
            means = design.means(even)
            some = np.arange(VALUES) > 10 + seed % 6 if seed % 2 else np.arange(VALUES) % 4 == seed % 4
            truth = match[some[values]].sum()
            wanted = (design.totals * some)[None]
            [own], [variance] = Shrinkage(design, ordered=True).totals(wanted, means, means)
            plain = float(wanted[0] @ means[0])
            within = abs(own - truth) <= 2 * np.sqrt(variance)
            found.append((abs(own - truth), abs(even[0] @ some - truth), abs(plain - truth), within))
    (own, even, plain, within), (other, flat, _, inside) = (np.mean(errors[each], axis=0) for each in (True, False))
    assert other <= 1.1 * flat
    assert own < plain
    assert own < 0.8 * even
    assert min(within, inside) > 0.85


def test_an_answer_by_shrunk_lies_between_and_says_what_it_is(tmp_path):
    table = people(ROWS, 3)
    release = dealt(table, shuffled(ROWS, SIZE, 4), tmp_path / "release")
    question = (
        "SELECT COUNT(*) AS n, SUM(salary) AS s, AVG(salary) AS m, AVG(age) AS a, MEDIAN(salary) AS q FROM microdata"
        " WHERE school > 5 AND salary > 15000"
    )
    [even], [design], [shrunk] = (release.ask(question, estimator=each).rows() for each in ("even", "design", "shrunk"))
    held = table.to_pandas().query("school > 5 and salary > 15000")
    truth = {"n": len(held), "s": held.salary.sum(), "m": held.salary.mean(), "a": held.age.mean()}
    for name, real in truth.items():
        assert abs(shrunk[name] - real) < 4 * shrunk[f"{name}_stderr"]
        assert shrunk[f"{name}_stderr"] <= 1.5 * design[f"{name}_stderr"], name
    assert abs(shrunk["n"] - truth["n"]) < abs(even["n"] - truth["n"]) / 3
    answer = release.ask(question, estimator="shrunk")
    assert answer.estimators == {**dict.fromkeys("nsma", "shrunk"), "q": "design"}
    assert "q: `shrunk` has no quantiles; the estimate is that of `design`" in answer.notes
    assert "on average it is nearer to the truth than `design`, but not without bias" in answer.assumption


def test_it_needs_the_same_chance_as_design(tmp_path):
    table = people(ROWS, 3)
    release = dealt(
        table, shuffled(ROWS, SIZE, 4), tmp_path / "near", partition="local", randomness="near", estimator="even"
    )
    with pytest.raises(QueryError, match="`shrunk` is not valid for groups of people who are alike"):
        release.ask("SELECT AVG(salary) FROM microdata WHERE school = 7", estimator="shrunk")
