"""What others add to a release: a title, a licence, files beside it. It stays the release that it was, and verifies."""

import json

import pandas as pd
import pytest

from discreet import Policy, Vault, open_release, publish, verify
from discreet.errors import PolicyError, ReleaseError
from discreet.release.chain import identity

KEYS = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 2}}
ADDED = {
    "title": "People of «2026»",
    "licenses": [{"name": "CC0-1.0", "title": "Creative Commons Zero"}],
    "contributors": [{"title": "A portal", "roles": ["publisher"], "organization": "x"}],
    "keywords": ["people"],
    "sources": [{"title": "A register"}],
    "created": "2026-11-30T10:00:00Z",
}
LAYOUTS = {
    "as json.dumps writes it": {},
    "compact": {"separators": (",", ":")},
    "two spaces": {"indent": 2},
    "four spaces, only ASCII": {"indent": 4, "ensure_ascii": True},
    "tabs": {"indent": "\t"},
    "sorted": {"indent": 2, "sort_keys": True},
}


def people(rows=40):
    return pd.DataFrame({"id": range(rows), "age": [i % 9 for i in range(rows)], "ill": list("abcd") * (rows // 4)})


@pytest.fixture
def release(tmp_path):
    return publish(people().drop(columns="id"), KEYS, to=tmp_path / "release").path


def changed(release, change, **layout):
    path = release / "datapackage.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values = change(values) or values
    path.write_text(json.dumps(values, **{"ensure_ascii": False, **layout}), encoding="utf-8")


def details(release):
    return {check.name: check.detail for check in verify(release).checks}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=list(LAYOUTS))
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_description_that_is_added_breaks_nothing(release, layout, first):
    before = identity(release)
    changed(release, lambda m: {**ADDED, **m} if first else {**m, **ADDED}, **layout)
    assert verify(release).ok
    told = details(release)["manifest"]
    assert told.startswith("what was published and what is promised; described by `title`, `created`, `keywords`")
    assert told.endswith("which no digest covers")
    assert open_release(release).manifest.title == ADDED["title"]
    assert identity(release) == before


HIDDEN = {
    "an unknown member": lambda text: text.replace('"name"', '"note": "person 1 has angina", "name"', 1),
    "spaces between the lines": lambda text: text.replace("\n", " \n", 3),
    "a key that stands twice": lambda text: text.replace("{", '{"title": "person 1 has angina",', 1),
    "another order": lambda text: text.replace('"publication": "anatomy",\n', "").replace(
        '"groups"', '"publication": "anatomy",\n    "groups"'
    ),
    "a number in another spelling": lambda text: text.replace('"l": 2', '"l": 2.0'),
    "a title that is none": lambda text: text.replace('"title": "x"', '"title": 3'),
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=list(HIDDEN))
def test_a_description_hides_nothing_else(release, hide):
    changed(release, lambda m: {**m, "title": "x"}, indent=2)
    path = release / "datapackage.json"
    path.write_text(hide(path.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        found = verify(release)
    except ReleaseError:
        return  # it cannot even be read
    assert "manifest" in {check.name for check in found.failures}


def test_what_others_put_beside_the_files_is_a_note(release):
    for name in ("LICENSE", "licence.txt", "CITATION.cff", ".DS_Store", "Thumbs.db"):
        (release / name).write_text("x")
    assert verify(release).ok
    assert details(release)["files"].endswith(
        "beside them, not looked into: `.DS_Store`, `CITATION.cff`, `LICENSE`, `Thumbs.db`, `licence.txt`"
    )


@pytest.mark.parametrize("name", ["notes.txt", "LICENSE.parquet", "data.csv", ".DS_Store.csv", "license.json"])
def test_any_other_file_is_a_fault(release, name):
    (release / name).write_text("x")
    assert [check.name for check in verify(release).failures] == ["files"]


def test_a_licence_that_is_no_plain_file_is_a_fault(release, tmp_path):
    (release / "LICENSE").mkdir()
    assert not verify(release).ok
    (release / "LICENSE").rmdir()
    (release / "LICENSE").symlink_to("/etc/passwd")
    assert not verify(release).ok


def test_files_for_portals_may_be_changed_or_gone(release):
    (release / "croissant.json").write_text("{}")
    assert verify(release).ok
    assert details(release)["files"].endswith("not looked into: `croissant.json`")
    (release / "croissant.json").unlink()
    (release / "dcat.jsonld").unlink()
    assert verify(release).ok
    (release / "dcat.jsonld").symlink_to("/etc/passwd")
    assert [check.name for check in verify(release).failures] == ["files"]


def test_the_chain_of_a_vault_holds_when_an_earlier_release_is_described(tmp_path):
    rules = Policy(
        identifiers=["id"], **KEYS, publication="generalization", accept={"looks": "invented"}, about={"title": "x"}
    )
    with Vault.create(tmp_path / "vault", rules) as vault:
        vault.append(people(80))
        vault.release(tmp_path / "1")
        vault.append(people(160).iloc[80:])
        changed(tmp_path / "1", lambda m: {**m, **ADDED}, indent=2)
        vault.release(tmp_path / "2")
        assert [each.there for each in vault.status().releases] == [True, True]
    changed(tmp_path / "1", lambda m: {**m, "description": "y"})
    assert (
        details(tmp_path / "2")["chain"] == "earlier releases, back to the first: 1; all verify, and promise the same"
    )


def test_about_reaches_the_manifest_and_those_for_portals(tmp_path):
    about = {
        "title": "T",
        "licence": "https://example.org/licence",
        "contact": "data@example.org",
        "date": "2026-11-30",
    }
    release = publish(people().drop(columns="id"), {**KEYS, "about": about}, to=tmp_path / "r")
    assert release.manifest.described == {
        "title": "T",
        "created": "2026-11-30T00:00:00Z",
        "licenses": ({"path": "https://example.org/licence"},),
        "contributors": ({"title": "data@example.org", "email": "data@example.org", "roles": ["contact"]},),
    }
    croissant = json.loads((release.path / "croissant.json").read_text())
    assert (croissant["license"], croissant["datePublished"]) == ("https://example.org/licence", "2026-11-30")
    assert croissant["rai:personalSensitiveInformation"][-1].startswith("`ill`: sensitive")


@pytest.mark.parametrize("without", ["licence", "date"])
def test_croissant_needs_licence_and_date(tmp_path, without):
    about = {"licence": "CC0-1.0", "date": "2026-11-30"}
    stated = {key: value for key, value in about.items() if key != without}
    release = publish(people().drop(columns="id"), {**KEYS, "about": stated}, to=tmp_path / "r")
    assert not (release.path / "croissant.json").exists()
    assert (release.path / "dcat.jsonld").exists()
    assert verify(release.path).ok


MISTAKES = {
    'title = ""': "`about.title`: expected a text",
    "description = 3": "`about.description`: expected a text",
    'licence = "do what you want"': "`about.licence`: expected an identifier of SPDX",
    'license = "CC0-1.0"': "`about.license`: is not a key of `about`; did you mean `licence`?",
    'contact = "me"': "`about.contact`: expected an address",
    'keywords = "a"': "`about.keywords`: expected a list of texts",
    'homepage = "example.org"': "`about.homepage`: expected an address",
    'version = "2"': "`about.version`: expected three numbers",
    'date = "30.11.2026"': "`about.date`: expected a date",
    "date = 2026-11-30T10:00:00": "`about.date`: expected a date",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_in_about(tmp_path, line):
    (tmp_path / "p.toml").write_text(f'quasi = ["a"]\nsensitive = "b"\nguarantee = {{ l = 2 }}\n[about]\n{line}\n')
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "p.toml")
    assert MISTAKES[line] in str(caught.value)
    assert "line 5" in str(caught.value)
