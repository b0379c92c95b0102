"""Columns as codes: in the order of values, whatever the type."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.values.coded import DENSE, SAMPLE, code, combined, has_many

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "small integers": (pa.int8(), [3, -128, 127, 3]),
    "integers far apart": (pa.int64(), [2**62, -(2**62), 0, 2**62]),
    "the widest range that is dense": (pa.int64(), [5, 5 + DENSE - 2]),
    "the first that is not": (pa.int64(), [5, 5 + DENSE - 1]),
    "unsigned": (pa.uint64(), [2**64 - 1, 2**64 - 3, 2**64 - 1]),
    "booleans": (pa.bool_(), [True, False, True]),
    "dates": (pa.date32(), [date(2020, 2, 29), date(1969, 7, 20)]),
    "moments": (pa.timestamp("us"), [datetime(2020, 3, 1), datetime(1969, 7, 20)]),  # noqa: DTZ001
    "times": (pa.time64("us"), [time(23, 59), time(0)]),
    "floats": (pa.float64(), [0.5, -1e300, float("inf"), 0.5]),
    "decimals": (pa.decimal128(38, 2), [Decimal("0.01"), Decimal("-1e30"), Decimal("0.01")]),
    "words": (pa.string(), ["b", "", "é", "a", "B", "b"]),
    "nothing": (pa.int64(), []),
}


@pytest.mark.parametrize("gaps", [False, True], ids=["all there", "some missing"])
@pytest.mark.parametrize("kind", COLUMNS)
def test_codes_keep_order(kind: str, gaps: bool) -> None:  # noqa: FBT001
    type_, values = COLUMNS[kind]
    held = [*values[:1], None, *values[1:], None] if gaps else values
    chunks = [pa.array(held[:1], type_), pa.array(held[1:], type_)]
    coded = code(pa.chunked_array(chunks, type_))
    assert [coded.values[int(at)].as_py() for at in coded.codes] == held
    assert coded.values.type == type_
    there = [value for value in coded.values.to_pylist() if value is not None]
    assert all(one < other for one, other in pairwise(there))
    assert coded.values.null_count == int(gaps)
    assert not gaps or coded.values[-1].as_py() is None


def test_codes_are_as_narrow_as_they_can_be() -> None:
    for values, wanted in ((2**8, np.uint8), (2**8 + 1, np.uint16), (2**16 + 1, np.int32)):
        assert code(pa.array(np.arange(values))).codes.dtype == wanted


def test_a_column_of_which_every_row_is_different_is_not_coded() -> None:
    numbers = np.arange(SAMPLE + 1)
    assert has_many(pa.chunked_array([pa.array(numbers / 7)]))
    assert not has_many(pa.chunked_array([pa.array(numbers % 100 / 7)]))
    assert not has_many(pa.chunked_array([pa.array(numbers)]))
    assert not has_many(pa.chunked_array([pa.array(numbers[:100] / 7)]))


@settings(max_examples=30)
@given(
    rows=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 2**31 - 1])] * n), min_size=1, max_size=30)
    )
)
@example(rows=[(0,) * 30, (2**30,) * 30, (5,) * 30, (2**30,) * 30])
@example(rows=[(2**31 - 1, 2**31 - 1, 0), (2**31 - 1, 2**31 - 1, 1), (0, 2**31 - 1, 1)])
def test_combinations_are_numbered_in_order(rows: list[tuple[int, ...]]) -> None:
    """As Python numbers the different tuples, also where a product of sizes has no room in 64 bits."""
    different = sorted(set(rows))
    numbers, first = combined([np.array(column, np.int32) for column in zip(*rows, strict=True)])
    assert numbers.tolist() == [different.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in different]
