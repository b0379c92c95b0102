"""Blind cuts that find next to nothing to cut: the steward is told, and what to do about it works."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Policy, publish

ROWS = np.arange(2_000)
TABLE = pa.table({"age": ROWS % 50, "zip": ROWS // 7 % 30, "ill": ROWS * 7 % 41 % 8})
PLAIN = {"quasi": ["age", "zip"], "sensitive": "ill", "publication": "generalization"}


def warned(tmp_path, table=TABLE, **changes):
    policy = Policy(**{**PLAIN, "guarantee": {"l": 4}, **changes})
    return {each.name: each for each in publish(table, policy, to=tmp_path / "r", seed=1).warnings}


@pytest.mark.parametrize("partition", ["mondrian", "topdown"])
def test_hardly_any_groups(tmp_path, partition):
    found = warned(tmp_path, partition=partition)["coarse"]
    assert "blind cuts left 1 group of 2,000 rows" in str(found)
    assert 'options.cuts = "fitted"' in found.hint


@pytest.mark.parametrize(
    "changes",
    [
        {"guarantee": {"l": 2}},
        {"publication": "anatomy"},
        {"options": {"cuts": "fitted"}},
        {"guarantee": {"k": 400}},
        {"table": TABLE.slice(0, 900)},
    ],
    ids=str,
)
def test_nothing_is_said_where_there_are_groups_or_nothing_to_gain(tmp_path, changes):
    assert "coarse" not in warned(tmp_path, **changes)
