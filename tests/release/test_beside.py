"""What lies beside the tables of a release in a server, where it is made of what is known here."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.release.beside import signatures


@pytest.mark.parametrize(
    "groups",
    [[[("a", 1), ("b", 2)], [("b", 1), ("a", 2)]] * 400, [[("a", 1), ("b", 1), (None, i + 1)] for i in range(900)]],
    ids=["alike", "each its own"],
)
def test_signatures_that_are_known_are_those_of_their_groups(groups):
    """Groups have the same number if they hold the same values equally often, and its values are theirs, in order."""
    rows = [(i + 1, *entry) for i, group in enumerate(groups) for entry in sorted(group, key=str)]
    rows.sort(key=lambda row: (row[0], row[1] is None, row[1]))
    columns = zip(*rows, strict=True)
    types = (pa.int32(), pa.string(), pa.int32())
    held = pa.table(
        [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)], names=["grp", "value", "n"]
    )
    found = signatures(held)
    own = dict(zip(*(found["signatures"].column(name).to_pylist() for name in ("grp", "signature")), strict=True))
    entries = {}
    for each in found["signature_values"].to_pylist():
        entries.setdefault(each["signature"], []).append((each["value"], each["n"], each["below"]))
    assert len(entries) == (2 if len(groups) == 800 else 900)
    for i, group in enumerate(groups):
        kept = entries[own[i + 1]]
        assert sorted((value, n) for value, n, _ in kept if value) == sorted(entry for entry in group if entry[0])
        assert [below for _, _, below in kept] == np.cumsum([0, *(n for _, n, _ in kept)])[:-1].tolist()
    assert found["signatures"].column("size").to_pylist() == [sum(n for _, n in group) for group in groups]
