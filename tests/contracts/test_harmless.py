"""What every partition owes where values are harmless: without the rows that hold them, every group keeps the promises."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.promised import fair, keeps, mark
from contracts.test_spatial import dimension
from discreet.errors import PolicyError
from discreet.guarantees import PROMISES, Guarantee, Histograms, Scale
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.values.random import RandomSource
from discreet.values.rule import keeps as kept_by_rule

QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
GUARANTEES = [
    {"l": 2},
    {"k": 6, "l": 3},
    {"distinct_l": 3},
    {"k": 3, "e": 4},
    {"l": 2, "beta": 2},
    {"k": 4, "e": 3, "l": 2},
]
OF_ALL_ROWS = {"k", "beta", "enhanced_beta"}  # but for the k of (k,e)


def sound(name, promised):
    try:
        Policy(quasi=["q"], sensitive="s", guarantee=promised, partition=name, ordered=["q"], harmless=[0])
    except PolicyError:
        return False
    return True


# Each form of the rule is compiled for each partition: of those that see a space, one form will do.
PAIRS = [
    (name, promised)
    for name in PARTITIONS
    for promised in GUARANTEES
    if sound(name, promised) and not (PARTITIONS[name].spatial and "beta" in promised)
]


@pytest.fixture(params=PAIRS, ids=lambda pair: " ".join([pair[0], *(f"{name}={t}" for name, t in pair[1].items())]))
def pair(request):
    return PARTITIONS[request.param[0]], request.param[1]


def spared(counter, promised, harmless, table):
    """Whether a group keeps the promises, by the definition."""
    others = Counter({value: times for value, times in counter.items() if value not in harmless})
    whole = {name for name in promised if name in OF_ALL_ROWS and not (name == "k" and "e" in promised)}
    of_others = {name: t for name, t in promised.items() if name not in whole}
    return bool(others) and keeps(others, of_others) and keeps(counter, {name: promised[name] for name in whole}, table)


def guarantee_of(promised, sensitive, harmless):
    size = int(sensitive.max()) + 1
    scale, mask = Scale(np.array([mark(value) for value in range(size)])), np.isin(np.arange(size), list(harmless))
    return Guarantee.of(promised, scale, np.bincount(sensitive), mask)


@st.composite
def tables(draw, promised):
    """A table whose rows that hold no harmless value keep the promises; harmless values lie among the others."""
    counts = fair(draw(st.lists(st.integers(1, 6), min_size=1, max_size=6)), {**promised, "k": promised.get("k", 1)})
    values = [value for value, times in enumerate(counts) for _ in range(times)]
    harmless = draw(st.sets(st.integers(0, len(counts) + 1), min_size=1, max_size=2))
    others = [v for v in range(len(counts) + len(harmless)) if v not in harmless]
    free = [value for value in harmless if value <= max(others) + 2 for _ in range(draw(st.integers(1, 40)))]
    sensitive = draw(st.permutations([*(others[value] for value in values), *free]))
    quasi = [
        draw(st.lists(st.integers(0, width), min_size=len(sensitive), max_size=len(sensitive))) for width in (1, 6)
    ]
    return np.array(sensitive, np.int32), quasi, harmless


@QUICK
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_every_group_keeps_it_without_harmless_rows(pair, data, seed):
    partition, promised = pair
    sensitive, quasi, harmless = data.draw(tables(promised))
    table = Counter(sensitive.tolist())
    if not spared(table, promised, harmless, table):  # marks of the others may lie nearer than where they were fair
        return
    forms = ["tree"] if partition.sees == "hierarchies" else ["line", "set"]
    space = [dimension(column, data.draw(st.sampled_from(forms))) for column in quasi]
    seen = {"nothing": [], "codes": [np.unique(c, return_inverse=True)[1].astype(np.int32) for c in quasi]}
    guarantee = guarantee_of(promised, sensitive, harmless)
    groups = partition.assign(seen.get(partition.sees, space), sensitive, guarantee, RandomSource(seed))
    members = defaultdict(Counter)
    for group, value in zip(groups.tolist(), sensitive.tolist(), strict=True):
        members[group][value] += 1
    assert sorted(members) == list(range(len(members)))
    assert all(spared(counter, promised, harmless, table) for counter in members.values())


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40),
    harmless=st.sets(st.integers(0, 5), max_size=3),
    promised=st.dictionaries(st.sampled_from(list(PROMISES)), st.integers(2, 5), min_size=1),  # 1 promises nothing
)
def test_holds_and_the_rule_say_what_the_definition_says(rows, harmless, promised):
    dense = {group: i for i, group in enumerate(sorted({group for group, _ in rows}))}
    members = defaultdict(Counter)
    for group, value in rows:
        members[dense[group]][value] += 1
    groups, values = (np.array(column, np.int32) for column in zip(*((dense[g], v) for g, v in rows), strict=True))
    guarantee, table = guarantee_of(promised, np.append(values, 5), harmless), Counter(values.tolist())
    population = np.bincount(values, minlength=6)
    scale = Scale(np.array([mark(value) for value in range(6)]))
    guarantee = Guarantee.of(promised, scale, population, guarantee.harmless)
    sparing = bool(promised.keys() - OF_ALL_ROWS)
    expected = [
        spared(members[i], promised, harmless, table) or (not sparing and keeps(members[i], promised, table))
        for i in range(len(members))
    ]
    assert guarantee.holds(Histograms.of(groups, values)).tolist() == expected
    if sparing:
        scratch = np.zeros(6, np.int32)
        found = [kept_by_rule(values[groups == i], guarantee.rule, scratch) for i in range(len(members))]
        assert found == expected
        assert not scratch.any()
