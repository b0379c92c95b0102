"""What the page about hierarchies shows is what happens."""

import datetime as dt
import json
import re
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.hierarchies import load

PAGE = (Path(__file__).parents[2] / "docs" / "hierarchies.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def block(kind, nth=0):
    return [text for name, text in BLOCKS if name == kind][nth]


def test_the_session(capsys):
    exec(block("python"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == block("text", 1)


def test_the_forms_of_a_policy(tmp_path):
    (tmp_path / "education.csv").write_text(block("text"), encoding="utf-8")
    (tmp_path / "diagnosis.toml").write_text(block("toml", 1), encoding="utf-8")
    specs = tomllib.loads(block("toml"))["hierarchies"]
    domains = {
        "education": ["bachelor", "primary"],
        "diagnosis": ["bronchitis", "flu", "fracture", "migraine"],
        "marital_status": ["married", "single"],
        "age": [37],
        "admitted": [dt.date(2020, 3, 9)],
        "zipcode": ["10115"],
    }
    found = {name: load(spec, name, tmp_path).levels(pa.array(domains[name]), name) for name, spec in specs.items()}
    assert found["education"].labels[1:] == (("university", "school"), ("higher", "basic"), ("*",))
    assert found["diagnosis"].labels[1:] == (
        ("bronchitis", "flu", "bones", "migraine"),
        ("respiratory", "other"),
        ("any",),
    )
    assert [found["age"].lows[i][0].as_py() for i in (1, 2, 3)] == [35, 30, 20]
    assert [found["age"].highs[i][0].as_py() for i in (1, 2, 3)] == [39, 39, 39]
    assert found["admitted"].highs[1][0].as_py() == dt.date(2020, 3, 31)
    assert found["zipcode"].labels[1:] == (("1011*",), ("101**",), ("10***",), ("*",))


def test_json_and_toml_are_the_same_tree():
    assert json.loads(block("json")) == tomllib.loads(block("toml", 1))


def test_the_message(tmp_path):
    (tmp_path / "education.csv").write_text(
        "a;university;higher;*\nb;x;y;*\nc;university;academic;*\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as error:
        load("education.csv", "education", tmp_path)
    assert str(error.value).replace(f"{tmp_path}/", "") + "\n" == block("text", 2)
