"""`discreet.inspect`: a profile that can be read, of a frame, a file or a table; and nothing that steers."""

import json

import pandas as pd
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
        "column  kind     distinct  missing  unique rows              perhaps",
        "name    string         40        0           40          identifier?",
        "age     integer         9        0            0  quasi or sensitive?",
        "wage    string          2        0            0  quasi or sensitive?",
    ]
    assert "`wage` is text, but looks like numbers with a decimal comma: turn it into these first" in repr(profile)
    assert "the largest guarantee l that this column allows is 2" in repr(profile)
    assert profile._repr_html_().startswith("<pre>microdata: 40 rows")


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
