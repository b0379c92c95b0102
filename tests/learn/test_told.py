"""What `design` can tell where groups do not tell two values apart."""

import numpy as np

from discreet.learn.design import Design


def design():
    """Thousands of rows in groups of two different values; of the values 7 and 8 one row each, in the same group."""
    chance = np.random.default_rng(1)
    pairs = np.array([chance.choice(7, 2, replace=False) for _ in range(5_000)] + [[7, 8]], np.int32)
    first, ones = np.arange(0, pairs.size + 1, 2), np.ones(pairs.size, np.int32)
    return Design(first, pairs.ravel(), ones, np.full(len(pairs), 2, np.int32), 1, 9)


def test_two_rows_that_cannot_be_told_apart_do_not_matter_to_thousands():
    """A total that is off by one row in thousands at most is estimated; one that is about that row alone is not."""
    made = design()
    assert not made.full
    many, both, one = np.zeros((3, 9))
    many[[0, 1, 2, 7]] = made.totals[[0, 1, 2, 7]]
    both[[7, 8]] = one[7] = 1
    assert made.told(np.stack([many, both, one, made.totals])).tolist() == [True, True, False, True]
