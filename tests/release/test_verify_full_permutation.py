"""Tampering with a full permutation, digests mended so that only the fault itself can give it away."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, open_release, read, verify
from discreet.errors import ReleaseError
from discreet.publication.publish import publish_groups
from release.forger import Forger

KEYS = {"pqt": ("group", "age", "city"), "pst": ("group", "ill")}


def made(place, *, form="parquet", sensitive="ill", guarantee=None):
    """Twelve people in three groups of four, every group with all four values."""
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(12)],
            "age": [30 + i // 2 for i in range(12)],
            "city": [None if i % 4 == 3 else f"{i % 3} street" for i in range(12)],
            "note": ["private"] * 12,
            "ill": [i % 4 for i in range(12)],
        }
    )
    quasi = ["age", "city"]
    policy = Policy(
        quasi=quasi,
        sensitive=sensitive,
        guarantee=guarantee or {"k": 4, "l": 4},
        identifiers=["name"],
        drop=["note", *([] if sensitive else ["ill"])],
        publication="full_permutation",
        partition="deal",
    )
    with read(table) as private:
        codes = None if sensitive is None else private.codes(sensitive)
        groups = np.repeat(np.arange(3, dtype=np.int32), 4)
        return publish_groups(private, policy, codes, groups, to=place, format=form).path


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place = tmp_path_factory.mktemp("releases")
    found = {form: made(place / form, form=form) for form in ("parquet", "csv")}
    return {**found, "alone": made(place / "alone", sensitive=None, guarantee={"k": 4})}


@pytest.fixture
def forger(releases, tmp_path):
    return Forger(Path(shutil.copytree(releases["parquet"], tmp_path / "copy")), KEYS)


@pytest.fixture
def alone(releases, tmp_path):
    """The forger of a release without a sensitive column."""
    return Forger(Path(shutil.copytree(releases["alone"], tmp_path / "alone")), KEYS)


def found(path):
    """The names of the checks that fail."""
    report = verify(path)
    assert report.ok == (not report.failures)
    assert not [text for text in (check.detail for check in report.failures) if "private" in text]
    return {check.name for check in report.failures}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_an_honest_release_passes(releases, form):
    report = verify(releases[form])
    assert report.ok
    assert [check.name for check in report.checks] == [
        *("manifest", "files", "digests", "metadata", "columns", "groups"),
        *("guarantee k = 4", "guarantee l = 4", "order"),
    ]


def test_an_honest_release_without_a_sensitive_column_passes(releases):
    report = verify(releases["alone"])
    assert report.ok
    assert [check.name for check in report.checks][5:] == ["groups", "guarantee k = 4", "order"]


def test_the_forger_alone_is_not_noticed(forger, alone):
    for name in KEYS:
        forger.rows(name, lambda rows: rows)
    alone.rows("pqt", lambda rows: rows)
    assert found(forger.path) == found(alone.path) == set()


def at(rows, number, **changes):
    rows[number].update(changes)
    return rows


def regrouped(rows, old, new):
    return [{**row, "group": new if row["group"] == old else row["group"]} for row in rows]


def moved(rows, column):
    """Let two rows of a group exchange a value: another permutation of the same groups, and as good."""
    rows[0][column], rows[2][column] = rows[2][column], rows[0][column]
    return rows


L, K = "guarantee l = 4", "guarantee k = 4"
FAULTS = {
    # rows and groups
    "a row is gone": (lambda f: f.rows("pqt", lambda r: r[1:]), {"groups"}),
    "a row is there twice": (lambda f: f.rows("pqt", lambda r: [r[0], *r]), {"groups"}),
    "a value is gone": (lambda f: f.rows("pst", lambda r: r[1:]), {"groups", K, L}),
    "a value is there twice": (lambda f: f.rows("pst", lambda r: [r[0], *r]), {"groups", L}),
    "a row in another group": (lambda f: f.rows("pqt", lambda r: at(r, 0, group=2)), {"groups"}),
    "a value in another group": (lambda f: f.rows("pst", lambda r: at(r, 0, group=2)), {"groups", K, L}),
    "a row and a value in another group": (
        lambda f: [f.rows(name, lambda r: at(r, 0, group=2)) for name in KEYS],
        {K, L},
    ),
    "groups are not numbered from 1": (lambda f: [f.rows(n, lambda r: regrouped(r, 1, 9)) for n in KEYS], {"groups"}),
    "two groups became one": (lambda f: [f.rows(n, lambda r: regrouped(r, 2, 3)) for n in KEYS], {"groups"}),
    # values
    "a value twice in a group": (lambda f: f.rows("pst", lambda r: at(r, 0, ill=1)), {L}),
    "a value is missing": (lambda f: f.rows("pst", lambda r: at(r, 0, ill=None)), {"groups"}),
    # order
    "rows in another order": (lambda f: f.rows("pqt", lambda r: r[::-1], sort=False), {"order"}),
    "rows of a group in another order": (
        lambda f: f.rows("pqt", lambda r: [r[3], *r[:3], *r[4:]], sort=False),
        {"order"},
    ),
    "values in another order": (lambda f: f.rows("pst", lambda r: [r[1], r[0], *r[2:]], sort=False), {"order"}),
    # columns
    "the values beside the rows": (
        lambda f: f.change("pqt", lambda t: t.append_column("ill", pa.array([i % 4 for i in range(12)]))),
        {"columns"},
    ),
    "a number beside the values": (
        lambda f: f.change("pst", lambda t: t.append_column("row", pa.array(range(12)))),
        {"columns"},
    ),
    "rows without groups": (lambda f: f.change("pqt", lambda t: t.drop_columns(["group"])), {"columns"}),
    # the manifest
    "more is promised than kept": (lambda f: f.promise(guarantee={"k": 5}), {"guarantee k = 5"}),
    "nothing is promised": (lambda f: f.promise(guarantee={}), {"manifest"}),
    "other rows are counted": (lambda f: f.promise(rows=13), {"groups"}),
    "the sensitive column is not told": (
        lambda f: f.manifest(lambda values: values["discreet"].pop("sensitive")),
        {"manifest"},
    ),
    "it is said to be an anatomy": (lambda f: f.promise(publication="anatomy"), {"manifest"}),
    "it is said to be a permutation": (lambda f: f.promise(publication="permutation"), {"manifest"}),
}


@pytest.mark.parametrize("title", FAULTS)
def test_verify_finds_planted_faults(forger, title):
    plant, checks = FAULTS[title]
    plant(forger)
    assert found(forger.path) == checks


ALONE = {
    "a row is gone": (lambda f: f.rows("pqt", lambda r: r[1:]), {"groups", K}),
    "a row in another group": (lambda f: f.rows("pqt", lambda r: at(r, 0, group=2)), {K}),
    "a small group": (lambda f: f.rows("pqt", lambda r: at(r, 0, group=4)), {"groups", K}),
    "rows in another order": (lambda f: f.rows("pqt", lambda r: r[::-1], sort=False), {"order"}),
    "l is promised": (lambda f: f.promise(guarantee={"l": 4}), {"manifest"}),
    "distinct_l is promised too": (lambda f: f.promise(guarantee={"k": 4, "distinct_l": 2}), {"manifest"}),
    "missing values are allowed": (lambda f: f.promise(missing_sensitive="value"), {"manifest"}),
    "a quasi-identifier is said to be sensitive": (lambda f: f.promise(sensitive="age"), {"manifest"}),
    "it is said to be an anatomy": (lambda f: f.promise(publication="anatomy"), {"manifest"}),
}


@pytest.mark.parametrize("title", ALONE)
def test_verify_finds_planted_faults_without_a_sensitive_column(alone, title):
    plant, checks = ALONE[title]
    plant(alone)
    assert found(alone.path) == checks


@pytest.mark.parametrize("column", ["age", "city"])
def test_another_permutation_is_as_good(forger, column):
    """What verify cannot see: which permutation it was, and whether it was drawn at random."""
    forger.rows("pqt", lambda rows: moved(rows, column))
    assert found(forger.path) == set()


@pytest.mark.parametrize("publication", ["anatomy", "permutation", "generalization", "swap", "join"])
def test_only_a_full_permutation_opens_without_a_sensitive_column(alone, publication):
    alone.promise(publication=publication)
    with pytest.raises(ReleaseError, match="cannot be opened"):
        open_release(alone.path)


def test_damage_is_found_when_a_release_is_opened(forger):
    (forger.path / "pst.parquet").write_bytes(b"\0" * 100)
    with pytest.raises(ReleaseError, match="its digest differs"):
        open_release(forger.path)
    assert "digests" in found(forger.path)
