"""Blind cuts, attacked by trying: whoever knows everything but who holds what learns no more than the groups show.

The attacker has no method: of all tables with the same people and the same values he keeps those that give the very
same release, and counts in how many of them each person holds each value.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest

from contracts.promised import GUARANTEES, check, codes, fair, guaranteed
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS, trades
from discreet.partition.spatial import local
from discreet.partition.spatial.cluster import cluster
from discreet.partition.spatial.space import Dimension
from discreet.values.random import RandomSource

DEALT = {"local": local, "cluster": cluster}  # they deal in cells: the cells are what is attacked, then the deal
BLIND = [name for name, partition in PARTITIONS.items() if "cuts" in partition.options]
SIX = [(1, 1, 1, 1, 1, 1), (2, 1, 1, 1, 1), (2, 2, 1, 1), (2, 2, 2), (3, 1, 1, 1), (3, 2, 1), (3, 3)]


def line(column):
    return Dimension(codes(column), len(set(column)), np.unique(column).astype(float))


def tree(column):
    """Neighbours together, two, four and so on up to all."""
    size = len(set(column))
    nodes = [np.arange(size) // 2**height for height in range(1 + int(size - 1).bit_length())]
    return Dimension(codes(column), size, levels=np.array(nodes, np.int32))


def names(column):
    return Dimension(codes(column), len(set(column)))


def seen(partition, columns):
    """What a partition sees: the first column as a line, the second as a tree, the third as names."""
    if PARTITIONS[partition].sees == "codes":
        return [codes(column) for column in columns]
    forms = (tree, tree, tree) if PARTITIONS[partition].sees == "hierarchies" else (line, tree, names)
    return [form(column) for form, column in zip(forms, columns, strict=True)]


class Shower:
    """What a partition shows: its groups, or the cells in which it deals."""

    def __init__(self, monkeypatch, partition, **options):
        self.partition, self.options, self.cells = PARTITIONS[partition], options, []
        if partition in DEALT:
            made = trades.in_cells
            monkeypatch.setattr(DEALT[partition], "in_cells", lambda *given: self._note(*given) or made(*given))

    def _note(self, edges, values, rows, rule, secret):
        self.cells = [frozenset(rows[a:b].tolist()) for a, b in pairwise(edges)]

    def __call__(self, space, values, promise, seed):
        held = np.array(values, np.int32)
        groups = self.partition.assign(space, held, promise, RandomSource(seed), self.options)
        members = [frozenset(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)]
        return frozenset((people, tuple(sorted(values[row] for row in people))) for people in self.cells or members)


def attacked(show, space, promised, counts, seed):
    """In all tables with these counts: who is certain, who is known better than the group says, people, and cuts."""
    values = [value for value, times in enumerate(counts) for _ in range(times)]
    promise = Guarantee.of(promised, None, np.array(counts))
    worlds = defaultdict(list)
    for table in sorted(set(permutations(values))):
        worlds[show(space, table, promise, seed)].append(table)
    certain = better = people = cut = 0
    for release, tables in worlds.items():
        cut += len(release) > 1
        for rows, shown in release:
            share = {value: Fraction(times, len(shown)) for value, times in Counter(shown).items()}
            for row in rows:
                believed = {v: Fraction(n, len(tables)) for v, n in Counter(table[row] for table in tables).items()}
                people += len(tables)
                certain += len(tables) * (len(believed) == 1)
                better += believed != share
    return certain, better, people, cut


def spread(rows, seed):
    chance = np.random.default_rng(seed)
    return [chance.permutation(rows), np.arange(rows) // 2, chance.integers(0, 3, rows)]


@pytest.mark.slow
@pytest.mark.parametrize("partition", BLIND)
def test_six_people_are_known_no_better_than_their_group(partition, monkeypatch):
    show, cuts = Shower(monkeypatch, partition, cuts="blind"), Counter()
    tried = (({"l": 2}, SIX), ({"distinct_l": 2}, SIX[1:]), ({"l": 3}, [(2, 2, 2)]))
    for promised, tables in tried:
        for counts in tables:
            certain, better, _, cut = attacked(show, seen(partition, spread(sum(counts), 6)), promised, counts, seed=1)
            assert (certain, better) == (0, 0), (promised, counts)
            cuts[next(iter(promised))] += cut
    assert cuts["l"] > 0 < cuts["distinct_l"]


def test_six_people_are_given_away_by_fitted_cuts(monkeypatch):
    """The same attacker finds whom fitted cuts give away."""
    show, found = Shower(monkeypatch, "mondrian", cuts="fitted"), np.zeros(2, np.int64)
    for seed in range(3):
        chance = np.random.default_rng(seed)
        space = [line(chance.permutation(6)), line(chance.permutation(6))]
        for counts in SIX[1:4]:
            certain, _, people, _ = attacked(show, space, {"l": 2}, counts, seed=1)
            found += certain, people
    print(f"mondrian, fitted, six people: {found[0] / found[1]:.0%} certain")
    assert 0.1 <= found[0] / found[1] <= 0.4


def test_trades_in_cells_tell_nothing(monkeypatch):
    """In a cell, every table that has the values of the groups is brought to them in as many orders of the rows."""
    monkeypatch.setattr(trades, "shuffle_cells", lambda *_: None)  # every order is tried
    for counts in ((2, 2, 1), (1, 1, 1, 1), (2, 1, 1, 1), (3, 2)):
        values = [value for value, times in enumerate(counts) for _ in range(times)]
        rule = Guarantee.of({"l": 2} if max(counts) < 3 else {"distinct_l": 2}, None, None).rule
        ways = defaultdict(Counter)
        for table in sorted(set(permutations(values))):
            for order in permutations(range(len(values))):
                rows, held = np.array(order, np.int32), np.array(table, np.int32)
                groups = trades.in_cells(np.array([0, len(values)]), held[rows], rows, rule, RandomSource(8))
                members = [frozenset(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)]
                shown = frozenset((people, tuple(sorted(table[row] for row in people))) for people in members)
                ways[shown][table] += 1
        for release, tables in ways.items():
            assert len(set(tables.values())) == 1
            for rows, shown in release:
                share = {v: Fraction(n, len(shown)) for v, n in Counter(shown).items()}
                for row in rows:
                    told = Counter(table[row] for table in tables)
                    assert {v: Fraction(n, len(tables)) for v, n in told.items()} == share


@pytest.mark.parametrize("partition", BLIND)
@pytest.mark.parametrize("promised", GUARANTEES, ids=str)
def test_blind_cuts_tell_nothing(partition, promised, monkeypatch):
    """Tables of some thirty people under every guarantee: values that are exchanged inside groups change no group."""
    show, chance, cut = Shower(monkeypatch, partition, cuts="blind"), np.random.default_rng(9), 0
    for trial in range(8):
        counts = fair(chance.integers(1, 6, 8).tolist(), promised)
        values = codes(chance.permutation(np.repeat(np.arange(len(counts)), counts)))
        space = seen(partition, [chance.integers(0, width, values.size) for width in (20, 8, 3)])
        promise = guaranteed(promised, values)
        groups = PARTITIONS[partition].assign(space, values, promise, RandomSource(trial), {"cuts": "blind"})
        check(groups, values, promised)
        shown = show(space, values.tolist(), promise, trial)
        other = values.copy()
        for rows in (list(people) for people, _ in shown):
            other[rows] = chance.permutation(other[rows])
        assert show(space, other.tolist(), promise, trial) == shown
        cut += len(shown) > 1
    assert cut or promised.keys() & {"beta", "enhanced_beta", "e"} or max(promised.values()) > 2
