"""A vault whose people have several rows, and come back: what is promised is about all rows of a person together."""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, Vault, audit, verify
from discreet.errors import GuaranteeError, InputError, PolicyError, UnacceptedError
from discreet.vault.safety import rule
from release.forger import Forger
from vault.people_attacker import counted, nowhere, surest
from vault.people_worlds import believed, groups
from vault.steward import dump, inspect

PLAIN = {
    "person": "patient",
    "quasi": ["age", "town"],
    "sensitive": "ill",
    "publication": "generalization",
    "accept": {"looks": "nobody lives here"},
}


def policy(l=2, lots=1, **changes):
    return Policy(**{**PLAIN, "guarantee": {"l": l}, "options": {"lots": lots}, **changes})


def visits(people, *, seed=0, most=3, kinds=40, **columns):
    """Visits of some people, who are numbers: one to `most` each."""
    chance = np.random.default_rng([seed, len(people)])
    who = np.repeat(np.asarray(people), chance.integers(1, most + 1, len(people)))
    who = chance.permutation(who)
    plain = {
        "patient": [f"p{each}" for each in who],
        "age": pa.array(who * 7919 % 90, mask=who % 50 == 3),
        "town": [f"t{each % 7}" for each in who],
        "ill": [f"v{value}" for value in chance.integers(0, kinds, who.size)],
    }
    return pa.table({**plain, **columns})


def shown(folder):
    """Of each group of a release: its rows, the rows of its most frequent value, its people, the most rows of one."""
    boxes, people = (pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("generalized", "people"))
    for of in people:
        values = [row["ill"] for row in boxes if row["group"] == of["group"]]
        yield len(values), max(map(values.count, set(values))), of["people"], of["most"]


@pytest.mark.slow
@pytest.mark.parametrize("l", range(2, 11))
def test_nobody_is_believed_to_hold_a_value_with_more_than_one_in_l(tmp_path, l):
    """Half of the people of each lot have been shown before, once at most; appends part visits of one person."""
    lots = 1 + l % 2
    with Vault.create(tmp_path / "vault", policy(l, lots)) as vault, mock.patch("discreet.vault.release._audited"):
        for lot in range(lots):
            people = np.arange(lot * 10 * l * lots // 2, lot * 10 * l * lots // 2 + 12 * l * lots)
            rows = visits(people, seed=lot, kinds=60 * l * lots)
            for part in (rows.slice(0, 50), rows.slice(50)):
                vault.append(part)
            release = vault.release(tmp_path / f"{lot}")
    assert release.promise.groups > lots
    assert surest(tmp_path / "vault") <= Fraction(1, l)
    for rows_, top, people_, most in shown(release.path):
        assert top * most * l * lots <= rows_
        assert top * l <= people_
    assert verify(release.path).ok
    releases = [tmp_path / f"{lot}" for lot in range(lots)]
    assert lots == 1 or audit(releases).ok
    inspect(tmp_path / "vault")


def test_a_vault_promises_different_values_of_people(tmp_path):
    """With distinct_l = 3, in every group somebody holds none of any two values; and verify finds where nobody does."""
    promised = policy(guarantee={"distinct_l": 3}, accept={"looks": "nobody lives here"})
    with Vault.create(tmp_path / "vault", promised) as vault:
        vault.append(visits(np.arange(80), kinds=30))
        release = vault.release(tmp_path / "release")
    assert release.promise.groups > 1
    for rows, most, held in groups_with_values(release.path):
        assert (sum(sorted(held.values())[-2:]) + 1) * most <= rows
    assert verify(release.path).ok
    forger = Forger(shutil.copytree(release.path, tmp_path / "copy"), {"people": ("group",)})
    forger.promise(guarantee={"distinct_l": 29})
    assert "people distinct_l = 29" in {check.name for check in verify(forger.path).failures}


def groups_with_values(folder):
    """Of each group of a release: its rows, the most rows of one person, and how often it holds each value."""
    boxes, people = (pq.read_table(folder / f"{name}.parquet").to_pylist() for name in ("generalized", "people"))
    for of in people:
        held = Counter(row["ill"] for row in boxes if row["group"] == of["group"])
        yield held.total(), of["most"], held


def test_groups_of_people_are_made_without_looking(tmp_path):
    """A vault of rows looks at values to cut, and says so; one of people does not, as `local` does not."""
    with Vault.create(tmp_path / "people", policy(accept={})) as vault:
        vault.append(visits(np.arange(60)))
        assert vault.release(tmp_path / "release").warnings == ()
    with pytest.raises(UnacceptedError, match="a vault looks at sensitive values"):
        Vault.create(tmp_path / "rows", policy(accept={}, person=None, options={}, drop=["patient"]))


def test_who_comes_back_more_often_than_is_reckoned_with_is_found_out(tmp_path):
    """What the attack finds where a vault that reckons with one lot takes people in again and again."""
    everybody = np.arange(60)
    with Vault.create(tmp_path / "vault", policy(2)) as vault, mock.patch("discreet.vault.vault.check_lots"):
        for lot in range(4):
            vault.append(visits(everybody, seed=lot, kinds=8, most=1))
            vault.release(tmp_path / f"{lot}")
    assert surest(tmp_path / "vault") > 0.6


@pytest.mark.parametrize(("values", "r"), [("aabcd", 2), ("abcdef", 3), ("aaab", 1), ("aabbcc", 2)])
def test_the_attacker_counts_right(values, r):
    for value in set(values):
        assert nowhere(len(values), values.count(value), r) == counted(values, value, r)


@pytest.mark.slow
def test_small_lots_by_all_ways_to_hand_values_out(tmp_path, monkeypatch):
    """Lots of eight people, of whom seven come back: nobody holds a value in more than half of all ways."""
    monkeypatch.setattr(rule, "LOT", 1)
    most = []
    for seed in range(4):
        place = tmp_path / f"{seed}"
        with Vault.create(place / "vault", policy(2, 2)) as vault:
            for lot in range(2):
                vault.append(visits(np.arange(lot, lot + 8), seed=100 * seed + lot, most=2, kinds=60))
                with suppress(GuaranteeError):
                    vault.release(place / f"{lot}")
        most.append(surest(place / "vault"))
    assert max(most) <= Fraction(1, 2)
    assert max(most) > Fraction(1, 8)


@pytest.mark.slow
@pytest.mark.parametrize("promised", [{"l": 2}, {"l": 3}], ids=str)
def test_from_the_files_of_all_releases_nobody_is_believed_beyond_one_in_l(tmp_path, monkeypatch, promised):
    """Up to three lots of six people, most of whom come back, with as many rows each or not: every way that fits."""
    monkeypatch.setattr(rule, "LOT", 1)
    tried, several, surest_ = 0, 0, Fraction(0)
    for seed in range(6):
        place, lots = tmp_path / f"{seed}", 1 + seed % 3
        releases, came = [], []
        with Vault.create(place / "vault", policy(lots=lots, guarantee=promised)) as vault:
            for lot in range(lots):
                rows = visits(np.arange(lot, lot + 6), seed=50 * seed + lot, most=1 + seed // 3, kinds=400)
                vault.append(rows)
                with suppress(GuaranteeError):
                    releases.append(vault.release(place / f"{lot}").path)
                came.append([(each["patient"], each) for each in rows.to_pylist()])
        if len(releases) < lots:
            continue  # a lot waited, and went with the next
        people = [[(who, dict(lot)[who], own) for who, own in Counter(who for who, _ in lot).items()] for lot in came]
        surest_ = max(surest_, believed(releases, people))
        several += len(list(groups(releases[-1]))) > lots
        tried += 1
    assert surest_ <= Fraction(1, promised["l"])
    assert tried > 2
    assert several > 0 or promised["l"] > 2


def test_the_attacker_of_the_files_finds_who_came_back_too_often(tmp_path, monkeypatch):
    """Four lots that a vault did not reckon with, of people with few values: it is surer than it may be."""
    monkeypatch.setattr(rule, "LOT", 1)
    releases, came = [], []
    with Vault.create(tmp_path / "vault", policy(2)) as vault, mock.patch("discreet.vault.vault.check_lots"):
        for lot in range(4):
            rows = visits(np.arange(6), seed=lot, most=1, ill=list("aabbcc"))
            vault.append(rows)
            releases.append(vault.release(tmp_path / f"{lot}").path)
            came.append([(each["patient"], each, 1) for each in rows.to_pylist()])
    assert believed(releases, came) > Fraction(1, 2)


def test_rows_of_a_person_that_come_apart_are_in_one_group(tmp_path):
    rows = visits(np.arange(100), most=4)
    with Vault.create(tmp_path / "vault", policy()) as vault:
        for at in range(0, len(rows), 40):
            vault.append(rows.slice(at, 40))
        release = vault.release(tmp_path / "release")
        groups = vault._database.rows("SELECT COUNT(DISTINCT rows.node) FROM rows JOIN people USING (id) GROUP BY key")
    assert set(groups) == {(1,)}
    assert release.promise.rows == len(rows)
    assert (release.promise.person, release.promise.lots) == (None, 1)
    assert {"people", "people l = 2"} <= {check.name for check in verify(release.path).checks}
    assert sum(of for *_, of, _ in shown(release.path)) == 100
    assert f"of {len(rows)} rows of people who may have several in" in (release.path / "README.md").read_text()
    files = b"".join(path.read_bytes() for path in release.path.iterdir())
    assert b"patient" not in files
    assert b"p17" not in files


def test_who_was_shown_is_refused_and_the_others_are_not(tmp_path):
    with Vault.create(tmp_path / "vault", policy()) as vault:
        vault.append(visits(np.arange(100)))
        vault.append(visits(np.arange(50, 120), seed=1))  # who was not shown yet may have more
        vault.release(tmp_path / "1")
        before = dump(tmp_path / "vault")
        again = visits(np.arange(118, 130), seed=2)
        told = r"of 24 rows are of 2 people who have rows in a release already \(told apart by `patient`\)"
        with pytest.raises(InputError, match=told) as refused:
            vault.append(again.slice(0, 24))
        assert "made with the option `lots`" in refused.value.hint
        assert dump(tmp_path / "vault") == before
        assert vault.append(visits(np.arange(200, 300), seed=3)).waiting == 0


def test_who_may_come_back_is_refused_after_so_many_lots(tmp_path):
    with Vault.create(tmp_path / "vault", policy(2, 2)) as vault:
        for lot in range(2):
            vault.append(visits(np.arange(lot, lot + 60), seed=lot, kinds=60))
            vault.release(tmp_path / f"{lot}")
        with pytest.raises(InputError, match="who have rows in 2 releases, as many as `lots` allows, already"):
            vault.append(visits(np.arange(55, 70)))
        vault.append(visits(np.arange(60, 130), seed=9, kinds=60))  # the one who was shown once
        assert vault.release(tmp_path / "2").promise.lots == 2
    assert surest(tmp_path / "vault") <= Fraction(1, 2)


def test_a_lot_counts_people_and_waits_for_more(tmp_path):
    with Vault.create(tmp_path / "vault", policy(3)) as vault:
        vault.append(visits(np.arange(29), most=4, kinds=100))
        with pytest.raises(GuaranteeError, match=r"rows of 29 people wait to be shown, expected at least 30"):
            vault.release(tmp_path / "1")
        vault.append(visits(np.arange(29, 40), most=9, kinds=2, seed=4))
        with pytest.raises(GuaranteeError, match=r"rows of 40 people wait to be shown; l = 3 cannot be met"):
            vault.release(tmp_path / "1")
    inspect(tmp_path / "vault")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"options": {"growth": "insert"}}, "`insert` counts rows and not people, but the policy has a `person`"),
        ({"person": None, "identifiers": ["patient"]}, "says in how many lots a `person` may have rows"),
        ({"options": {"lots": 0}}, "expected a whole number from 1 to 100, got 0"),
    ],
    ids=["insert", "nobody", "none"],
)
def test_policies_that_no_vault_of_people_keeps(tmp_path, changes, told):
    with pytest.raises(PolicyError, match=told):
        Vault.create(tmp_path / "vault", policy(**changes))


def test_rows_of_nobody_and_people_who_change(tmp_path):
    rows = visits(np.arange(40))
    nobody = rows.set_column(0, "patient", pa.array([None, *rows["patient"].to_pylist()[1:]]))
    aged = rows.set_column(1, "age", pa.array(np.arange(len(rows)) % 80))
    with Vault.create(tmp_path / "vault", policy()) as vault:
        with pytest.raises(InputError, match=r"1 row has no identifier \(`patient`\)") as refused:
            vault.append(nobody)
        assert "it cannot be known whose they are" in refused.value.hint
        with pytest.raises(
            InputError, match=r"`age` differs from row to row of \d+ people \(told apart by `patient`\)"
        ):
            vault.append(aged)
        vault.append(rows)
        vault.release(tmp_path / "1")


def test_somebody_may_be_older_when_coming_back(tmp_path):
    people = np.arange(60)
    with Vault.create(tmp_path / "vault", policy(2, 2)) as vault:
        for lot in range(2):
            rows = visits(people, seed=lot, kinds=60)
            ages = [int(each[1:]) % 50 + lot for each in rows["patient"].to_pylist()]
            vault.append(rows.set_column(1, "age", pa.array(ages)))
            vault.release(tmp_path / f"{lot}")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = tmp_path_factory.mktemp("people")
    with Vault.create(place / "vault", policy(2, 2, guarantee={"l": 2, "k": 4})) as vault:
        vault.append(visits(np.arange(80), kinds=60))
        return vault.release(place / "release")


def test_planted_faults_are_found(release, tmp_path):
    def failed(change=lambda rows: rows, **promise):
        forger = Forger(
            shutil.copytree(release.path, tmp_path / f"{len(list(tmp_path.iterdir()))}"), {"people": ("group",)}
        )
        forger.rows("people", change)
        if promise:
            forger.promise(**promise)
        return {check.name for check in verify(forger.path).failures}

    assert failed() == set()
    assert failed(lambda rows: rows[1:]) == {"people"}
    assert "people" in failed(lambda rows: [{**rows[0], "people": 1_000}, *rows[1:]])
    assert "people" in failed(lambda rows: [{**rows[0], "most": 0}, *rows[1:]])
    least = min(people for *_, people, _ in shown(release.path))
    assert failed(guarantee={"l": 2, "k": least + 1}) >= {f"people k = {least + 1}"}
    assert "people l = 2" in failed(lots=40)
    assert failed(lots=0) == {"manifest"}
