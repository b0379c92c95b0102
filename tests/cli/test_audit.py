"""`discreet audit`: the metrics of a release, as a table and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    table = pa.table({"a": [1, 2, 8, 10], "b": [0, 0, 4, 4], "c": ["x", "y", "z", "z"], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["a", "b", "c"], sensitive="s", guarantee={"k": 2}, publication="generalization")
    return discreet.publish(table, rules, to=tmp_path_factory.mktemp("r") / "release", seed=1)


@pytest.mark.parametrize("flags", [(), ("--metrics",)])
def test_audit(run, release, flags):
    status, out, err = run("audit", release.path, *flags)
    assert (status, err) == (0, "")
    lines = {line.split()[0]: line.split()[-1] for line in out.splitlines() if len(line.split()) > 1}
    assert out.startswith(f"{release.path}: generalization by mondrian\n")
    # boxes 1-2 and 8-10, 0 and 4, two of three letters and one
    assert (lines["ncp"], lines["dm"], lines["groups"], lines["c_avg"], lines["value_rce"]) == (
        "12",
        "8",
        "2",
        "1",
        "2",
    )
    assert float(lines["rce"]) == pytest.approx(2 * (1 - 1 / 4) + 2 * (1 - 1 / 3), rel=1e-3)
    assert float(lines["ncp_normalised"]) == pytest.approx(2 * (1 / 9 + 2 / 9 + 2 / 3), rel=1e-3)
    assert "dash" not in out


def test_audit_as_json(run, release):
    status, out, err = run("audit", release.path, "--metrics", "--json")
    told = json.loads(out)
    assert (status, err) == (0, "")
    assert list(told) == ["release", "metrics"]
    assert told["release"] == str(release.path)
    assert told["metrics"] == asdict(discreet.metrics(release))


def test_what_the_release_does_not_tell_is_a_dash(run, tmp_path):
    table = pa.table({"a": [1, 2, 8, 10], "s": [1, 2, 3, 4]})
    rules = discreet.Policy(quasi=["a"], sensitive="s", guarantee={"k": 2, "e": 1}, publication="swap")
    release = discreet.publish(table, rules, to=tmp_path / "r", seed=1)
    status, out, _ = run("audit", release.path)
    assert status == 0
    assert "A dash stands for what has no meaning here" in out
    status, out, _ = run("audit", release.path, "--json")
    assert json.loads(out)["metrics"]["dm"] is None


def test_what_cuts_that_were_not_made_tell(run, tmp_path):
    rules = discreet.Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, options={"cuts": "fitted"})
    made = discreet.publish(pa.table({"q": [7, 7, 7, 7], "s": [1, 2, 3, 4]}), rules, to=tmp_path / "fitted").path
    _, out, _ = run("audit", made)
    assert out.endswith(
        "Minimality attack: 0 people's values are certain from the cuts that were not made, 0 of them unique;\n"
        "without them, guesses inside each group are right for 50.0% of all.\n"
    )
    _, out, _ = run("audit", made, "--json")
    assert json.loads(out)["minimality"] == {"certain": 0, "unique": 0, "blind": 0.5, "supposing": None}


def test_what_an_attack_supposes_is_said(run, tmp_path):
    rules = discreet.Policy(
        quasi=["q"], sensitive="s", guarantee={"l": 2}, partition="mondrian", options={"cuts": "fitted"}
    )
    table = pa.table({"q": [7, 7, 7, 7], "s": [1, 2, 3, 4]})
    made = discreet.publish(table, rules, to=tmp_path / "fitted", seed=1).path
    _, out, _ = run("audit", made)
    assert "This supposes that `mondrian` cut by its usual options" in out
    _, out, _ = run("audit", made, "--json")
    assert "hierarchy" in json.loads(out)["minimality"]["supposing"]


def test_no_release(run, tmp_path):
    status, out, err = run("audit", tmp_path / "nothing")
    assert (status, out) == (1, "")
    assert "there is no release" in err
    status, out, err = run("audit", tmp_path / "nothing", "--json")
    assert (status, out) == (1, "")
    assert json.loads(err)["error"]["type"] == "ReleaseError"


def test_help_has_an_example(run):
    status, out, err = run("audit", "--help")
    assert (status, err) == (0, "")
    assert "Example: discreet audit releases/2026-11 --metrics" in " ".join(out.split())
    assert run("audit")[0] == 2


@pytest.fixture(scope="module")
def shuffled(tmp_path_factory):
    """Two groups of four; and the table itself as a file."""
    place = tmp_path_factory.mktemp("shuffled")
    table = pa.table({"a": [1, 1, 2, 2, 5, 6, 7, 8], "c": list("xxxxyyyy"), "s": [1, 2, 3, 4, 1, 2, 3, 4]})
    pq.write_table(table, place / "private.parquet")
    rules = {"quasi": ["a", "c"], "guarantee": {"k": 4}, "publication": "full_permutation", "partition": "mondrian"}
    made = discreet.publish(table, discreet.Policy(**rules, sensitive="s"), to=place / "release", seed=1)
    alone = discreet.publish(table, discreet.Policy(**rules, drop=["s"]), to=place / "alone", seed=1)
    return made, alone, place / "private.parquet"


def test_presence(run, shuffled):
    made, alone, truth = shuffled
    status, out, err = run("audit", made.path)
    assert (status, err) == (0, "")
    assert "over 8 published rows, each as a person" in out
    assert "most exposed person whom any group could hold: 0.5" in out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if len(line.split()) > 6}
    assert lines["presence"][-6:] == ["0.25", "0.25", "0.375", "0.5", "0.5", "0.375"]
    assert lines["disclosure"][-1] == "0.25"
    assert "not to be published" not in out
    status, out, err = run("audit", made.path, "--truth", truth)
    assert (status, err) == (0, "")
    assert "over 8 real people" in out
    assert "not to be published" in out
    status, out, _ = run("audit", alone.path, "--truth", truth)
    assert status == 0
    assert "disclosure" not in out
    assert "RCE" not in out


def test_presence_as_json(run, shuffled):
    made, _, truth = shuffled
    status, out, _ = run("audit", made.path, "--truth", truth, "--json")
    assert status == 0
    found = json.loads(out)["metrics"]["presence"]
    assert found == asdict(discreet.metrics(made, truth=truth))["presence"]
    assert (found["real"], found["people"], found["presence"]["most"]) == (True, 8, 0.5)


@pytest.mark.slow
def test_a_learner(run, tmp_path):
    """How often a model guesses right is told beside others who guess, as text and as JSON."""
    chance = np.random.default_rng(0)
    age = chance.integers(20, 80, 400)
    table = pa.table(
        {"age": age, "sex": chance.choice(["f", "m"], 400), "value": age // 10 + chance.integers(0, 2, 400)}
    )
    pq.write_table(table, tmp_path / "private.parquet")
    rules = discreet.Policy(quasi=["age", "sex"], sensitive="value", guarantee={"l": 3})
    made = discreet.publish(table, rules, to=tmp_path / "release", seed=1)
    asked = ["audit", made.path, "--truth", tmp_path / "private.parquet"]
    status, out, err = run(*asked)
    assert (status, err) == (0, "")
    assert "of 400 real people" in out
    assert "not to be published" in out
    status, told, _ = run(*asked, "--json")
    found = json.loads(told)["learner"]
    assert (status, found["people"]) == (0, 400)
    assert list(found) == ["people", "learner", "blind", "frequent", "without"]
    for name in ("learner", "blind", "without", "frequent"):
        rate = found[name]
        assert rate["low"] < rate["share"] < rate["high"]
        [line] = [line.split() for line in out.splitlines() if line.startswith(f"{name} ")]
        assert line[-3:] == [f"{rate[part]:.1%}" for part in ("share", "low", "high")]
    assert found["without"]["share"] > found["frequent"]["share"]


def test_a_truth_that_does_not_fit(run, shuffled, release, tmp_path):
    status, out, err = run("audit", release.path, "--truth", shuffled[2])
    assert (status, out) == (1, "")
    assert "`generalization` cannot be compared with the truth: not every column is shuffled by itself" in err
    status, _, err = run("audit", release.path, shuffled[0].path, "--truth", shuffled[2])
    assert status == 1
    assert "by generalization: it shows no rows as they are" in err
    status, _, err = run("audit", shuffled[0].path, "--truth", tmp_path / "nothing.csv")
    assert status == 1
    assert "there is no file" in err


@pytest.fixture(scope="module")
def attackable(tmp_path_factory):
    """A release, and the table that it is of, in files."""
    folder, chance = tmp_path_factory.mktemp("attackable"), np.random.default_rng(3)
    age = chance.integers(20, 60, 150)
    table = pa.table({"age": age, "value": (age // 8 + chance.integers(0, 3, 150)) % 6})
    pq.write_table(table, folder / "private.parquet")
    policy = discreet.Policy(quasi=["age"], sensitive="value", guarantee={"l": 2})
    return discreet.publish(table, policy, to=folder / "release", seed=1).path, folder / "private.parquet"


def test_attacks_as_a_table_and_as_json(run, attackable):
    release, truth = attackable
    asked = ["audit", release, "--attack", "order", "--attack", "downcoding", "--truth", truth]
    status, out, err = run(*asked)
    assert (status, err) == (0, "")
    [line] = [line.split() for line in out.splitlines() if line.startswith("order ")]
    assert line[1] == "150"
    assert "order: the attacker knows the quasi-identifiers of a person" in out
    assert "downcoding does not apply: " in out
    assert "That does not mean that the risk is low." in out
    assert "not to be published" in out
    status, out, _ = run(*asked, "--json")
    order, other = json.loads(out)["attacks"]
    assert (order["name"], order["made"], order["people"], other["made"]) == ("order", True, 150, False)
    assert [*order["at_recall"]] == ["0.01", "0.1", "1"]
    assert order["at_recall"]["1"]["share"] == pytest.approx(order["attacker"]["share"])
    assert line[2] == f"{order['attacker']['share']:.1%}"
    assert order["threat"]["wants"] == "the person's sensitive value"


def test_attacks_that_cannot_be_made(run, attackable):
    release, truth = attackable
    status, out, _ = run("audit", release, "--attack", "order")
    assert status == 1
    assert "order could not run: without the private table nobody can say how often it is right" in out
    status, _, err = run("audit", release, "--attack", "ordr", "--truth", truth)
    assert (status, "did you mean `order`?" in err) == (1, True)
    status, _, err = run("audit", release, release, "--attack", "order", "--truth", truth)
    assert (status, "one release is attacked at a time" in err) == (1, True)
    for way in ((), ("--risks",)):
        status, _, err = run("audit", release, *way, "--within", "0.1")
        assert (status, "--within goes with --attack" in err) == (1, True), way
    status, _, err = run("audit", release, "--attack", "order", "--truth", truth, "--within", "3")
    assert (status, "a share from 0 to less than 1, got 3.0" in err) == (1, True)
