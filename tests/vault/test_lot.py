"""Who waits in a vault tells nothing: an attacker with all releases, who knows who came when, finds out no more."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from unittest import mock
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, Vault, audit, verify
from discreet.errors import DiscreetWarning, GuaranteeError, VaultError
from discreet.values.boxes import box_of, boxes_of
from discreet.values.columns import Column
from vault.lot_attacker import Attacker, groups_of
from vault.steward import WAYS, inspect, people, policy

APPENDS = 5


@pytest.fixture(params=["file", "server"])
def home(request, tmp_path):
    """Where a vault is."""
    if request.param == "file":
        return tmp_path / "vault"
    return f"{request.getfixturevalue('one_database')}#v{uuid4().hex}"


def grown(place, l, *, start, step, values, top, seed=0, way="least_loss"):
    """A vault that is released after every append, if it can be: who came when, the releases, the truth, and groups."""
    chance = np.random.default_rng([seed, l])
    sizes = [start] + [step] * (APPENDS - 1)
    at = chance.permutation(sum(sizes))
    ill = np.array([f"v{i}" for i in range(values)])
    ill = chance.choice(ill, at.size, p=[top, *[(1 - top) / (values - 1)] * (values - 1)])
    columns = {"quasi": ["age"], "sensitive": "ill", "accept": {"looks": "nobody lives here"}}
    rules = Policy(**columns, guarantee={"l": l}, publication="generalization", **WAYS[way])
    arrivals, folders = [], []
    with Vault.create(place / "vault", rules) as vault, mock.patch("discreet.vault.release._audited"):
        for number, came in enumerate(np.split(np.arange(at.size), np.cumsum(sizes)[:-1])):
            vault.append(pa.table({"age": at[came], "ill": ill[came]}))
            arrivals.append(dict(zip(came.tolist(), at[came].tolist(), strict=True)))
            try:
                folders.append(vault.release(place / f"{number}").path)
            except (GuaranteeError, VaultError):
                folders.append(None)
        shown = vault._store(vault._schema()).members()
    person, groups = {age: who for who, age in enumerate(at.tolist())}, defaultdict(set)
    for node, (age,) in zip(shown[0].tolist(), shown[1].tolist(), strict=True):
        groups[node].add(person[age])
    return arrivals, folders, ill, list(groups.values())


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("l", [2, 3, 4, 6, 10])
def test_nobody_misses_a_release(tmp_path, l, way):
    """When regions let their rows go one by one, here 30 people missed a release at l = 2, and 57 at l = 3."""
    sizes = {"start": 400, "step": 10 * l + 1, "values": max(14, 3 * l), "top": 0.6 / l}
    arrivals, folders, _, told = grown(tmp_path, l, **sizes, way=way)
    attacker = Attacker(arrivals, folders, l, told)
    assert sum(folder is not None for folder in folders) > 1
    assert attacker.missed == set()
    assert attacker.beliefs(np.random.default_rng(1)) == []
    for folder in filter(None, folders):
        for _, values in groups_of(folder):
            counts = [count for _, count in values]
            assert max(counts) * l <= sum(counts)


def test_the_attacker_finds_who_was_not_diverse(tmp_path):
    """Two who missed a release together hold one value: the only one that both of their groups show."""
    first = [((0, 1), "ab")]
    folders = [_release(tmp_path / "1", first), _release(tmp_path / "2", [*first, ((5, 6), "ac"), ((7, 8), "ad")])]
    attacker = Attacker([{1: 0, 2: 1, 3: 6, 4: 7}, {5: 5, 6: 8}], folders, 2)
    assert attacker.missed == {3, 4}
    found = {belief.person: belief for belief in attacker.beliefs(np.random.default_rng(1))}
    assert found.keys() == {3, 4}
    assert all(belief.certain and belief.value == "a" for belief in found.values())


def _release(folder, groups):
    """The files of a release, as far as the attacker reads them."""
    folder.mkdir()
    about = {"boxes": [{"low": "low", "high": "high"}], "group": "group", "sensitive": "ill"}
    (folder / "datapackage.json").write_text(json.dumps({"discreet": about}))
    rows = [
        {"group": at, "low": box[0], "high": box[1], "ill": value}
        for at, (box, values) in enumerate(groups)
        for value in values
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "generalized.parquet")
    return folder


@pytest.mark.slow
def test_a_release_that_was_due_and_not_made_names_nobody(tmp_path):
    """It tells that a lot, of ten times l people at least, was not diverse: who guesses is little better off."""
    l, right, chances = 2, [], []
    for seed in range(5):
        place = tmp_path / f"{seed}"
        place.mkdir()
        arrivals, folders, ill, _ = grown(place, l, start=80, step=24, values=6, top=0.48, seed=seed)
        found = Attacker(arrivals, folders, l).beliefs(np.random.default_rng(1), due=True, fewest=10 * l)
        right += [belief.value == ill[belief.person] for belief in found]
        chances += [belief.chance for belief in found]
    assert len(right) > 30
    assert max(chances) < 0.9
    assert np.mean(right) < 0.6


@pytest.mark.parametrize("way", WAYS)
def test_a_lot_leaves_as_a_whole_or_not_at_all(home, tmp_path, way):
    ills = ["asthmatosis", "bronchobia", "cardiomania"]
    with Vault.create(home, policy(guarantee={"l": 3}, **WAYS[way])) as vault:
        found = vault.append(people(60, ill=ills * 20))
        assert (found.joined, found.waiting) == (60, 0)
        found = vault.append(people(3, start=100, ill=ills[:1] * 3))  # those who could have left wait for them
        assert (found.joined, found.waiting) == (0, 63)
        told = (
            r"63 rows wait to be shown and together have too few values of `ill` \(one value in 1 of 2.7, expected at"
        )
        with pytest.raises(GuaranteeError, match=told):
            vault.release(tmp_path / "1")
        assert vault.status().advice == "nothing to release yet"
        assert vault.append(people(6, start=200, ill=ills[1:] * 3)).waiting == 0
        assert vault.release(tmp_path / "1").promise.rows == 69
        vault.append(people(29, start=300))
        with pytest.raises(GuaranteeError, match="29 rows wait to be shown, expected at least 30"):
            vault.release(tmp_path / "2")
    inspect(home)


@pytest.mark.parametrize("way", ["least_loss", "fitted"])
def test_people_without_a_value_leave_with_the_others(home, tmp_path, way):
    """A few rows that lack an age once waited alone; now their box says that some ages are missing."""
    few = people(2, start=900, age=pa.nulls(2, pa.int64()), ill=["asthmatosis"] * 2)
    with Vault.create(home, policy(**WAYS[way])) as vault:
        vault.append(people(60))
        vault.append(few)
        release = vault.release(tmp_path / "release")
    shown = pq.read_table(release.file("generalized"))
    assert len(shown) == 62
    mixed = shown.filter(shown["age_missing"])
    assert len(mixed) >= 3
    assert mixed["age_low"].null_count == 0
    assert verify(release.path).ok
    inspect(home)


def test_rows_that_waited_in_an_older_vault_leave_with_the_next_release(home, tmp_path):
    """There, groups could leave while rows of other regions waited."""
    with Vault.create(home, policy()) as vault:
        vault.append(people(200))
        vault.release(tmp_path / "1")
        vault.append(people(200, start=1_000))
        with vault._database.transaction():
            (node,) = vault._database.one("SELECT MAX(node) FROM leaves")
            vault._database.run("UPDATE rows SET member = 0 WHERE node = ?", (node,))
            nobody = vault._database.one("SELECT past FROM leaves")[0]
            vault._database.run(
                "UPDATE leaves SET waiting = size, size = 0, counts = ?, box = NULL, changed = 0 WHERE node = ?",
                (nobody, node),
            )
        assert vault.status().waiting.rows > 0
        assert vault.status().pending_groups > 0
        assert vault.release(tmp_path / "2").promise.rows == 400
        assert vault.status().waiting.rows == 0
    inspect(home)
    assert audit([tmp_path / "1", tmp_path / "2"]).ok


def test_boxes_of_rows_with_and_without_a_value():
    columns = (Column("a", pa.float64()), Column("b", pa.string()))
    points = np.array([[1.0, 0], [np.nan, 1], [np.nan, 1], [3.0, 1]])
    box = box_of(points, columns)
    assert (box.lows[0], box.highs[0], box.sets) == (1.0, 3.0, (1, 3))
    apart = boxes_of(points, np.array([0, 1, 3]), columns)
    assert [of.sets for of in apart] == [(0, 1), (0, 2), (0, 2)]
    assert np.isnan(apart[1].lows[0])
    joined = apart[0].joined(apart[1]).joined(apart[2])
    assert (joined.lows[0], joined.highs[0], joined.sets) == (1.0, 3.0, (1, 3))


def test_insert_says_what_it_does_not_do(tmp_path):
    options = {"growth": "insert"}
    with pytest.warns(DiscreetWarning, match="^insert: .* heads are not counted, and rows wait until those near"):
        Vault.create(tmp_path / "warned", policy(options=options)).close()
    accepted = policy(options=options, accept={"insert": "for comparison", "looks": "nobody lives here"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", DiscreetWarning)
        with Vault.create(tmp_path / "vault", accepted) as vault:
            assert [warning.reason for warning in vault.warnings] == ["for comparison", "nobody lives here"]
            vault.append(people(100))
            release = vault.release(tmp_path / "release")
    assert release.promise.growth == "insert"
    assert "not against one who knows everybody in a group" in (release.path / "README.md").read_text()
    assert verify(release.path).ok
    with Vault.create(tmp_path / "settling", policy()) as vault:
        assert [warning.name for warning in vault.warnings] == ["looks"]
        vault.append(people(100))
        release = vault.release(tmp_path / "settled")
    assert release.promise.growth is None
    assert "knows everybody" not in (release.path / "README.md").read_text()
