"""Faults planted in a release whose people have several rows."""

import shutil

import pytest

from discreet import publish, verify
from publication.visits import groups_of, policy, visits
from release.forger import Forger

KEYS = {"qit": ("group", "age", "town", "person")}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = tmp_path_factory.mktemp("people") / "r"
    return publish(visits(people=120, each=2), policy(guarantee={"k": 5, "l": 2}), to=place)


@pytest.fixture
def forger(release, tmp_path):
    return Forger(shutil.copytree(release.path, tmp_path / "copy"), KEYS)


def failed(forger):
    return {check.name for check in verify(forger.path).failures}


def test_what_was_published_verifies(forger):
    assert failed(forger) == set()
    assert {"people", "people k = 5", "people l = 2"} <= {check.name for check in verify(forger.path).checks}


def test_somebody_in_two_groups(forger):
    def swapped(rows):
        here, there = (next(row for row in rows if row["group"] == group) for group in (1, 2))
        here["person"], there["person"] = there["person"], here["person"]
        return rows

    forger.rows("qit", swapped)
    assert failed(forger) == {"people"}


def test_somebody_of_two_ages(forger):
    forger.rows("qit", lambda rows: [{**rows[0], "age": rows[0]["age"] + 1}, *rows[1:]])
    assert failed(forger) == {"people"}


@pytest.mark.parametrize("other", [0, 121, None])
def test_numbers_of_people(forger, other):
    forger.rows(
        "qit", lambda rows: [{**row, "person": other if row["person"] == 120 else row["person"]} for row in rows]
    )
    assert "people" in failed(forger)


def test_people_are_counted_and_not_rows(forger, release):
    least = min(len(persons) for persons, _ in groups_of(release).values())
    forger.promise(guarantee={"k": least + 1, "l": 2})
    assert failed(forger) == {f"people k = {least + 1}"}


def test_values_are_held_by_people_and_not_rows(forger, release):
    l = min(sum(values.values()) // (2 * max(values.values())) for _, values in groups_of(release).values())
    forger.promise(guarantee={"k": 5, "l": l + 1})
    assert failed(forger) == {f"people l = {l + 1}"}


@pytest.mark.parametrize("changes", [{"people": None}, {"person": None}, {"person": "who"}, {"people": 119}])
def test_manifests_that_say_otherwise(forger, changes):
    forger.manifest(
        lambda values: [
            values["discreet"].pop(key) if value is None else values["discreet"].update({key: value})
            for key, value in changes.items()
        ]
    )
    assert failed(forger) & {"manifest", "people"}
