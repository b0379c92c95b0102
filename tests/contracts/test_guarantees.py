"""What every promise owes: judged over the registry by counting, whichever way it is stronger."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.guarantees import PROMISES, Guarantee, Scale, sentences
from discreet.guarantees.histograms import Histograms
from discreet.policy import Policy
from discreet.values.rule import Rule, keeps


def share(counter, value):
    return Fraction(counter[value], sum(counter.values()))


def gain(group, table, value):
    """How much more frequent a value is in a group than in the table, as a multiple of its share of the table."""
    return share(group, value) / share(table, value) - 1


# Whether a group keeps a promise, and the table it is a part of, by counting.
ORACLES = {
    "k": lambda group, k, _: sum(group.values()) >= k,
    "l": lambda group, l, _: all(times * l <= sum(group.values()) for times in group.values()),
    "distinct_l": lambda group, l, _: len(group) >= l,
    "e": lambda group, e, _: 3 * (max(group) - min(group)) >= e,
    "beta": lambda group, beta, table: all(gain(group, table, v) <= Fraction(str(beta)) for v in group),
    "enhanced_beta": lambda group, beta, table: all(
        gain(group, table, v) <= min(Fraction(str(beta)), -log(share(table, v))) for v in group
    ),
}
SCALE = Scale(np.arange(20) * 3)
QUICK = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=60)
COUNTS = st.lists(st.integers(0, 12), min_size=1, max_size=8).filter(any)


@pytest.fixture(params=list(PROMISES))
def name(request):
    return request.param


def made(name, threshold, population=(1,)):
    facts = {"scale": SCALE, "population": np.array(population)}
    return PROMISES[name](threshold, **{fact: facts[fact] for fact in PROMISES[name].needs})


def thresholds_of(name, most=12):
    """Thresholds to try: whole ones, or any."""
    whole = st.integers(1, most)
    return whole if PROMISES[name].integral else whole | st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.5, 2.2])


def counted(rows):
    """The histograms of (group, value) rows and, by plain counting, the same; and the whole table."""
    dense = {group: i for i, group in enumerate(sorted({group for group, _ in rows}))}
    counters = defaultdict(Counter)
    for group, value in rows:
        counters[dense[group]][value] += 1
    groups = np.array([dense[group] for group, _ in rows], np.int32)
    values = np.array([value for _, value in rows], np.int32)
    return Histograms.of(groups, values), [counters[i] for i in range(len(dense))], Counter(values.tolist())


def population(table):
    return np.array([table[value] for value in range(8)])


def test_every_promise_has_an_oracle():
    assert ORACLES.keys() == PROMISES.keys()


def test_registered_under_its_own_name(name):
    kind = PROMISES[name]
    promise = made(name, 7)
    assert promise.name == name
    assert promise.threshold == 7
    weakest = kind.weakest if kind.stronger == "larger" else 1
    beside = dict.fromkeys(kind.together, 2)
    assert Policy(quasi=["q"], sensitive="s", guarantee={**beside, name: weakest}, partition="deal")


@QUICK
@given(rows=ROWS, data=st.data())
def test_holds_group_by_group(name, rows, data):
    threshold = data.draw(thresholds_of(name))
    histograms, counters, table = counted(rows)
    expected = [ORACLES[name](counter, threshold, table) for counter in counters]
    assert made(name, threshold, population(table)).holds(histograms).tolist() == expected


@QUICK
@given(counts=COUNTS, threshold=st.integers(1, 30))
def test_strongest_is_what_the_whole_table_can_keep(name, counts, threshold):
    """It keeps what is as strong or weaker, and nothing stronger, whichever way that is."""
    table = Counter({value: times for value, times in enumerate(counts) if times})
    strongest = made(name, threshold, counts).strongest(np.array(counts))
    weaker = threshold <= strongest if PROMISES[name].stronger == "larger" else threshold >= strongest
    assert ORACLES[name](table, threshold, table) == weaker
    assert ORACLES[name](table, strongest, table)


@QUICK
@given(rows=ROWS, data=st.data())
def test_what_keeps_a_stronger_promise_keeps_a_weaker_one(name, rows, data):
    one, other = sorted(data.draw(st.tuples(thresholds_of(name), thresholds_of(name))))
    if PROMISES[name].stronger == "smaller":
        one, other = other, one
    histograms, _, table = counted(rows)
    weak, strong = (made(name, threshold, population(table)).holds(histograms) for threshold in (one, other))
    assert (weak | ~strong).all()


@QUICK
@given(counts=COUNTS)
def test_strongest_does_not_depend_on_the_threshold(name, counts):
    assert len({made(name, t, counts).strongest(np.array(counts)) for t in range(2, 6)}) == 1


@QUICK
@given(rows=ROWS, threshold=st.integers(1, 6))
def test_the_rule_is_what_holds(name, rows, threshold):
    """A compiled rule with this promise alone says the same of every group."""
    histograms, counters, table = counted(rows)
    promise = made(name, threshold, population(table))
    rule, counts = promise.enter(Rule()), np.zeros(8, np.int32)
    found = [keeps(np.array([*counter.elements()], np.int32), rule, counts) for counter in counters]
    assert found == promise.holds(histograms).tolist()


@QUICK
@given(rows=ROWS, threshold=st.integers(1, 6), merged=st.tuples(st.integers(0, 5), st.integers(0, 5)))
def test_two_groups_that_keep_it_keep_it_together(name, rows, threshold, merged):
    """If it is monotone, as all are: so a refusal of the whole table is a refusal of every partition of it."""
    assert PROMISES[name].monotone
    a, b = merged
    table = counted(rows)[2]
    some = [row for row in rows if row[0] in merged] or rows[:1]
    histograms, counters, _ = counted(some)
    together, _, _ = counted([(a if group == b else group, value) for group, value in some])
    promise = made(name, threshold, population(table))
    if len(counters) == 2 and promise.holds(histograms).all():
        assert promise.holds(together).tolist() == [True]


@pytest.mark.parametrize("name", [name for name, kind in PROMISES.items() if kind.stronger == "larger"])
@QUICK
@given(rows=ROWS)
def test_less_than_the_weakest_promises_nothing(name, rows):
    assert made(name, PROMISES[name].weakest - 1).holds(counted(rows)[0]).all()


@QUICK
@given(rows=ROWS, thresholds=st.dictionaries(st.sampled_from(list(PROMISES)), st.integers(1, 6), min_size=1))
def test_a_guarantee_is_the_conjunction_of_its_promises(rows, thresholds):
    histograms, counters, table = counted(rows)
    meant = {**ORACLES, "k": ORACLES["distinct_l"]} if "e" in thresholds else ORACLES  # the k of (k,e)
    expected = [all(meant[name](counter, t, table) for name, t in thresholds.items()) for counter in counters]
    guarantee = Guarantee.of(thresholds, SCALE, population(table))
    assert guarantee.holds(histograms).tolist() == expected
    counts = np.zeros(8, np.int32)
    groups = [np.array([*counter.elements()], np.int32) for counter in counters]
    assert [keeps(values, guarantee.rule, counts) for values in groups] == expected


def test_promises_in_words(name):
    [sentence] = sentences({name: 7})
    assert "{" not in sentence
    assert any(word in sentence for word in ("7", "6 others", "8 times"))


def test_k_and_e_in_words():
    assert sentences({"k": 4, "e": 100}) == [
        "every group has at least 4 different sensitive values",
        "in every group, the sensitive values span a range of at least 100",
    ]
