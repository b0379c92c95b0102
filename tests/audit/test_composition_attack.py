"""The composition attack: releases of the same people together, against enumeration of every table they could be of."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import Failed, Given
from discreet.audit.attacks.composition import Composer
from discreet.audit.composition.candidates import Composition
from discreet.audit.composition.jointly import expected_counts, jointly
from discreet.audit.composition.people import recognise

POLICY = {"quasi": ["look"], "sensitive": "ill", "guarantee": {"l": 2}, "partition": "anatomize"}


def published(table, folder, several, **changes):
    policy = discreet.Policy(**{**POLICY, **changes})
    return [discreet.publish(table, policy, to=folder / str(i), seed=i) for i in range(several)]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    chance = np.random.default_rng(3)
    table = pa.table({"look": np.arange(3_000), "ill": chance.choice(np.array(list("abcdefghijklmnopqrst")), 3_000)})
    return table, published(table, tmp_path_factory.mktemp("crowd"), 3, guarantee={"l": 10}, partition="mixed")


def test_independent_releases_add_up(crowd):
    table, releases = crowd
    rates = []
    for others in ([releases[0]], [releases[1]], releases[1:]):
        [found] = discreet.attack(releases[0], "composition", truth=table, others=others)
        assert found.blind.holds(0.1)
        assert found.people == 3_000
        rates.append(found)
    assert rates[0].attacker.share == pytest.approx(rates[0].blind.share), "the same release again tells nothing"
    assert rates[1].attacker.low > 0.25
    assert rates[2].attacker.low > rates[1].attacker.high
    assert rates[2].at_recall[0.01].share >= rates[2].at_recall[1.0].share
    assert rates[2].details == {**rates[1].details, "releases": 3}


def test_joint_weights_keep_the_counts(crowd):
    table, releases = crowd
    found = recognise(releases, ["look"], table)
    search = Composition(found.shown, found.values.size)
    kinds = np.arange(len(found.kinds))
    left = jointly(search, kinds, turns=400)
    weighed = search.groups._replace(counts=search.groups.counts.astype(float))
    before = expected_counts(kinds, search.left(kinds, search.count(kinds)), search.places, weighed, 20)
    # what is expected depends on the weights of a group only where people have several places in it
    after = expected_counts(kinds, left, search.places, weighed, 20)
    assert np.abs(before - search.groups.counts).max() > 0.5
    assert np.abs(after - search.groups.counts).max() < 0.05


def test_threads_find_the_same(crowd, monkeypatch):
    _, releases = crowd
    found = recognise(releases, ["look"], None)
    kinds = np.arange(len(found.kinds))
    alone = jointly(Composition(found.shown, found.values.size), kinds)
    monkeypatch.setattr("discreet.audit.composition.candidates.COARSE", 1)
    shared = jointly(Composition(found.shown, found.values.size), kinds)
    assert np.array_equal(shared.starts, alone.starts)
    assert np.array_equal(shared.values, alone.values)
    assert np.allclose(shared.weights, alone.weights, rtol=1e-6)


def test_what_is_impossible_is_not_guessed(tmp_path):
    """Against every table that two small releases could be of."""
    chance = np.random.default_rng(0)
    for trial in range(5):
        table = pa.table({"look": np.arange(6), "ill": chance.permutation(np.array(list("aabbcd")))})
        first, second = published(table, tmp_path / str(trial), 2)
        worlds = [
            world
            for world in set(permutations("aabbcd"))
            if all(fits(release, dict(enumerate(world))) for release in (first, second))
        ]
        found = Composer().guesses(first, table.select(["look"]), Given(others=(second,)))
        for i in range(6):
            guessed = found.codes[found.starts[found.of[i]] : found.starts[found.of[i] + 1]]
            possible = {world[i] for world in worlds}
            assert {found.values[int(code)].as_py() for code in guessed} <= possible
            if len(possible) == 1:
                assert found.sure[found.of[i]] > 0.9


def fits(release, world):
    rows, counts = (pa.parquet.read_table(release.file(name)).to_pylist() for name in ("qit", "st"))
    held = {}
    for row in rows:
        held.setdefault(row["group"], []).append(world[row["look"]])
    listed = {}
    for line in counts:
        listed.setdefault(line["group"], []).extend([line["ill"]] * line["count"])
    return all(sorted(held[group]) == sorted(listed[group]) for group in held)


def test_what_it_needs(crowd, tmp_path):
    table, releases = crowd
    [found] = discreet.attack(releases[0], "composition", truth=table)
    assert isinstance(found, Failed)
    assert (found.why, found.kind) == ("no other release of the same people was given", "could not run")
    strangers = pa.table({"height": np.arange(8), "ill": list("abcdabcd")})
    other = published(strangers, tmp_path, 1, quasi=["height"])
    [found] = discreet.attack(releases[0], "composition", truth=table, others=other)
    assert isinstance(found, Failed)
    assert "have no quasi-identifier in common" in found.why


def test_releases_of_other_people_are_noticed(crowd, tmp_path):
    table, releases = crowd
    [found] = discreet.attack(releases[0], "composition", truth=table, others=releases[1:])
    assert not any("accounts for" in note for note in found.notes)
    shift = np.arange(1_500, 4_500)  # half of these look like somebody of the crowd
    [half] = published(pa.table({"look": shift, "ill": table["ill"]}), tmp_path / "half", 1, guarantee={"l": 10})
    [found] = discreet.attack(releases[0], "composition", truth=table, others=[releases[1], half])
    [note] = [note for note in found.notes if "accounts for" in note]
    assert note.startswith("`0` accounts for 50.0% of the release")
    [ill] = published(pa.table({"look": table["look"], "ill": ["x", "y"] * 1_500}), tmp_path / "ill", 1)
    [found] = discreet.attack(releases[0], "composition", truth=table, others=[ill])
    assert isinstance(found, Failed)
    assert found.why.startswith("nobody of the release is in any of the others")
    sliced = published(table, tmp_path / "full", 1, publication="full_permutation")
    [found] = discreet.attack(releases[0], "composition", truth=table, others=sliced)
    assert not any("accounts for" in note for note in getattr(found, "notes", ())), "of columns by themselves, too"


def test_people_who_are_in_no_release(crowd):
    table, releases = crowd
    strangers = pa.table({"look": np.arange(5_000, 5_100), "ill": ["a"] * 100})
    [found] = discreet.attack(releases[0], "composition", truth=table, holdout=strangers, others=releases[1:])
    assert found.holdout.share in {0.0, 1.0}, "everybody is taken to hold the most frequent value"
