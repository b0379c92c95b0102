"""`discreet audit` with several releases: what they tell together, as tables and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.sequence.report import Inferences, Line, Pair, Version
from discreet.cli import inferences
from discreet.comparison.static import static_new
from discreet.publication.publish import publish_groups

PATIENTS = pa.table(
    {
        "age": [21, 23, 52, 57, 27, 53, 59],
        "gender": ["m", "m", "m", "f", "f", "m", "f"],
        "illness": ["asthma", "flu", "alzheimer", "diabetes", "cancer", "heart", "flu"],
    }
)
POLICY = discreet.Policy(
    quasi=["age", "gender"], sensitive="illness", guarantee={"distinct_l": 2}, publication="generalization"
)


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("leaking"), []
    for number, groups in enumerate(([0, 0, 1, 1], [0, 0, 1, 2, 0, 1, 2]), 1):
        with discreet.read(PATIENTS.slice(0, len(groups))) as table:
            codes, groups_ = table.codes("illness"), np.array(groups, np.int32)
            made.append(publish_groups(table, POLICY, codes, groups_, to=folder / str(number)).path)
    return made


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    tables = [PATIENTS.slice(0, 4), PATIENTS.slice(4)]
    return [of.path for of in static_new(tables, POLICY, tmp_path_factory.mktemp("tight"), seed=1)]


def test_channels_are_told(run, leaking):
    status, out, err = run("audit", *leaking)
    assert (status, err) == (4, "")
    assert out.startswith("2 releases, distinct_l = 2; the attacker knows who is new in each\n")
    assert "who is new in group 1 of release 2, beside group 1 of release 1: cancer" in out
    assert "who is in group 2 of release 1, group 2 of release 2: alzheimer" in out
    assert out.endswith("5 rows of the last release are vulnerable\n")


def test_one_row_is_told_as_one(capsys):
    pair = Pair(1, 2, 3, {"both_overlap": 1}, 1, 1.0)
    versions = tuple(Version(Path(name), 9, 3, number, number, 1.0) for number, name in enumerate("ab"))
    inferences.as_text(
        Inferences({"l": 2}, "known", versions, (pair,), Line(1, False, {"both": 1, "new": 0}, 1, 1.0), ())
    )
    out, _ = capsys.readouterr()
    assert "the whole chain: 1 channel for people who were there before, 0 for new ones; 1 row vulnerable\n" in out
    assert "only 1 step was followed\n" in out
    assert out.endswith("\n1 row of the last release is vulnerable\n")


def test_unknown_insertions(run, leaking):
    status, out, _ = run("audit", *leaking, "--insertions", "unknown")
    assert status == 4
    assert "does not know who is new" in out
    assert "cancer" not in out
    assert run("audit", *leaking, "--insertions", "perhaps")[0] == 2


def test_nothing_is_told(run, tight):
    status, out, err = run("audit", *tight)
    assert (status, err) == (0, "")
    assert "tell no more about anybody than a single one" in out
    assert "surest" not in out


def test_as_json(run, leaking, tight):
    status, out, err = run("audit", *leaking, "--json")
    told, found = json.loads(out), discreet.audit(leaking)
    assert (status, err) == (4, "")
    assert list(told) == [
        *("ok", "vulnerable", "guarantee", "insertions", "releases", "pairs", "chain"),
        "channels",
    ]
    assert (told["ok"], told["vulnerable"]) == (False, 5)
    assert [of["release"] for of in told["releases"]] == list(map(str, leaking))
    assert told["pairs"][0]["channels"] == found.pairs[0].channels
    assert told["channels"][0]["values"] == [["cancer", 1]]
    status, out, _ = run("audit", *tight, "--json", "--metrics")
    told = json.loads(out)
    assert (status, told["ok"], told["channels"]) == (0, True, [])
    assert [of["rows"] for of in told["metrics"]] == [4, 7]


def test_metrics_of_each(run, tight):
    status, out, _ = run("audit", *tight, "--metrics")
    assert status == 0
    assert out.count("information loss of the average row") == 2


def test_refusals_have_hints(run, leaking, tmp_path):
    status, out, err = run("audit", *reversed(leaking))
    assert (status, out) == (1, "")
    assert "fewer rows" in err
    assert "Hint: name the oldest release first" in err
    status, _, err = run("audit", leaking[0], tmp_path / "nothing", "--json")
    assert status == 1
    assert json.loads(err)["error"]["type"] == "ReleaseError"
