"""Codes over ordered domains, and back."""

import datetime as dt
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.values.codes import encode

MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))  # noqa: DTZ001 - the tables have none
KINDS = {
    "integer": (st.integers(-(2**63), 2**63 - 1), pa.int64()),
    "small integer": (st.integers(0, 4), pa.int8()),
    "float": (st.floats(allow_nan=False).map(lambda x: x + 0.0), pa.float64()),
    "decimal": (st.integers(-(10**9), 10**9).map(lambda x: Decimal(x).scaleb(-2)), pa.decimal128(20, 2)),
    "date": (st.dates(), pa.date32()),
    "timestamp": (MOMENTS, pa.timestamp("us")),
    "time": (st.times(), pa.time64("us")),
    "boolean": (st.booleans(), pa.bool_()),
    "string": (st.text(st.characters(exclude_categories=["Cs"]), max_size=4), pa.string()),
}


@st.composite
def columns(draw, kind):
    """A column in one to four chunks, some of its values missing."""
    values, type_ = KINDS[kind]
    chunk = st.lists(st.none() | values, max_size=15)
    chunks = draw(st.lists(chunk, min_size=1, max_size=4).filter(any))
    return pa.chunked_array(chunks, type=type_)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("kind", list(KINDS))
def test_encode_round_trip(kind, data):
    column = data.draw(columns(kind))
    encoded = encode(column)
    assert encoded.decode(encoded.codes).to_pylist() == column.to_pylist()
    assert encoded.decode(encoded.codes).type == column.type


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("kind", list(KINDS))
def test_codes_follow_the_order_of_the_values(kind, data):
    column = data.draw(columns(kind))
    encoded, values = encode(column), column.to_pylist()
    # Engines and Arrow order texts by their UTF-8 bytes.
    key = (lambda text: text.encode()) if kind == "string" else (lambda value: value)
    domain = sorted({value for value in values if value is not None}, key=key)
    assert encoded.domain.to_pylist() == domain
    assert encoded.missing == (None in values)
    assert encoded.size == len(domain) + (None in values)
    expected = [len(domain) if value is None else domain.index(value) for value in values]
    assert encoded.codes.tolist() == expected
    assert encoded.codes.dtype == np.int32
    counter = Counter(expected)
    assert encoded.counts().tolist() == [counter[code] for code in range(encoded.size)]


def test_a_missing_value_equals_only_itself():
    encoded = encode(pa.chunked_array([[None, "", "None", None, "null"]]))
    assert encoded.codes.tolist() == [3, 0, 1, 3, 2]
    assert encoded.counts().tolist() == [1, 1, 1, 2]


def test_all_missing():
    encoded = encode(pa.chunked_array([pa.nulls(3, pa.string())]))
    assert encoded.codes.tolist() == [0, 0, 0]
    assert encoded.counts().tolist() == [3]
    assert encoded.decode(encoded.codes).to_pylist() == [None] * 3


@pytest.mark.parametrize("chunks", [[], [[]], [[], []]], ids=["no chunk", "one", "two"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_no_rows(kind, chunks):
    type_ = KINDS[kind][1]
    encoded = encode(pa.chunked_array(chunks, type=type_))
    assert encoded.codes.tolist() == []
    assert encoded.size == 0
    assert encoded.decode(encoded.codes).type == type_


def test_chunks_with_different_dictionaries():
    """Frames with categories send a dictionary per chunk; equal labels must get equal codes."""
    chunks = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", "a"], ["b", None])]
    labels = pa.chunked_array(chunks).cast(pa.string())
    assert encode(labels).codes.tolist() == [1, 0, 2, 0, 1, 3]
    assert encode(pa.chunked_array([["b", "a"], ["c", "a"], ["b", None]])).codes.tolist() == [1, 0, 2, 0, 1, 3]


def test_decoding_some_codes():
    encoded = encode(pa.chunked_array([[30, 10, None, 20]]))
    assert encoded.decode(np.array([3, 0, 0, 2])).to_pylist() == [None, 10, 10, 30]
    assert encoded.decode(np.array([], np.int64)).to_pylist() == []
