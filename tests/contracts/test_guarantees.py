"""What every promise owes: judged over the registry by counting."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.guarantees import PROMISES, Guarantee, Scale, sentences
from discreet.guarantees.histograms import Histograms
from discreet.policy import Policy

ORACLES = {
    "k": lambda counter, k: sum(counter.values()) >= k,
    "l": lambda counter, l: all(times * l <= sum(counter.values()) for times in counter.values()),
    "distinct_l": lambda counter, l: len(counter) >= l,
    "e": lambda counter, e: 3 * (max(counter) - min(counter)) >= e,
}
SCALE = Scale(np.arange(20) * 3)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=60)
COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=8).filter(any)


@pytest.fixture(params=list(PROMISES))
def name(request):
    return request.param


def made(name, threshold):
    return PROMISES[name](threshold, SCALE) if name == "e" else PROMISES[name](threshold)


def counted(rows):
    """The histograms of (group, value) rows and, by plain counting, the same."""
    dense = {group: i for i, group in enumerate(sorted({group for group, _ in rows}))}
    counters = defaultdict(Counter)
    for group, value in rows:
        counters[dense[group]][value] += 1
    groups = np.array([dense[group] for group, _ in rows], np.int32)
    values = np.array([value for _, value in rows], np.int32)
    return Histograms.of(groups, values), [counters[i] for i in range(len(dense))]


def test_every_promise_has_an_oracle():
    assert ORACLES.keys() == PROMISES.keys()


def test_registered_under_its_own_name(name):
    promise = made(name, 7)
    assert promise.name == name
    assert promise.threshold == 7
    beside = {"k": 2} if name == "e" else {}
    assert Policy(quasi=["q"], sensitive="s", guarantee={**beside, name: promise.least}, partition="deal")


@QUICK
@given(rows=ROWS, threshold=st.integers(1, 12))
def test_holds_group_by_group(name, rows, threshold):
    histograms, counters = counted(rows)
    expected = [ORACLES[name](counter, threshold) for counter in counters]
    assert made(name, threshold).holds(histograms).tolist() == expected


@QUICK
@given(counts=COUNTS)
def test_largest_is_what_the_whole_table_can_keep(name, counts):
    largest = made(name, 2).largest(np.array(counts))
    table = Counter({value: times for value, times in enumerate(counts) if times})
    kept = [t for t in range(100) if ORACLES[name](table, t)]
    assert largest == max(kept)
    assert kept == list(range(largest + 1)), "a smaller threshold would be harder to keep"


@QUICK
@given(counts=COUNTS)
def test_largest_does_not_depend_on_the_threshold(name, counts):
    assert len({made(name, t).largest(np.array(counts)) for t in range(2, 6)}) == 1


@QUICK
@given(rows=ROWS, threshold=st.integers(2, 6), merged=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_two_groups_that_keep_it_keep_it_together(name, rows, threshold, merged):
    """So a refusal of the whole table is a refusal of every partition of it."""
    a, b = merged
    histograms, counters = counted([row for row in rows if row[0] in merged] or rows[:1])
    together, _ = counted([(a if group == b else group, value) for group, value in rows if group in merged] or rows[:1])
    promise = made(name, threshold)
    if len(counters) == 2 and promise.holds(histograms).all():
        assert promise.holds(together).tolist() == [True]


@QUICK
@given(rows=ROWS)
def test_less_than_the_least_promises_nothing(name, rows):
    assert made(name, PROMISES[name].least - 1).holds(counted(rows)[0]).all()


@QUICK
@given(rows=ROWS, thresholds=st.dictionaries(st.sampled_from(list(PROMISES)), st.integers(1, 6), min_size=1))
def test_a_guarantee_is_the_conjunction_of_its_promises(rows, thresholds):
    histograms, counters = counted(rows)
    meant = {**ORACLES, "k": ORACLES["distinct_l"]} if "e" in thresholds else ORACLES  # the k of (k,e)
    expected = [all(meant[name](counter, t) for name, t in thresholds.items()) for counter in counters]
    assert Guarantee.of(thresholds, SCALE).holds(histograms).tolist() == expected


def test_promises_in_words(name):
    [sentence] = sentences({name: 7})
    assert "{" not in sentence
    assert "7" in sentence or "6 others" in sentence


def test_k_and_e_in_words():
    assert sentences({"k": 4, "e": 100}) == [
        "every group has at least 4 different sensitive values",
        "in every group, the sensitive values span a range of at least 100",
    ]
