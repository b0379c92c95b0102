"""Where chance comes from: fixed by a seed, fresh without one."""

import numpy as np

from discreet.partition.secret import Secret


def test_a_seed_fixes_every_word():
    assert np.array_equal(Secret(7).words(100), Secret(7).words(100))
    assert not np.array_equal(Secret(7).words(100), Secret(8).words(100))
    assert Secret(7).seeded
    assert Secret(0).seeded


def test_words_do_not_repeat_from_one_call_to_the_next():
    secret = Secret(7)
    assert not set(secret.words(100).tolist()) & set(secret.words(100).tolist())


def test_without_a_seed_words_are_fresh():
    secret = Secret()
    assert not secret.seeded
    assert not set(secret.words(100).tolist()) & {*secret.words(100).tolist(), *Secret().words(100).tolist()}


def test_words_fill_all_64_bits():
    """Each bit of 20,000 words is set half the time, within 6 standard deviations (p < 64 * 2e-9)."""
    for secret in (Secret(), Secret(3)):
        words = secret.words(20_000)
        assert words.dtype == np.uint64
        share = [int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)]
        assert all(abs(ones - 10_000) < 6 * (20_000 / 4) ** 0.5 for ones in share)


def test_no_words():
    assert Secret().words(0).size == Secret(1).words(0).size == 0


def test_branches_differ():
    secret = Secret(7)
    one, other = secret.branch(), secret.branch()
    assert one.seeded
    assert not np.array_equal(one.words(100), other.words(100))
    assert np.array_equal(Secret(7).branch().words(100), Secret(7).branch().words(100))
    assert not Secret().branch().seeded
