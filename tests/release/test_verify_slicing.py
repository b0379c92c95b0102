"""Tampering with a slicing, digests mended so that only the fault itself can give it away."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, open_release, read, verify
from discreet.errors import ReleaseError
from discreet.publication.publish import publish_groups
from release.forger import Forger

ORDER = {"block_1": ("group", "age", "city"), "block_2": ("group", "zip"), "st": ("group", "ill")}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    table = pa.table(
        {
            "age": [30 + i // 2 for i in range(12)],
            "city": [f"{i % 3} street" for i in range(12)],
            "zip": [i % 5 for i in range(12)],
            "ill": [i % 4 for i in range(12)],
        }
    )
    policy = Policy(
        quasi=["age", "city", "zip"],
        sensitive="ill",
        guarantee={"k": 4, "l": 4},
        publication="slicing",
        together=[["age", "city"]],
    )
    with read(table) as private:
        groups = np.repeat(np.arange(3, dtype=np.int32), 4)
        place = tmp_path_factory.mktemp("sliced") / "r"
        return publish_groups(private, policy, private.codes("ill"), groups, to=place).path


@pytest.fixture
def forger(made, tmp_path):
    return Forger(shutil.copytree(made, tmp_path / "copy"), ORDER)


def failures(path):
    return {check.name for check in verify(path).failures}


def changed(key, value, at=0):
    def change(rows):
        rows[at][key] = value
        return rows

    return change


FAULTS = {
    "a row moved to another group": (lambda f: f.rows("block_2", changed("group", 2)), {"blocks", "groups"}),
    "a row twice": (lambda f: f.rows("block_1", lambda rows: [*rows, rows[0]]), {"blocks"}),
    "a row less": (lambda f: f.rows("block_2", lambda rows: rows[1:]), {"blocks", "groups"}),
    "a block without rows": (lambda f: f.rows("block_2", lambda _: []), {"blocks", "groups"}),
    "the first block without rows": (lambda f: f.rows("block_1", lambda _: []), {"blocks", "groups"}),
    "rows in the order of the source": (lambda f: f.rows("block_2", lambda rows: rows[::-1], sort=False), {"order"}),
    "a value too often": (
        lambda f: f.rows("st", lambda rows: [{**rows[0], "count": 2}, *rows[2:]]),
        {"guarantee l = 4"},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_verify_finds_planted_faults_in_a_slicing(name, forger):
    assert failures(forger.path) == set()
    plant, expected = FAULTS[name]
    plant(forger)
    assert failures(forger.path) == expected


@pytest.mark.parametrize(
    "blocks",
    [
        (["age", "city"],),
        (["age", "city"], ["zip"], ["zip"]),
        (["age", "city"], ["zip", "ill"]),
        (["city", "age"], ["zip"]),
        (["zip"], ["age", "city"]),
        (["age", "city", "zip"],),
        (["age", "city"], ["zip"], []),
    ],
)
def test_verify_finds_blocks_that_are_not_those_of_the_files(blocks, forger):
    forger.manifest(lambda values: values["discreet"].update(slicing={"together": blocks}))
    assert failures(forger.path) == {"manifest"}
    with pytest.raises(ReleaseError):
        open_release(forger.path)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("slicing"),
        lambda about: about.update(slicing={}),
        lambda about: about.update(slicing={"together": [["age", "city"], ["zip"]], "seed": 1}),
        lambda about: about.update(slicing=[["age", "city"], ["zip"]]),
        lambda about: about.update(publication="anatomy"),
        lambda about: about.update(more={"rows": 3}),
    ],
)
def test_a_manifest_says_of_its_publication_what_that_says_and_no_more(change, forger):
    path = forger.path / "datapackage.json"
    values = json.loads(path.read_text())
    change(values["discreet"])
    path.write_text(json.dumps(values, indent=2) + "\n")
    with pytest.raises(ReleaseError):
        open_release(forger.path)
