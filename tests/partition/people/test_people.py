"""Groups of people who have several rows, against the definition and against every way to cut."""

from collections import Counter, defaultdict
from itertools import combinations, pairwise

import numpy as np
import pytest

from discreet.errors import GuaranteeError
from discreet.partition.people.cut import cut
from discreet.partition.people.people import assign
from discreet.partition.people.rule import PeopleRule, kept
from discreet.partition.people.strata import STEPS, Strata, levels
from discreet.values.random import RandomSource


def keeps(people, k, l, cap=None):
    """The definition: people as lists of values. Shares no code with the package."""
    counts = Counter(value for values in people for value in values)
    most = max(map(len, people)) if cap is None else cap
    return len(people) >= k and (l == 1 or max(counts.values()) * most * l <= sum(counts.values()))


def drawn(chance, people, kinds, most):
    return [list(chance.integers(0, kinds, chance.integers(1, most + 1))) for _ in range(people)]


def arrays(people):
    who = np.repeat(np.arange(len(people)), [len(values) for values in people]).astype(np.int32)
    return who, np.concatenate(people).astype(np.int32)


def test_people_rule_is_monotone():
    chance, both = np.random.default_rng(1), 0
    for _ in range(3_000):
        one, other = (drawn(chance, chance.integers(1, 12), 60, 3) for _ in range(2))
        k, l = chance.integers(1, 4), chance.integers(2, 4)
        if keeps(one, k, l, cap=3) and keeps(other, k, l, cap=3):
            both += 1
            assert keeps(one + other, k, l, cap=3)
            assert keeps(one + other, k, l)
        top = max(Counter(value for values in one for value in values).values())
        rule = PeopleRule(int(k), int(3 * l))
        assert kept(len(one), sum(map(len, one)), top, rule) == keeps(one, k, l, cap=3)
    assert both > 50


def test_without_one_cap_it_is_not_monotone():
    """Why there are strata: the union of two groups that keep the rule breaks it if one has people with more rows."""
    few = [[i] for i in range(4)]
    many = [list(range(10 * i, 10 * i + 5)) for i in range(4)]
    assert keeps(few, 1, 4)
    assert keeps(many, 1, 4)
    assert not keeps(few + many, 1, 4)


def test_strata_are_most():
    chance, found = np.random.default_rng(2), Counter()
    for _ in range(300):
        people = drawn(chance, chance.integers(3, 30), chance.integers(2, 30), 5)
        k, l = int(chance.integers(1, 4)), int(chance.integers(1, 4))
        rows = np.array([len(values) for values in people])
        who, values = arrays(people)
        level, kinds = levels(rows), int(values.max()) + 1
        counts = np.bincount(level[who] * kinds + values, minlength=(level.max() + 1) * kinds).reshape(-1, kinds)
        strata = Strata.of(rows, counts, k, l)
        different = sorted(set(rows))
        best = -1
        for cuts in range(len(different)):
            for edges in combinations(range(1, len(different)), cuts):
                ends = [0, *edges, len(different)]
                parts = [[values for values in people if len(values) in different[a:b]] for a, b in pairwise(ends)]
                if all(keeps(part, k, l) for part in parts):
                    best = max(best, cuts + 1)
        assert strata.best[-1] == best
        assert strata.found == (best > 0)
        if strata.found:
            inside = [who for who, _ in strata.each()]
            assert len(inside) == best
            assert (np.sum(inside, axis=0) == 1).all()
        found[best] += 1
    assert len(found) > 3


def test_levels_are_alike_below_and_near_above():
    rows = np.arange(1, 2_000)
    found = levels(rows)
    assert (found[:STEPS] == np.arange(STEPS)).all()
    assert (np.diff(found) >= 0).all()
    for level in np.unique(found):
        inside = rows[found == level]
        assert inside.max() <= inside.min() * 2 ** (1 / STEPS) + 1


@pytest.mark.parametrize("looks", [True, False])
def test_people_stay_whole(looks):
    """All rows of a person in one group, groups numbered without a gap, and each keeps the rule."""
    chance, made = np.random.default_rng(3), 0
    for seed in range(60):
        people = drawn(chance, chance.integers(1, 200), 60, 4)
        who, values = arrays(people)
        k, l = int(chance.integers(1, 5)), int(chance.integers(1, 4))
        quasi = [chance.integers(0, 9, len(people))[who].astype(np.int32) for _ in range(2)] if looks else []
        order = chance.permutation(who.size)
        try:
            groups = assign([codes[order] for codes in quasi], who[order], values[order], k, l, RandomSource(seed))
        except GuaranteeError:
            continue
        members = defaultdict(set)
        for person, group in zip(who[order], groups, strict=True):
            members[int(group)].add(int(person))
        assert sorted(members) == list(range(len(members)))
        assert sum(map(len, members.values())) == len(people)
        assert all(keeps([people[person] for person in group], k, l) for group in members.values())
        made += len(members)
    assert made > 200


def test_cuts_of_people_are_blind():
    """Exchange values inside the cells, over people with one row or several: the cells are the same."""
    chance, cells, told = np.random.default_rng(6), 0, 0
    for turn in range(40):
        number, most = 120, 1 + turn % 3
        rows = chance.integers(1, most + 1, number)
        starts, who = np.concatenate([[0], np.cumsum(rows)]), np.repeat(np.arange(number), rows)
        points, shuffled = chance.integers(0, 40, (number, 2)).astype(np.int32), chance.permutation(number)
        values = chance.integers(0, 9, who.size).astype(np.int32)
        rule = PeopleRule(2, 2 * most)

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
    people = [[0], *([i, i + 1] for i in range(1, 90, 2)), *([0, i] for i in range(100, 110))]
    who, values = arrays(people)
    groups = assign([], who, values, 1, 2, RandomSource(4))
    for group in range(groups.max() + 1):
        assert keeps([people[person] for person in set(who[groups == group])], 1, 2)
    assert groups.max() >= 5


def test_one_row_each_is_l_as_ever():
    """With one row each the rule is the one of rows: floor(n / l) groups where values allow it."""
    who, values = np.arange(600, dtype=np.int32), np.tile(np.arange(60), 10).astype(np.int32)
    groups = assign([], who, values, 1, 4, RandomSource(5))
    assert groups.max() + 1 > 0.7 * 150
