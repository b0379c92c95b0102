"""The baselines of a vault: all rows anew, or new rows by themselves, with the policy's groups or cut as a vault cuts."""

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.comparison.static import static_all, static_new
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


@pytest.mark.parametrize("cuts", ["policy", "least_loss"])
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
