"""The forms of hierarchies that the page about them shows are read as it says."""

import datetime as dt
import json
import sys
import tomllib
from pathlib import Path

import pyarrow as pa

from discreet.hierarchies import load

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from docs_sessions import blocks  # noqa: E402

BLOCKS = list(blocks(ROOT / "docs" / "hierarchies.md"))


def block(language, nth=0):
    return [found.text for found in BLOCKS if found.language == language and "hidden" not in found.said][nth]


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
