"""Chance on executors: drawn from a key, so that whoever draws again draws the same."""

import pickle

import numpy as np

from discreet.engines.spark.chance import Drawn, words
from discreet.engines.spark.held import Held
from discreet.publication.in_blocks import Finish

KEY, OTHER = b"k" * 32, b"K" * 32


def test_draws_are_repeated():
    one, two = Drawn(KEY, "cell", 7), Drawn(KEY, "cell", 7)
    for n in (5, 1, 300):
        assert (one.words(n) == two.words(n)).all()
    assert (one.branch().words(9) == two.branch().words(9)).all()
    assert not one.seeded


def test_other_keys_purposes_and_numbers_draw_others():
    drawn = [
        words(KEY, "cell", 7, 100),
        words(OTHER, "cell", 7, 100),
        words(KEY, "cells", 7, 100),
        words(KEY, "cell", 8, 100),
        Drawn(KEY, "cell", 7).branch().words(100),
    ]
    source = Drawn(KEY, "cell", 7)
    drawn += [source.words(100), source.words(100)]
    assert len(np.unique(np.concatenate(drawn))) == 100 * len(drawn)


def test_words_are_even():
    """Each bit of 40,000 words is set in about half of them: within five standard deviations."""
    found = words(KEY, "even", 0, 40_000)
    bits = np.unpackbits(found.view(np.uint8)).reshape(found.size, 64).sum(axis=0, dtype=np.int64)
    assert np.abs(bits - 20_000).max() < 5 * 100


def test_a_prefix_is_what_fewer_words_are():
    assert (words(KEY, "rank", 3, 50) == words(KEY, "rank", 3, 500)[:50]).all()


def test_the_key_is_in_no_text_and_no_file(tmp_path):
    finish = Finish(Held.put(tmp_path, "block", {"a": 1}), KEY)
    assert KEY.decode() not in repr(finish)
    assert KEY not in (tmp_path / "block.held").read_bytes()
    assert pickle.loads(pickle.dumps(finish)).block.get() == {"a": 1}  # noqa: S301 - our own
