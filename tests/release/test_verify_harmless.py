"""Planted faults in releases with harmless values, and in the largest share that a (k,e) release states."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, read, verify
from discreet.publication.publish import publish_groups
from release.forger import Forger

KEYS = {"qit": ("group", "age"), "st": ("group", "wage")}


def made(place, guarantee, form="parquet"):
    """Three groups of seven: three zeros, a nine, and three different wages each."""
    wages = [value for group in range(3) for value in (0, 0, 0, 9, 10 + group, 20 + group, 30 + group)]
    table = read(pa.table({"age": range(21), "wage": wages}))
    policy = Policy(quasi=["age"], sensitive="wage", guarantee=guarantee, harmless=[0, 9])
    groups = np.repeat(np.arange(3, dtype=np.int32), 7)
    publish_groups(table, policy, table.codes("wage"), groups, to=place, format=form)
    table.close()
    return place


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place = tmp_path_factory.mktemp("harmless")
    return {"l": made(place / "l", {"l": 3}), "e": made(place / "e", {"k": 3, "e": 20, "l": 3})}


@pytest.fixture
def forger(releases, tmp_path):
    return lambda kind: Forger(Path(shutil.copytree(releases[kind], tmp_path / "copy")), KEYS)


def told(**members):
    def change(manifest):
        for name, value in members.items():
            manifest["discreet"][name] = value
            if value is None:
                del manifest["discreet"][name]

    return lambda forger: forger.manifest(change)


def held(group, counts):
    """Give a group other values."""

    def change(rows):
        others = [row for row in rows if row["group"] != group]
        return others + [{"group": group, "wage": value, "count": count} for value, count in counts.items()]

    return lambda forger: forger.rows("st", change)


FAULTS = [
    ("nothing is harmless", "l", told(harmless=None), "guarantee l = 3", "3 groups break it"),
    ("an empty list", "l", told(harmless=[]), "manifest", "its `harmless` is empty"),
    ("of a guarantee that spares nothing", "l", told(guarantee={"k": 2}), "manifest", "not for what it promises"),
    ("a value more", "l", told(harmless=[0, 9, 10]), "guarantee l = 3", "1 groups break it"),
    ("a value that no row holds", "l", told(harmless=[0, 8, 9]), "harmless", "that no row holds"),
    ("out of order", "l", told(harmless=[9, 0]), "harmless", "that repeat, or are out of order"),
    ("twice", "l", told(harmless=[0, 0, 9]), "harmless", "that repeat, or are out of order"),
    ("a text", "l", told(harmless=["0", 9]), "harmless", "of another type than the sensitive column"),
    ("a fraction", "l", told(harmless=[0, 9.5]), "harmless", "of another type"),
    ("a truth value", "l", told(harmless=[False, 9]), "harmless", "of another type"),
    ("too large a number", "l", told(harmless=[0, 9, 10**30]), "harmless", "that the sensitive column cannot hold"),
    ("all values", "l", told(harmless=[0, 9, 10, 11, 12, 20, 21, 22, 30, 31, 32]), "guarantee l = 3", "3 groups break"),
    ("a group of harmless values alone", "l", held(1, {0: 4, 9: 3}), "guarantee l = 3", "1 groups break it"),
    ("a value of half of the others", "l", held(1, {0: 3, 10: 2, 20: 1, 30: 1}), "guarantee l = 3", "1 groups break it"),
    ("a range of zeros", "e", held(1, {0: 3, 9: 1, 20: 1, 25: 1, 30: 1}), "guarantee e = 20", "1 groups break it"),
    ("few others", "e", held(1, {0: 5, 10: 1, 30: 1}), "guarantee k = 3", "1 groups break it"),
    ("too small a share", "e", told(largest_share=0.3333), "largest share", "not the one that follows"),
    ("too large a share", "e", told(largest_share=0.3335), "largest share", "not the one that follows"),
    ("a share where none is told", "l", told(largest_share=0.5), "manifest", "of another guarantee than k and e"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "plant", "check", "detail"), [fault[1:] for fault in FAULTS], ids=[fault[0] for fault in FAULTS]
)
def test_verify_finds_planted_faults_about_harmless_values(forger, kind, plant, check, detail):
    copy = forger(kind)
    assert verify(copy.path).ok
    plant(copy)
    failures = {found.name: found.detail for found in verify(copy.path).failures}
    assert check in failures
    assert detail in failures[check]


def test_older_releases_tell_no_share(forger):
    copy = forger("e")
    told(largest_share=None)(copy)
    assert verify(copy.path).ok


def test_as_csv(tmp_path):
    assert verify(made(tmp_path / "csv", {"l": 3}, "csv")).ok
