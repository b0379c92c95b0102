"""What a manifest says of the chance behind its groups, and what nobody can make it say."""

import json

import numpy as np
import pandas as pd
import pytest

from discreet import Policy, open_release, publish, read, verify
from discreet.errors import PolicyError, ReleaseError
from discreet.publication.publish import publish_groups
from release.forger import Forger

ROWS = 60


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    columns = {"age": np.repeat(rng.integers(20, 60, ROWS // 2), 2), "zip": np.repeat(rng.integers(1, 5, ROWS // 2), 2)}
    return pd.DataFrame({**columns, "ill": rng.permutation(np.arange(ROWS) % 6), "who": np.arange(ROWS) // 2})


def policy(partition, publication="anatomy", **more):
    roles = {"quasi": ["age", "zip"], "sensitive": "ill", "drop": ["who"], "guarantee": {"l": 2}}
    return Policy(**{**roles, "partition": partition, "publication": publication, **more})


def said(release):
    return release.promise.randomness, release.promise.estimator


@pytest.mark.parametrize(
    ("partition", "more", "expected"),
    [
        ("deal", {}, ("dealt", "even")),
        ("deal", {"publication": "permutation"}, ("dealt", "even")),
        ("deal", {"harmless": [0]}, ("dealt", "even")),
        ("deal", {"publication": "generalization", "ordered": ["age"]}, (None, None)),
        ("deal", {"person": "who", "drop": []}, (None, "even")),
        ("mixed", {}, ("dealt", "design")),
        ("mixed", {"publication": "permutation", "harmless": [0]}, ("dealt", "design")),
        ("mixed", {"publication": "generalization", "ordered": ["age"]}, (None, None)),
        ("mixed", {"options": {"cells": 4}}, ("cells", "design")),
        ("mixed", {"options": {"cells": 4}, "publication": "generalization", "ordered": ["age"]}, (None, None)),
        ("anatomize", {}, (None, "even")),
        ("min_sum", {"guarantee": {"k": 3, "e": 1}}, (None, "even")),
        ("local", {}, ("near", "even")),
        ("local", {"publication": "full_permutation"}, (None, None)),
        ("mondrian", {"guarantee": {"k": 5}}, ("near", "even")),
        ("full_domain", {"ordered": ["age", "zip"]}, ("near", "even")),
        ("full_domain", {"ordered": ["age", "zip"], "options": {"suppression": 0.1}}, (None, "even")),
    ],
)
def test_said_only_where_it_is_so(people, tmp_path, partition, more, expected):
    release = publish(people, policy(partition, **more), to=tmp_path / "r", seed=1)
    assert said(release) == expected
    assert said(open_release(release.path)) == expected


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_cells_are_shown(people, tmp_path, publication):
    """Groups are numbered cell by cell, and the manifest says how many each has: so anyone can tell the cell of a row."""
    release = publish(people, policy("mixed", publication, options={"cells": 4, "rounds": 3}), to=tmp_path / "r")
    promise = open_release(release.path).promise
    assert (promise.randomness, promise.cuts) == ("cells", "blind")
    assert 2 <= len(promise.cells) <= 4
    assert sum(promise.cells) == promise.groups
    assert release.verify().ok
    if publication == "anatomy":
        rows = pd.read_parquet(release.path / "qit.parquet")
        cell = np.repeat(np.arange(len(promise.cells)), promise.cells)[rows["group"] - 1]
        assert np.bincount(cell).min() >= ROWS // 4
        spans = [np.ptp(rows["age"][cell == each]) for each in range(len(promise.cells))]
        assert min(spans) < np.ptp(rows["age"])  # they were cut where quasi-identifiers differ


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        ({"cells": None}, "must be there where its `randomness` is `cells`"),
        ({"cells": [1, 1]}, "all groups together"),
        ({"cells": []}, "all groups together"),
        ({"randomness": "dealt"}, "and only there"),
        ({"cuts": None}, "does not say that they were cut blindly"),
    ],
)
def test_cells_that_cannot_be_are_found(people, tmp_path, forged, why):
    path = publish(people, policy("mixed", options={"cells": 4}), to=tmp_path / "r").path
    Forger(path).promise(**forged)
    assert why in verify(path).failures[0].detail
    with pytest.raises(ReleaseError):
        open_release(path)


@pytest.mark.parametrize("cells", [1, 0, 1001, 2.0, True, "8"])
def test_cells_are_a_number(cells):
    with pytest.raises(PolicyError, match=r"`options\.cells`: expected a whole number from 2 to 1,000, got"):
        policy("mixed", options={"cells": cells})


def test_withheld_rows_change_nothing(people, tmp_path):
    """They are no rows of the release, and the others are dealt as if they were alone."""
    table = people.astype({"ill": "Int64"})
    table.loc[::7, "ill"] = None
    release = publish(table, policy("deal", missing_sensitive="withhold"), to=tmp_path / "r", seed=1)
    assert release.withheld
    assert said(release) == ("dealt", "even")


def test_of_given_groups_nothing_is_said(people, tmp_path):
    """Whoever decided about them may have looked at anything, whatever partition the policy names."""
    with read(people) as table:
        groups = np.arange(ROWS, dtype=np.int32) // 30
        release = publish_groups(table, policy("deal"), table.codes("ill"), groups, to=tmp_path / "r")
    assert said(release) == (None, "even")


def test_a_release_of_before_says_nothing(people, tmp_path):
    path = publish(people, policy("deal"), to=tmp_path / "r").path
    forger = Forger(path)
    forger.manifest(lambda values: [values["discreet"].pop(name) for name in ("randomness", "estimator")])
    assert "randomness" not in json.loads((path / "datapackage.json").read_text())["discreet"]
    assert verify(path).ok
    assert said(open_release(path)) == (None, None)


@pytest.mark.parametrize(
    ("partition", "forged", "why"),
    [
        ("local", {"randomness": "dealt"}, "its `randomness` is `dealt`, which the partition `local` does not have"),
        ("deal", {"randomness": "near"}, "its `randomness` is `near`, which the partition `deal` does not have"),
        ("anatomize", {"randomness": "dealt"}, "which the partition `anatomize` does not have"),
        ("local", {"estimator": "design"}, "which needs the `randomness` `dealt` or `cells`"),
        ("anatomize", {"estimator": "design"}, "which needs the `randomness` `dealt` or `cells`"),
        ("deal", {"estimator": None}, "without the `estimator` that follows from it"),
        ("full_domain", {"suppression": 0.1}, "beside a `person` or `suppression`"),
    ],
)
def test_what_cannot_be_so_is_found_and_not_opened(people, tmp_path, partition, forged, why):
    path = publish(people, policy(partition, ordered=["age", "zip"]), to=tmp_path / "r", seed=1).path
    Forger(path).promise(**forged)
    assert why in next(check.detail for check in verify(path).failures if check.name == "manifest")
    with pytest.raises(ReleaseError):
        open_release(path)


def test_publications_without_rows_say_nothing(people, tmp_path):
    path = publish(people, policy("local", "full_permutation"), to=tmp_path / "r").path
    Forger(path).promise(randomness="near", estimator="even")
    assert "rows and their groups' values are both shown" in verify(path).failures[0].detail
