"""Every publication, in both formats and in parts, as others see it: a Data Package, Croissant and DCAT without fault or warning."""

import datetime as dt
import json
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from discreet import Policy, Vault, publish, verify
from discreet.publication import PUBLICATIONS
from discreet.visible import STEERING

ABOUT = {
    "title": "Patients «of 2026»\n\x1b[2J",
    "description": "Invented people, for tests.",
    "licence": "CC-BY-4.0",
    "contact": "Statistics Office <data@example.org>",
    "keywords": ["health", "test"],
    "homepage": "https://example.org/patients",
    "version": "1.2.0",
    "date": dt.date(2026, 11, 30),
}
NAMES = [
    "first name",
    'say "hi"',
    "a/b",
    "select",
    "{x}",
    "`x`",
    "\\",
    "línea ✓",
    "x#y",
    "<b>",
    "\x1b[2J",
    "a\nb",
    "a\rb",
    "\u202ea\x9b\u2028b\u200f",
    "@id",
]
MOMENT = dt.datetime(2026, 1, 2)  # noqa: DTZ001 - without a zone, as most are
MANDATORY = {"title", "description", "distribution", "accessURL", "license", "issued", "contactPoint", "checksumValue"}


def people(rows=240):
    chance = random.Random(7)  # noqa: S311

    def perhaps(value):
        return None if chance.random() < 0.1 else value

    odd = {name: [chance.choice("abc") for _ in range(rows)] for name in NAMES}
    return pa.table(
        {
            "who": list(range(rows)),
            "age": [chance.randint(20, 70) for _ in range(rows)],
            "height": [perhaps(chance.random()) for _ in range(rows)],
            "born": pa.array([perhaps(dt.date(1990, 1, chance.randint(1, 28))) for _ in range(rows)]),
            "seen": pa.array([perhaps(MOMENT + dt.timedelta(hours=chance.randint(0, 59))) for _ in range(rows)]),
            "at": pa.array([perhaps(dt.time(chance.randint(0, 23))) for _ in range(rows)], pa.time64("us")),
            "member": pa.array([perhaps(chance.random() < 0.5) for _ in range(rows)]),
            "note": [perhaps(chance.choice(["", "a, b", 'say "hi"', "x\ny", "NA"])) for _ in range(rows)],
            **odd,
            "wage": [chance.randint(10, 40) for _ in range(rows)],
        }
    )


def keys(publication):
    few = ["age", "height", "born", "member", "note"]
    quasi = (
        [name for name in people(1).column_names if name not in {"who", "wage"}] if publication == "anatomy" else few
    )
    more = {
        "slicing": {"together": [["age", "height"]]},
        "join": {"join": "who", "guarantee": {"k": 3, "l": 2}},
        "swap": {"guarantee": {"k": 3, "e": 5}},
    }
    plain = {
        "name": "people",
        "identifiers": ["who"],
        "quasi": quasi,
        "sensitive": "wage",
        "drop": "rest",
        "guarantee": {"l": 2},
        "about": ABOUT,
    }
    return {**plain, "publication": publication, "accept": {"looks": "invented"}, **more.get(publication, {})}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A release of every publication in both formats, some in parts, one of a vault, one that says nothing of itself."""
    place = tmp_path_factory.mktemp("releases")
    for publication in PUBLICATIONS:
        public = people(600).drop_columns(["wage"]) if PUBLICATIONS[publication].needs_public else None
        for form in ("parquet", "csv"):
            publish(people(), keys(publication), to=place / f"{publication}-{form}", format=form, public=public)
        publish(people(), keys(publication), to=place / f"{publication}-parts", rows_per_part=50, public=public)
    publish(people(), {**keys("anatomy"), "about": {}}, to=place / "bare")
    publish(people(), keys("anatomy"), to=place / "plausible", plausible=2)
    with Vault.create(place / "vault", Policy(**keys("generalization"))) as vault:
        vault.append(people())
        vault.release(place / "of a vault")
    return [path for path in sorted(place.iterdir()) if (path / "datapackage.json").exists()]


@pytest.fixture(scope="module")
def opinions(releases):
    program = Path(__file__).with_name("second_opinions.py")
    done = subprocess.run([sys.executable, program, *releases], capture_output=True, text=True, check=True)
    return {Path(folder).name: told for folder, told in json.loads(done.stdout).items()}


@pytest.mark.slow
def test_every_release_validates(releases, opinions):
    assert len(opinions) == 3 * len(PUBLICATIONS) + 3
    for name, told in opinions.items():
        assert told["frictionless"] == [], name
        assert told["errors"] == [], name
        assert told["warnings"] == [], name
        assert (told["records"] is None) == (name == "bare"), "without licence and date there is no Croissant"
        assert all(told["records"] or ()), name
        assert (set(told["dcat"]) >= MANDATORY) == (name != "bare"), name
    for release in releases:
        assert verify(release).ok
        for path in release.iterdir():
            if path.suffix in {".md", ".json", ".jsonld"}:
                assert STEERING.search(path.read_text(encoding="utf-8")) is None, "it may be shown on a terminal"


@pytest.mark.slow
def test_whole_numbers_of_which_some_are_missing(tmp_path):
    """Frictionless reads Parquet through pandas, where these are fractions: they are numbers to it, whole ones to us."""
    ages = pa.array([None, *range(19)])
    tables = {
        "whole": pa.table({"age": ages, "ill": list("abcde") * 4}),
        "beside": pa.table({"age": ages, "height": [i / 7 for i in range(20)], "ill": pa.array([None, *range(19)])}),
    }
    rules = {"quasi": ["age"], "sensitive": "ill", "guarantee": {"l": 2}, "missing_sensitive": "value"}
    folders = []
    for name, rows in tables.items():
        for form in ("parquet", "csv"):
            folders.append(tmp_path / f"{name}.{form}")
            made = publish(rows, {**rules, "drop": "rest", "about": ABOUT}, to=folders[-1], format=form, seed=1)
            (field, *_) = json.loads((folders[-1] / "datapackage.json").read_text())["resources"][0]["schema"]["fields"]
            assert field == {
                "name": "age",
                **({"type": "integer"} if form == "csv" else {"type": "number", "whole": True}),
            }
            assert made.manifest.resources[0].kinds()["age"] == "integer"
            assert verify(folders[-1]).ok
            assert len(made.ask("SELECT age, COUNT(*) FROM microdata WHERE age IS NULL GROUP BY age")) == 1
    program = Path(__file__).with_name("second_opinions.py")
    command = [sys.executable, program, *folders]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    for folder in folders:
        assert told[str(folder)]["frictionless"] == told[str(folder)]["errors"] == told[str(folder)]["warnings"] == []
        assert all(told[str(folder)]["records"])
