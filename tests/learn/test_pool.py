"""Pooling by Rubin's rules, against figures from the literature and by hand."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.errors import InputError
from discreet.learn.student import quantile


@pytest.mark.parametrize(
    ("share", "df", "expected"),
    [  # printed in any table of Student's distribution
        (0.975, 1, 12.7062),
        (0.975, 2, 4.3027),
        (0.95, 4, 2.1318),
        (0.975, 19, 2.0930),
        (0.995, 30, 2.7500),
        (0.975, 120, 1.9799),
        (0.975, inf, 1.9600),
    ],
)
def test_quantiles(share: float, df: float, expected: float) -> None:
    assert quantile(share, df) == pytest.approx(expected, abs=5e-5)


def test_pool_follows_rubin() -> None:
    """By hand: M = 3, q = 10, 12, 14, u = 1: within 1, between 4, total 1 + 4/3 · 4 = 19/3."""
    found = discreet.pool([(10, 1), (12, 1), (14, 1)])
    assert found.estimate == 12
    assert found.stderr == pytest.approx(sqrt(19 / 3))
    assert found.missing == pytest.approx((16 / 3) / (19 / 3))
    assert found.df == pytest.approx(2 * (1 + 1 / (16 / 3)) ** 2)
    assert found.high - found.estimate == pytest.approx(found.stderr * quantile(0.975, found.df))
    assert found.low + found.high == pytest.approx(24)
    assert repr(found) == f"pooled over 3 tables\n12 ± 2.517 (95%: {found.low:.4g} to {found.high:.4g})"


def test_facts_of_the_rows_have_no_variance_of_their_own() -> None:
    found = discreet.pool([1.0, 3.0], level=0.9)
    assert (found.estimate, found.stderr, found.df, found.missing) == (2, pytest.approx(sqrt(3)), 1, 1)
    same = discreet.pool([5, 5, 5])
    assert (same.estimate, same.stderr, same.low, same.high, same.df) == (5, 0, 5, 5, inf)


def test_few_rows_leave_fewer_degrees_of_freedom() -> None:
    results = [(10, 1), (12, 1), (14, 1)]
    missing = discreet.pool(results).missing
    old, observed = 2 / missing**2, 21 / 23 * 20 * (1 - missing)
    assert discreet.pool(results, complete_df=20).df == pytest.approx(1 / (1 / old + 1 / observed))
    assert discreet.pool([1.0, 3.0], complete_df=20).df == 1
    assert discreet.pool([(5, 1), (5, 1)], complete_df=20).df == pytest.approx(21 / 23 * 20)


FORMS: list[list[Any]] = [
    [np.array([1.0, 4.0]), np.array([3.0, 4.0])],
    [[1, 4], [3, 4]],
    [{"a": 1, "b": 4}, {"a": 3, "b": 4}],
    [pd.Series([1, 4], ["a", "b"]), pd.Series([3, 4], ["a", "b"])],
    [(np.array([1, 4]), np.zeros(2)), (np.array([3, 4]), np.zeros(2))],
    [{"a": (1, 0), "b": (4, 0)}, {"a": (3, 0), "b": (4, 0)}],
    [pd.DataFrame({"estimate": [one, 4], "stderr": [0, 0]}, ["a", "b"]) for one in (1, 3)],
]


@pytest.mark.parametrize("results", FORMS)
def test_forms_of_results(results: list[Any]) -> None:
    found = discreet.pool(iter(results))
    assert found.estimate.tolist() == [2, 4]
    assert found.stderr.tolist() == pytest.approx([sqrt(3), 0])
    named = not isinstance(results[0], np.ndarray | list | tuple)
    assert found.names == (("a", "b") if named else None)
    assert [row["name"] for row in found.rows()] == (["a", "b"] if named else [0, 1])


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([1.0], "at least 2 tables, got 1"),
        ([], "at least 2 tables, got 0"),
        ([{"a": 1}, {"b": 1}], "do not have the same names"),
        ([[1, 2], [1]], "not as many, in every table"),
        ([1.0, float("nan")], "missing or not finite"),
        ([(1, -1), (1, 1)], "a stderr is below 0"),
        ([(1, 1, 1), (1, 1, 1)], r"a pair is \(estimate, stderr\), got 3"),
        (["one", "two"], "of the type `str` cannot be pooled"),
        ([pd.DataFrame({"mean": [1]})] * 2, "the columns `estimate` and `stderr`"),
        ([{"a": [1, 2]}] * 2, "a dict of results holds numbers"),
        ([(np.ones(2), np.ones(3))] * 2, "not as many stderr as estimates"),
        (3, "expected the results of several tables, got one of the type `int`"),
    ],
)
def test_what_cannot_be_pooled_is_refused(results: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        discreet.pool(results)


def test_levels_and_degrees_of_freedom_are_checked() -> None:
    with pytest.raises(InputError, match="a level lies between 0 and 1, got 95"):
        discreet.pool([1, 2], level=95)
    with pytest.raises(InputError, match="a level lies between 0 and 1, got '95%'"):
        discreet.pool([1, 2], level="95%")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="degrees of freedom are above 0"):
        discreet.pool([1, 2], complete_df=0)
