"""Tables and releases that do not fit, from the shell: each is told with what to do, and nothing is left behind."""

from __future__ import annotations

import json
import shutil
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import discreet

BORN, TOWN = "Date of birth (UTC)", "sex/Gender"
POLICY = discreet.Policy(
    identifiers=["Patient no."],
    quasi=[BORN, TOWN],
    sensitive="group",
    guarantee={"l": 3},
    partition="deal",
    missing_sensitive="value",
)


def people(seed, rows=300):
    """Odd names, dates, and values that are missing."""
    chance = np.random.default_rng(seed)
    born = np.datetime64("1950-01-01") + 10_000 * seed + chance.integers(0, 9_000, rows)  # none twice in two tables
    return pa.table(
        {
            "Patient no.": [f"P{seed}-{i}" for i in range(rows)],
            BORN: pa.array(born, pa.date32()),
            TOWN: chance.choice(["F", "M", "sec. / A"], rows),
            "group": pa.array(chance.choice([*"abcdefg", "x, y"], rows), mask=chance.random(rows) < 0.05),
        }
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Releases of a table, of other people, and one that does not verify; and tables as files."""
    place = tmp_path_factory.mktemp("desk")
    mine, others = people(1), people(2)
    tables = {
        "mine": mine,
        "others": others,
        "few": mine.slice(0, 100),
        "one": mine.slice(0, 1),
        "none": mine.slice(0, 0),
        "narrow": mine.drop_columns(TOWN),
        "typed": mine.set_column(1, BORN, pa.array(["a secret"] * len(mine))),
        "foreign": pa.table({"x": [1], "y": [2]}),
        "register": pa.concat_tables([others, mine]),
    }
    for name, table in tables.items():
        pc.write_csv(table, place / f"{name}.csv")
    discreet.publish(place / "mine.csv", POLICY, to=place / "release", seed=1)
    discreet.publish(place / "others.csv", POLICY, to=place / "strangers", seed=1)
    shutil.copytree(place / "release", place / "broken")
    with (place / "broken" / "st.parquet").open("ab") as file:
        file.write(b"more")
    return place


@pytest.mark.parametrize(
    ("given", "told", "hint"),
    [
        (("--truth", "others.csv"), "the truth is not the table that was published", "name the table"),
        (("--truth", "few.csv"), "it accounts for 33.3% of the release, looked at by rows", "name the table"),
        (("--truth", "one.csv"), "it accounts for 0.3% of the release", "name the table"),
        (("--truth", "none.csv"), "the truth has no rows, expected one or more people", "check the file"),
        (("--truth", "narrow.csv"), f"the truth has no column `{TOWN}`", "expected one of"),
        (("--truth", "typed.csv"), "the truth holds string where the release has date32[day]", "same type"),
        (("--population", "few.csv"), "a population of 100 is smaller than the table", "name the population"),
        (("--population", "299"), "expected at least 300 people", "name the population"),
        (("--population", "narrow.csv"), f"the population has no column `{TOWN}`", "expected one of"),
        (("--population", "nowhere.csv"), "there is no file `nowhere.csv`", "check the path"),
        (("--holdout", "narrow.csv"), f"the holdout has no column `{TOWN}`", "expected one of"),
        (("--holdout", "none.csv"), "the holdout has no rows, expected one or more people", "check the file"),
        (("--truth", "mine.csv", "--holdout", "typed.csv"), f"`{BORN}` of the holdout holds string", "same type"),
        (("--truth", "mine.csv", "--population", "typed.csv"), f"`{BORN}` of the population holds string", "same type"),
        (("--public", "none.csv"), "the public table has no rows, expected one or more people", "check the file"),
        (("--other", "nowhere"), "there is no release `nowhere`", "name the folder"),
        (("--other", "broken"), "`broken`: the file `st.parquet` is not the one that was published", "a new copy"),
    ],
)
def test_a_report_with_what_does_not_fit_leaves_nothing_behind(run, desk, monkeypatch, given, told, hint):
    monkeypatch.chdir(desk)
    status, out, err = run("report", "release", "--to", "reports/deep", *given)
    assert (status, out) == (4 if "broken" in given else 1, "")
    said, advised = err.split("Hint: ")
    assert told in said
    assert hint in advised
    assert "a secret" not in err
    assert not (desk / "reports").exists()


def test_a_file_in_the_way_is_told_before_the_work(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    status, _, err = run("report", "release", "--to", "mine.csv/reports")
    assert status == 1
    assert "nothing can be written into `mine.csv`" in err


def test_nothing_is_published_anew_for_a_report_that_is_not_made(run, desk, monkeypatch):
    def swept(*_):
        pytest.fail("other thresholds were tried first")

    monkeypatch.setattr(import_module("discreet.cli.report"), "swept", swept)
    status, _, err = run("report", "nowhere", "--truth", "mine.csv", "--policy", "policy.toml")
    assert (status, "there is no release `nowhere`" in err) == (1, True)


def test_a_report_without_a_place_goes_into_a_folder_beside_the_release(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    status, out, err = run("report", "release")
    assert (status, err) == (0, "the report is in release-report\n")
    names = sorted(path.name for path in (desk / "release-report").iterdir())
    assert names == ["report.public.html", "report.public.json", "report.public.memo.html"]
    assert all(f"release-report/{name}: may be handed out" in out for name in names)
    before = (desk / "release-report" / "report.public.html").stat()
    status, out, err = run("report", "release/", "--recipient", "somebody else")
    assert (status, out) == (1, "")
    assert "`release-report` is there already, and nothing in it is written over" in err
    assert (desk / "release-report" / "report.public.html").stat() == before
    assert discreet.verify(desk / "release").ok
    monkeypatch.chdir(desk / "strangers")
    status, _, err = run("report", ".")
    assert (status, err) == (0, f"the report is in {desk / 'strangers-report'}\n")
    for name in ("release-report", "strangers-report"):
        shutil.rmtree(desk / name)


def test_the_steward_is_told_that_a_report_has_private_pages(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    status, _, err = run("report", "release", "--population", "100000")
    shutil.rmtree(desk / "release-report")
    assert status == 0
    assert err == "the report is in release-report; what is private in it is for the steward alone\n"


def test_a_place_without_a_release_has_no_risks(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    status, _, err = run("audit", "nowhere", "--risks")
    assert status == 1
    assert err == "error: there is no `nowhere`\nHint: name the folder of a release, or the file of a table\n"
    status, _, err = run("audit", "mine.csv", "--risks")
    assert status == 1
    assert "which columns an outsider may know is not said" in err


def test_an_attack_says_that_the_population_is_too_small(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    asked = ("audit", "release", "--attack", "population", "--truth", "mine.csv", "--population")
    status, out, _ = run(*asked, "few.csv")
    assert status == 0
    assert "the population has 100 people, fewer than the 300 of the release" in out
    status, out, _ = run(*asked, "register.csv")
    assert status == 0
    assert "fewer than" not in out


def test_a_report_on_a_broken_release_may_not_be_handed_out(run, desk, monkeypatch, tmp_path):
    monkeypatch.chdir(desk)
    status, out, err = run("report", "broken", "--to", tmp_path)
    assert status == 4
    assert "may be handed out" not in out
    assert "does not verify, and the report says so first" in err
    for kind in ("html", "memo.html"):
        page = (tmp_path / f"report.public.{kind}").read_text()
        assert "it may be handed out" not in page
        assert "Not to be handed out" in page


@pytest.mark.parametrize(
    ("attack", "given", "told", "hint"),
    [
        ("composition", ("--other", "strangers"), "they are of other people", "name releases of the same people"),
        ("composition", (), "no other release of the same people was given", "name one with --other"),
        ("linkage", (), "no public table of people was given", "name one with --public"),
        ("linkage", ("--public", "foreign.csv"), f"none of the quasi-identifiers: `{BORN}`, `{TOWN}`", "has some of"),
        ("linkage", ("--public", "typed.csv"), f"`{BORN}` holds string where date32[day] is expected", "same type"),
        ("presence", (), "nobody is known who was not in the table", "--holdout, or with --public"),
        ("presence", ("--public", "mine.csv"), "everybody of the public table looks like somebody", "--holdout"),
        ("presence", ("--holdout", "mine.csv"), "nobody is left to attack", "as the holdout"),
        ("order", ("--holdout", "mine.csv"), "nobody is left to attack", "as the holdout"),
    ],
)
def test_an_attack_that_cannot_be_made_says_what_to_do(run, desk, monkeypatch, attack, given, told, hint):
    monkeypatch.chdir(desk)
    asked = ("audit", "release", "--attack", attack, "--truth", "mine.csv", *given)
    status, out, err = run(*asked)
    assert (status, err) == (1, "")
    said, advised = out.split("  to make it: ")
    assert f"{attack} could not run: " in said
    assert told in said
    assert hint in advised
    assert "a secret" not in out
    _, out, _ = run(*asked, "--json")
    [found] = json.loads(out)["attacks"]
    assert hint in found["hint"]


@pytest.mark.parametrize("called", ["holdout", "population"])
def test_other_types_are_told_without_a_value(run, desk, monkeypatch, called):
    monkeypatch.chdir(desk)
    asked = ("audit", "release", "--attack", "order", "--truth", "mine.csv")
    status, out, err = run(*asked, f"--{called}", "typed.csv")
    assert (status, out) == (1, "")
    assert f"`{BORN}` of the {called} holds string where the truth has date32[day]" in err
    assert "a secret" not in err


def test_one_row_as_the_truth_is_doubted(run, desk, monkeypatch):
    monkeypatch.chdir(desk)
    status, out, err = run("audit", "release", "--attack", "order", "--truth", "one.csv")
    assert status == 0
    assert "the truth accounts for 0.3% of the release" in out
    assert err == ""


def test_who_learns_from_a_register_learns_of_others(desk):
    from discreet.audit.attacks.attack import Given

    release = discreet.open_release(desk / "release")
    mine, others, both = (desk / f"{name}.csv" for name in ("mine", "others", "register"))
    found = Given.read(release, truth=mine, population=both).population
    assert found.equals(Given.read(release, population=others).population)
    assert Given.read(release, truth=mine, population=mine).population is None
    assert len(Given.read(release, truth=mine, population=others).population) == 300
