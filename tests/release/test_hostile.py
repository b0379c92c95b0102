"""Releases by somebody who means harm: each is refused, or shown harmlessly, and never waited for."""

import json
import os
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, metrics, open_release, publish, verify
from discreet.errors import DiscreetError, ReleaseError, VerificationError
from discreet.release.chain import shelf
from discreet.release.manifest import MOST
from release.forger import Forger

POLICY = Policy(quasi=["age", "zip"], sensitive="ill", guarantee={"l": 3}, partition="deal")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(1)
    rows = pa.table({"age": rng.integers(0, 90, 60), "zip": rng.integers(0, 999, 60), "ill": np.arange(60) % 7})
    return publish(rows, POLICY, to=tmp_path_factory.mktemp("made") / "release").path


@pytest.fixture
def forged(made, tmp_path):
    shutil.copytree(made, tmp_path / "release")
    return Forger(tmp_path / "release")


def replaced(path, kind):
    """Put something in the place of a file that has no end, or leads elsewhere."""
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
@pytest.mark.parametrize("act", [open_release, verify, metrics])
def test_a_manifest_that_is_no_file(forged, kind, act):
    replaced(forged.path / "datapackage.json", kind)
    with pytest.raises(ReleaseError, match=r"has a `datapackage\.json` that cannot be read"):
        act(forged.path)
    assert shelf([forged.path]) == {}


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_a_data_file_that_is_no_file(forged, kind):
    replaced(forged.path / "qit.parquet", kind)
    forged.manifest(lambda values: values["resources"][0].update(bytes=(forged.path / "qit.parquet").lstat().st_size))
    with pytest.raises(VerificationError, match=r"`qit.parquet` is not a plain file: a release holds no links"):
        open_release(forged.path)
    assert [check.name for check in verify(forged.path).failures] == ["digests"]


def test_a_data_file_that_is_a_link_out_of_the_folder(forged, made):
    (forged.path / "qit.parquet").unlink()
    (forged.path / "qit.parquet").symlink_to(made / "qit.parquet")
    with pytest.raises(VerificationError, match="not a plain file"):
        open_release(forged.path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_readme_that_is_no_file(forged, kind):
    replaced(forged.path / "README.md", kind)
    assert [check.name for check in verify(forged.path).failures] == ["files"]


def test_a_manifest_without_end(forged):
    with (forged.path / "datapackage.json").open("a") as file:
        file.write(" " * MOST)
    with pytest.raises(ReleaseError, match="cannot be read"):
        open_release(forged.path)


def test_a_manifest_nested_without_end(forged):
    (forged.path / "datapackage.json").write_text("[" * 500_000)
    with pytest.raises(ReleaseError, match="cannot be read"):
        open_release(forged.path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": 0}, "at least one row and one group"),
        ({"suppression": -1}, "the share of rows that may be suppressed"),
        ({"rows": 0, "groups": 0}, "at least one row and one group"),
        ({"rows": -1, "groups": -1}, "at least one row and one group"),
        ({"groups": 61}, "no more groups than rows"),
        ({"rows": 10**30, "groups": 10**30}, "at least one row and one group"),
        ({"guarantee": {"k": 0}}, "a threshold that promises nothing"),
        ({"guarantee": {"l": -2}}, "a threshold that promises nothing"),
    ],
)
def test_figures_that_cannot_be(forged, changes, message):
    forged.promise(**changes)
    for act in (open_release, metrics):
        with pytest.raises(ReleaseError, match=message):
            act(forged.path)
    assert not verify(forged.path).ok


def test_a_share_that_is_no_number(forged):
    """It opened, and the first question ended in a traceback."""
    manifest = forged.path / "datapackage.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"missing_sensitive"', '"suppression": "NaN", "missing_sensitive"', 1))
    assert manifest.read_text() != text
    with pytest.raises(ReleaseError, match="the share of rows that may be suppressed must lie between 0 and 1"):
        open_release(forged.path)


def test_files_without_rows(forged):
    """What the manifest says may be possible; what the files hold is not."""
    for name in ("qit", "st"):
        forged.put(name, forged.table(name).slice(0, 0))
    assert not verify(forged.path).ok
    with pytest.raises(DiscreetError):
        metrics(forged.path)


LINK = "x](http://harm.example) <img src=x> `code` [y"


def test_names_are_no_markup_in_the_readme(tmp_path):
    evil = f"{LINK}\n# Heading\n```\nout of the fence"
    rows = pa.table({LINK: list(range(30)), evil: [i % 5 for i in range(30)]})
    policy = Policy(name=evil, quasi=[LINK], sensitive=evil, guarantee={"l": 3})
    release = publish(rows, policy, to=tmp_path / "release")
    text = (release.path / "README.md").read_text()
    prose = "".join(re.split(r"(?ms)^```.*?^```$", text))
    assert "\n# Heading" not in text
    assert len([line for line in text.splitlines() if line.startswith("```")]) == 2
    assert "](" not in prose.replace("\\](", "")
    assert "<img" not in prose.replace("\\<", "")
    assert verify(release.path).ok


def test_ordinary_names_stand_in_the_readme_as_they_are(tmp_path):
    names = ["marital_status", "age [years]", "R&D", "a - b", "größe", "x < 5"]
    rows = pa.table({name: [i % 5 for i in range(30)] for name in names})
    policy = Policy(
        name="patients of 2026",
        quasi=names[:-1],
        sensitive=names[-1],
        guarantee={"l": 3},
        publication="slicing",
        together=[names[:2]],
    )
    text = (publish(rows, policy, to=tmp_path / "release").path / "README.md").read_text()
    assert all(f'"{name}"' in text for name in names)
    assert "\\" not in text
    assert text.startswith("# patients of 2026\n")


def test_a_release_keeps_its_meaning(made):
    """A release of today opens and verifies as ever."""
    assert verify(made).ok
    assert (
        json.loads((made / "datapackage.json").read_text())["discreet"]["groups"] == open_release(made).promise.groups
    )
