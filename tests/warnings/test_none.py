"""On the demo's table a sensible policy is warned of nothing: warnings are few."""

from __future__ import annotations

import pytest

from discreet import Policy, publish
from discreet.table.people import people

QUASI = ["age", "sex", "zipcode", "education", "marital_status", "country"]


@pytest.mark.parametrize(
    "keys",
    [
        {"sensitive": "salary", "guarantee": {"l": 10}},
        {"sensitive": "diagnosis", "guarantee": {"l": 3}},
        {"sensitive": "salary", "guarantee": {"l": 10}, "publication": "generalization"},
        {"sensitive": "salary", "guarantee": {"k": 5, "e": 10_000}, "publication": "permutation"},
    ],
    ids=["anatomy", "diagnosis", "boxes", "ranges"],
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_demos_table_is_warned_of_nothing(keys, form, tmp_path):
    policy = Policy(identifiers=["name"], quasi=QUASI, drop="rest", **keys)
    release = publish(people(5_000), policy, to=tmp_path / "release", format=form, strict=True)
    assert release.warnings == ()
