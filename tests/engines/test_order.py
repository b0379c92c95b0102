"""Rows of a block in order: as Arrow sorts them, whatever the types, and the same from any order."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from discreet.engines.spark.blocks import in_order

KINDS = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.sampled_from([-(2**63), 2**63 - 1, 0, 5]),
    pa.uint64(): st.sampled_from([0, 2**64 - 1, 7]),
    pa.float64(): st.sampled_from([-1.5, 0.0, 1e300]),
    pa.string(): st.sampled_from(["", "a", "ä", "b"]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(dt.date(1900, 1, 1), dt.date(1900, 1, 9)),
    pa.timestamp("us"): st.sampled_from([dt.datetime(1500, 1, 1), dt.datetime(2500, 1, 1)]),  # noqa: DTZ001
    pa.decimal128(20, 2): st.sampled_from([Decimal("-1.25"), Decimal("3.00")]),
}


@st.composite
def tables(draw):
    types = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=5))
    rows = draw(st.integers(0, 12))
    columns = [
        pa.array(draw(st.lists(st.none() | KINDS[type_], min_size=rows, max_size=rows)), type_) for type_ in types
    ]
    return pa.table(columns, names=[str(i) for i in range(len(types))])


@given(tables(), st.randoms())
def test_rows_stand_as_arrow_sorts_them(table, rng):
    names = table.column_names
    expected = table.sort_by([(name, "ascending") for name in names])
    mixed = table.take(pa.array(np.array(rng.sample(range(len(table)), len(table)), np.int64)))
    assert in_order(table, names).equals(expected)
    assert in_order(mixed, names).equals(expected)
