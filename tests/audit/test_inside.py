"""Who in a group holds what, against brute force: by a model, within a reach, and with values excluded."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from discreet.audit.attacks.background import _excluding, _knowing
from discreet.audit.attacks.proximity import _best, _best_window
from discreet.audit.guessing.posterior import ROUNDS, Histograms, Places, factors, likely


def by_assignments(chances, values):
    """How likely each row holds each value, over all orders of the values."""
    found, total = np.zeros(chances.shape), 0.0
    for order in permutations(values):
        weight = np.prod([np.exp(chances[row, value]) for row, value in enumerate(order)])
        found[np.arange(len(order)), order] += weight
        total += weight
    return found / total


def by_scaling(chances, values):
    """The same as the attack has it: only the likeliest value is told."""
    held = Histograms.of(np.array([0, len(values)]), np.sort(np.array(values)))
    rows, kind = np.arange(len(values)), np.arange(chances.shape[1], dtype=np.int32)
    factor = factors(np.array([0, len(values)]), rows, held, kind, chances.astype(np.float32), ROUNDS)
    places = Places(np.arange(len(values) + 1), np.zeros(len(values), np.int64), np.ones(len(values)))
    return likely(places, held, factor, rows, kind, chances.astype(np.float32), np.ones(kind.size, np.bool_))


def test_posterior_is_that_of_all_assignments():
    chance = np.random.default_rng(3)
    for turn in range(30):
        values = [0, 1] if turn % 2 else [0, 1, 1, 2, 3]
        chances = np.log(chance.dirichlet(np.full(4, 3.0), len(values)))
        exact, found = by_assignments(chances, values), by_scaling(chances, values)
        near = 1e-4 if len(values) == 2 else 0.1
        np.testing.assert_allclose(found.sure, exact.max(1), atol=near)
        assert np.abs(found.sure - exact.max(1)).mean() < 0.04
        for row, (start, end) in enumerate(zip(found.starts[:-1], found.starts[1:], strict=True)):
            assert all(exact[row, code] > exact[row].max() - 2 * near for code in found.codes[start:end])


def test_who_may_be_in_two_groups_is_guessed_by_both():
    """Nothing is known of rows: the shares of both groups are mixed by their weights."""
    held = Histograms.of(np.array([0, 2, 5]), np.array([0, 1, 1, 2, 2]))
    places, same = Places(np.array([0, 2]), np.array([0, 1]), np.array([1.0, 3.0])), np.zeros((1, 1), np.float32)
    kind = np.zeros(3, np.int32)
    found = likely(places, held, np.log(held.several), np.zeros(1, np.int64), kind, same, np.ones(3, np.bool_))
    assert found.codes.tolist() == [2]
    assert found.sure[0] == pytest.approx(3 / 4 * 2 / 3, abs=1e-6)


def test_proximity_is_that_of_the_best_window():
    chance = np.random.default_rng(4)
    for _ in range(40):
        values = np.unique(chance.integers(-30, 60, 12)).astype(np.float64)
        weight, within = chance.integers(1, 5, values.size).astype(np.float64), chance.choice([0.0, 0.05, 0.3])
        guesses = np.concatenate([np.linspace(-60, 120, 7_201), values])
        near = np.abs(values - guesses[:, None]) <= within * np.abs(guesses[:, None]) + 1e-9
        low, _, most = _best_window(values, weight, within)
        assert most >= (near @ weight).max() - 1e-9
        centre = low / (1 - within if low >= 0 else 1 + within)
        assert most == weight[np.abs(values - centre) <= within * abs(centre) + 1e-6].sum()
        votes = np.repeat(np.arange(values.size), weight.astype(int))
        one = np.zeros(1, np.int64)
        many, may = np.array([votes.size]), np.ones(values.size, np.bool_)
        found = _best(one, np.array([0, 1]), votes, one, many, values, may, within)
        assert found[2][0] == pytest.approx(most / votes.size)


def expected(values, own, exclude):
    """How likely the most frequent value is right, over all choices of wrong values to exclude."""
    wrong = [value for value in sorted(set(values)) if value != own]
    right, several = Fraction(0), 0
    for out in permutations(wrong, exclude):
        left = Counter(value for value in values if value not in out)
        best = [value for value, n in left.items() if n == max(left.values())]
        right += Fraction(own in best, len(best))
        several += 1
    return right / several


@pytest.mark.parametrize("exclude", [0, 1, 2])
@pytest.mark.parametrize("values", [[0, 1, 2, 3], [0, 0, 1, 2, 3], [0, 1, 1, 2, 2]])
def test_exclusions_are_counted_as_by_hand(values, exclude):
    """Every choice once: the first of w values by numbers in w parts of 0 to 1, the next in w - 1."""
    for own in sorted(set(values)):
        wrong = len(set(values)) - 1
        parts = [[(at + 0.5) / (wrong - turn) for at in range(wrong - turn)] for turn in range(exclude)]
        chance = np.array(list(product(*parts))) if exclude else np.zeros((1, 1))
        people, one = len(chance), np.zeros(len(chance), np.int64)
        group, starts = np.array(values), np.array([0, len(values)])
        right, sure = _excluding(
            *(np.zeros(1, np.int64), np.array([0, 1]), one, np.full(people, own), group),
            *(
                np.zeros(1, np.int64),
                np.array([len(values)]),
                starts,
                group,
                one,
                np.ones(4, np.bool_),
                exclude,
                chance,
            ),
        )
        assert right.mean() == pytest.approx(float(expected(values, own, exclude)))
        assert (sure > 0).all()


def test_neighbours_who_are_known_leave_the_rest():
    """Of four different values one is right in four, with two neighbours known one in two, with all of them always."""
    group, starts = np.array([0, 1, 2, 3]), np.array([0, 4])
    for known, share in ((0, 1 / 4), (1, 1 / 3), (2, 1 / 2), (3, 1)):
        chance = np.random.default_rng(1).random((8, max(known, 1)))
        held = np.arange(8) % 4
        right = _knowing(np.zeros(8, np.int64), held, starts, group, np.ones(4, np.bool_), known, chance)
        assert right.tolist() == pytest.approx([share] * 8)
