"""A report with all that can be given, by its command: what its pages say is what the attacks found, each really made."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.audit import attacks

QUASI = ["age", "sex", "town"]
PEOPLE = 500
POLICY = {"quasi": QUASI, "sensitive": "illness", "guarantee": {"l": 3}, "partition": "local", "drop": "rest"}


def people(seed, rows=PEOPLE):
    """Illness goes with age."""
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 80, rows)
    illness = (age // 10 + chance.choice([0, 1, 2], rows, p=[0.7, 0.2, 0.1])) % 6
    columns = {"sex": chance.choice(["f", "m"], rows), "town": chance.choice([*"abc"], rows)}
    return pa.table({"age": age, **columns, "illness": pc.cast(pa.array(illness), pa.string())})


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A release, and files of all that can be given beside it."""
    place = tmp_path_factory.mktemp("given")
    truth, others = people(1), people(2, 200)
    tables = {
        "truth": truth,
        "holdout": others,
        "population": pa.concat_tables([truth, others]),
        "public": pa.concat_tables([truth.slice(0, 100), others]).select(["age", "sex"]),
    }
    for name, table in tables.items():
        pq.write_table(table, place / f"{name}.parquet")
    rules = discreet.Policy(**POLICY)
    rules.save(place / "policy.toml")
    for name in ("release", "other"):
        discreet.publish(truth, rules, to=place / name)
    return place


def test_a_report_has_what_real_attacks_found(given, run, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.report.usefulness.QUERIES", 20)
    more = [
        word
        for name in ("truth", "holdout", "population", "public")
        for word in (f"--{name}", given / f"{name}.parquet")
    ]
    more += ["--other", given / "other", "--policy", given / "policy.toml"]
    status, out, err = run("report", given / "release", "--to", tmp_path / "out", *more, "--json")
    assert status == 0, err
    assert json.loads(out)["verified"]
    private = json.loads((tmp_path / "out" / "report.private.json").read_text())
    found = {each["name"]: each for each in private["attacks"]}
    assert set(found) == set(attacks.ATTACKS)
    assert {name for name, each in found.items() if "why" in each} == {
        "minimality",  # cuts are blind
        "downcoding",  # rows are shown as they are
        "proximity",  # values are no numbers
    }
    assert private["belongs"]["accounted"] == PEOPLE
    learner = found["learner"]
    assert learner["people"] == PEOPLE
    assert learner["attacker"]["share"] > learner["blind"]["share"] + 0.1  # what goes with age is learned
    assert all(found[name]["holdout"] for name in ("learner", "population"))
    assert {step["threshold"] for step in private["swept"]["steps"]} == {2, 3, 6}
    page = (tmp_path / "out" / "report.private.html").read_text()
    assert "accounts for all of the release" in page
    assert "Median error against l" in page
    public = (tmp_path / "out" / "report.public.html").read_text()
    assert "accounts for" not in public
    assert f"{learner['attacker']['share']:.1%}" in page
    assert f"{learner['attacker']['share']:.1%}" not in public


def test_a_release_of_other_people_is_named_in_the_report(given, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.report.usefulness.QUERIES", 20)
    monkeypatch.setattr(attacks, "ATTACKS", {"composition": attacks.ATTACKS["composition"]})
    elsewhere = people(3).set_column(0, "age", pc.add(people(3)["age"], 200))
    discreet.publish(elsewhere, POLICY, to=tmp_path / "elsewhere")
    written = discreet.report(
        given / "release", to=tmp_path / "out", truth=given / "truth.parquet", others=[tmp_path / "elsewhere"]
    )
    [composition] = written.private.attacks
    assert "they are of other people" in composition.why
    assert composition.why in (tmp_path / "out" / "report.private.html").read_text()
