"""What every partition owes, whatever its algorithm: judged over the registry by plain Python.

Those that form boxes have a file of their own, `test_spatial.py`.
"""

import re
from collections import Counter
from itertools import product
from math import ceil, comb, sqrt
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.promised import GUARANTEES, SHAPES, as_sets, check, codes, fair, guaranteed, keeps
from discreet.errors import PolicyError
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.values.random import RandomSource
from plainly import plainly

QUICK = settings(max_examples=9, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def refused(partition, promised):
    """Whether a policy refuses the guarantee with the partition."""
    try:
        Policy(quasi=["q"], sensitive="s", guarantee=promised, partition=partition, ordered=["q"])
    except PolicyError:
        return True
    return False


named = attrgetter("name")
PLAIN = [name for name, partition in PARTITIONS.items() if not partition.spatial]
PAIRS = [(name, promised) for name in PLAIN for promised in GUARANTEES if not refused(name, promised)]


@pytest.fixture(params=PAIRS, ids=lambda pair: " ".join([pair[0], *(f"{name}={t}" for name, t in pair[1].items())]))
def pair(request):
    """A partition with a guarantee that makes sense with it: the policy is the judge of that."""
    return request.param


@pytest.fixture
def partition(pair):
    return PARTITIONS[pair[0]]


@pytest.fixture
def promised(pair):
    return pair[1]


def test_what_is_refused_is_what_the_docs_say():
    text = Path(__file__).parents[2].joinpath("docs", "partitions.md").read_text(encoding="utf-8")
    head = "| partition | needs | keeps | none may ask for more than |\n|---|---|---|---|\n"
    rows = [row.strip("|").split("|") for row in text.partition(head)[2].partition("\n\n")[0].splitlines()]
    told = set()
    for names, needs, may, most in ([re.findall(r"`(\w+)`|(any)", cell) for cell in row] for row in rows):
        needed, kept, largest = ({word or rest for word, rest in cell} for cell in (needs, may, most))
        for (name, _), promised in product(names, GUARANTEES):
            keeps_all = kept == {"any"} or promised.keys() <= kept
            too_much = any(value > promised.get(limit, value) for limit in largest for value in promised.values())
            if not needed <= promised.keys() or not keeps_all or too_much:
                told.add((name, str(promised)))
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row[0])) == sorted(PARTITIONS)
    assert told == {(name, str(given)) for name, given in product(PARTITIONS, GUARANTEES) if refused(name, given)}
    assert told


def assign(partition, quasi, sensitive, promised, seed=0):
    return partition.assign(quasi, sensitive, guaranteed(promised, sensitive), RandomSource(seed))


@st.composite
def tables(draw, promised, most=9):
    """A small table that the guarantee allows: sensitive codes in any order, and up to three quasi-identifiers."""
    counts = fair(draw(st.lists(st.integers(1, most), min_size=1, max_size=9)), promised)
    sensitive = draw(st.permutations([value for value, times in enumerate(counts) for _ in range(times)]))
    n = len(sensitive)
    widths = draw(st.lists(st.sampled_from([1, 2, 5, 1000]), min_size=1, max_size=3))
    quasi = [draw(st.lists(st.integers(0, width - 1), min_size=n, max_size=n)) for width in widths]
    return [codes(column) for column in quasi], np.array(sensitive, np.int32)


@QUICK
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_rows_groups_and_promises(partition, promised, data, seed):
    quasi, sensitive = data.draw(tables(promised))
    before = [column.copy() for column in [*quasi, sensitive]]
    groups = assign(partition, quasi, sensitive, promised, seed)
    check(groups, sensitive, promised)
    assert all(np.array_equal(a, b) for a, b in zip(before, [*quasi, sensitive], strict=True)), "the inputs changed"
    with plainly():
        assert np.array_equal(groups, assign(partition, quasi, sensitive, promised, seed)), "one seed, two results"


@pytest.mark.parametrize(("quasi", "sensitive"), [s[1:] for s in SHAPES], ids=[s[0] for s in SHAPES])
def test_difficult_tables(partition, promised, quasi, sensitive):
    assert keeps(Counter(sensitive.tolist()), promised), "as one group the table breaks it: nothing would be tested"
    check(assign(partition, quasi, sensitive, promised), sensitive, promised)


@pytest.mark.parametrize("others", ["even", "uneven", "single"])
@pytest.mark.parametrize("top", [1, 2, 7])
def test_exactly_eligible(partition, promised, top, others):
    """The most frequent value holds exactly 1/l of the rows, however the others share the rest."""
    k, l, distinct = promised.get("k", 1), promised.get("l", 2), promised.get("distinct_l", 1)
    distinct = max(distinct, ceil(promised["e"]) // 2 + 2, k) if "e" in promised else distinct
    top = max(top, -(-k // l), distinct)
    rest, parts = (l - 1) * top, max(l, distinct) - 1
    counts = {
        "even": [top, *(rest // parts + (i < rest % parts) for i in range(parts))],
        "uneven": [top] * (l - 1) + [1] * top,
        "single": [top] + [1] * rest,
    }[others]
    assert max(counts) * l == sum(counts)
    sensitive = np.random.default_rng(top).permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)
    quasi = [codes(np.random.default_rng(top).integers(0, 4, sensitive.size))]
    check(assign(partition, quasi, sensitive, promised), sensitive, promised)


def test_smallest_tables(partition, promised):
    """As few rows as the guarantee allows, and one or two more: all of them in one group or two."""
    least = ceil(max(promised.values()))
    for n in range(least, least + 3):
        sensitive = np.arange(n, dtype=np.int32)
        check(assign(partition, [np.zeros(n, np.int32)], sensitive, promised), sensitive, promised)


def test_rows_not_a_multiple_of_the_threshold(partition, promised):
    step = ceil(max(promised.values()))
    for n in range(10 * step, 11 * step + 1):
        sensitive = codes(np.random.default_rng(n).permutation(np.arange(n) % (2 * step)))
        quasi = [codes(np.random.default_rng(n + 1).integers(0, 7, n))]
        check(assign(partition, quasi, sensitive, promised), sensitive, promised)


def test_codes_that_no_row_holds(partition, promised):
    sensitive = (np.random.default_rng(5).permutation(np.arange(121) % 11) * 3 + 2).astype(np.int32)
    quasi = [(codes(np.random.default_rng(6).integers(0, 9, 121)) * 2 + 1).astype(np.int32)]
    check(assign(partition, quasi, sensitive, promised), sensitive, promised)


def test_seeds_matter(partition, promised):
    """400 rows have far too many partitions for twenty seeds to meet on one."""
    rng = np.random.default_rng(1)
    quasi, sensitive = [codes(rng.integers(0, 30, 400))], codes(rng.integers(0, 20, 400))
    plans = [assign(partition, quasi, sensitive, promised, seed) for seed in range(20)]
    plans += [partition.assign(quasi, sensitive, guaranteed(promised, sensitive), RandomSource()) for _ in range(2)]
    made = [as_sets(groups) for groups in plans]
    divided = [value for value in range(20) if len(set(plans[0][sensitive == value].tolist())) > 1]
    if "e" in promised and partition.name != "random" and not divided:
        assert all(groups == made[0] for groups in made), "whole values share a group: nothing is drawn"
    elif ways(plans[0], sensitive) > 10**9:
        assert all(made[i] != made[j] for i in range(22) for j in range(i))
    else:
        assert len(set(map(frozenset, made))) > 1


def ways(groups, sensitive):
    """In how many ways the rows of every value can take its places."""
    number = 1
    for value in np.unique(sensitive):
        left = int(np.count_nonzero(sensitive == value))
        for rows in Counter(groups[sensitive == value].tolist()).values():
            number *= comb(left, rows)
            left -= rows
    return number


@pytest.mark.parametrize("partition", [PARTITIONS[name] for name in PLAIN if not refused(name, {"l": 2})], ids=named)
def test_alike_rows_are_matched_uniformly(partition):
    """Three rows of one value and three of another, all else equal: each of the 6 ways to pair them is as likely."""
    sensitive, quasi, draws = np.array([0, 0, 0, 1, 1, 1], np.int32), [np.zeros(6, np.int32)], 3000
    ways = Counter()
    for seed in range(draws):
        groups = assign(partition, quasi, sensitive, {"l": 2}, seed).tolist()
        assert len(set(groups)) == 3
        ways[tuple(groups[3:].index(group) for group in groups[:3])] += 1
    assert len(ways) == 6
    statistic = sum((seen - draws / 6) ** 2 / (draws / 6) for seen in ways.values())
    # Laurent and Massart (2000), lemma 1: chi-square with 5 degrees of freedom exceeds this with p < exp(-20).
    assert statistic < 5 + 2 * sqrt(5 * 20) + 2 * 20


@pytest.mark.parametrize("partition", [PARTITIONS[name] for name in PLAIN], ids=named)
def test_rows_of_a_value_are_alike(partition):
    """Every row of a value joins every group with the same chance: the shares of its value's places."""
    promised, draws = {"l": 2} if not partition.keeps or "l" in partition.keeps else {"k": 3, "e": 4}, 2000
    sensitive = np.array([3, 1, 2, 0, 1, 4, 3, 2, 1, 4, 3, 0, 2, 1, 3], np.int32)
    quasi = [np.zeros(sensitive.size, np.int32)]
    joined = np.zeros((sensitive.size, sensitive.size))
    for seed in range(draws):
        joined[np.arange(sensitive.size), assign(partition, quasi, sensitive, promised, seed)] += 1 / draws
    for value in range(5):
        shares = joined[sensitive == value]
        # Hoeffding: a frequency is this far from its chance with p < 2 exp(-20); so is the mean of several.
        assert np.abs(shares - shares.mean(axis=0)).max() < 2 * sqrt(20 / (2 * draws))
