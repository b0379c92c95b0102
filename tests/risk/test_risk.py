"""Risk figures against the definitions: record by record, group by group, by pycanon, and in simulated populations."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycanon import anonymity

from discreet.errors import InputError
from discreet.risk.held import Held, told
from discreet.risk.population import alike, estimate, inverse
from discreet.risk.risks import measure
from discreet.risk.sizes import THRESHOLDS, prosecutor
from discreet.table.people import people as invented
from discreet.values.coded import code, combined


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_risks_are_those_of_records(classes):
    counts = pd.Series(classes).value_counts()
    of_records = [1 / counts[each] for each in classes]
    found = prosecutor(counts.to_numpy())
    assert found.highest == max(of_records)
    assert found.average == pytest.approx(np.mean(of_records))
    assert found.average == pytest.approx(len(counts) / len(classes)), "ARX: classes over records"
    for limit in THRESHOLDS:
        assert found.at_risk[limit] == pytest.approx(np.mean([risk > limit for risk in of_records]))


def test_a_population_lowers_the_risk_and_cannot_be_smaller():
    sizes, beside = np.array([1, 1, 3]), np.array([1, 10, 4])
    found = measure("table", ("a",), sizes, None, (), people=100, beside=beside, uniques=7)
    assert found.journalist.highest == 1
    assert found.journalist.average == pytest.approx((1 + 1 / 10 + 3 / 4) / 5) == found.marketer
    assert found.journalist.at_risk == {0.05: 1.0, 0.09: 1.0, 0.2: 0.8, 0.33: 0.2}
    assert (found.unique, found.population.count, found.population.of_records) == (2, 7, 0.2)
    with pytest.raises(InputError, match="a population of 4 is smaller than the table: expected at least 5 people"):
        measure("table", ("a",), sizes, None, (), people=4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60))
def test_what_groups_tell_is_measured(rows):
    frame = pd.DataFrame(rows, columns=["g", "v"])
    groups, values = (np.unique(frame[name], return_inverse=True)[1] for name in ("g", "v"))
    found = told(Held.of_rows(groups, values), ordered=True)
    equal = told(Held.of_rows(groups, values), ordered=False)
    whole = frame.v.value_counts(normalize=True).sort_index()
    shares = [part.v.value_counts(normalize=True) for _, part in frame.groupby("g")]
    assert found.distinct_l == min(len(share) for share in shares)
    assert found.l == min(len(part) // part.v.value_counts().max() for _, part in frame.groupby("g"))
    assert found.entropy_l == pytest.approx(min(math.exp(-(share * np.log(share)).sum()) for share in shares))
    assert found.beta == pytest.approx(max((share / whole).max() for share in shares) - 1)
    full = [share.reindex(whole.index, fill_value=0) for share in shares]
    assert equal.t == pytest.approx(max(abs(share - whole).sum() / 2 for share in full))
    by_rank = [(share - whole).cumsum().abs().sum() / max(len(whole) - 1, 1) for share in full]
    assert found.t == pytest.approx(max(by_rank))


@pytest.mark.filterwarnings("ignore:In a future version")
def test_pycanon_agrees_on_every_figure():
    chance = np.random.default_rng(7)
    frame = pd.DataFrame({"q": chance.integers(0, 4, 80), "n": chance.integers(0, 6, 80) * 10})
    frame["s"] = frame.n.astype(str)
    groups, values = (np.unique(frame[name], return_inverse=True)[1] for name in ("q", "n"))
    held = Held.of_rows(groups, values)
    number, text = told(held, ordered=True), told(held, ordered=False)
    assert prosecutor(np.bincount(groups)).highest == 1 / anonymity.k_anonymity(frame, ["q"])
    assert number.distinct_l == anonymity.l_diversity(frame, ["q"], ["s"])
    assert int(number.entropy_l) == anonymity.entropy_l_diversity(frame, ["q"], ["s"])
    assert number.t == pytest.approx(anonymity.t_closeness(frame, ["q"], ["n"]))
    assert text.t == pytest.approx(anonymity.t_closeness(frame, ["q"], ["s"]))
    assert number.beta == pytest.approx(anonymity.basic_beta_likeness(frame, ["q"], ["s"]))


def test_harmless_values_count_for_t_and_beta_alone():
    held = Held.of_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 2, 0, 1, 1, 2]))
    assert told(held, ordered=False).l == 2
    assert told(held, ordered=False, spared=np.array([False, True, False])).l == 1
    assert told(held, ordered=False, spared=np.array([True, False, False])).shares.tolist() == [0.5, 2 / 3]
    only = told(held, ordered=False, spared=np.ones(3, bool))
    assert (only.l, only.distinct_l) == (0, 0)


@pytest.fixture(scope="module")
def population():
    """People who come one by one, by Pitman's scheme: like somebody who is there, or like nobody."""
    chance, alpha, theta = np.random.default_rng(2), 0.5, 100
    looks, counts = np.zeros(30_000, int), [1]
    for i in range(1, looks.size):
        if chance.random() * (i + theta) < theta + alpha * len(counts):
            looks[i] = len(counts)
            counts.append(1)
            continue
        while True:
            look = looks[chance.integers(i)]
            if chance.random() * counts[look] < counts[look] - alpha:
                break
        looks[i] = look
        counts[look] += 1
    return looks, counts.count(1)


@pytest.mark.parametrize(("share", "model"), [(0.05, "pitman"), (0.1, "pitman"), (0.3, "zayatz"), (0.6, "zayatz")])
def test_uniques_of_a_population_are_found(population, share, model):
    looks, unique = population
    for seed in range(3):
        drawn = looks[np.random.default_rng(seed).permutation(looks.size)[: int(share * looks.size)]]
        sizes = np.bincount(drawn)
        found = estimate(sizes[sizes > 0], looks.size)
        assert found.model == model
        assert unique * 2 / 3 < found.count < unique * 4 / 3
        assert found.of_records == pytest.approx(found.count / looks.size)
        assert 0 < found.low <= found.count <= found.high <= np.count_nonzero(sizes == 1) / share


def test_look_alikes_are_counted_by_hand():
    """Of 10 people in 100, 4 alone and 3 in twos: 4 x 0.1 of 4 x 0.1 + 2 x 0.9 x 3 are alone, of 40."""
    assert alike(np.array([1, 2]), np.array([4, 3]), 100) == pytest.approx(40 * 0.4 / (0.4 + 5.4))


@pytest.mark.parametrize(
    ("quasi", "low", "high"),
    [
        (["age", "sex", "zipcode"], 1, 2),
        (["age", "sex", "zipcode", "education", "marital_status", "country"], 0.9, 1.1),
    ],
)
def test_uniques_of_people_who_follow_no_model(quasi, low, high):
    """What the page of risks says of the estimates: they tend to be too high."""
    table = invented(40_000)
    looks, _ = combined([code(table[name]).codes for name in quasi])
    unique = np.count_nonzero(np.bincount(looks) == 1)
    for share in (0.05, 0.3):
        sizes = np.bincount(looks[np.random.default_rng(1).permutation(looks.size)[: int(share * looks.size)]])
        assert low * unique < estimate(sizes[sizes > 0], looks.size).count < high * unique


def test_a_table_without_uniques_has_none_in_the_population():
    assert estimate(np.array([2, 3]), 1_000).count == 0
    everybody = estimate(np.ones(1_000, int), 20_000)
    assert everybody.share > 0.99, "where all differ, everybody does"


@pytest.mark.parametrize("fraction", [0.001, 0.1, 0.4, 0.6, 0.999])
def test_the_expected_risk_in_a_population(fraction):
    sizes = np.array([1, 2, 5, 40, 5_000])
    found = inverse(sizes, fraction)
    for size, risk in zip(sizes[:4], found, strict=False):
        log_share, total = size * math.log(fraction), 0.0
        for people in range(int(size), int(size) + int(40 * (size + 10) / fraction)):  # negative binomial, summed up
            total += math.exp(log_share) / people
            log_share += math.log1p(-fraction) + math.log(people) - math.log(people + 1 - size)
        assert risk == pytest.approx(total, rel=1e-3)
    assert found[4] == pytest.approx(fraction / 5_000)
    assert (inverse(sizes, 1.0) == 1 / sizes).all()
