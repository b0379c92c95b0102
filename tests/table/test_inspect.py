"""`discreet.inspect`: a profile that can be read, of a frame, a file or a table; and nothing that steers."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InputError

FRAME = pd.DataFrame(
    {"name": [f"p{i}" for i in range(40)], "age": [i % 9 for i in range(40)], "wage": ["1,5", "2"] * 20}
)


def test_a_profile_can_be_read():
    profile = discreet.inspect(FRAME, quasi=["age"], sensitive="wage")
    assert repr(profile).splitlines()[:6] == [
        "microdata: 40 rows, 3 columns",
        "",
        "column  kind     different  missing  seen once               may be",
        "name    string          40        0         40          identifier?",
        "age     integer          9        0          0  quasi or sensitive?",
        "wage    string           2        0          0  quasi or sensitive?",
    ]
    assert "`wage` is text, but looks like numbers with a decimal comma: turn it into these first" in repr(profile)
    assert "the largest l that can be promised is 2: no value is then held by more than 1 in 2 people" in repr(profile)
    assert profile._repr_html_().startswith("<pre>microdata: 40 rows")


def test_every_suggested_role_has_its_reason_in_print():
    """Those of quasi-identifiers, which are alike, once: in a line below the others."""
    profile = discreet.inspect(FRAME)
    shown = repr(profile)
    assert "  quasi (age): others may know it of a person; if nobody does, it is sensitive" in shown
    assert all(shown.count(why) == 1 for why in {each.why for each in profile.columns})
    alone = repr(discreet.inspect(FRAME[["age"]]))
    assert "Roles that columns may have, for you to decide:\n\n  quasi (age): others may know" in alone


def test_every_source(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False, sep=";")
    from_file = discreet.inspect(path, csv={"decimal": ","})
    assert [column.kind for column in from_file.columns] == ["string", "integer", "float"]
    with discreet.read(FRAME) as table:
        assert discreet.inspect(table, quasi="age").quasi.combinations == 9
        assert table.rows == 40, "a table that came open stays open"
    with pytest.raises(InputError, match=r"there is no column `ages`\nHint: did you mean `age`"):
        discreet.inspect(FRAME, quasi=["ages"])


def test_names_and_values_steer_nothing():
    shown = repr(discreet.inspect(pd.DataFrame({"a\x1b[2J\nb": ["x"], "c": ["\x1b"]})))
    assert "\x1b" not in shown
    assert "a\\x1b[2J\\nb" in shown


def test_spaces_between_names_on_the_command_line(run, tmp_path):
    pd.DataFrame({"a": [1, 1], "b": [2, 2], "d, e": [4, 5]}).to_csv(tmp_path / "t.csv", index=False)
    for given, names in (
        ("a, b", ["a", "b"]),
        ("a,b", ["a", "b"]),
        ("d, e", ["d, e"]),
        (" a ,b, ", ["a", "b"]),
    ):
        status, out, err = run("inspect", tmp_path / "t.csv", "--quasi", given, "--json")
        assert (status, err) == (0, "")
        assert json.loads(out)["quasi"]["quasi"] == names


def test_the_keys_of_an_unfinished_policy(run, tmp_path):
    (tmp_path / "t.csv").write_bytes("größe;wage\n1,5;2\n1,6;3\n".encode("latin-1"))
    (tmp_path / "p.toml").write_text(
        'quasi = ["größe"]\n# sensitive = "wage"\n[csv]\nencoding = "latin-1"\ndecimal = ","\n'
    )
    status, out, _ = run("inspect", tmp_path / "t.csv", "--policy", tmp_path / "p.toml", "--json")
    assert status == 0
    assert json.loads(out)["quasi"]["combinations"] == 2
    assert json.loads(out)["columns"][0]["kind"] == "float"


def test_people_with_several_rows_are_counted_and_not_rows():
    """Ten people with three visits each, of whom two look alike: by rows nobody would be unique."""
    who = [i for i in range(10) for _ in range(3)]
    rows = pa.table({"who": who, "age": [max(i, 1) for i in who], "ill": [f"v{i % 15}" for i in range(30)]})
    by_rows = discreet.inspect(rows, quasi=["age"], sensitive="ill")
    assert (by_rows.quasi.unique, by_rows.people, by_rows.sensitive.largest_l) == (0, None, 15)
    by_people = discreet.inspect(rows, quasi=["age"], sensitive="ill", person="who")
    assert (by_people.quasi.unique, by_people.quasi.below_5, by_people.quasi.risk) == (8, 10, 0.9)
    assert (by_people.people, by_people.sensitive.largest_l) == (10, 30 // (2 * 3))
    shown = repr(by_people)
    assert "30 rows of 10 people, 3 columns" in shown
    assert "8 people (80.0%) have values that no other has: their rows can be found" in shown
    assert "all people together keep l = 5; groups of those with few rows may keep more" in shown


def test_nobody_is_told_by_their_own_rows():
    """Everybody has one illness in all rows, which says nothing about others of the same age."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(400), 10)
    rows = pa.table({"who": who, "age": who % 300, "ill": rng.integers(0, 5, 400)[who]})
    assert discreet.inspect(rows, quasi=["age"], sensitive="ill").tells[0].told > 1_000
    assert discreet.inspect(rows, quasi=["age"], sensitive="ill", person="who").tells[0].told == 0


def test_harmless_values_are_not_counted():
    wage = [0.0] * 90 + [1.5, 1.5, 2.5, 3.5, 4.5] * 2
    rows = pa.table({"age": list(range(100)), "wage": wage})
    plain = discreet.inspect(rows, quasi=["age"], sensitive="wage").sensitive
    spared = discreet.inspect(rows, quasi=["age"], sensitive="wage", harmless=[0]).sensitive
    assert (plain.top_share, plain.largest_l, plain.distinct) == (0.9, 1, 5)
    assert (spared.top_share, spared.largest_l, spared.distinct) == (0.4, 2, 4)
    with pytest.raises(discreet.errors.InputError, match="harmless values are not of the sensitive column's type"):
        discreet.inspect(rows, quasi=["age"], sensitive="wage", harmless=["none"])
    with pytest.raises(discreet.errors.InputError, match="there is no column `whom`"):
        discreet.inspect(rows, person="whom")


def test_the_shell_takes_both_from_a_policy(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    who = [i for i in range(10) for _ in range(3)]
    pq.write_table(pa.table({"who": who, "age": who, "ill": [f"v{i % 15}" for i in range(30)]}), "t.parquet")
    (tmp_path / "p.toml").write_text('person = "who"\nquasi = ["age"]\nsensitive = "ill"\nharmless = ["v0"]\n')
    status, shown, _ = run("inspect", "t.parquet", "--policy", "p.toml")
    assert status == 0
    assert "30 rows of 10 people" in shown
    assert "ill: 14 different values" in shown


def test_a_policy_is_held_against_the_table(run, tmp_path, monkeypatch):
    """What `publish` would refuse is told before it is tried, all of it."""
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"name": ["a"] * 2 + ["b"] * 2, "age": [1, 2, 3, 4], "wage": ["x", None, "y", "z"]})
    rows.to_csv("t.csv", index=False)
    (tmp_path / "p.toml").write_text(
        'identifiers = ["name"]\nquasi = ["age"]\nsensitive = "wage"\nguarantee = { l = 9 }\n'
    )
    status, shown, _ = run("inspect", "t.csv", "--policy", "p.toml")
    told = shown[shown.index("Before the table can be published:") :]
    assert (status, told.count("Hint: ")) == (0, 3)
    found = json.loads(run("inspect", "t.csv", "--policy", "p.toml", "--json")[1])["problems"]
    status, _, err = run("publish", "t.csv", "--policy", "p.toml", "--to", "release")
    assert (status, "there are 3 problems:" in err) == (1, True)
    assert all(each["message"] in err and each["message"] in told and each["hint"] in err for each in found)
