"""Cluster: against a plain reading of both algorithms, small groups of distinct values, near rows together."""

from collections import Counter
from math import log, sqrt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy, publish
from discreet.errors import GuaranteeError, InputError, PolicyError
from discreet.guarantees import Histograms
from discreet.partition.kernels import deal_out, shuffle
from discreet.partition.spatial.cluster import cluster, halve
from discreet.partition.spatial.cluster.cluster import assign, in_order
from discreet.partition.spatial.packed import frame
from discreet.partition.spatial.space import Dimension, penalties
from discreet.values.capacity import capacity
from discreet.values.random import RandomSource
from discreet.values.rule import Rule
from partition.spatial.spaces import as_sets, cases, guarantee, keeps, members, named, ranged, tree, untouched

BOUNDARIES = ("moved", "fixed")


class Side:
    """One side of a part: the rows it has, the codes of its box, and what the box costs in each dimension."""

    def __init__(self, space, extreme):
        self.space, self.rows, self.costs = space, [], [0.0] * len(space)
        self.codes = [{code} for code in extreme]
        self.total = 0.0

    def cost(self, j, codes):
        """NCP of a box: the distance between its ends, or the leaves below the lowest common node, as shares."""
        dimension = self.space[j]
        if len(codes) == 1:
            return 0.0
        if dimension.levels is None:
            places = frame([dimension]).places
            return min(max(places[code] for code in codes) - min(places[code] for code in codes), 1.0)
        for nodes in dimension.levels:
            node = {int(nodes[code]) for code in codes}
            if len(node) == 1:
                leaves = sum(other in node for other in nodes.tolist())
                return leaves / dimension.size if leaves > 1 else 0.0
        raise AssertionError

    def more(self, row):
        """By how much the box grows for a row."""
        grown = 0.0
        for j, dimension in enumerate(self.space):
            code = int(dimension.codes[row])
            if code not in self.codes[j] and (new := self.cost(j, self.codes[j] | {code})) != self.costs[j]:
                grown += new - self.costs[j]
        return grown

    def growth(self, row):
        """By how much NCP grows: of all rows, the extreme one among them."""
        return (len(self.rows) + 2) * self.more(row) + self.total

    def add(self, row):
        self.total += self.more(row)
        self.rows.append(row)
        for j, dimension in enumerate(self.space):
            self.codes[j].add(int(dimension.codes[row]))
            self.costs[j] = self.cost(j, self.codes[j])


def parts_by_hand(space, sensitive, promised, rows, words, low=0, *, tries, boundary):
    """Algorithm 2, for rows that stand from `low` on: the parts, from left to right."""

    def kept(some):
        return keeps([int(sensitive[row]) for row in some], promised)

    def place(j, row):
        return frame([space[j]]).places[space[j].codes[row]]

    extremes = [
        [int(space[j].codes[pick(rows, key=lambda row, j=j: place(j, row))]) for j in range(len(space))]
        for pick in (max, min)
    ]
    for attempt in range(tries if extremes[0] != extremes[1] else 0):
        order = np.empty(len(rows), np.int32)
        halve.draw(words[low : low + len(rows)], low, attempt, order)
        left, right = (Side(space, extreme) for extreme in extremes)
        for turn in order.tolist():
            to_left, to_right = left.growth(rows[turn]), right.growth(rows[turn])
            near = to_left < to_right or (to_left == to_right and len(left.rows) < len(right.rows))
            (left if near else right).add(rows[turn])
        chosen = set(left.rows)
        if not (kept(left.rows) and kept(right.rows)) and boundary == "moved":
            by_margin = sorted(
                (rows[turn] for turn in order.tolist()), key=lambda row: left.more(row) - right.more(row)
            )
            works = [i for i in range(len(rows)) if kept(by_margin[:i]) and kept(by_margin[i:])]
            nearest = min(works, key=lambda i: (abs(i - len(left.rows)), i), default=0)
            chosen = set(by_margin[:nearest])
        sides = [row for row in rows if row in chosen], [row for row in rows if row not in chosen]
        if all(map(kept, sides)):
            more = {"tries": tries, "boundary": boundary}
            return [
                *parts_by_hand(space, sensitive, promised, sides[0], words, low, **more),
                *parts_by_hand(space, sensitive, promised, sides[1], words, low + len(sides[0]), **more),
            ]
    return [rows]


def dealt_by_hand(sensitive, parts, rule):
    """Algorithm 1 in each part; how many groups the promises allow is told by `capacity`, which has its own test."""
    groups, first = np.full(sensitive.size, -1), 0
    for rows in parts:
        by_value = sorted(rows, key=lambda row: sensitive[row])
        values, counts = np.unique(sensitive[rows], return_counts=True)
        g = capacity(counts, values, rule)
        if counts.max() <= g:
            groups[by_value] = [first + i % g for i in range(len(rows))]
        else:
            dealt = np.empty(len(rows), np.int32)
            deal_out(counts, np.arange(counts.size), Rule(), g, dealt, first)
            groups[by_value] = dealt
        first += g
    return groups


@settings(max_examples=250, deadline=None)
@given(case=cases(most=40), seed=st.integers(0, 2**32), tries=st.integers(1, 5), boundary=st.sampled_from(BOUNDARIES))
def test_cluster_is_algorithm_2(case, seed, tries, boundary):
    space, sensitive, promised = case

    def act():
        options = {"cuts": "fitted", "tries": tries, "boundary": boundary}
        return assign(space, sensitive, guarantee(promised), RandomSource(seed), **options)

    groups = untouched(space, sensitive, act)
    assert groups.dtype == np.int32
    assert guarantee(promised).holds(Histograms.of(groups, sensitive)).all()
    assert all(keeps(sensitive[rows].tolist(), promised) for rows in members(groups))
    secret = RandomSource(seed)
    rows, words = shuffle(secret.words(sensitive.size)).tolist(), secret.words(sensitive.size)
    lines = [in_order(dimension) for dimension in space]
    parts = parts_by_hand(lines, sensitive, promised, rows, words, tries=tries, boundary=boundary)
    dealt = dealt_by_hand(sensitive, parts, guarantee(promised).rule)
    # Which rows of a value go where in their part is chance; under `l` groups have traded values, too.
    assert np.bincount(groups).tolist() == np.bincount(dealt).tolist()
    assert all(set(groups[rows].tolist()) == set(dealt[rows].tolist()) for rows in parts)
    if promised.get("l", 1) <= 1:
        pairs = [Counter(zip(of.tolist(), sensitive.tolist(), strict=True)) for of in (groups, dealt)]
        assert pairs[0] == pairs[1]


@settings(max_examples=200, deadline=None)
@given(case=cases(most=80), l=st.integers(2, 6), seed=st.integers(0, 2**32), boundary=st.sampled_from(BOUNDARIES))
def test_cluster_makes_groups_of_l_to_2l_minus_1(case, l, seed, boundary):
    space, sensitive, _ = case
    l = max(1, min(l, sensitive.size // max(Counter(sensitive.tolist()).values())))
    for rows in members(assign(space, sensitive, guarantee({"l": l}), RandomSource(seed), boundary=boundary)):
        assert l <= len(rows) <= 2 * l - 1
        assert len(set(sensitive[rows].tolist())) == len(rows)


@settings(max_examples=100, deadline=None)
@given(case=cases(most=80), k=st.integers(1, 9), seed=st.integers(0, 2**32))
def test_k_alone_makes_groups_of_k_to_2k_minus_1(case, k, seed):
    """Whatever the sensitive values."""
    space, sensitive, _ = case
    k = min(k, sensitive.size)
    for rows in members(assign(space, sensitive, guarantee({"k": k}), RandomSource(seed))):
        assert k <= len(rows) <= 2 * k - 1


@settings(max_examples=200, deadline=None)
@given(data=st.data(), values=st.lists(st.integers(0, 5), min_size=2, max_size=40))
def test_boundaries_move_as_little_as_possible(data, values):
    n, l = len(values), data.draw(st.integers(1, 4))
    order = np.array(data.draw(st.permutations(range(n))), np.int32)
    wanted, fewer = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    goes_right, works, held = np.zeros(n, np.bool_), np.empty(n + 1, np.bool_), np.empty(n, np.int32)
    rule, counts = guarantee({"l": l}).rule, np.zeros(6, np.int32)
    size = halve.move(order, np.array(values, np.int32), wanted, fewer, rule, counts, works, held, goes_right)

    def kept(at):
        sides = [values[row] for row in order[:at]], [values[row] for row in order[at:]]
        return all(len(side) >= fewer and max(Counter(side).values()) * l <= len(side) for side in sides)

    possible = [at for at in range(1, n) if kept(at)]
    assert size == min(possible, key=lambda at: (abs(at - wanted), at), default=0)
    if size:
        assert sorted(np.flatnonzero(~goes_right)) == sorted(order[:size])
    assert not counts.any()


def test_rows_that_are_all_alike_are_dealt_at_once():
    """Nothing is gained by parting them, and as many groups as can be are made."""
    sensitive = np.arange(1009, dtype=np.int32) % 20
    groups = assign([ranged([5] * 1009), named([2] * 1009)], sensitive, guarantee({"l": 10}), RandomSource(0))
    assert groups.max() + 1 == 1009 // 10


def test_no_dimensions():
    groups = assign([], (np.arange(30) % 6).astype(np.int32), guarantee({"l": 3}), RandomSource(0))
    assert np.bincount(groups).tolist() == [3] * 10


@pytest.mark.parametrize("promised", [{"k": 6}, {"l": 4}, {"distinct_l": 5}], ids=str)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_groups_do_not_cross_clusters(promised, boundary):
    """Two clusters far apart that keep the promises: the first try parts them, and no group has rows of both."""
    rng = np.random.default_rng(3)
    side = np.repeat([0, 1], [60, 90])
    sensitive = (np.arange(150) % 7).astype(np.int32)
    space = [
        ranged(100 * side + rng.integers(0, 10, 150)),
        tree(side, [0, 1]),
        named(2 * side + rng.integers(0, 2, 150)),
    ]
    groups = assign(space, sensitive, guarantee(promised), RandomSource(3), cuts="fitted", boundary=boundary)
    assert all(len({int(side[row]) for row in rows}) == 1 for rows in members(groups))


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_boxes_are_far_smaller_than_by_chance(boundary):
    """In ranges, trees and sets together."""
    rng = np.random.default_rng(8)
    latent = rng.integers(0, 8, 4000)
    space = [
        ranged(100 * latent + rng.integers(0, 100, 4000)),
        tree(latent, [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 1, 1, 1, 1]),
        named(latent),
    ]
    sensitive = rng.integers(0, 30, 4000).astype(np.int32)
    groups = assign(space, sensitive, guarantee({"l": 10}), RandomSource(1), cuts="fitted", boundary=boundary)
    near, far = penalties(space, groups), penalties(space, rng.permutation(groups))
    assert (near.mean(axis=0) < far.mean(axis=0) / 5).all()


def test_a_frequent_value_moves_the_boundary():
    """One half of the line holds more of a value than a group may: a fixed boundary fails, one that moves does not."""
    values = np.repeat(np.arange(100), 4)
    sensitive = np.where(values < 50, np.arange(400) % 8, np.arange(400) % 3).astype(np.int32)
    made = {
        boundary: assign(
            [ranged(values)], sensitive, guarantee({"l": 4}), RandomSource(5), cuts="fitted", boundary=boundary
        )
        for boundary in BOUNDARIES
    }
    loss = {boundary: penalties([ranged(values)], groups).mean() for boundary, groups in made.items()}
    assert loss["moved"] < 0.8 * loss["fixed"]


@pytest.mark.parametrize("coarse", [1, 50, 1000])
@pytest.mark.parametrize("promised", [{"k": 7}, {"l": 4}], ids=str)
def test_threads_change_nothing(monkeypatch, coarse, promised):
    rng = np.random.default_rng(6)
    codes = [rng.integers(0, width, 3000).astype(np.int32) for width in (3, 50, 4000)]
    space = [tree(codes[0], [0, 0, 1]), named(codes[1]), Dimension(codes[2], 4000, np.arange(4000.0))]
    values = rng.integers(0, 12, 3000).astype(np.int32)
    alone = assign(space, values, guarantee(promised), RandomSource(11))
    monkeypatch.setattr(cluster, "COARSE", coarse)
    assert np.array_equal(assign(space, values, guarantee(promised), RandomSource(11)), alone)


def test_seeds_matter():
    rng = np.random.default_rng(1)
    space = [ranged(rng.integers(0, 30, 400)), ranged(rng.integers(0, 30, 400))]
    values = rng.integers(0, 20, 400).astype(np.int32)
    made = {frozenset(as_sets(assign(space, values, guarantee({"l": 5}), RandomSource(seed)))) for seed in range(10)}
    assert len(made) == 10


def test_alike_rows_are_matched_uniformly():
    """Three rows of one value and three of another, alike or not: each of the 6 ways to pair them is as likely."""
    sensitive, draws = np.array([0, 0, 0, 1, 1, 1], np.int32), 3000
    for space in ([ranged([4] * 6)], []):
        ways = Counter()
        for seed in range(draws):
            groups = assign(space, sensitive, guarantee({"l": 2}), RandomSource(seed)).tolist()
            ways[tuple(groups[3:].index(group) for group in groups[:3])] += 1
        assert len(ways) == 6
        statistic = sum((seen - draws / 6) ** 2 / (draws / 6) for seen in ways.values())
        # Laurent and Massart (2000), lemma 1: chi-square with 5 degrees of freedom exceeds this with p < exp(-20).
        assert statistic < 5 + 2 * sqrt(5 * 20) + 2 * 20


def test_rows_that_differ_only_in_number_are_exchangeable():
    """Of four alike rows at the edge between two parts, each is on the left as often."""
    places = [0, 0, 0, 0, 5, 5, 5, 5, 10, 10, 10, 10]
    sensitive, draws = np.arange(12, dtype=np.int32), 2000
    beside = np.zeros(12)
    for seed in range(draws):
        groups = assign([ranged(places)], sensitive, guarantee({"k": 6}), RandomSource(seed))
        beside += (groups == groups[0]) / draws
    shares = beside[4:8]
    # Hoeffding: a frequency is this far from its chance with p < 2 exp(-20); so is the mean of several.
    assert np.abs(shares - shares.mean()).max() < 2 * sqrt(20 / (2 * draws))


def test_every_try_draws_another_order_evenly():
    words, draws = np.arange(4, dtype=np.uint64), Counter()
    for attempt in range(4800):
        order = np.empty(4, np.int32)
        halve.draw(words, 3, attempt, order)
        draws[tuple(order.tolist())] += 1
    assert len(draws) == 24
    statistic = sum((seen - 200) ** 2 / 200 for seen in draws.values())
    assert statistic < 23 + 2 * sqrt(23 * 20) + 2 * 20


def test_many_rows_come_in_runs():
    n = halve.MANY + 3 * halve.RUN + 5
    order = np.empty(n, np.int32)
    halve.draw(RandomSource(2).words(n), 0, 1, order)
    assert sorted(order.tolist()) == list(range(n))
    whole = order[: n - n % halve.RUN].reshape(-1, halve.RUN)
    assert (np.diff(whole, axis=1) == 1).all()
    assert np.count_nonzero(np.diff(whole[:, 0]) == halve.RUN) < 20


def test_few_rows_far_out_do_not_make_it_deep():
    """Each power of two lies as far from all smaller ones as these from nothing: parting would take rows off one by one."""
    n = 4000
    space = [ranged(2.0 ** np.random.default_rng(4).integers(0, 1000, n))]
    dims, rule = frame(space), guarantee({"k": 2}).rule
    points = dims.places[space[0].codes][:, np.newaxis].copy()
    rows, words, values = np.arange(n, dtype=np.int32), RandomSource(1).words(n), np.zeros(n, np.int32)
    _, depths = halve.part(points, values, rows, words, 0, n, 0, 0, 5, True, False, 1, dims, rule)
    assert halve.DEEP < depths.max() <= halve.DEEP + log(n) / log(halve.SHARE / (halve.SHARE - 1))


def test_names_have_places_in_the_order_of_their_codes():
    assert in_order(named([0, 2, 1], 4)).places.tolist() == [0, 1, 2, 3]
    with_missing = in_order(Dimension(np.array([0, 3], np.int32), 4, missing=True))
    assert with_missing.places.tolist() == [0, 1, 2, 4]
    assert frame([with_missing]).places.tolist() == [0, 0.5, 1, 2]
    lone = in_order(Dimension(np.array([0, 1], np.int32), 2, missing=True))
    assert frame([lone]).places.tolist() == [0, 1]
    line = ranged([1, 2])
    assert in_order(line) is line


def people(n=600):
    rng = np.random.default_rng(12)
    town = rng.choice(["ayr", "bern", "cork", "deal"], n)
    pay = (rng.integers(0, 30, n) * 100).tolist()
    return pa.table({"age": rng.integers(18, 90, n), "town": [*town[:-9], *[None] * 9], "pay": pay})


@pytest.mark.parametrize("publication", ["anatomy", "permutation", "generalization"])
@pytest.mark.parametrize(
    "hierarchies", [{}, {"town": {"tree": {"all": {"w": ["ayr", "cork"], "e": ["bern", "deal"]}}}}]
)
def test_under_every_publication(publication, hierarchies, tmp_path):
    policy = Policy(
        quasi=["age", "town"],
        sensitive="pay",
        guarantee={"l": 5},
        publication=publication,
        partition="cluster",
        hierarchies=hierarchies,
        options={"tries": 3},
    )
    release = publish(people(), policy, to=tmp_path / "r", seed=1)
    assert release.verify().ok
    assert release.promise.partition == "cluster"
    assert 600 / 9 <= release.promise.groups <= 600 / 5


@pytest.mark.parametrize(
    "options", [{"tries": 0}, {"tries": 2.5}, {"tries": True}, {"tries": 101}, {"boundary": "soft"}]
)
def test_bad_options(options):
    with pytest.raises(PolicyError, match=f"options.{next(iter(options))}"):
        Policy(quasi=["age"], sensitive="pay", guarantee={"l": 5}, partition="cluster", options=options)


def test_l_of_1_promises_nothing():
    with pytest.raises(PolicyError, match="guarantee"):
        Policy(quasi=["age"], sensitive="pay", guarantee={"l": 1}, partition="cluster")


def test_a_value_above_its_share(tmp_path):
    table = pa.table({"age": range(9), "pay": [1, 1, 1, 1, 2, 3, 4, 5, 6]})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 3}, partition="cluster")
    with pytest.raises(GuaranteeError, match="the largest that works is 2"):
        publish(table, policy, to=tmp_path / "r")
    assert not any(tmp_path.iterdir())


def test_constant_quasi_identifiers_can_be_published(tmp_path):
    table = pa.table({"age": [40] * 24, "town": ["x"] * 24, "pay": list(range(6)) * 4})
    policy = Policy(quasi=["age", "town"], sensitive="pay", guarantee={"l": 3}, partition="cluster")
    release = publish(table, policy, to=tmp_path / "r", seed=1)
    assert release.promise.groups == 8
    assert set(pq.read_table(release.file("qit"))["age"].to_pylist()) == {40}


def test_infinite_values_are_refused(tmp_path):
    table = pa.table({"age": [1.0, 2.0, float("inf")], "pay": [1, 2, 3]})
    policy = Policy(quasi=["age"], sensitive="pay", guarantee={"l": 3}, partition="cluster")
    with pytest.raises(InputError, match="infinite"):
        publish(table, policy, to=tmp_path / "r")
