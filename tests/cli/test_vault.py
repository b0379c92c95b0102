"""`discreet vault`: init, append, release and status, for people and for programs."""

from __future__ import annotations

import json

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from vault.steward import people

POLICY = """
identifiers = ["name"]
quasi       = ["age", "town", "weight"]
sensitive   = "ill"
publication = "generalization"
guarantee   = { distinct_l = 3 }
accept      = { looks = "nobody lives here" }
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY)
    for at in range(3):
        pq.write_table(people(200, start=1_000 * at), f"{at}.parquet")
    return tmp_path


def test_a_whole_life(run, place):
    status, out, err = run("vault", "init", "v", "--policy", "policy.toml")
    assert (status, err) == (0, "")
    assert out.startswith("v: an empty vault, which only you can read")
    assert "at least 3 different sensitive values" in out
    status, out, err = run("vault", "append", "v", "0.parquet", "1.parquet")
    assert (status, err) == (0, "")
    assert [line.split(" rows taken in")[0] for line in out.splitlines()] == ["0.parquet: 200", "1.parquet: 200"]
    status, out, err = run("vault", "release", "v", "--to", "releases/1")
    assert (status, err) == (0, "")
    assert out.startswith("releases/1: release 1, ")
    assert "verified\n" in out
    assert run("vault", "append", "v", "2.parquet")[0] == 0
    status, out, _ = run("vault", "release", "v", "--to", "releases/2")
    assert status == 0
    assert "verified, audited with the 1 before it" in out
    status, out, err = run("vault", "status", "v")
    assert (status, err) == (0, "")
    assert out.startswith("v: 600 rows from 3 appends\n")
    assert "nothing to release" in out
    assert "CHANGED" not in out
    assert run("verify", "releases/2")[0] == 0


def test_json(run, place):
    told = json.loads(run("vault", "init", "v", "--policy", "policy.toml", "--json")[1])
    assert (told["vault"], told["guarantee"]) == ("v", {"distinct_l": 3})
    assert [(each["name"], each["accepted"]) for each in told["warnings"]] == [("looks", "nobody lives here")]
    told = json.loads(run("vault", "append", "v", "0.parquet", "1.parquet", "--json")[1])
    assert [found["rows"] for found in told["appended"]] == [200, 200]
    assert set(told["appended"][0]) == {"file", "rows", "joined", "waiting", "withheld"}
    told = json.loads(run("vault", "release", "v", "--to", "r", "--json")[1])
    assert (told["release"], told["number"]) == ("r", 1)
    assert told["promise"]["partition"] == "vault"
    told = json.loads(run("vault", "status", "v", "--json")[1])
    assert told["rows"] == 400
    assert told["members"] + told["waiting"]["rows"] == 400
    assert told["releases"][0]["there"] is True
    assert told["worth_releasing"] is False
    assert set(told["waiting"]) == {"rows", "groups", "oldest", "missed", "longest"}


def test_csv(run, place):
    pc.write_csv(people(200), "people.csv")
    run("vault", "init", "v", "--policy", "policy.toml")
    assert run("vault", "append", "v", "people.csv")[0] == 0
    assert run("vault", "release", "v", "--to", "r")[0] == 0


def test_who_waits_is_told(run, place):
    run("vault", "init", "v", "--policy", "policy.toml")
    pq.write_table(people(2, start=9_000), "few.parquet")
    run("vault", "append", "v", "few.parquet")
    status, out, _ = run("vault", "status", "v")
    assert status == 0
    assert "waiting: 2 rows (100.0%)" in out
    assert "2 of them missed 0 releases" in out
    assert "nothing to release yet" in out
    assert "in the group of" in out
    status, _, err = run("vault", "release", "v", "--to", "r")
    assert status == 3
    assert err.startswith("error: there is nothing to release")


def test_one_of_a_thing_is_told_as_one(run, place):
    run("vault", "init", "v", "--policy", "policy.toml")
    pq.write_table(people(1, start=9_000), "one.parquet")
    out = run("vault", "append", "v", "one.parquet")[1]
    assert out == "one.parquet: 1 row taken in, 0 joined groups, 1 waits now\n"
    out = run("vault", "status", "v")[1]
    assert out.startswith(
        "v: 1 row from 1 append\n  in groups: 0 rows in 0 groups\n  waiting: 1 row (100.0%) in 1 group,"
    )
    assert (
        "nothing to release: 1 row waits to be shown, expected at least 30\n"
        in run("vault", "release", "v", "--to", "r")[2]
    )
    assert "1 of 1 row has an identifier" in run("vault", "append", "v", "one.parquet")[2]
    more = people(39, start=8_000, ill=[*["asthmatosis"] * 37, "bronchobia", "cardiomania"])
    pq.write_table(more, "more.parquet")
    run("vault", "append", "v", "more.parquet")
    stands = json.loads(run("vault", "status", "v", "--json")[1])
    assert stands["advice"] == "the first release would have 40 rows in 1 group"


def test_errors(run, place):
    status, out, err = run("vault", "status", "nowhere")
    assert (status, out) == (1, "")
    assert err.startswith("error: there is no vault `nowhere`")
    status, _, err = run("vault", "append", "nowhere", "0.parquet", "--json")
    assert status == 1
    assert json.loads(err)["error"]["type"] == "VaultError"
    run("vault", "init", "v", "--policy", "policy.toml")
    assert "exists already" in run("vault", "init", "v", "--policy", "policy.toml")[2]
    run("vault", "append", "v", "0.parquet")
    status, out, err = run("vault", "append", "v", "1.parquet", "0.parquet", "2.parquet")
    assert status == 1
    assert out.startswith("1.parquet: 200 rows taken in")
    assert "identifier" in err
    assert json.loads(run("vault", "status", "v", "--json")[1])["rows"] == 400
    (place / "policy.toml").write_text(POLICY.replace("generalization", "anatomy"))
    status, _, err = run("vault", "init", "w", "--policy", "policy.toml")
    assert status == 1
    assert "a vault shows boxes" in err


def test_earlier_releases_elsewhere(run, place):
    run("vault", "init", "v", "--policy", "policy.toml")
    run("vault", "append", "v", "0.parquet")
    run("vault", "release", "v", "--to", "made/1")
    (place / "made" / "1").rename(place / "moved")
    run("vault", "append", "v", "1.parquet")
    assert "CHANGED OR GONE" in run("vault", "status", "v")[1]
    status, _, err = run("vault", "release", "v", "--to", "made/2")
    assert status == 1
    assert "release 1 of the vault is not at" in err
    assert run("vault", "release", "v", "--to", "made/2", "--earlier", "moved")[0] == 0
    assert "was not found" in run("verify", "made/2")[1]
    assert "back to the first: 1" in run("verify", "made/2", "--earlier", "moved")[1]


def test_help(run, place):
    status, out, _ = run("vault", "--help")
    assert status == 0
    assert [word for word in ("init", "append", "release", "status") if word not in out] == []
    for command in ("init", "append", "release", "status"):
        assert f"discreet vault {command}" in " ".join(run("vault", command, "--help")[1].split())


def test_what_is_doubtful_is_told_refused_and_accepted(run, place):
    """Every town has an illness of its own: `publish` would refuse that, and so does a vault."""
    ills = ["asthmatosis", "bronchobia", "cardiomania", "dermatopsy"]
    rows = people(200, town=[f"{ill} ward" for ill in ills * 50], ill=ills * 50)
    pq.write_table(rows, "told.parquet")
    status, _, err = run("vault", "init", "v", "--policy", "policy.toml", "--strict")
    assert (status, err) == (0, "")
    run("vault", "append", "v", "told.parquet")
    status, out, err = run("vault", "release", "v", "--to", "releases/1")
    assert (status, out) == (3, "")
    assert "tells.town: `town` determines `ill` of 200 of 200 people" in err
    assert '`discreet vault accept v tells.town --reason "…"`' in err
    status, _, err = run("vault", "accept", "v", "tells.twon", "--reason", " ")
    assert status == 1
    assert "expected the reason as a text" in err
    status, out, _ = run("vault", "accept", "v", "tells.town", "--reason", "wards are named after them")
    assert (status, out) == (0, "v: tells.town is accepted from now on: wards are named after them\n")
    told = json.loads(run("vault", "accept", "v", "tells.town", "--reason", "they are", "--json")[1])
    assert told == {"vault": "v", "accepted": {"tells.town": "they are"}}
    status, out, err = run("vault", "release", "v", "--to", "releases/1", "--strict", "--json")
    assert (status, err) == (0, "")
    found = {each["name"]: each["accepted"] for each in json.loads(out)["warnings"]}
    assert found == {"looks": "nobody lives here", "tells.town": "they are"}
