"""How guesses are scored: ties in equal parts, the surest first, and wider intervals for the best of several."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import RECALLS, Given, Rate
from discreet.audit.guessing.guesses import Guesses, Scored


def test_guesses_are_scored_as_by_hand():
    """Three guesses for five people: of one value, of any of two, and of none."""
    guesses = Guesses(
        pa.array(["a", "b", "c"]),
        of=np.array([0, 1, 1, 2, 0]),
        starts=np.array([0, 1, 3, 3]),
        codes=np.array([2, 0, 1]),
        sure=np.array([0.9, 0.5, 0.0]),
        seen=np.ones(5, np.bool_),
    )
    assert guesses.right(np.array([2, 0, 2, 1, -1])).tolist() == [1, 0.5, 0, 0, 0]
    assert guesses.about(slice(1, 3)).right(np.array([1, 1])).tolist() == [0.5, 0.5]


def test_the_surest_are_picked_first_and_ties_in_equal_parts():
    """As over every order in which people who tie may stand."""
    right, sure = np.array([1, 0, 0.5, 0, 1, 1, 0, 0, 0, 0]), np.array([0.9, 0.9, 0.9, 0.3, 0.3, *[0.1] * 5])
    found = Scored(right, sure).at_recall()
    assert [*found] == [*RECALLS]
    orders = [np.mean([right[list(order)][0] for order in permutations(range(3))])]
    assert found[0.1].share == pytest.approx(orders[0]) == pytest.approx(0.5)
    assert found[0.01].share == found[0.1].share  # one of ten is the fewest
    assert found[1.0].share == pytest.approx(0.35)
    assert Scored(right, np.arange(10.0)).at_recall()[0.1].share == 0


def test_the_best_of_several_has_a_wider_interval():
    """By Bonferroni: the interval of one of five is that of one alone at 99 %."""
    one, best = Rate.of(10, 100), Rate.of(10, 100, tried=5)
    assert best.low < one.low < one.high < best.high
    assert (round(best.low, 4), round(best.high, 4)) == (0.046, 0.2038)  # z = 2.5758
    assert one.holds(one.low)
    assert not one.holds(one.high + 0.001)


def test_people_of_a_holdout_are_taken_out_of_the_truth(tmp_path):
    """As many rows of each kind; a holdout of other people leaves the truth as it is."""
    table = pa.table({"age": [1, 1, 1, 2, 2, 3, 4, 5], "value": [1, 1, 2, 1, 2, 1, 2, 1]})
    policy = discreet.Policy(quasi=["age"], sensitive="value", guarantee={"k": 2})
    release = discreet.publish(table, policy, to=tmp_path / "r", seed=1)
    out = table.take([0, 5])
    found = Given.read(release, truth=table, holdout=out).truth
    assert found.equals(table.take([1, 2, 3, 4, 6, 7]))
    others = pa.table({"age": [1, 9], "value": [1, 1]})
    assert Given.read(release, truth=table, holdout=others).truth.equals(table)
