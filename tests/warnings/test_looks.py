"""Cuts that are fitted to sensitive values and not attacked in full: the steward is told where l is small."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish
from discreet.errors import UnacceptedError

ROWS = np.arange(400)
TABLE = pa.table({"age": ROWS % 50, "zip": ROWS // 7 % 30, "ill": ROWS * 7 % 41, "who": ROWS})
PLAIN = {"quasi": ["age", "zip"], "sensitive": "ill", "drop": "rest"}
FITTED = {"partition": "cluster", "options": {"cuts": "fitted"}}


def warned(tmp_path, **changes):
    policy = Policy(**{**PLAIN, "guarantee": {"l": 4}, **changes})
    return [each.name for each in publish(TABLE, policy, to=tmp_path / "r", seed=1).warnings]


@pytest.mark.parametrize(
    "changes",
    [
        FITTED,
        {**FITTED, "partition": "mondrian", "publication": "generalization"},
        {**FITTED, "partition": "topdown", "guarantee": {"distinct_l": 4}, "publication": "generalization"},
        {**FITTED, "partition": "local", "guarantee": {"distinct_l": 4}},
        {**FITTED, "guarantee": {"beta": 8}},
        {**FITTED, "guarantee": {"l": 10}},
        {"partition": "full_domain", "publication": "generalization", "ordered": ["age", "zip"]},
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
        {**FITTED, "guarantee": {"k": 4}},
        {**FITTED, "guarantee": {"l": 10}, "partition": "mondrian"},
        {"partition": "cluster"},
        {"partition": "mondrian", "guarantee": {"l": 2}},
        {"partition": "topdown", "guarantee": {"l": 2}, "publication": "generalization"},
        {"partition": "full_domain", "options": {"cuts": "blind"}, "ordered": ["age", "zip"]},
    ],
    ids=str,
)
def test_nothing_is_said_of_others(tmp_path, changes):
    assert warned(tmp_path, **changes) == []


def test_what_it_says_to_do_works(tmp_path):
    policy = Policy(**PLAIN, **FITTED, guarantee={"l": 4})
    with pytest.raises(UnacceptedError, match="`cluster` looked at sensitive values") as refused:
        publish(TABLE, policy, to=tmp_path / "r", seed=1, strict=True)
    assert 'let it cut without looking (options.cuts = "blind")' in str(refused.value)
    accepted = Policy(**PLAIN, **FITTED, guarantee={"l": 4}, accept={"looks": "only the office knows how"})
    assert publish(TABLE, accepted, to=tmp_path / "s", seed=1, strict=True).warnings[0].reason


@pytest.mark.parametrize(
    ("partition", "guarantee"),
    [
        ("cluster", {"l": 3}),
        ("cluster", {"l": 10}),
        ("topdown", {"l": 8, "k": 9}),
        ("full_domain", {"l": 10}),
        ("local", {"distinct_l": 12}),
        ("mondrian", {"beta": 8}),
        ("mondrian", {"l": 3}),
    ],
)
def test_what_is_not_attacked_stops_the_release(tmp_path, partition, guarantee):
    keys = {**PLAIN, "partition": partition, "options": {"cuts": "fitted"}, "ordered": ["age", "zip"]}
    with pytest.raises(UnacceptedError, match=f"`{partition}` looked at sensitive values") as refused:
        publish(TABLE, Policy(**keys, guarantee=guarantee), to=tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
    unseen = "No attack tries that before publishing" in str(refused.value)
    assert unseen == (partition != "mondrian" or "l" not in guarantee)


def test_a_release_that_is_not_attacked_may_be_accepted(tmp_path):
    accepted = Policy(**PLAIN, **FITTED, guarantee={"l": 3}, accept={"looks": "only the office knows how"})
    assert publish(TABLE, accepted, to=tmp_path / "r").path.is_dir()
    blind = publish(TABLE, Policy(**PLAIN, guarantee={"l": 3}, partition="cluster"), to=tmp_path / "blind", strict=True)
    assert blind.promise.cuts == "blind"
