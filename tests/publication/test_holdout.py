"""A holdout: people who are left out of a release, at random, and nothing in the release that says so."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import GuaranteeError, InputError

POLICY = discreet.Policy(identifiers=["name"], quasi=["age"], sensitive="value", guarantee={"l": 2})


@pytest.fixture
def table():
    chance = np.random.default_rng(1)
    return pa.table(
        {"name": [f"n{i}" for i in range(200)], "age": np.arange(200), "value": chance.permutation(np.arange(200) % 8)}
    )


def test_everybody_is_either_published_or_held_out(table, tmp_path):
    release = discreet.publish(table, POLICY, to=tmp_path / "r", holdout=0.1, holdout_to=tmp_path / "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    shown = pq.read_table(release.file("qit"))["age"].to_pylist()
    assert (len(out), len(shown), out.column_names) == (20, 180, ["age", "value"])
    assert sorted([*shown, *out["age"].to_pylist()]) == list(range(200))
    real = dict(zip(table["age"].to_pylist(), table["value"].to_pylist(), strict=True))
    assert all(real[age] == value for age, value in zip(*out.to_pydict().values(), strict=True))
    assert out["age"].to_pylist() != list(range(20))
    written = "".join(path.read_text() for path in (tmp_path / "r").glob("*.[jm][sd]*"))
    assert "holdout" not in written
    assert "held out" not in written
    assert release.verify().ok
    assert (tmp_path / "out.parquet").stat().st_mode & 0o077 == 0, "it is the steward's"


def test_who_is_held_out_is_chance_and_the_release_that_of_the_others(table, tmp_path):
    """Other people each time; with a seed, the release is that of a table without them."""
    found = []
    for at in range(2):
        discreet.publish(table, POLICY, to=tmp_path / f"{at}", holdout=0.5, holdout_to=tmp_path / f"{at}.parquet")
        found.append({*pq.read_table(tmp_path / f"{at}.parquet")["age"].to_pylist()})
    assert found[0] != found[1]
    assert 20 < len(found[0] & found[1]) < 80


def test_what_cannot_be_held_out(table, tmp_path):
    for given, told in (
        ({"holdout": 0.1}, "needs both its share and a file"),
        ({"holdout_to": tmp_path / "x.parquet"}, "needs both its share and a file"),
        ({"holdout": 1.5, "holdout_to": tmp_path / "x.parquet"}, "a share between 0 and 1, got 1.5"),
        ({"holdout": 0.001, "holdout_to": tmp_path / "x.parquet"}, "leaves nobody on one side"),
        ({"holdout": 0.1, "holdout_to": tmp_path / "x.csv"}, "is not a `.parquet` file"),
        ({"holdout": 0.1, "holdout_to": tmp_path / "none" / "x.parquet"}, "has no folder to be in"),
        ({"holdout": 0.1, "holdout_to": tmp_path / "r" / "x.parquet"}, "has no folder|lies in the release"),
    ):
        with pytest.raises(InputError, match=told):
            discreet.publish(table, POLICY, to=tmp_path / "r", **given)
        assert [*tmp_path.iterdir()] == []


def test_nothing_is_left_where_publishing_fails(table, tmp_path):
    alike = table.set_column(2, "value", pa.array([1] * 200))
    with pytest.raises(GuaranteeError):
        discreet.publish(alike, POLICY, to=tmp_path / "r", holdout=0.1, holdout_to=tmp_path / "out.parquet")
    assert [*tmp_path.iterdir()] == []
