"""Law: over all deals of a plan, the mean of the estimate by design is the truth, and its variance is the formula's."""

from __future__ import annotations

from math import prod
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from discreet.guarantees import Guarantee
from discreet.learn.design import Design
from discreet.partition.histogram import deal, mixed
from discreet.release.groups import Groups
from discreet.values.coded import Coded
from discreet.values.random import RandomSource
from laws.deals import Place, deals, random_plan, spread
from laws.law import law

RANDOM = st.randoms(use_true_random=True)


def design_of(plan: list[Place], cell: list[int]) -> Design:
    """The design of a plan, from what a release shows of it."""
    groups = max(group for group, _ in plan) + 1
    pairs = sorted(set(plan))
    n = np.array([plan.count(pair) for pair in pairs], np.int32)
    held = np.searchsorted([group for group, _ in pairs], np.arange(groups + 1)).astype(np.int64)
    rows = np.searchsorted(sorted(group for group, _ in plan), np.arange(groups + 1)).astype(np.int64)
    codes = np.array([value for _, value in pairs], np.uint8)
    values = pa.array(range(int(codes.max()) + 1))
    found = Groups(rows, held, n, Coded(codes, values))
    return Design.of(found, np.arange(len(values), dtype=np.int32), np.array(cell, np.int32))


def estimate(design: Design, target: np.ndarray, amounts: list[float]) -> float:
    """The estimate of a total, from what is in each group."""
    every = np.array(amounts, float)[:, None]
    offsets, keys = np.arange(len(every) + 1), np.zeros(len(every), np.int32)
    [[means]] = design.means(design.gather(offsets, keys, every, 1))
    return float(target @ means)


def check(plan: list[Place], cell: list[int], number: list[float], wanted: list[float]) -> bool:
    """Compare one target with all deals; False if the release does not tell it.

    Row i holds the value of place i, and has a number; wanted is the total of (number times what its value is worth).
    Two cells have no place of the same value, or else each its own permutation: a value is one of a cell.
    """
    design = design_of(plan, cell)
    groups, values = len(cell), design.values
    target = np.zeros(design.columns)
    for group, value in plan:
        target[cell[group] * values + value] += wanted[value]
    if not design.told(target[None])[0]:
        return False
    inside = [(group, cell[group] * values + value) for group, value in plan]
    found = []
    for row_at in deals(inside):
        amounts = [0.0] * groups
        for (group, _), row in zip(plan, row_at, strict=True):
            amounts[group] += number[row]
        found.append(estimate(design, target, amounts))
    mean, variance = spread(found)
    truth = sum(wanted[value] * each for (_, value), each in zip(plan, number, strict=True))
    assert mean == pytest.approx(truth, abs=1e-9)
    [spreads] = design.spreads(target[None])
    real = 0.0
    for column in range(design.columns):
        held = [each for (_, value), each in zip(inside, number, strict=True) if value == column]
        real += spreads[column] * float(np.var(held)) if held else 0
    assert variance == pytest.approx(real, abs=1e-7)
    return True


@law(40)
@given(RANDOM)
def test_design_is_unbiased(rng: Random) -> None:
    """COUNT (numbers 0 and 1) and SUM, of rows whose values are some of all, or each worth another number."""
    values = rng.choice([2, 3])
    plan = random_plan(rng, groups=rng.choice([3, 4, 5]), values=values, most=4 if values == 2 else 3)
    cells = rng.choice([1, 1, 2])
    cell = sorted(rng.randrange(cells) for _ in range(max(group for group, _ in plan) + 1))
    number = [float(rng.choice([0, 1]) if rng.random() < 0.5 else rng.randint(-3, 9)) for _ in plan]
    wanted = [float(rng.choice([0, 1, 1, 7, -2])) for _ in range(values)]
    note(f"{plan} {cell} {number} {wanted}")
    check(plan, cell, number, wanted)


def test_most_plans_tell() -> None:
    """The law is about something: of such plans, most tell the number of rows with one value."""
    told = 0
    for seed in range(20):
        plan = random_plan(Random(seed), groups=5, values=3, most=3)  # noqa: S311
        told += check(plan, [0] * (plan[-1][0] + 1), [float(i % 2) for i in range(len(plan))], [1, 0, 0])
    assert told >= 15


def test_what_every_group_has_alike_is_not_told() -> None:
    plan = [(group, value) for group in range(4) for value in (0, 1, 2)]
    design = design_of(plan, [0] * 4)
    targets = np.array([[4.0, 4, 4], [4, 0, 0], [0, 4, -4]])
    assert design.told(targets).tolist() == [True, False, False]
    assert not design.full
    assert design.eigenvalues.ravel() == pytest.approx([0, 0, 1], abs=1e-12)
    assert estimate(design, targets[0], [1, 2, 3, 0]) == pytest.approx(6)


def test_parts_add_up_to_the_total_exactly() -> None:
    plan = random_plan(Random(5), groups=8, values=3, most=9)  # noqa: S311
    design = design_of(plan, [0] * 8)
    parts = np.diag(design.totals)
    amounts = [float(i % 3) for i in range(8)]
    assert sum(estimate(design, part, amounts) for part in parts) == pytest.approx(sum(amounts))
    assert design.weights(design.totals[None]) == pytest.approx(np.ones((1, 8)))
    assert prod(design.eigenvalues.shape) == 3


def dealt(counts: list[int], l: int, by: str) -> list[Place]:
    """The places that a partition makes of so many rows of each value."""
    held, rule = np.array(counts, np.int32), Guarantee.of({"l": l}).rule
    made = mixed.plan(held, rule, RandomSource(7), 6) if by == "mixed" else deal.plan(held, rule)
    return list(zip(made.tolist(), np.repeat(np.arange(held.size), held).tolist(), strict=True))


@pytest.mark.parametrize("by", ["deal", "mixed"])
@pytest.mark.parametrize(
    ("counts", "l"), [([9, 9, 8, 7, 6, 5, 4], 3), ([28, 27, 25, 21, 19, 17, 13], 5), ([8] * 10, 4)]
)
def test_groups_of_l_different_values_tell_as_much_on_average(counts: list[int], l: int, by: str) -> None:
    """The mean eigenvalue is the same however groups are made, so no plan tells more of all contrasts."""
    plan, values = dealt(counts, l, by), len(counts)
    assert np.bincount([group for group, _ in plan]).tolist() == [l] * (len(plan) // l)
    assert len(set(plan)) == len(plan)
    design = design_of(plan, [0] * (len(plan) // l))
    *rest, whole = design.eigenvalues.ravel()
    assert whole == pytest.approx(1)
    assert sum(rest) + whole == pytest.approx(values / l)
    mean = (values - l) / (l * (values - 1))
    assert np.mean(rest) == pytest.approx(mean)
    told = np.array(rest)[np.array(rest) > 1e-6]
    assert len(told) < len(rest) or np.mean(1 / told - 1) / np.mean(1 - told) >= 1 / mean - 1e-9


def test_without_a_relation_errors_are_as_the_eigenvalues_say() -> None:
    """Along a contrast of eigenvalue e the variance is 1 / e - 1 by design, and 1 - e by `even`."""
    plan = dealt([28, 27, 25, 21, 19, 17, 13], 5, "mixed")
    design = design_of(plan, [0] * (len(plan) // 5))
    told, vectors, scale = (part[0] for part in design.parts)
    targets = vectors.T / scale
    worth = targets / design.totals  # of a row, if its value were seen
    group, value = np.array(plan).T
    shared = np.array([np.bincount(group, each[value]) for each in worth]) / design.size
    for weights, wanted in ((design.weights(targets), 1 / told - 1), (shared, 1 - told)):
        off = weights[:, group] - worth[:, value]  # of a row whose number has a variance of 1
        assert (off**2).sum(axis=1) == pytest.approx(wanted, abs=1e-9)
