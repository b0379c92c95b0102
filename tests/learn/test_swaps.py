"""Swaps and expected counts against all assignments of small groups, listed one by one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.learn.swaps import expect, swap

KINDS, COMBINATIONS = 5, 4


def chances(seed: int, spread: float) -> npt.NDArray[np.float32]:
    """Log-probabilities of kinds for combinations."""
    logits = np.random.default_rng(seed).normal(0, spread, (COMBINATIONS, KINDS))
    return np.asarray(logits - np.log(np.exp(logits).sum(1, keepdims=True)), np.float32)


def law(rows: list[int], values: list[int], log: npt.NDArray[np.float32]) -> dict[tuple[int, ...], float]:
    """How likely each assignment of the values to rows of these combinations is: every order, one by one."""
    found: dict[tuple[int, ...], float] = {}
    for order in set(permutations(values)):
        found[order] = float(np.exp(sum(float(log[row, value]) for row, value in zip(rows, order, strict=True))))
    total = sum(found.values())
    return {order: weight / total for order, weight in found.items()}


@pytest.mark.parametrize(
    ("rows", "values"),
    [([0, 1], [2, 3]), ([0, 1, 2], [0, 0, 4]), ([0, 1, 2, 3], [0, 1, 2, 3]), ([3, 3, 1, 0], [4, 2, 2, 1])],
)
def test_swaps_draw_from_the_law(rows: list[int], values: list[int]) -> None:
    times, log = 4000, chances(3, 1.0)
    groups = np.arange(times + 1, dtype=np.int64) * len(rows)
    table = np.tile(np.array(values, np.uint8), times)
    combination = np.tile(np.array(rows, np.int32), times)
    swap(groups, combination, np.arange(KINDS, dtype=np.int32), log, np.uint64(11), 40, table)
    found = Counter(map(tuple, table.reshape(times, -1).tolist()))
    expected = law(rows, values, log)
    assert set(found) <= set(expected)
    for order, share in expected.items():
        assert abs(found[order] / times - share) < 5 * sqrt(share * (1 - share) / times)


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=6),
    seed=st.integers(0, 2**64 - 1),
    spread=st.floats(0, 30),
)
def test_swaps_keep_what_a_group_has(sizes: list[int], seed: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    before = random.integers(0, KINDS, starts[-1]).astype(np.uint8)
    table = before.copy()
    combination = random.integers(0, COMBINATIONS, starts[-1]).astype(np.int32)
    swap(starts, combination, np.arange(KINDS, dtype=np.int32), chances(seed % 97, spread), np.uint64(seed), 3, table)
    for first, last in pairwise(starts):
        assert sorted(table[first:last]) == sorted(before[first:last])


def expected(rows: list[int], values: list[int], log: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """By the kernel: how many rows of each combination hold each kind."""
    kinds, counts = np.unique(values, return_counts=True)
    held, total = np.empty((COMBINATIONS, KINDS), np.float32), np.empty(COMBINATIONS, np.float32)
    expect(
        np.array([0, len(rows)]),
        np.array(rows, np.int32),
        np.array([0, kinds.size]),
        kinds.astype(np.int32),
        counts.astype(np.float32),
        np.ones(1, np.float32),
        log,
        20,
        held,
        total,
    )
    assert total.tolist() == np.bincount(rows, minlength=COMBINATIONS).tolist()
    return held


def listed(rows: list[int], values: list[int], log: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """The same by listing every assignment."""
    held = np.zeros((COMBINATIONS, KINDS))
    for order, share in law(rows, values, log).items():
        for row, value in zip(rows, order, strict=True):
            held[row, value] += share
    return held


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0])
def test_two_rows_are_expected_exactly(spread: float) -> None:
    log = chances(5, spread)
    assert np.allclose(expected([0, 1], [2, 3], log), listed([0, 1], [2, 3], log), atol=1e-4)


@pytest.mark.parametrize(("rows", "values"), [([0, 1, 2, 3, 0], [0, 1, 2, 3, 4]), ([3, 3, 1, 0, 2], [4, 2, 2, 1, 1])])
def test_more_rows_are_expected_to_first_order(rows: list[int], values: list[int]) -> None:
    """What is left falls with the square of how much rows differ: halve that, and a quarter is left."""
    errors = []
    for spread in (0.4, 0.2):
        log = chances(7, spread)
        even = listed(rows, values, np.zeros_like(log))
        errors.append(np.abs(expected(rows, values, log) - listed(rows, values, log)).max())
        assert errors[-1] < 0.1 * np.abs(listed(rows, values, log) - even).max()
    assert errors[1] < errors[0] / 2.5
