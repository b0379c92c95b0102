"""The profile of a table, against plain counting."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import read
from discreet.errors import InputError

CELL = st.none() | st.integers(0, 4)
# Names that the query itself uses, so that a column could be taken for something else.
NAMES = ["age", "n", "key_0", "key_1", "t", 'a "b"; --', "private", "group"]


@st.composite
def tables(draw):
    names = draw(st.permutations(NAMES))[:4]
    rows = draw(st.lists(st.tuples(CELL, CELL, CELL, CELL), min_size=1, max_size=25))
    return pa.table({n: pa.array(c, pa.int64()) for n, c in zip(names, zip(*rows, strict=True), strict=True)})


@settings(max_examples=25, deadline=None)
@given(table=tables(), how_many=st.integers(1, 3))
def test_counts_are_what_counting_gives(table, how_many):
    quasi, sensitive = table.column_names[:how_many], table.column_names[3]
    found = read(table).inspect(quasi=quasi, sensitive=sensitive)
    rows = len(table)
    assert found.rows == rows

    for column in found.columns:
        values = Counter(table[column.name].to_pylist())
        assert column.kind == "integer"
        assert column.missing == values[None]
        assert column.distinct == len(values - Counter({None: rows}))
        assert column.unique == sum(times == 1 for times in values.values())

    together = Counter(zip(*(table[name].to_pylist() for name in quasi), strict=True))
    assert found.quasi.quasi == tuple(quasi)
    assert found.quasi.combinations == len(together)
    assert found.quasi.unique == sum(times == 1 for times in together.values())
    assert found.quasi.below_5 == sum(times for times in together.values() if times < 5)
    # Someone who knows the quasi-identifiers picks one of the rows that share them.
    chance = sum(1 / together[key] for key in together.elements()) / rows
    assert found.quasi.risk == pytest.approx(chance)

    values = Counter(table[sensitive].to_pylist())
    assert found.sensitive.distinct == len(values)
    assert found.sensitive.top_share == pytest.approx(max(values.values()) / rows)
    assert found.sensitive.largest_l == rows // max(values.values())


def test_only_what_was_asked_for():
    found = read(pa.table({"a": [1, 2]})).inspect()
    assert found.quasi is None
    assert found.sensitive is None
    assert [column.name for column in found.columns] == ["a"]


def test_an_unknown_column_is_named_with_the_nearest():
    table = read(pa.table({"age": [1], "zipcode": [2]}))
    with pytest.raises(InputError, match=r"no column `zipcod`(.|\n)*`zipcode`"):
        table.inspect(quasi=["zipcod"])
    with pytest.raises(InputError, match="no column `agee`"):
        table.inspect(sensitive="agee")


def test_suggestions():
    n = 30
    table = pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "height": [i / 7 for i in range(n)],
            "age": [i % 9 for i in range(n)],
            "country": ["NL"] * n,
            "tags": [[i] for i in range(n)],
        }
    )
    said = {column.name: column.suggestion for column in read(table).inspect().columns}
    assert said["name"] == "identifier?"
    assert said["height"] == said["age"] == "quasi or sensitive?"
    assert said["country"].startswith("constant")
    assert said["tags"] == "drop"


def test_a_table_without_rows():
    found = read(pa.table({"a": pa.array([], pa.int64())})).inspect(quasi=["a"], sensitive="a")
    assert (found.rows, found.quasi.risk, found.sensitive.largest_l) == (0, 0.0, 0)
