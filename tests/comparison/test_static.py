"""The baselines of a vault: all rows anew, or new rows by themselves, with the policy's groups or cut as a vault cuts."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.comparison.static import CUTS, static_all, static_new
from discreet.errors import InputError

WAYS = {"static_all": static_all, "static_new": static_new}


def tables(parts=3, rows=120):
    rng = np.random.default_rng(4)
    return [
        pa.table(
            {
                "age": pa.array(rng.integers(18, 80, rows), mask=rng.random(rows) < 0.2),
                "town": rng.choice(["Ulm", "Bonn", "Kiel", "Jena"], rows),
                "illness": rng.permutation(np.arange(rows) % 6).astype(str),
            }
        )
        for _ in range(parts)
    ]


def policy(**more):
    keys = {"quasi": ["age", "town"], "sensitive": "illness", "publication": "generalization", "partition": "mondrian"}
    return discreet.Policy(**{**keys, "guarantee": {"distinct_l": 3}, "options": {"cuts": "fitted"}, **more})


@pytest.mark.parametrize("cuts", ["policy", *CUTS])
@pytest.mark.parametrize("name", WAYS)
def test_every_version_keeps_the_guarantee(name, cuts, tmp_path):
    made = WAYS[name](tables(), policy(), tmp_path, seed=1, cuts=cuts)
    assert [release.promise.rows for release in made] == [120, 240, 360]
    assert all(discreet.verify(release.path).ok for release in made)
    found = discreet.audit(made)
    assert found.vulnerable == 0 if name == "static_new" else found.vulnerable > 0


def test_new_rows_leave_earlier_groups_as_they_were(tmp_path):
    first, second, _ = static_new(tables(), policy(), tmp_path, seed=1, cuts="least_loss")
    boxes = [release.promise.groups for release in (first, second)]
    alone = static_new(tables()[1:2], policy(), tmp_path / "alone", seed=1, cuts="least_loss")
    assert boxes[1] == boxes[0] + alone[0].promise.groups


def test_only_boxes_can_be_compared(tmp_path):
    with pytest.raises(InputError, match="is not made of boxes"):
        static_all(tables(), policy(publication="anatomy", partition="deal", options={}), tmp_path)


def test_medians_are_of_one_column(tmp_path):
    """Of rows without a missing value: each group is put together again from its box, and the next cut tried."""
    rows = tables(1, 400)[0]
    rows = rows.filter(rows["age"].is_valid())
    [release] = static_all([rows], policy(), tmp_path, cuts="median")
    shown = pq.read_table(release.file("generalized")).to_pylist()
    town = {name: at for at, name in enumerate(sorted(set(rows["town"].to_pylist())))}
    points = np.array([[row["age"], town[row["town"]]] for row in rows.to_pylist()], float)
    illness = np.array(rows["illness"].to_pylist())
    labels = pq.read_table(release.file("labels")).to_pylist()
    named = {}
    for line in labels:
        named.setdefault(line["label"], set()).add(town[line["value"]])
    boxes = {(row["age_low"], row["age_high"], row["town"]) for row in shown}
    assert 10 < len(boxes) == release.promise.groups
    for low, high, label in boxes:
        inside = (points[:, 0] >= low) & (points[:, 0] <= high) & np.isin(points[:, 1], list(named[label]))
        spread = np.ptp(points[inside], axis=0) / np.ptp(points, axis=0)
        widest = points[inside, spread.argmax()]
        middle = np.sort(widest)[(widest.size - 1) // 2]
        left = widest <= middle if middle < widest.max() else widest < middle
        assert min(len(set(illness[inside][side])) for side in (left, ~left)) < 3
