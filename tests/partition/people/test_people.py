"""Groups of people who have several rows, against the definition and against every way to cut."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import count, pairwise
from math import log
from unittest import mock

import numpy as np
import pytest

from discreet.errors import GuaranteeError
from discreet.guarantees import Guarantee, Scale
from discreet.partition.people.cut import cut
from discreet.partition.people.people import assign
from discreet.partition.people.rule import PeopleRule, kept, need
from discreet.partition.people.strata import STEPS, Ladder, levels
from discreet.values.random import RandomSource
from partition.people.attacker import beliefs

SCALE = Scale(np.arange(200) * 3)
GUARANTEES = [
    {"k": 3},
    {"l": 2},
    {"l": 3, "k": 2},
    {"distinct_l": 2},
    {"distinct_l": 4},
    {"k": 3, "e": 9},
    {"beta": 8.0},
    {"enhanced_beta": 6.0},
]


def keeps(people, guarantee, table, cap=None):
    """The definition: people as lists of values, in a table with so many of each. Shares no code with the package."""
    counts = Counter(value for values in people for value in values)
    r, n, everybody = max(map(len, people)) if cap is None else cap, counts.total(), table.total()
    known = dict(guarantee)
    if "e" in known:
        within = max(sum(times for v, times in counts.items() if 0 <= 3 * (v - low) < known["e"]) for low in counts)
        if (within + 1) * r > n:
            return False
        known["distinct_l"] = known.pop("k")
    for name in ("beta", "enhanced_beta"):
        for v, times in counts.items() if name in known else ():
            p = Fraction(table[v], everybody)
            factor = 1 + (known[name] if name == "beta" else min(known[name], -log(p)))
            if factor * p < 1 and times / n > factor * p / (1 + (r - 1) * p) + 1e-12:
                return False
    few = sum(sorted(counts.values(), reverse=True)[: known.get("distinct_l", 1) - 1])
    return (
        len(people) >= known.get("k", 1)
        and max(counts.values()) * r * known.get("l", 0) <= n
        and ("distinct_l" not in known or (few + 1) * r <= n)
    )


def table_of(people):
    return Counter(value for values in people for value in values)


def guaranteed(thresholds, people):
    table = table_of(people)
    return Guarantee.of(thresholds, SCALE, np.array([table[value] for value in range(max(table) + 1)]))


def drawn(chance, people, kinds, most):
    return [list(chance.integers(0, kinds, chance.integers(1, most + 1))) for _ in range(people)]


def arrays(people):
    who = np.repeat(np.arange(len(people)), [len(values) for values in people]).astype(np.int32)
    return who, np.concatenate(people).astype(np.int32)


@pytest.mark.parametrize("thresholds", GUARANTEES, ids=str)
def test_people_rule_is_monotone(thresholds):
    chance, both = np.random.default_rng(1), 0
    for _ in range(300):
        one, other = (drawn(chance, chance.integers(1, 16), 60, 3) for _ in range(2))
        table = table_of([*one, *other, *([value] for value in range(60))])
        if keeps(one, thresholds, table, cap=3) and keeps(other, thresholds, table, cap=3):
            both += 1
            assert keeps(one + other, thresholds, table, cap=3)
            assert keeps(one + other, thresholds, table)
        population = np.array([table[value] for value in range(60)])
        rule = PeopleRule.of(Guarantee.of(thresholds, SCALE, population), 3)
        times = np.array([table_of(one)[value] for value in range(60)])
        held = np.flatnonzero(times)
        needed = need(held.astype(np.int32), times[held], rule)
        assert kept(len(one), times.sum(), needed, rule) == keeps(one, thresholds, table, cap=3)
    assert both > 10


def test_without_one_cap_it_is_not_monotone():
    """Why there are strata: the union of two groups that keep the rule breaks it if one has people with more rows."""
    few, many = [[0], [1]], [[2, 3], [4, 5]]
    table = table_of([*few, *few, *many])
    assert keeps(few, {"l": 2}, table)
    assert keeps(many, {"l": 2}, table)
    assert keeps(few + few, {"l": 2}, table)
    assert not keeps(few + few + many, {"l": 3}, table)


def strata_of(people, guarantee):
    rows = np.array([len(values) for values in people])
    who, values = arrays(people)
    level, kinds = levels(rows), int(values.max()) + 1
    counts = np.bincount(level[who] * kinds + values, minlength=(level.max() + 1) * kinds).reshape(-1, kinds)
    found = Ladder.of(rows, counts).strata(lambda cap: PeopleRule.of(guarantee, cap))
    return None if found is None else [np.flatnonzero((level >= a) & (level < b)).tolist() for a, b in found]


@pytest.mark.parametrize("thresholds", [{"l": 2}, {"distinct_l": 4}, {"k": 3, "e": 9}, {"beta": 1.5}], ids=str)
def test_strata_are_blind(thresholds):
    """Exchange values inside the strata: they are the same. And each keeps the rule, by the definition."""
    chance, several, none = np.random.default_rng(2), 0, 0
    for _ in range(60):
        people = drawn(chance, chance.integers(3, 120), 60, 4)
        guarantee, table = guaranteed(thresholds, people), table_of(people)
        strata = strata_of(people, guarantee)
        if strata is None:
            none += 1
            continue
        several += len(strata) > 1
        assert sorted(person for stratum in strata for person in stratum) == list(range(len(people)))
        assert all(keeps([people[person] for person in stratum], thresholds, table) for stratum in strata)
        other = list(people)
        for stratum in strata:
            held = iter(chance.permutation([value for person in stratum for value in people[person]]))
            for person in stratum:
                other[person] = [next(held) for _ in people[person]]
        assert strata_of(other, guarantee) == strata
    assert none > 0 or "beta" in thresholds
    assert several > 3


def test_a_stratum_that_must_be_cut_is():
    """Many people with one row and few values; few with many rows and many values: together they break the rule."""
    people = [[i % 4] for i in range(80)] + [list(range(10 * i, 10 * i + 10)) for i in range(1, 20)]
    strata = strata_of(people, guaranteed({"l": 3}, people))
    assert [len(stratum) for stratum in strata] == [80, 19]


def test_levels_are_alike_below_and_near_above():
    rows = np.arange(1, 2_000)
    found = levels(rows)
    assert (found[:STEPS] == np.arange(STEPS)).all()
    assert (np.diff(found) >= 0).all()
    for level in np.unique(found):
        inside = rows[found == level]
        assert inside.max() <= inside.min() * 2 ** (1 / STEPS) + 1


@pytest.mark.parametrize("thresholds", GUARANTEES, ids=str)
@pytest.mark.parametrize("looks", [True, False])
def test_people_stay_whole(looks, thresholds):
    """All rows of a person in one group, groups numbered without a gap, and each keeps the rule."""
    chance, made = np.random.default_rng(3), 0
    for seed in range(12):
        people = drawn(chance, chance.integers(1, 200), 60, 1 + seed % 4)
        who, values = arrays(people)
        quasi = [chance.integers(0, 9, len(people))[who].astype(np.int32) for _ in range(2)] if looks else []
        order, guarantee = chance.permutation(who.size), guaranteed(thresholds, people)
        try:
            groups = assign([codes[order] for codes in quasi], who[order], values[order], guarantee, RandomSource(seed))
        except GuaranteeError:
            continue
        members = defaultdict(set)
        for person, group in zip(who[order], groups, strict=True):
            members[int(group)].add(int(person))
        assert sorted(members) == list(range(len(members)))
        assert sum(map(len, members.values())) == len(people)
        table = table_of(people)
        assert all(keeps([people[person] for person in group], thresholds, table) for group in members.values())
        made += len(members)
    assert made > 15


def seen_by_all(rows, guarantee, quasi=()):
    """What groups of a world show: who is in each, and which values; None if there are no groups."""
    who, seeds = np.repeat(np.arange(len(rows)), rows).astype(np.int32), count()
    columns = [np.asarray(column, np.int32)[who] for column in quasi]

    def shown(world):
        values = np.array([value for held in world for value in held], np.int32)
        try:
            groups = assign(columns, who, values, guarantee, RandomSource(next(seeds)))
        except GuaranteeError:
            return None
        return tuple(
            sorted((tuple(sorted({*who[groups == g]})), tuple(sorted(values[groups == g]))) for g in {*groups.tolist()})
        )

    return shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "values", "times"),
    [
        ([1, 1, 2, 2, 2], "aabbcdef", 2),
        ([2, 2, 2, 2], "aabbccde", 12),
        ([1, 1, 1, 1, 1, 1], "aabbcd", 25),
    ],
)
def test_groups_of_people_tell_no_more(rows, values, times):
    """Before, those with two rows were believed to hold a value with 77 %: dealing put them where frequent ones were."""
    shown = seen_by_all(rows, Guarantee.of({"l": 2}))
    found = list(beliefs(rows, [ord(value) - 97 for value in values], shown, times))
    assert found
    for _, tried, belief in found:
        assert belief <= 0.5 + 4.5 * (0.25 / tried) ** 0.5 * (len(set(rows)) == 1)  # of mixed rows without chance


@pytest.mark.parametrize("thresholds", [{"l": 2}, {"distinct_l": 3}], ids=str)
@pytest.mark.parametrize("looks", [True, False])
def test_where_rows_differ_groups_are_blind(looks, thresholds):
    """By the same chance, groups of people with one to three rows are the same if values are exchanged inside them."""
    chance, made, mixed = np.random.default_rng(8), 0, 0
    for seed in range(20):
        people = drawn(chance, 150, 60, 3)
        who, values = arrays(people)
        guarantee = guaranteed(thresholds, people)
        rules, rows = PeopleRule.of(guarantee, 3), np.bincount(who)
        quasi = [chance.integers(0, 90, len(people))[who].astype(np.int32)] if looks else []
        with mock.patch.object(Ladder, "strata", lambda ladder, *_: [(0, len(ladder.most))]):
            groups = assign(quasi, who, values, guarantee, RandomSource(seed))
            other = values.copy()
            for group in range(groups.max() + 1):
                inside = np.flatnonzero(groups == group)
                other[inside] = other[chance.permutation(inside)]
                mixed += len({*rows[who[inside]]}) > 1
            assert np.array_equal(assign(quasi, who, other, guarantee, RandomSource(seed)), groups)
        made += groups.max() + 1
        assert rules.cap == 3
    assert made > 30
    assert mixed > 20


def test_cuts_of_people_are_blind():
    """Exchange values inside the cells, over people with one row or several: the cells are the same."""
    chance, cells, told = np.random.default_rng(6), 0, 0
    for turn in range(40):
        number, most = 120, 1 + turn % 3
        rows = chance.integers(1, most + 1, number)
        starts, who = np.concatenate([[0], np.cumsum(rows)]), np.repeat(np.arange(number), rows)
        points, shuffled = chance.integers(0, 40, (number, 2)).astype(np.int32), chance.permutation(number)
        values = chance.integers(0, 9, who.size).astype(np.int32)
        rule = PeopleRule(2, most, l=2)

        def cells_of(values, shuffled=shuffled, points=points, starts=starts, rule=rule):
            order = shuffled.copy()
            edges = [*cut(order, points, np.full(2, 39.0), starts, values, rule, np.zeros(9, np.int64)), order.size]
            found = np.empty(order.size, np.int64)
            for cell, (a, b) in enumerate(pairwise(edges)):
                found[order[a:b]] = cell
            return found

        found = cells_of(values)
        for _ in range(5):
            other = values.copy()
            for cell in range(found.max() + 1):
                inside = np.flatnonzero(found[who] == cell)
                other[inside] = other[chance.permutation(inside)]
            told += not np.array_equal(cells_of(other), found)
        cells += found.max() + 1
    assert told == 0
    assert cells > 200


def test_dealt_people_keep_the_rule():
    """A cell whose values are hard to deal: what breaks the rule is put together with others until it does not."""
    people = [*([i, i + 1] for i in range(1, 90, 2)), *([0, i] for i in range(100, 110))]
    who, values = arrays(people)
    groups = assign([], who, values, Guarantee.of({"l": 2}), RandomSource(4))
    for group in range(groups.max() + 1):
        assert keeps([people[person] for person in set(who[groups == group])], {"l": 2}, table_of(people))
    assert groups.max() >= 5


def test_one_row_each_is_l_as_ever():
    """With one row each the rule is the one of rows: floor(n / l) groups where values allow it."""
    who, values = np.arange(600, dtype=np.int32), np.tile(np.arange(60), 10).astype(np.int32)
    groups = assign([], who, values, Guarantee.of({"l": 4}), RandomSource(5))
    assert groups.max() + 1 > 0.7 * 150
