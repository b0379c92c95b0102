"""Where chance comes from: fixed by a seed, fresh without one."""

import numpy as np

from discreet.values.random import RandomSource


def test_a_seed_fixes_every_word():
    assert np.array_equal(RandomSource(7).words(100), RandomSource(7).words(100))
    assert not np.array_equal(RandomSource(7).words(100), RandomSource(8).words(100))
    assert RandomSource(7).seeded
    assert RandomSource(0).seeded


def test_words_do_not_repeat_from_one_call_to_the_next():
    secret = RandomSource(7)
    assert not set(secret.words(100).tolist()) & set(secret.words(100).tolist())


def test_without_a_seed_words_are_fresh():
    secret = RandomSource()
    assert not secret.seeded
    assert not set(secret.words(100).tolist()) & {*secret.words(100).tolist(), *RandomSource().words(100).tolist()}


def test_words_fill_all_64_bits():
    """Each bit of 20,000 words is set half the time, within 6 standard deviations (p < 64 * 2e-9)."""
    for secret in (RandomSource(), RandomSource(3)):
        words = secret.words(20_000)
        assert words.dtype == np.uint64
        share = [int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
        assert all(abs(ones - 10_000) < 6 * (20_000 / 4) ** 0.5 for ones in share)


def test_no_words():
    assert RandomSource().words(0).size == RandomSource(1).words(0).size == 0


def test_branches_differ():
    secret = RandomSource(7)
    one, other = secret.branch(), secret.branch()
    assert one.seeded
    assert not np.array_equal(one.words(100), other.words(100))
    assert np.array_equal(RandomSource(7).branch().words(100), RandomSource(7).branch().words(100))
    assert not RandomSource().branch().seeded
