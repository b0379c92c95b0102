"""Law: the standard error by design means it: over many mixed releases, two of it reach the truth 19 times in 20."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from contracts.promised import guaranteed
from discreet.answer.estimators.design.linear import Ratio, Targets, averages, ratios, totals
from discreet.learn.design import Design
from discreet.partition.histogram import mixed
from discreet.release.groups import Groups
from discreet.values.coded import Coded
from discreet.values.random import RandomSource

ROWS, VALUES, RELEASES = 4000, 24, 120


def design_of(values: np.ndarray, groups: np.ndarray) -> Design:
    """The design of groups, from what each holds."""
    pairs, n = np.unique(groups.astype(np.int64) * VALUES + values, return_counts=True)
    of, codes = np.divmod(pairs, VALUES)
    every = np.arange(groups.max() + 2)
    rows = np.searchsorted(np.sort(groups), every).astype(np.int64)
    coded = Coded(codes.astype(np.uint8), pa.array(range(VALUES)))
    found = Groups(rows, np.searchsorted(of, every).astype(np.int64), n.astype(np.int32), coded)
    return Design.of(found, np.arange(VALUES, dtype=np.int32), np.zeros(groups.max() + 1, np.int32))


def scores(values: np.ndarray, match: np.ndarray, ages: np.ndarray, seed: int) -> list[float]:
    """Of one release, how many standard errors each estimate is away from the truth: counts, sums, means."""
    groups = mixed.mix(values.astype(np.int32), guaranteed({"l": 6}, values).rule, RandomSource(seed), 6)
    design = design_of(values, groups)
    offsets, keys = np.arange(design.size.size + 1), np.zeros(design.size.size, np.int32)
    sums = [np.bincount(groups, match * ages**power) for power in (0, 1, 2)]
    means = design.means(design.gather(offsets, keys, np.stack(sums, axis=1), 1))
    some, numbers = (np.arange(VALUES) % 5 < 2).astype(float), np.arange(VALUES, dtype=float)
    of, none = design.totals, np.zeros(1, np.int64)
    count, total, both = (Targets.of(design, (of * some * each)[None]) for each in (1, numbers, 1 + numbers))
    held = some[values] == 1
    found = [
        (totals(design, count, means[:1], none, none), match[held].sum()),
        (totals(design, total, means[:1], none, none), (match * values)[held].sum()),
        (totals(design, count, means[1:], none, none), (match * ages)[held].sum()),
        (ratios(design, Ratio(total, count, both, 0, 1), means, none, none), values[held & (match > 0)].mean()),
        (averages(design, count, means, none, none), ages[held & (match > 0)].mean()),
    ]
    return [float((column.estimate[0] - truth) / column.stderr[0]) for column, truth in found]


@pytest.mark.slow
@pytest.mark.parametrize("related", [True, False])
def test_two_standard_errors_reach_the_truth(related):
    rng = np.random.default_rng(14)
    school = rng.integers(0, 8, ROWS)
    values = np.clip((4 + (2 * school if related else 8) + rng.normal(0, 4, ROWS)).round(), 0, VALUES - 1).astype(int)
    ages = 20.0 + 3 * related * values + rng.integers(0, 40, ROWS)
    match = (school > 4).astype(float)
    found = np.array([scores(values, match, ages, seed) for seed in range(RELEASES)])
    assert (np.abs(found) <= 2).mean() > 0.93
    assert (np.abs(found) <= 2).mean(axis=0).min() > 0.89  # of 120 each: 0.954 less three standard deviations
    assert np.abs(found.mean(axis=0)).max() < 3.5 / np.sqrt(RELEASES)
    assert 0.8 < found.std() < 1.15
