from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InternalError
from discreet.vault.growth.waiting import affordable, expected
from discreet.vault.safety.rule import Rule

SHARES = np.array([33, 22, 17, 6, 5, 4, 3, 3, 2, 2, 1, 1, 1])


def simulated(shares, rule, rows=60_000):
    """Rows that come one by one, and all go as soon as they are diverse: how many wait on average."""
    draw = np.random.default_rng(7)
    counts, total = np.zeros(shares.size, np.int64), 0
    for value in draw.choice(shares.size, rows, p=shares / shares.sum()):
        counts[value] += 1
        if rule.group(counts):
            counts[:] = 0
        total += int(counts.sum())
    return total / rows


@pytest.mark.parametrize(
    ("thresholds", "shares"),
    [
        ({"distinct_l": 2}, SHARES),
        ({"distinct_l": 5}, SHARES),
        ({"distinct_l": 7}, SHARES),
        ({"distinct_l": 3}, np.array([90, 5, 5])),
        ({"l": 2}, SHARES),
        ({"l": 3}, np.full(9, 1)),
        ({"k": 6}, SHARES),
    ],
)
def test_waiting_is_as_simulated(thresholds, shares):
    rule = Rule.of(thresholds)
    counts = shares * 10_000
    # 64 walks of l, whose lengths spread as widely as they are long
    tolerance = 0.4 if "l" in thresholds else 0.1
    assert expected(counts, counts, rule) == pytest.approx(simulated(shares, rule), rel=tolerance, abs=0.2)


def test_a_leaf_is_judged_by_its_own_rows_and_a_little_by_all():
    rule, all_counts = Rule.of({"distinct_l": 3}), np.array([100, 100, 100, 100])
    even = expected(np.array([50, 50, 50, 50]), all_counts, rule)
    skewed = expected(np.array([194, 2, 2, 2]), all_counts, rule)
    assert skewed > 3 * even
    assert expected(np.array([4, 0, 0, 0]), all_counts, rule) < skewed  # few rows tell little
    assert expected(np.array([9, 9, 0, 0]), np.array([9, 9, 0, 0]), rule) == np.inf


def test_more_leaves_are_afforded_if_more_may_wait():
    counts = SHARES * 2
    assert not affordable(counts, counts, Rule.of({"distinct_l": 5}, 0.02))
    assert affordable(counts, counts, Rule.of({"distinct_l": 5}, 0.2))
    assert affordable(counts * 10, counts, Rule.of({"distinct_l": 5}, 0.02))
    assert not affordable(np.array([3, 3]), np.array([3, 3]), Rule.of({"l": 2, "k": 9}, 50.0))


def test_only_diversity_and_sizes_can_be_asked_of_a_vault():
    with pytest.raises(InternalError):
        Rule.of({})
    with pytest.raises(InternalError):
        Rule.of({"l": 3, "e": 5})
