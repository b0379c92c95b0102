"""`discreet show`: what a release is, of every publication, with a question that it really answers."""

import json
import shlex

import pyarrow as pa
import pytest

import discreet
from discreet import Policy, publish
from discreet.release.summary import example

ROWS = pa.table(
    {"age": [i % 40 for i in range(400)], "group": ["a", "b"] * 200, "the wage": [i % 11 for i in range(400)]}
)
KEYS = {
    "name": "select",
    "quasi": ["age", "group"],
    "sensitive": "the wage",
    "guarantee": {"l": 3},
    "accept": {"looks": "invented"},
}
MADE = {
    "anatomy": KEYS,
    "permutation": {**KEYS, "publication": "permutation"},
    "full_permutation": {**KEYS, "publication": "full_permutation"},
    "no sensitive column": {"quasi": list(ROWS.column_names), "guarantee": {"k": 5}, "publication": "full_permutation"},
    "slicing": {**KEYS, "publication": "slicing", "together": [["age", "group"]]},
    "generalization": {**KEYS, "publication": "generalization"},
    "swap": {**KEYS, "publication": "swap", "guarantee": {"k": 3, "e": 2}},
}


@pytest.mark.parametrize("keys", MADE.values(), ids=list(MADE))
def test_the_example_is_answered(run, tmp_path, keys):
    release = publish(ROWS, Policy(**keys), to=tmp_path / "release")
    status, out, err = run("show", release.path)
    assert (status, err) == (0, "")
    *_, command = out.rstrip().splitlines()
    assert shlex.split(command)[:3] == ["discreet", "ask", str(release.path)]
    assert run(*shlex.split(command)[1:])[0] == 0
    assert release.promise.told() in out
    status, out, _ = run("show", release.path, "--json")
    told = json.loads(out)
    assert told["example"] == example(release.manifest)
    assert [column["name"] for column in told["columns"]] == list(release.promise.columns)
    assert {each["path"] for each in told["files"]} == {each.path for each in release.manifest.resources}


def test_texts_are_counted(tmp_path):
    rows = ROWS.set_column(2, "the wage", ROWS.column(2).cast(pa.string()))
    release = publish(rows, Policy(**KEYS), to=tmp_path / "release")
    assert example(release.manifest) == 'SELECT "the wage", COUNT(*) FROM "select" GROUP BY "the wage"'
    assert release.ask(example(release.manifest)).rows()


def test_what_is_no_release(run, tmp_path):
    status, _, err = run("show", tmp_path)
    assert status == 1
    assert "is not a release" in err
    assert run("show", tmp_path / "absent")[0] == 1
    release = publish(ROWS, Policy(**KEYS), to=tmp_path / "release")
    (release.path / "st.parquet").write_bytes(b"x")
    assert run("show", release.path)[0] == discreet.errors.VerificationError.exit_status
