"""Sequences of releases: verify walks back, as far as releases are there."""

import json
import shutil

import pyarrow.parquet as pq
import pytest

from discreet import Vault, open_release, verify
from discreet.errors import ReleaseError
from discreet.release.files import digest
from discreet.release.manifest import Manifest
from discreet.release.readme import readme
from vault.steward import people, policy


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("chain")
    with Vault.create(place / "vault", policy()) as vault:
        for at in range(3):
            vault.append(people(100, start=1_000 * at))
            vault.release(place / "releases" / f"{at}")
    return place / "releases"


@pytest.fixture
def releases(made, tmp_path):
    shutil.copytree(made, tmp_path / "releases")
    return tmp_path / "releases"


def chain(release, **options):
    """The last check of a release, if it is the one of its chain."""
    last = verify(release, **options).checks[-1]
    return last if last.name == "chain" else None


def test_verify_walks_the_chain(releases):
    assert chain(releases / "0") is None
    assert chain(releases / "1").detail.startswith("earlier releases, back to the first: 1;")
    assert chain(releases / "2").detail.startswith("earlier releases, back to the first: 2;")
    rows = pq.read_table(releases / "0" / "generalized.parquet")
    pq.write_table(rows.slice(1), releases / "0" / "generalized.parquet", store_schema=False)
    assert not verify(releases / "0").ok
    for later in ("1", "2"):
        found = chain(releases / later)
        assert not found.ok
        assert found.detail.startswith("`0` does not verify: digests")


def test_a_predecessor_that_is_not_there_is_told(releases, tmp_path):
    (releases / "0").rename(tmp_path / "elsewhere")
    for later, followed in (("1", 0), ("2", 1)):
        found = chain(releases / later)
        assert found.ok
        assert f"that verify: {followed}" in found.detail
        assert "the release before `1` was not found" in found.detail
        for earlier in (tmp_path / "elsewhere", tmp_path):
            assert "back to the first" in chain(releases / later, earlier=[earlier]).detail
    assert open_release(releases / "1").verify(earlier=[tmp_path]).ok
    with pytest.raises(ReleaseError, match="there is no folder"):
        verify(releases / "1", earlier=[tmp_path / "nowhere"])


def test_a_predecessor_under_another_name(releases):
    (releases / "0").rename(releases / "z")
    (releases / "1").rename(releases / "a")
    assert "back to the first: 2" in chain(releases / "2").detail


def test_a_copy_elsewhere_is_looked_at_first(releases, tmp_path):
    shutil.copytree(releases / "0", tmp_path / "copy")
    (releases / "0" / "README.md").write_text("x")
    assert not chain(releases / "1").ok
    assert chain(releases / "1", earlier=[tmp_path / "copy"]).ok


def changed(folder, **changes):
    """Change the promise of a release, and all that follows from it."""
    path = folder / "datapackage.json"
    values = json.loads(path.read_text())
    values["discreet"].update(changes)
    manifest = Manifest.model_validate(values)
    path.write_text(manifest.to_json())
    (folder / "README.md").write_text(readme(manifest))


def test_a_predecessor_that_promises_otherwise(releases):
    changed(releases / "0", guarantee={"distinct_l": 2})
    changed(releases / "1", predecessor=digest(releases / "0" / "datapackage.json"))
    found = chain(releases / "1")
    assert not found.ok
    assert found.detail == "`0` and `1` do not have the same `guarantee`"


@pytest.mark.parametrize("name", ["", "sha256:", "sha256:" + "g" * 64, "md5:" + "0" * 64, "the one before"])
def test_a_predecessor_is_named_by_its_digest(releases, name):
    changed(releases / "1", predecessor=name)
    report = verify(releases / "1")
    assert [check.name for check in report.failures] == ["manifest"]


def test_a_predecessor_is_of_the_same_sequence(releases):
    changed(releases / "0", sequence="0" * 32)
    assert verify(releases / "0").ok
    changed(releases / "1", predecessor=digest(releases / "0" / "datapackage.json"))
    found = chain(releases / "1")
    assert not found.ok
    assert found.detail == "`0` and `1` do not have the same `sequence`"


@pytest.mark.parametrize("name", ["", "0" * 31, "0" * 33, "G" * 32, "of the patients"])
def test_a_sequence_has_a_name_that_tells_nothing(releases, name):
    changed(releases / "0", sequence=name)
    assert [check.name for check in verify(releases / "0").failures] == ["manifest"]


def test_only_one_of_a_sequence_has_a_predecessor(releases):
    changed(releases / "1", sequence=None)
    assert [check.name for check in verify(releases / "1").failures] == ["manifest"]
    changed(releases / "0", partition="mondrian")
    assert [check.name for check in verify(releases / "0").failures] == ["manifest"]
    changed(releases / "0", sequence=None)
    assert verify(releases / "0").ok


def test_folders_that_are_no_releases_do_not_matter(releases):
    (releases / "notes").mkdir()
    (releases / "notes.txt").write_text("x")
    (releases / "broken").mkdir()
    (releases / "broken" / "datapackage.json").write_text("{")
    (releases / ".hidden").mkdir()
    assert chain(releases / "2").ok
