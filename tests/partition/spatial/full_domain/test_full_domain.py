"""Full domain: the best of all points by trying every one, on small tables and on Adult."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.csv import ParseOptions, read_csv

from discreet.errors import GuaranteeError, InputError
from discreet.guarantees import Guarantee, Histograms
from discreet.hierarchies import load
from discreet.partition.spatial.full_domain import lattice
from discreet.partition.spatial.full_domain.full_domain import assign, search
from discreet.partition.spatial.space import Dimension
from discreet.values.random import RandomSource
from partition.spatial.lattices import MARKS, best_of_all, guaranteed, spaces

LOSSES = ["ncp", "lm", "geometric", "discernibility"]
PROMISES = [
    {"k": 2},
    {"k": 4},
    {"l": 2},
    {"l": 3},
    {"distinct_l": 2},
    {"distinct_l": 3},
    {"k": 2, "e": 5},
    {"k": 3, "e": 9},
    {"k": 3, "l": 2},
    {"k": 3, "e": 3, "l": 2},
    {"k": 4, "l": 2, "distinct_l": 3},
]
MANY = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 30))
    sensitive = draw(st.lists(st.integers(0, MARKS.size - 1), min_size=rows, max_size=rows))
    return draw(spaces(rows)), np.array(sensitive, np.int32)


def as_sets(groups):
    members = defaultdict(set)
    for row, group in enumerate(groups.tolist()):
        members[group].add(row)
    members.pop(-1, None)
    assert sorted(members) == list(range(len(members))), "numbers have a gap"
    return {frozenset(rows) for rows in members.values()}


def check(space, sensitive, promised, suppression, loss):
    expected = best_of_all(space, sensitive, promised, suppression, loss)
    if expected is None:
        with pytest.raises(GuaranteeError, match="raise `suppression`"):
            search(space, sensitive, guaranteed(promised), suppression=suppression, loss=loss)
        return
    found = search(space, sensitive, guaranteed(promised), suppression=suppression, loss=loss)
    lost, _, levels, suppressed, sets = expected
    assert (found.loss, found.levels, found.suppressed) == (lost, levels, suppressed)
    assert as_sets(found.groups) == sets
    assert np.count_nonzero(found.groups < 0) == suppressed


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("promised", PROMISES, ids=str)
@MANY
@given(table=tables(), suppression=st.sampled_from([0.0, 0.1, 0.2, 0.29, 0.5, 0.9, 1.0]))
def test_full_domain_is_optimal(promised, loss, table, suppression):
    check(*table, promised, suppression, loss)


@pytest.mark.parametrize("cuts", ["fitted", "blind"])
@MANY
@given(
    table=tables(),
    promised=st.sampled_from(PROMISES),
    suppression=st.sampled_from([0.0, 0.1, 0.3]),
    loss=st.sampled_from(LOSSES),
)
def test_counts_stand_for_rows(cuts, table, promised, suppression, loss):
    space, sensitive = table
    together, at, times = np.unique(
        np.stack([*(dimension.codes for dimension in space), sensitive]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    counted = [replace(dimension, codes=codes) for dimension, codes in zip(space, together, strict=False)]
    options = {"cuts": cuts, "loss": loss, "suppression": suppression}
    try:
        rows = search(space, sensitive, guaranteed(promised), **options)
    except GuaranteeError:
        with pytest.raises(GuaranteeError):
            search(counted, together[-1], guaranteed(promised), times=times.astype(np.int32), **options)
        return
    found = search(counted, together[-1], guaranteed(promised), times=times.astype(np.int32), **options)
    same = ("levels", "loss", "suppressed", "counted")
    assert [getattr(found, name) for name in same] == [getattr(rows, name) for name in same]
    assert np.array_equal(found.groups[at], rows.groups)
    if (rows.groups >= 0).all():
        histograms = Histograms.of(rows.groups, sensitive)
        again = Histograms.of_counts(found.groups, together[-1], times)
        for name in ("groups", "values", "counts", "starts", "sizes"):
            assert np.array_equal(getattr(again, name), getattr(histograms, name))


def test_counts_of_two_billion_rows_are_exact():
    """A billion rows of each of two values, where products of counts need more than 32 bits."""
    space, values = [halves(0, 1, 0, 1)], np.array([0, 0, 1, 1], np.int32)
    times = np.array([500_000_000, 500_000_001, 500_000_000, 499_999_999], np.int32)
    found = search(space, values, guaranteed({"l": 2}), times=times, suppression=0.6)
    assert (found.levels, found.suppressed) == ((0,), 1_000_000_000)
    assert found.groups.tolist() == [0, -1, 0, -1]


def halves(*sides):
    """A dimension of as many codes as given, a hierarchy of pairs of neighbours over it, and everything."""
    size = max(sides) + 1
    levels = [range(size)]
    while levels[-1][-1] > 0:
        levels.append([node // 2 for node in levels[-1]])
    return Dimension(np.array(sides, np.int32), size, levels=np.array(levels, np.int32))


def test_a_point_may_suppress_more_than_one_below():
    """With l, merging may break a group that kept it: the point above suppresses too many rows, the one below does not."""
    space = [halves(0, 0, 1, 1, 1, 2, 2, 3, 3)]
    sensitive = np.array([0, 1, 0, 0, 0, 1, 2, 1, 2], np.int32)
    assert best_of_all([Dimension(space[0].codes // 2, 2)], sensitive, {"l": 2}, 0.34, "ncp")[2] == (1,)
    found = search(space, sensitive, guaranteed({"l": 2}), suppression=0.34)
    assert (found.levels, found.suppressed) == ((0,), 3)
    for loss, suppression in product(LOSSES, (0.0, 0.2, 0.34, 0.4, 0.6, 1.0)):
        check(space, sensitive, {"l": 2}, suppression, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "changed", [{"KEPT": 0}, {"NEAR": 0}, {"KEY": 200, "PACK": 1}, {"KEY": 1, "PACK": 20}], ids=str
)
def test_memory_and_keys_change_nothing(monkeypatch, loss, changed):
    """Always from the lowest point, always by hash, and in several steps as if keys were short."""
    for name, value in changed.items():
        monkeypatch.setattr(lattice, name, value)

    @settings(MANY, max_examples=60)
    @given(table=tables(), suppression=st.sampled_from([0.0, 0.2]), promised=st.sampled_from(PROMISES))
    def with_it(table, suppression, promised):
        check(*table, promised, suppression, loss)

    with_it()


@pytest.mark.parametrize("loss", LOSSES)
def test_many_codes_and_long_keys(loss):
    """Five columns of 50,000 codes have more combinations than 64 bits tell apart; some codes have no row."""
    rng = np.random.default_rng(3)
    rows, size = 40, 50_000
    nodes = np.stack([np.arange(size), np.arange(size) // 10_000, np.zeros(size)]).astype(np.int32)
    space = [Dimension(rng.integers(0, size, rows).astype(np.int32), size, levels=nodes) for _ in range(4)]
    space.append(Dimension(rng.integers(0, size, rows).astype(np.int32), size, levels=nodes[[0, 2]]))
    sensitive = rng.integers(0, 4, rows).astype(np.int32)
    check([few(d) for d in space], sensitive, {"k": 2}, 0.3, loss)  # the oracle counts leaves one by one
    plain = search([few(d) for d in space], sensitive, guaranteed({"k": 2}), suppression=0.3, loss=loss)
    found = search(space, sensitive, guaranteed({"k": 2}), suppression=0.3, loss=loss)
    assert as_sets(found.groups)
    if loss == "discernibility":  # does not depend on codes that nobody holds
        assert (found.levels, found.loss) == (plain.levels, plain.loss)
        assert np.array_equal(found.groups, plain.groups)


def few(dimension):
    """The same with the codes that are held only."""
    held, codes = np.unique(dimension.codes, return_inverse=True)
    levels = [np.unique(nodes[held], return_inverse=True)[1] for nodes in dimension.levels]
    return Dimension(codes.astype(np.int32), held.size, levels=np.array(levels, np.int32))


@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_stay_and_results_repeat(loss):
    rng = np.random.default_rng(8)
    space = [halves(*rng.integers(0, size, 300).tolist()) for size in (4, 7, 9)]
    sensitive = rng.integers(0, 5, 300).astype(np.int32)
    before = [array.copy() for d in space for array in (d.codes, d.levels)] + [sensitive.copy()]
    options = {"suppression": 0.1, "loss": loss}
    groups = [assign(space, sensitive, guaranteed({"l": 2}), RandomSource(seed), **options) for seed in (1, 1, 2)]
    assert groups[0].dtype == np.int32
    assert np.array_equal(groups[0], groups[1])
    assert np.array_equal(groups[0], groups[2]), "nothing is drawn"
    after = [array for d in space for array in (d.codes, d.levels)] + [sensitive]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_numbers_do_not_tell_the_order_of_rows():
    """Shuffled rows get the same numbers as before."""
    rng = np.random.default_rng(9)
    space = [halves(*rng.integers(0, size, 400).tolist()) for size in (4, 8, 9)]
    sensitive = rng.integers(0, 5, 400).astype(np.int32)
    order = rng.permutation(400)
    shuffled = [Dimension(d.codes[order], d.size, levels=d.levels) for d in space]
    groups, again = (
        assign(table, values, guaranteed({"k": 6}), RandomSource(0), suppression=0.05)
        for table, values in ((space, sensitive), (shuffled, sensitive[order]))
    )
    assert groups.max() > 5
    assert np.array_equal(groups[order], again)


def test_the_limit_is_the_decimal_as_written():
    """29 of 100 rows are 0.29 of them, though 0.29 * 100 is less than 29 in floats."""
    assert int(0.29 * 100) == 28
    codes = np.array([0] * 71 + list(range(1, 30)), np.int32)
    levels = np.stack([np.arange(30), np.zeros(30)]).astype(np.int32)
    space = [Dimension(codes, 30, levels=levels)]
    assert search(space, codes, guaranteed({"k": 2}), suppression=0.29).suppressed == 29
    assert search(space, codes, guaranteed({"k": 2}), suppression=0.289).suppressed == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_somebody_is_published(loss):
    """Even if all rows may be suppressed, and every group below the root is too small."""
    space, sensitive = [halves(*range(8))], np.arange(8, dtype=np.int32)
    groups = assign(space, sensitive, guaranteed({"k": 8}), RandomSource(0), suppression=1.0, loss=loss)
    assert groups.tolist() == [0] * 8


def test_a_table_that_cannot_keep_it_is_refused():
    space, sensitive = [halves(0, 1, 2, 3)], np.zeros(4, np.int32)
    with pytest.raises(GuaranteeError, match="at most 0 rows"):
        assign(space, sensitive, guaranteed({"distinct_l": 2}), RandomSource(0))
    with pytest.raises(GuaranteeError):
        assign(space, sensitive, guaranteed({"k": 5}), RandomSource(0), suppression=1.0)


@pytest.mark.parametrize("suppression", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_limit_that_is_no_share_is_refused(suppression):
    with pytest.raises(InputError, match="from 0 to 1"):
        assign([halves(0, 0)], np.zeros(2, np.int32), guaranteed({"k": 2}), RandomSource(0), suppression=suppression)


def test_a_lattice_that_is_too_large_is_refused():
    codes = np.arange(20, dtype=np.int32) % 2
    with pytest.raises(InputError, match="combinations of levels"):
        assign([Dimension(codes, 2)] * 25, codes, guaranteed({"k": 2}), RandomSource(0))


def test_no_quasi_identifiers_is_one_group():
    assert assign([], np.arange(5, dtype=np.int32), guaranteed({"k": 2}), RandomSource(0)).tolist() == [0] * 5


def test_the_root_is_taken_if_nothing_else_keeps_it():
    space, sensitive = [halves(0, 1, 2, 3), halves(3, 2, 1, 0)], np.arange(4, dtype=np.int32)
    found = search(space, sensitive, guaranteed({"k": 4}))
    assert (found.levels, found.loss, found.groups.tolist()) == ((2, 2), 8, [0] * 4)


def test_a_column_of_one_value_stays_as_it_is():
    """Its levels tell rows apart no better than none: of equal losses the lowest levels win."""
    levels = np.zeros((4, 1), np.int32)
    space = [Dimension(np.zeros(6, np.int32), 1, levels=levels), halves(0, 0, 1, 1, 2, 3)]
    assert search(space, np.zeros(6, np.int32), guaranteed({"k": 2})).levels == (0, 1)


def test_few_points_are_counted():
    """Of 6 ** 6 points, less than one in fifty."""
    rng = np.random.default_rng(4)
    space = [halves(*(rng.integers(0, 32, 3000) * rng.random(3000)).astype(int).tolist()) for _ in range(6)]
    found = search(space, np.zeros(3000, np.int32), guaranteed({"k": 5}), suppression=0.05)
    assert found.counted < 6**6 / 50
    assert found.suppressed <= 150


@pytest.fixture(scope="module")
def adult(real_data):
    """Adult's complete records and their eight hierarchies."""
    place = real_data / "adult-hierarchies" / "arx"
    table = read_csv(place / "adult.csv.gz", parse_options=ParseOptions(delimiter=";"))
    space = []
    for name in ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"):
        domain, codes = np.unique(table[name].to_numpy(), return_inverse=True)
        levels = load(place / f"adult_hierarchy_{name}.csv", name).levels(pa.array(domain), name)
        space.append(Dimension(codes.astype(np.int32), domain.size, levels=levels.nodes))
    return space, np.unique(table["salary-class"].to_numpy(), return_inverse=True)[1].astype(np.int32)


def all_points(space, k):
    """For every point of the lattice: (levels, rows in groups below k; of the others NCP, LM by column, discernibility)."""
    codes, rows = np.unique(np.stack([d.codes for d in space], axis=1), axis=0, return_counts=True)

    def higher(levels, key, price, others):
        """All points that start with these levels, and whose first columns make this key and cost this much."""
        if len(levels) == len(space):
            sizes = np.bincount(key, rows)
            good = sizes >= k
            published = rows * good[key]
            ncp, lm = published @ price, [float(published @ column) for column in others]
            yield levels, int(sizes[~good].sum()), float(ncp), lm, int((sizes[good] ** 2).sum())
            return
        d, column = space[len(levels)], codes[:, len(levels)]
        for level, nodes in enumerate(d.levels):
            leaves = np.bincount(nodes)[nodes]
            share = np.where(leaves > 1, leaves / d.size, 0)
            both = key * (nodes.max() + 1) + nodes[column]
            if len(levels) + 1 < len(space):
                _, both = np.unique(both, return_inverse=True)
            yield from higher(
                (*levels, level), both, price + share[column], [*others, (leaves[column] - 1) / (d.size - 1)]
            )

    return higher((), np.zeros(len(codes), np.int64), np.zeros(len(codes)), [])


@pytest.fixture(scope="module")
def adult_points(adult):
    return list(all_points(adult[0], 5))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("suppression", [0.0, 0.05])
def test_the_best_of_all_points_on_adult(adult, adult_points, suppression, loss):
    space, sensitive = adult
    rows = sensitive.size
    assert (rows, len(adult_points)) == (30_162, 6480)

    def lost(point):
        _, suppressed, ncp, lm, discernibility = point
        return {
            "ncp": ncp + 8 * suppressed,
            "lm": sum(lm) + 8 * suppressed,
            "geometric": prod(1 + (column + suppressed) / rows for column in lm) - 1,
            "discernibility": discernibility + rows * suppressed,
        }[loss]

    allowed = [point for point in adult_points if point[1] <= rows * suppression]
    best = min(
        allowed, key=lambda point: (round(lost(point), 9 if loss == "geometric" else 6), sum(point[0]), point[0])
    )
    found = search(space, sensitive, Guarantee.of({"k": 5}), suppression=suppression, loss=loss)
    assert (found.levels, found.suppressed) == best[:2]
    assert float(found.loss) == pytest.approx(lost(best), rel=1e-12)
    groups = found.groups
    assert np.count_nonzero(groups < 0) == found.suppressed
    assert np.bincount(groups[groups >= 0]).min() >= 5
    assert found.counted < len(adult_points) / 5


def test_the_best_with_distinct_values_on_adult(adult):
    """Salary has two values; the promise of both in every group, judged by the guarantee itself."""
    space, sensitive = adult
    guarantee = Guarantee.of({"k": 5, "distinct_l": 2})
    found = search(space, sensitive, guarantee, suppression=0.05)
    kept = found.groups >= 0
    assert guarantee.holds(Histograms.of(found.groups[kept], sensitive[kept])).all()
    assert found.suppressed == np.count_nonzero(~kept) <= 0.05 * sensitive.size
    assert found.loss > search(space, sensitive, Guarantee.of({"k": 5}), suppression=0.05).loss
    assert found.loss < Fraction(len(space) * sensitive.size)
