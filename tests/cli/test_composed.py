"""`discreet audit` of several releases that show rows: text, JSON, the truth, exit status."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli import composed
from discreet.table.people import people


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place = tmp_path_factory.mktemp("composed")
    table = people(200).select(["age", "zipcode", "diagnosis"])
    pq.write_table(table, place / "truth.parquet")
    rules = discreet.Policy(quasi=["age", "zipcode"], sensitive="diagnosis", guarantee={"l": 2}, partition="anatomize")
    return [discreet.publish(table, rules, to=place / f"r{i}", seed=i).path for i in (1, 2)]


def test_text(run, releases):
    status, out, err = run("audit", *releases, "--same-people", "--truth", releases[0].parent / "truth.parquet")
    found = discreet.audit(releases, same_people=True)
    assert (status, err) == (4, "")
    assert out.startswith("2 releases that show rows; everybody in one is in every larger one\n")
    assert "200 people recognised in two or more of them by `age`, `zipcode`" in out
    lines = {line[:27].strip(): line[27:].split() for line in out.splitlines()}
    assert lines["people with one value left"] == ["0", str(found.pinned)]
    assert lines["likeliest value of anybody"] == ["50.0%", "100.0%"]
    assert f"by the truth, {found.pinned} of {found.pinned} with one value left have it" in out
    assert out.endswith(f"{found.vulnerable} people are given away: more is told of them than l = 2 allows\n")
    status, out, _ = run("audit", *releases)
    assert "who agrees in all columns is taken to be the same" in out
    assert "given away, if they are in those releases: more" in out


def test_json(run, releases):
    status, out, err = run("audit", *releases, "--json")
    told, found = json.loads(out), discreet.audit(releases)
    assert (status, err) == (4, "")
    assert list(told) == [
        *("ok", "promise", "same_people", "quasi", "releases", "people", "pinned", "pinned_alone", "vulnerable"),
        *(
            "posterior",
            "posterior_alone",
            "guess",
            "guess_alone",
            "impossible",
            "span",
            "counted",
            "truth",
        ),
    ]
    assert (told["people"], told["pinned"], told["vulnerable"]) == (200, found.pinned, found.vulnerable)
    assert [of["release"] for of in told["releases"]] == list(map(str, releases))


def test_nothing_is_told(run, releases):
    status, out, _ = run("audit", releases[0], releases[0])
    assert status == 0
    assert out.endswith("nothing: together they tell of nobody more than l = 2 allows\n")


def test_beta_is_not_said_to_be_asked(tmp_path, capsys):
    table = people(200).select(["age", "diagnosis"])
    rules = discreet.Policy(quasi=["age"], sensitive="diagnosis", guarantee={"beta": 9.0}, partition="deal")
    made = discreet.publish(table, rules, to=tmp_path / "r", seed=1).path
    composed.as_text(found := discreet.audit([made, made]))
    assert (found.ok, found.promise) == (True, {})
    told = "nothing: together they leave nobody one value for whom each leaves more\n"
    assert capsys.readouterr()[0].endswith(told)


def test_what_else_is_said(releases, capsys):
    found = discreet.audit(releases, same_people=True)
    composed.as_text(replace(found, impossible=1, counted=False, span=3.0, promise={"k": 2, "e": 1_000}))
    out, _ = capsys.readouterr()
    assert (
        "1 person has no possible value left: it is somebody else in the other release, or the value has changed\n"
        in out
    )
    assert "how many people hold a value was not counted: values changed, or there are too many cases\n" in out
    assert "shortest range of anybody     1,000 or more" in out
    composed.as_text(replace(found, promise={}, vulnerable=1))
    assert capsys.readouterr()[0].endswith("1 person is given away: one value is left\n")


def test_options_that_do_not_fit(run, releases):
    status, _, err = run("audit", releases[0], "--same-people")
    assert (status, "--same-people goes with several releases" in err) == (1, True)
    status, _, err = run("audit", *releases, "--insertions", "known")
    assert (status, "`--insertions` is for releases by generalization only" in err) == (1, True)
