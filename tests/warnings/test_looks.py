"""Partitions that look at sensitive values and are not attacked in full: the steward is told where l is small."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.errors import UnacceptedError

ROWS = np.arange(400)
TABLE = pa.table({"age": ROWS % 50, "zip": ROWS // 7 % 30, "ill": ROWS * 7 % 41, "who": ROWS})
PLAIN = {"quasi": ["age", "zip"], "sensitive": "ill", "drop": "rest"}


def warned(tmp_path, **changes):
    policy = Policy(**{**PLAIN, "guarantee": {"l": 4}, **changes})
    return [each.name for each in publish(TABLE, policy, to=tmp_path / "r", seed=1).warnings]


@pytest.mark.parametrize(
    "changes",
    [
        {"partition": "cluster"},
        {"partition": "mondrian", "publication": "generalization"},
        {"partition": "topdown", "guarantee": {"distinct_l": 4}, "publication": "generalization"},
    ],
    ids=str,
)
def test_who_looks_is_told(tmp_path, changes):
    assert warned(tmp_path, **changes) == ["looks"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"partition": "deal"},
        {"person": "who"},
        {"partition": "cluster", "guarantee": {"k": 4}},
        {"partition": "cluster", "guarantee": {"l": 10}},
    ],
    ids=str,
)
def test_nothing_is_said_of_others(tmp_path, changes):
    assert warned(tmp_path, **changes) == []


def test_what_it_says_to_do_works(tmp_path):
    policy = Policy(**PLAIN, guarantee={"l": 4}, partition="cluster")
    with pytest.raises(UnacceptedError, match="`cluster` looked at sensitive values") as refused:
        publish(TABLE, policy, to=tmp_path / "r", seed=1, strict=True)
    assert "`deal`, or `local` by `anatomy`" in str(refused.value)
    accepted = Policy(**PLAIN, guarantee={"l": 4}, partition="cluster", accept={"looks": "only the office knows how"})
    assert publish(TABLE, accepted, to=tmp_path / "s", seed=1, strict=True).warnings[0].reason


def test_a_small_l_stops_the_release(tmp_path):
    policy = Policy(**PLAIN, guarantee={"l": 3}, partition="cluster")
    with pytest.raises(UnacceptedError, match="`cluster` looked at sensitive values"):
        publish(TABLE, policy, to=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
    accepted = Policy(**PLAIN, guarantee={"l": 3}, partition="cluster", accept={"looks": "only the office knows how"})
    assert publish(TABLE, accepted, to=tmp_path / "r").path.is_dir()
