"""Planted leaks are found: each in the seeds tried here, and in 50 of 50 by `python bench/planted.py`."""

import pytest

from audit.planted import FINDERS, LEAKS, finders, found, honest, told


def test_every_leak_has_a_finder():
    assert FINDERS.keys() == LEAKS.keys()


@pytest.mark.parametrize("leak", FINDERS)
def test_a_planted_leak_is_found_by_who_must_find_it(leak, tmp_path):
    for seed in (0, 1):
        assert told(leak, found(leak, tmp_path, seed))


def test_a_seed_is_found_wherever_it_stands_in_the_manifest(tmp_path):
    assert found("seed", tmp_path, 0) == ["verify: `discreet.seed`"]
    assert found("seed", tmp_path, 1) == ["verify: `resources.0.seed`"]


def test_nothing_is_found_where_nothing_was_planted(tmp_path):
    for seed in range(3):
        assert list(finders(honest(tmp_path / str(seed), seed))) == []
