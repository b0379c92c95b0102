"""Mixed: trades against the definition, on tables small enough to try everything."""

from collections import Counter, defaultdict
from itertools import combinations
from math import factorial, prod, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.promised import GUARANTEES, check, fair, guaranteed, keeps
from contracts.test_harmless import guarantee_of, spared, tables
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.partition.histogram import deal, mixed
from discreet.partition.trades import Chance
from discreet.values.random import RandomSource

MIXED = PARTITIONS["mixed"]


def rule_of(promised, values):
    return guaranteed(promised, np.array(values, np.int32)).rule


def held_by(plan, counts):
    """What each group holds, by a plan: the group of every row when rows are sorted by value."""
    groups = defaultdict(Counter)
    for group, value in zip(plan.tolist(), np.repeat(np.arange(len(counts)), counts).tolist(), strict=True):
        groups[group][value] += 1
    return groups


@pytest.mark.parametrize("promised", GUARANTEES, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32), rounds=st.integers(1, 9))
def test_trades_keep_counts_sizes_and_promises(promised, data, seed, rounds):
    counts = np.array(fair(data.draw(st.lists(st.integers(1, 14), min_size=1, max_size=12)), promised))
    values = np.repeat(np.arange(counts.size), counts)
    rule, table = rule_of(promised, values), Counter(values.tolist())
    before, after = deal.plan(counts, rule), mixed.plan(counts, rule, RandomSource(seed), rounds)
    assert np.array_equal(np.bincount(before), np.bincount(after)), "groups are as large as deal makes them"
    assert sum(held_by(after, counts).values(), Counter()) == table
    assert all(keeps(group, promised, table) for group in held_by(after, counts).values())


def outcomes(mine, yours, promised, draws=600):
    """What two groups may hold after one trade."""
    held = np.array([*mine, *yours], np.int32)
    rule, starts = rule_of(promised, held), np.array([0, len(mine), len(held)])
    found = Counter()
    for seed in range(draws):
        now = held.copy()
        Chance.of(starts, int(held.max()) + 1, rule, RandomSource(seed)).trade(now, starts, np.array([0, 1], np.int32))
        assert sorted(now) == sorted(held)
        found[tuple(sorted(now[: len(mine)].tolist()))] += 1
    return found


@pytest.mark.parametrize(
    ("mine", "yours", "promised"),
    [
        ([0, 1, 2], [3, 4, 5], {"l": 3}),
        ([0, 1, 2], [0, 3, 4], {"l": 3}),  # both hold 0, and each must
        ([0, 1, 2, 3], [0, 4, 5], {"l": 3}),  # a remainder makes one group larger
        ([0, 0, 1, 2], [0, 3, 4, 5], {"l": 2}),  # two copies fit, three do not
        ([0, 0, 1, 2], [0, 1], {"l": 2}),
        ([0, 0, 0], [1, 1], {"k": 2}),
        ([0, 1, 2, 2], [2, 3, 4, 5], {"distinct_l": 3}),
        ([0, 1, 2], [3, 4], {"distinct_l": 2}),
        ([0, 1, 1, 2], [0, 2, 3, 4], {"k": 4, "beta": 3}),
    ],
    ids=str,
)
def test_a_trade_may_end_in_all_that_is_allowed(mine, yours, promised):
    """Every way to divide what two groups hold that keeps the promises is met, and none that does not."""
    copies = [*mine, *yours]
    table, allowed = Counter(copies), set()
    for here in combinations(range(len(copies)), len(mine)):
        sides = [Counter(copies[i] for i in range(len(copies)) if (i in here) == side) for side in (True, False)]
        if all(keeps(side, promised, table) for side in sides):
            allowed.add(tuple(sorted(copies[i] for i in here)))
    met = set(outcomes(mine, yours, promised))
    assert met == allowed
    assert len(met) > 1


def test_a_trade_keeps_a_range_even_where_it_must_be_taken_back():
    """Of (k,e) with ends that only one value of each group reaches, what lies between is traded."""
    mine, yours, promised = [0, 3, 4, 9], [1, 5, 6, 8], {"k": 4, "e": 13}
    met = outcomes(mine, yours, promised)
    assert len(met) > 10
    for here in met:
        there = Counter([*mine, *yours]) - Counter(here)
        assert keeps(Counter(here), promised)
        assert keeps(there, promised)


def test_what_only_one_group_holds_is_shuffled_uniformly():
    draws = 4000
    found = outcomes([0, 1, 2], [0, 3, 4], {"l": 3}, draws)
    assert len(found) == 6  # two of 1, 2, 3, 4 join 0
    statistic = sum((seen - draws / 6) ** 2 / (draws / 6) for seen in found.values())
    # Laurent and Massart (2000), lemma 1: chi-square with 5 degrees of freedom exceeds this with p < exp(-20).
    assert statistic < 5 + 2 * sqrt(5 * 20) + 2 * 20


def test_given_the_plan_every_assignment_is_as_likely():
    """Which rows of a value take which of its places is uniform, whatever the trades have made of the places."""
    sensitive, draws = np.array([0, 1, 2, 0, 1, 3], np.int32), 4000
    seen = defaultdict(Counter)
    for seed in range(draws):
        groups = MIXED.assign([], sensitive, Guarantee.of({"l": 2}, None, None, None), RandomSource(seed))
        plan = tuple(tuple(sorted(sensitive[groups == g].tolist())) for g in range(3))
        seen[plan][tuple(groups.tolist())] += 1
    assert len(seen) > 10
    for plan, found in seen.items():
        places = [Counter(group) for group in plan]
        ways = prod(
            factorial(int(np.count_nonzero(sensitive == v))) // prod(factorial(group[v]) for group in places)
            for v in range(4)
        )
        times = sum(found.values()) / ways
        statistic = sum((n - times) ** 2 / times for n in found.values()) + (ways - len(found)) * times
        # as above; there are fewer than exp(4) plans
        assert statistic < ways - 1 + 2 * sqrt((ways - 1) * 24) + 2 * 24


def test_mixed_looks_at_no_quasi_identifier():
    rng = np.random.default_rng(3)
    sensitive, guarantee = rng.integers(0, 12, 500).astype(np.int32), Guarantee.of({"l": 4}, None, None, None)
    quasi = [[rng.integers(0, 9, 500).astype(np.int32)], [np.arange(500, dtype=np.int32)], []]
    made = [MIXED.assign(columns, sensitive, guarantee, RandomSource(5)) for columns in quasi]
    assert all(np.array_equal(groups, made[0]) for groups in made)
    assert MIXED.view([object()]) == []  # it is not even given any


@pytest.mark.parametrize("promised", GUARANTEES, ids=str)
@settings(max_examples=8, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32), wanted=st.integers(2, 12))
def test_cells_keep_the_guarantee_and_are_numbered(promised, data, seed, wanted):
    """Every group keeps the promises and lies in one cell; cells are as large as was asked, or all there is."""
    counts = fair(data.draw(st.lists(st.integers(1, 14), min_size=1, max_size=12)), promised)
    sensitive = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    place = np.random.default_rng(seed).permutation(sensitive.size).astype(np.int32)
    guarantee = guaranteed(promised, sensitive)
    placed = MIXED.place([place], sensitive, guarantee, RandomSource(seed), {"cells": wanted})
    check(placed.groups, sensitive, promised)
    assert len(placed.cells) <= wanted
    assert sum(placed.cells) == placed.groups.max() + 1
    cell = np.repeat(np.arange(len(placed.cells)), placed.cells)[placed.groups]
    assert len(placed.cells) == 1 or np.bincount(cell).min() * wanted >= sensitive.size
    changes = np.count_nonzero(np.diff(cell[np.argsort(place)]))
    assert changes == len(placed.cells) - 1, "no two rows share a place, so cells are stretches"


@settings(max_examples=15, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_harmless_values_are_traded_for_each_other(data, seed):
    """In cells or not: without harmless rows every group keeps `l`, and all have the share of them that dealing gives."""
    promised = {"l": 2, "beta": 3}
    sensitive, quasi, harmless = data.draw(tables(promised))
    table, guarantee = Counter(sensitive.tolist()), guarantee_of(promised, sensitive, harmless)
    if not spared(table, promised, harmless, table):
        return
    columns = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in quasi]
    for options in ({}, {"cells": 3}):
        groups = MIXED.assign(columns, sensitive, guarantee, RandomSource(seed), options)
        held = [Counter(sensitive[groups == group].tolist()) for group in range(groups.max() + 1)]
        assert all(spared(each, promised, harmless, table) for each in held)
        if not options:
            free = np.isin(np.arange(sensitive.max() + 1), list(harmless))
            dealt = held_by(deal.plan(np.bincount(sensitive), guarantee.rule), np.bincount(sensitive))
            shares = [[sum(n for v, n in each.items() if free[v]) for each in way] for way in (held, dealt.values())]
            assert sorted(shares[0]) == sorted(shares[1])


def test_cells_tell_nothing():
    """Whoever of a group holds which of its values: by the same chance, every row is in the same cell."""
    rng, made = np.random.default_rng(8), 0
    for trial, promised in enumerate([{"l": 2}, {"l": 3, "distinct_l": 3}, {"k": 4, "e": 5}, {"beta": 2}] * 10):
        sensitive = np.append(np.arange(8), rng.integers(0, 8, 112)).astype(np.int32)
        quasi = [rng.integers(0, 20, 120).astype(np.int32), rng.integers(0, 3, 120).astype(np.int32)]
        guarantee, cells, other = guaranteed(promised, sensitive), [], sensitive.copy()
        for values in (sensitive, other):
            placed = MIXED.place(quasi, values, guarantee, RandomSource(trial), {"cells": 8})
            cells.append(np.repeat(np.arange(len(placed.cells)), placed.cells)[placed.groups])
            for group in range(sum(placed.cells) if values is sensitive else 0):
                members = np.flatnonzero(placed.groups == group)
                other[members] = other[rng.permutation(members)]
        assert not np.array_equal(sensitive, other)
        assert np.array_equal(*cells)
        made += len(placed.cells)
    assert made > 80, "hardly anything was cut: nothing would be tested"


def test_in_a_cell_every_assignment_is_as_likely():
    """Two cells of four rows: in each, who of the two that hold the same value is in which group is an even chance."""
    place = [np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)]
    sensitive, draws = np.array([0, 0, 1, 2, 3, 3, 4, 5], np.int32), 1500
    found = Counter()
    for seed in range(draws):
        guarantee = Guarantee.of({"l": 2}, None, None, None)
        placed = MIXED.place(place, sensitive, guarantee, RandomSource(seed), {"cells": 2})
        assert placed.cells == (2, 2)
        found[tuple(placed.groups.tolist())] += 1
    assert len(found) == 16
    statistic = sum((n - draws / 16) ** 2 / (draws / 16) for n in found.values())
    assert statistic < 15 + 2 * sqrt(15 * 20) + 2 * 20  # as above


def spectrum(groups, sensitive):
    """The eigenvalues of D^(-1/2) N'N D^(-1/2), N the counts of values in groups and D those in the table."""
    table = np.zeros((groups.max() + 1, sensitive.max() + 1))
    np.add.at(table, (groups, sensitive), 1)
    scaled = table / np.sqrt(table.sum(axis=0))
    return np.linalg.eigvalsh(scaled.T @ scaled)


def test_groups_can_be_told_apart_by_what_they_hold():
    """A regression on groups' values is sharp if no eigenvalue is near 0; dealt groups are nearly all alike."""
    weights = np.arange(25, 0, -1) / 325
    sensitive = np.random.default_rng(2).choice(25, 5000, p=weights).astype(np.int32)
    smallest = {}
    for name in ("deal", "anatomize", "mixed"):
        guarantee = Guarantee.of({"l": 8}, None, None, None)
        found = spectrum(PARTITIONS[name].assign([], sensitive, guarantee, RandomSource(1)), sensitive)
        smallest[name] = found[0], np.median(found)
    assert smallest["deal"][0] < 0.01
    assert smallest["anatomize"][0] < 0.1
    assert smallest["mixed"][0] > 0.3
    assert smallest["mixed"][1] > 0.6


def test_values_of_one_row_are_not_together():
    """Two of them in one group could not be told apart: there are 40, so that by chance alone two would meet."""
    counts, rule = np.array([60] * 15 + [1] * 40), rule_of({"l": 5}, range(55))
    for seed in range(20):
        groups = mixed.plan(counts, rule, RandomSource(seed), 3)
        assert np.bincount(groups[900:]).max() == 1
        assert spectrum(groups, np.repeat(np.arange(55), counts))[0] > 1e-6
    many = mixed.plan(np.array([10] * 4 + [1] * 40), rule_of({"l": 4}, range(44)), RandomSource(1), 3)
    assert np.bincount(many[40:]).max() > 1  # they are more than there are groups: nothing can be done


def test_one_group_has_nobody_to_trade_with():
    groups = MIXED.assign([], np.arange(3, dtype=np.int32), Guarantee.of({"l": 3}, None, None, None), RandomSource(1))
    assert groups.tolist() == [0, 0, 0]
