"""The composition attack on releases that show different columns: each is asked by all of its columns that are known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import Failed
from discreet.audit.composition.candidates import Composition
from discreet.audit.composition.jointly import jointly
from discreet.audit.composition.known import recognise_known
from discreet.audit.composition.people import Places
from discreet.audit.composition.pools import kinds_weights

PAIRS = {
    "the same": (("age", "sex", "town"), ("age", "sex", "town")),
    "fewer": (("age", "sex", "town"), ("sex", "town")),
    "one": (("age", "sex", "town"), ("town",)),
    "more": (("sex", "town"), ("age", "sex", "town", "job")),
    "others": (("age", "sex"), ("sex", "town", "job")),
}


def crowd(seed, rows=900):
    """A random table; in every second one, values follow age and sex."""
    chance = np.random.default_rng(seed)
    age, sex = chance.integers(20, 80, rows), chance.choice(["f", "m"], rows)
    follow = chance.random(rows) < 0.6 * (seed % 2)
    ill = np.where(follow, (age // 5 + 3 * (sex == "f")) % 12, chance.integers(0, 12, rows))
    town, job = chance.choice(["Aix", "Bex", "Cos", "Dax"], rows), chance.integers(0, 8, rows)
    return pa.table({"age": age, "sex": sex, "town": town, "job": job, "ill": [f"i{each}" for each in ill]})


def published(table, quasi, to, seed, **more):
    changes = {"partition": "deal", "drop": "rest", "guarantee": {"l": 4}, **more}
    policy = discreet.Policy(quasi=list(quasi), sensitive="ill", **changes)
    return discreet.publish(table, policy, to=to, seed=seed)


@pytest.mark.parametrize("pair", PAIRS)
def test_never_below_who_has_one_release(pair, tmp_path):
    """But for chance: three standard errors of a difference."""
    right, guessed, people = 0.0, 0.0, 0
    for seed in range(4):
        table, mine = crowd(seed), ["deal", "local", "anatomize"][seed % 3]
        made = [
            published(table, quasi, tmp_path / f"{seed} {i}", 10 * seed + i, partition=by)
            for i, (quasi, by) in enumerate(zip(PAIRS[pair], (mine, "deal"), strict=True))
        ]
        [found] = discreet.attack(made[0], "composition", truth=table, others=made[1:])
        error = (2 * found.blind.share * (1 - found.blind.share) / found.people) ** 0.5
        assert found.attacker.share > found.blind.share - 3 * error, (mine, found)
        right, guessed = right + found.attacker.share * found.people, guessed + found.blind.share * found.people
        people += found.people
    error = (2 * guessed / people * (1 - guessed / people) / people) ** 0.5
    assert right / people > guessed / people - 3 * error
    if pair == "the same":
        assert right / people > guessed / people + 3 * error


def test_a_note_says_by_what_people_were_recognised(tmp_path):
    table = crowd(1)
    first = published(table, ("age", "sex", "town"), tmp_path / "first", 0)
    same = published(table, ("town", "sex", "age"), tmp_path / "same", 1)
    fewer = published(table, ("sex", "town"), tmp_path / "fewer", 2)
    other = published(table, ("town", "job"), tmp_path / "other", 3)
    [found] = discreet.attack(first, "composition", truth=table, others=[same, fewer, other])
    fewer_, other_ = (note for note in found.notes if "recognised" in note)
    assert fewer_ == "in `fewer`, people were recognised by `sex`, `town`: it does not show `age`"
    assert other_.startswith(
        "in `other`, people were recognised by `town`: it does not show `age`, `sex`, and of `job`"
    )
    [found] = discreet.attack(fewer, "composition", truth=table, others=[first])
    [note] = [note for note in found.notes if "recognised" in note]
    assert note == "in `first`, people were recognised by `sex`, `town`: of `age` there this attacker knows nothing"
    assert found.blind.share > 0.05, "who has one release knows all columns of it"


def test_releases_need_nothing_in_common_with_each_other(tmp_path):
    """One that has no column of the attacked one could not be used; two that share none with each other can."""
    table = crowd(2)
    first = published(table, ("age", "sex"), tmp_path / "first", 0)
    others = [published(table, (name,), tmp_path / name, i) for i, name in enumerate(("age", "sex", "town"), 1)]
    [found] = discreet.attack(first, "composition", truth=table, others=others[:2])
    assert found.attacker.share > found.blind.share - 0.03
    [found] = discreet.attack(first, "composition", truth=table, others=others)
    assert isinstance(found, Failed)
    assert "have no quasi-identifier in common" in found.why


def test_columns_by_themselves_and_people_of_one_release_only(tmp_path):
    """Of releases that show blocks, too; and of two tables of which only half the people are in both."""
    table = crowd(3)
    first = published(table.slice(0, 600), ("age", "sex", "town"), tmp_path / "first", 0)
    second = published(table.slice(300), ("sex", "town"), tmp_path / "second", 1)
    [found] = discreet.attack(
        first, "composition", truth=table.slice(0, 600), holdout=table.slice(600), others=[second]
    )
    assert found.attacker.share > found.blind.share - 0.06
    assert found.holdout is not None
    sliced = published(table.slice(0, 600), ("sex", "town"), tmp_path / "blocks", 2, publication="full_permutation")
    [found] = discreet.attack(first, "composition", truth=table.slice(0, 600), others=[sliced])
    assert found.attacker.share > found.blind.share - 0.06
    [found] = discreet.attack(sliced, "composition", truth=table.slice(0, 600), others=[first])
    assert found.attacker.share > found.blind.share - 0.06


@pytest.mark.parametrize("by", [("sex", "town"), ("town",), ("age", "sex")])
def test_pools_are_long_lists(by, tmp_path):
    """Against the same kinds of people, each with its own list of groups."""
    table = crowd(5)
    made = [published(table, quasi, tmp_path / f"{i}", i) for i, quasi in enumerate((("age", "sex", "town"), by))]
    found = recognise_known(made, table.select(["age", "sex", "town"]))
    short = Composition(found.shown, found.values.size)
    long = Composition([found.shown[0], unrolled(found.shown)], found.values.size)
    assert short.pools.groups.size
    assert not long.pools.groups.size
    assert short.places.groups.size < long.places.groups.size
    kinds = np.arange(found.shown[0].looks.size)
    here, there = (jointly(each, kinds, turns=8) for each in (short, long))
    assert np.array_equal(here.starts, there.starts)
    assert np.array_equal(here.values, there.values)
    assert np.allclose(here.weights, there.weights, rtol=1e-9)


def unrolled(shown):
    """The second release with all places of every kind, and its part of the rows there."""
    second, weights = shown[1], kinds_weights(shown)
    total = np.bincount(second.looks, weights)
    starts, groups, rows = [0], [], []
    for kind, look in enumerate(second.looks):
        own = slice(second.places.starts[look], second.places.starts[look + 1])
        groups.append(second.places.groups[own])
        rows.append(second.places.rows[own] * weights[kind] / total[look])
        starts.append(starts[-1] + groups[-1].size)
    return replace(
        second, places=Places(np.array(starts), np.concatenate(groups), np.concatenate(rows)), looks=None, by=2
    )


def test_a_copy_of_a_coarser_release_tells_nothing_more(tmp_path):
    table = crowd(7)
    first = published(table, ("age", "sex", "town"), tmp_path / "first", 0)
    second = published(table, ("sex", "town"), tmp_path / "second", 1)
    once, twice = (discreet.attack(first, "composition", truth=table, others=[second] * times)[0] for times in (1, 2))
    assert twice.attacker.share == pytest.approx(once.attacker.share, abs=0.005), "but for how weights are scaled"
