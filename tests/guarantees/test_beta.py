"""Beta-likeness: exact limits, the example of a small hospital, and what a policy says of it."""

from collections import Counter
from contextlib import closing
from fractions import Fraction
from math import log

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Policy, Vault, publish, verify
from discreet.engines import connect
from discreet.errors import PolicyError
from discreet.guarantees import Guarantee, Histograms, gaps, sentences
from discreet.guarantees.beta import Beta, EnhancedBeta, largest
from discreet.release.verify.likeness import likeness
from discreet.values.rule import Rule, rows_for

COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=7)
BETAS = st.sampled_from([0.1, 0.25, 0.5, 1, 1.7, 3, 40]) | st.floats(0.001, 9)


def allowed(kind, beta, share):
    """The largest share of a group, by the definition."""
    most = share * (1 + Fraction(repr(beta)))
    return most if kind is Beta else min(most, share * (1 - Fraction(log(share))))


@settings(max_examples=80, deadline=None)
@given(counts=COUNTS, beta=BETAS, kind=st.sampled_from([Beta, EnhancedBeta]))
def test_shares_are_rounded_to_no_effect(counts, beta, kind):
    """Every fraction of at most n rows is allowed if and only if the definition allows it, and its need says the same."""
    rows, rule = sum(counts), kind(beta, np.array(counts)).enter(Rule())
    for value, count in enumerate(counts):
        limit, (most, of) = allowed(kind, beta, Fraction(count, rows)), rule.shares[value].tolist()
        assert of <= rows
        for size in range(1, rows + 1):
            for held in range(1, size + 1):
                assert (held * of <= size * most) == (Fraction(held, size) <= limit)
            fits = max((held for held in range(1, size + 1) if Fraction(held, size) <= limit), default=0)
            assert rows_for(value, fits, rule) <= size < rows_for(value, fits + 1, rule) or fits == size


@settings(max_examples=300, deadline=None)
@given(limit=st.fractions(0, 1), rows=st.integers(1, 60))
def test_the_largest_fraction_below(limit, rows):
    found = Fraction(*largest(limit, rows))
    assert found == max(Fraction(n, d) for d in range(1, rows + 1) for n in range(d + 1) if Fraction(n, d) <= limit)


def test_a_small_hospital():
    """Of ten patients one has HIV: with beta = 1 it may be one of five, and with beta = 4 even one of two."""
    illnesses, group = np.array([1, 4, 5]), np.array([0, 1, 1, 2, 2], np.int32)
    five = Histograms.of(np.zeros(5, np.int32), group)
    assert Guarantee.of({"beta": 1}, population=illnesses).holds(five).tolist() == [True]
    assert Guarantee.of({"beta": 0.9}, population=illnesses).holds(five).tolist() == [False]
    two = Histograms.of(np.zeros(2, np.int32), np.array([0, 1], np.int32))
    assert Guarantee.of({"beta": 4}, population=illnesses).holds(two).tolist() == [True]
    # -ln(1/10) is 2.3: what is rare may become 3.3 times as frequent, whatever beta says
    assert Guarantee.of({"enhanced_beta": 4}, population=illnesses).holds(two).tolist() == [False]


def test_one_value_in_all_rows_tells_nothing():
    alone = Histograms.of(np.zeros(2, np.int32), np.zeros(2, np.int32))
    assert Guarantee.of({"enhanced_beta": 1}, population=np.array([9])).holds(alone).tolist() == [True]


def test_the_stricter_of_two_limits_counts():
    population = np.array([1, 9, 40])
    rule = Guarantee.of({"beta": 9, "enhanced_beta": 3}, population=population).rule
    alone = [Guarantee.of({name: t}, population=population).rule for name, t in (("beta", 9), ("enhanced_beta", 3))]
    for value in range(3):
        assert rows_for(value, 1, rule) == max(rows_for(value, 1, other) for other in alone)


def test_in_words():
    assert sentences({"beta": 0.1}) == [
        "no sensitive value has more than 1.1 times its share of the table in any group"
    ]
    assert "1 - ln(that share)" in sentences({"enhanced_beta": 2})[0]
    assert gaps({"beta": 3, "k": 2}) == [
        "that a group holds several values: one that at least 1 in 4 people hold may fill it"
    ]
    assert gaps({"enhanced_beta": 3, "l": 2}) == []


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"guarantee": {"beta": 0}}, "expected more than 0, got 0: the smaller, the stronger"),
        ({"guarantee": {"beta": -1}}, "expected more than 0, got -1"),
        ({"guarantee": {"beta": "1"}}, "expected a number, got '1'"),
        ({"guarantee": {"beta": float("inf")}}, "expected a number, got inf"),
        ({"guarantee": {"betta": 1}}, "did you mean `beta`?"),
        (
            {"partition": "anatomize", "guarantee": {"l": 2, "beta": 1}},
            "`anatomize` cannot keep the promise `beta`; use `deal`",
        ),
        (
            {"partition": "min_sum", "guarantee": {"k": 2, "e": 1, "beta": 1}},
            "`min_sum` cannot keep the promise `beta`",
        ),
        (
            {
                "partition": "full_domain",
                "ordered": ["q"],
                "options": {"suppression": 0.1},
                "publication": "generalization",
            },
            "`beta` compares groups with the rows that are published",
        ),
        (
            {"publication": "join", "identifiers": ["i"], "join": "i", "guarantee": {"k": 2, "beta": 1}},
            "a join promises k",
        ),
    ],
)
def test_what_a_policy_refuses(keys, message):
    with pytest.raises(PolicyError) as caught:
        Policy(**{"quasi": ["q"], "sensitive": "s", "guarantee": {"beta": 1}, **keys})
    assert message in str(caught.value)


def test_a_vault_refuses_it_by_name(tmp_path):
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"beta": 1}, publication="generalization")
    with pytest.raises(PolicyError, match="a vault promises l, distinct_l or k, or one with k, got beta"):
        Vault.create(tmp_path / "vault", policy)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(0, 4)), min_size=1, max_size=40),
    beta=BETAS,
    name=st.sampled_from(["beta", "enhanced_beta"]),
)
def test_the_release_check_counts_what_breaks_it(rows, beta, name):
    """From nothing but the counts of the files, against the definition written down."""
    counts, groups, table = Counter(rows), Counter(g for g, _ in rows), Counter(value for _, value in rows)
    kind = Beta if name == "beta" else EnhancedBeta
    breaking = {
        group
        for (group, value), held in counts.items()
        if Fraction(held, groups[group]) > allowed(kind, beta, Fraction(table[value], len(rows)))
    }
    with closing(connect()) as engine:
        columns = {"grp": [g for g, _ in counts], "value": [v for _, v in counts], "n": list(counts.values())}
        engine.load("st", pa.table({**columns, "value": pa.array(columns["value"], pa.int64())}))
        [found] = likeness(engine, {name: beta})
    assert found.ok == (not breaking)
    assert found.ok or f"{len(breaking)} groups break it" in found.detail


@pytest.mark.parametrize("partition", ["deal", "local", "cluster", "mondrian"])
def test_published_and_verified(partition, tmp_path):
    rng = np.random.default_rng(4)
    columns = {
        "q": rng.integers(0, 50, 600),
        "s": [None if i % 25 == 0 else "abcd"[i % 3 + (i % 7 == 0)] for i in range(600)],
    }
    policy = {"quasi": ["q"], "sensitive": "s", "partition": partition, "missing_sensitive": "value"}
    release = publish(pa.table(columns), Policy(**policy, guarantee={"beta": 1.5}), to=tmp_path / "a", seed=1)
    assert release.promise.groups > 1
    found = verify(tmp_path / "a")
    assert found.ok
    assert any(check.name == "guarantee beta = 1.5" for check in found.checks)


@pytest.mark.parametrize("beta", [1e30, 1e300, 10**400])
def test_the_release_check_takes_any_limit(beta):
    with closing(connect()) as engine:
        engine.load("st", pa.table({"grp": [1, 2], "value": ["a", "b"], "n": [10**9, 1]}))
        for name in ("beta", "enhanced_beta"):
            [found] = likeness(engine, {name: beta})
            assert found.ok == (name == "beta")
