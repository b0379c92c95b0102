"""Whether a table is the one that was published: it accounts for all of the release, and one that is shuffled does not."""

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import discreet
from discreet.audit import belongs as checked
from discreet.audit.belongs import LEAST, belongs, check_belongs
from discreet.errors import InputError

QUASI = ["age", "sex", "town"]
ACCEPTED = dict.fromkeys(("looks", "minimality"), "a test")
BLOCKS = {"publication": "slicing", "together": [["age", "town"]]}
BOXES = {"publication": "generalization", "partition": "compact", "options": {"cuts": "fitted"}}
RAISED = {"partition": "full_domain", "ordered": QUASI, "options": {"suppression": 0.2, "cuts": "fitted"}}
WAYS = {
    "anatomy": {"publication": "anatomy", "partition": "deal"},
    "full permutation": {"publication": "full_permutation", "partition": "cluster"},
    "slicing": {**BLOCKS, "partition": "deal"},
    "boxes": BOXES,
    "levels, some rows suppressed": {"publication": "generalization", **RAISED},
    "boxes, some rows withheld": {**BOXES, "missing_sensitive": "withhold"},
}


def invented(seed, rows=300):
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 90, rows).astype(float)
    age[chance.random(rows) < 0.05] = np.nan
    illness = chance.choice([f"illness {i}" for i in range(9)], rows)
    columns = {
        "age": pa.array(age, from_pandas=True),
        "sex": chance.choice(["f", "m"], rows),
        "town": chance.choice(["Aa", "Bee", "Cey"], rows),
        "illness": illness,
    }
    return pa.table(columns)


def shuffled(table, name):
    order = np.random.default_rng(3).permutation(len(table))
    return table.set_column(table.column_names.index(name), name, table[name].take(pa.array(order)))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A table and its release by a way; each is made once."""
    return cache(lambda way: made(way, tmp_path_factory.mktemp("release") / "r"))


def made(way, to):
    table = invented(1)
    if way == "boxes, some rows withheld":
        gone = pa.array(np.random.default_rng(2).random(len(table)) < 0.15)
        table = table.set_column(3, "illness", pc.if_else(gone, pa.scalar(None, pa.string()), table["illness"]))
    policy = {"quasi": QUASI, "sensitive": "illness", "guarantee": {"l": 3}, "accept": ACCEPTED, **WAYS[way]}
    return table, discreet.publish(table, policy, to=to, seed=1)


@pytest.mark.parametrize("way", WAYS)
def test_the_table_that_was_published_belongs(way, published):
    table, release = published(way)
    found = check_belongs(release, table)
    assert (found.share, found.accounted) == (1, release.promise.rows)
    assert found.people is not None
    assert 0 < found.people <= len(table)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "levels, some rows suppressed"])
@pytest.mark.parametrize("name", ["age", "illness"])
def test_a_shuffled_column_is_noticed(way, name, published):
    """Every column has the same values, and each goes with others: every attack on it would look harmless."""
    table, release = published(way)
    with pytest.raises(InputError, match="not the table that was published"):
        check_belongs(release, shuffled(table, name))


@pytest.mark.parametrize("way", WAYS)
def test_other_people_are_noticed(way, published):
    table, release = published(way)
    old = table.set_column(0, "age", pc.add(table["age"], 500))
    assert belongs(release, old).accounted < LEAST * release.promise.rows
    assert belongs(release, table.slice(0, 50)).share < 0.5


def test_of_large_groups_it_cannot_be_noticed(published, tmp_path):
    """A group that holds nearly every value says yes to nearly everybody: how much is accounted for is told."""
    table, _ = published("boxes")
    rules = {"quasi": QUASI, "sensitive": "illness", "guarantee": {"k": 150}, "publication": "generalization"}
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    assert check_belongs(release, shuffled(table, "illness")).share > 0.95


@pytest.mark.parametrize("way", ["boxes", "full permutation"])
def test_some_people_are_enough(way, published, monkeypatch):
    monkeypatch.setattr(checked, "DRAWN", 60)
    table, release = published(way)
    found = belongs(release, table)
    assert (found.people, found.share) == (60, 1)
    assert belongs(release, shuffled(table, "illness")).share < LEAST


def test_people_of_a_join_are_those_of_the_private_table(tmp_path):
    everybody = invented(1).drop_columns("illness").add_column(0, "id", pa.array(range(300)))
    private = everybody.append_column("illness", invented(2)["illness"]).slice(0, 120)
    rules = {"identifiers": ["id"], "quasi": QUASI, "sensitive": "illness", "guarantee": {"k": 4}, "join": "id"}
    release = discreet.publish(private, {**rules, "publication": "join"}, to=tmp_path / "r", public=everybody, seed=1)
    found = check_belongs(release, private.select([*QUASI, "illness"]))
    assert (found.rows, found.accounted, found.people) == (120, 120, None)
    with pytest.raises(InputError, match="accounts for"):
        check_belongs(release, private.select([*QUASI, "illness"]).slice(0, 60))
