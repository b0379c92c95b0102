"""The fit to groups: what expected counts are short of, the steps of members, and what is left to the prior."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.learn.climb import Climb, Short
from discreet.learn.ensemble import ensemble
from discreet.learn.features import Column, features
from discreet.learn.kinds import Kinds
from discreet.learn.logit import Evidence, Model
from discreet.values.coded import code
from learn.test_swaps import law

KINDS, COPIES = 4, 3000


def evidence(rows: list[int], values: list[int], seen: npt.NDArray[np.float32], copies: int = COPIES) -> Evidence:
    """So many groups of rows of these combinations that hold these values, once each."""
    starts = np.arange(copies + 1, dtype=np.int64) * len(rows)
    kind = np.tile(np.sort(np.array(values, np.int32)), copies)
    ones = np.ones(kind.size, np.float32)
    return Evidence(starts, np.tile(np.array(rows, np.int32), copies), seen, starts, kind, ones)


def drawn(seen: npt.NDArray[np.float32], groups: int) -> Evidence:
    """Groups of three rows at random; the larger the combination of a row, the smaller its kind is likely to be."""
    random = np.random.default_rng(5)
    rows = random.integers(0, len(seen), 3 * groups).astype(np.int32)
    held = (random.random(rows.size) ** (1 + rows) * KINDS).astype(np.int64)
    pairs, counts = np.unique(np.arange(rows.size) // 3 * KINDS + held, return_counts=True)
    starts, first = np.arange(groups + 1) * 3, np.searchsorted(pairs, np.arange(groups + 1) * KINDS)
    return Evidence(starts, rows, seen, first, (pairs % KINDS).astype(np.int32), counts.astype(np.float32))


def shape(seen: npt.NDArray[np.float32]) -> Model:
    """A model of texts, whose features are all of one family but for the constant."""
    base = np.full(KINDS, -np.log(KINDS), np.float32)
    family = np.minimum(np.arange(seen.shape[1]), 1).astype(np.int32)
    return Model(base, np.eye(KINDS, dtype=np.float32), family, np.array([[0.5, 0.5], [0.4, 0.4]]))


def test_expected_counts_are_corrected_by_swaps() -> None:
    """Relations so strong that expected counts are off, against all assignments one by one."""
    seen = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]], np.float32)
    rows, values = [0, 1, 2, 3], [0, 1, 2, 3]
    groups, model = evidence(rows, values, seen), shape(seen)
    numbers = np.random.default_rng(2).normal(0, 2, (3, KINDS)).astype(np.float32)
    chances = model.chances(seen, numbers)
    truth = np.zeros(chances.shape)
    for order, share in law(rows, values, chances).items():
        truth[rows, list(order)] += COPIES * share
    climb, short = Climb.of(groups, model), Short.of(groups, model)
    expected = climb.slope(numbers, climb.once) + seen.T @ (COPIES * np.exp(chances))
    for _ in range(5):
        climb.look(short, numbers, np.random.default_rng(7))
    wanted = seen.T @ truth
    assert np.abs(expected - wanted).max() > 0.02 * COPIES  # the correction has something to do
    assert np.abs(expected + short.by - wanted).max() < 0.01 * COPIES


def test_a_step_makes_the_slope_fall_as_asked() -> None:
    seen = np.array([[1, 0], [1, 1]], np.float32)
    groups, model = drawn(seen, 300), shape(seen)
    climb, at = Climb.of(groups, model), np.full((2, KINDS), 0.1, np.float32)
    each = model.each(model.initial)
    right = np.random.default_rng(1).normal(0, 1, at.shape).astype(np.float32)
    found = climb.solved(at, right, each, climb.metric(model.initial).told(0.3))
    tiny = np.float32(0.01)
    slopes = [climb.slope((at + side * tiny * found) * each, climb.once) * each for side in (-1, 1)]
    fallen = found + (slopes[0] - slopes[1]) / (2 * tiny)
    assert np.allclose(fallen, right, atol=0.05)


def test_what_groups_do_not_tell_is_left_to_the_prior() -> None:
    """A feature that no row has: its numbers are draws from the prior, around 0."""
    seen = np.array([[1, 0, 0], [1, 1, 0]], np.float32)
    groups, model = drawn(seen, 600), shape(seen)
    found = ensemble(groups, model, 200, np.random.default_rng(3), epochs=2).numbers
    assert np.allclose(found.mean(0)[2], 0, atol=5e-3)  # disturbances sum to 0
    contrasts = found - found.mean(2, keepdims=True)  # what is added to all kinds changes no probability
    known, _, unknown = (contrasts[:, feature].std() for feature in range(3))
    assert unknown > 2 * known
    assert np.allclose(found[:, 2].std(0) / found[:, 2].std(), 1, atol=0.25)


def test_families_of_columns_are_not_those_of_curves() -> None:
    """Levels of the first and of the second column, curves and pairs: each has a spread of its own."""
    ages = code(pa.array([i % 40 for i in range(400)]))
    towns = code(pa.array([f"t{i % 7}" for i in range(400)]))
    found = features([ages, towns])
    pairs, family = found.families
    assert Column.of(ages).curves.shape[1] == 2
    assert pairs == [False, False, False, False, True]
    assert np.unique(family).tolist() == [0, 1, 2, 3, 4]
    model = Model.of(found, Kinds.among(np.arange(100, dtype=np.int32), pa.array([float(i) for i in range(100)])))
    assert (model.initial[:4, 1] > 0).all()  # a column has numbers of its own for every kind
    assert model.initial[4, 1] == 0
