"""Values of every type come back from a vault as they went in, or are refused."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.values.positions import EXACT
from discreet.vault.rows import keys, texts, values_of

MOMENTS = st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1))  # noqa: DTZ001
UTC = st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC))  # noqa: DTZ001
ORDERED = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-EXACT, EXACT),
    pa.uint64(): st.integers(0, EXACT),
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
    pa.decimal128(18, 3): st.integers(-EXACT, EXACT).map(lambda n: Decimal(n).scaleb(-3)),
    pa.decimal128(38, 0): st.integers(-EXACT, EXACT).map(Decimal),
    pa.date32(): st.dates(),
    pa.timestamp("s"): MOMENTS.map(lambda moment: moment.replace(microsecond=0)),
    pa.timestamp("ms"): MOMENTS.map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("ns"): MOMENTS,
    pa.timestamp("us", "UTC"): UTC,
    pa.time64("us"): st.times(),
}
UNORDERED = {pa.string(): st.text(st.characters(exclude_categories=["Cs"])), pa.bool_(): st.booleans()}


def column(kind, values):
    return st.lists(st.none() | values, min_size=1).map(lambda found: pa.array(found, kind))


@pytest.mark.parametrize("kind", {**ORDERED, **UNORDERED}, ids=str)
def test_texts_give_the_values_back(kind):
    @given(column(kind, {**ORDERED, **UNORDERED}[kind]))
    def check(values):
        found = texts(values)
        back = values_of(found, kind)
        assert back.type == kind
        assert back.to_pylist() == values.to_pylist()
        assert len(set(found)) == len(set(values.to_pylist()))

    check()


@given(st.lists(st.tuples(*[st.none() | st.text(st.sampled_from("a|\\0"), max_size=3)] * 2), min_size=1))
def test_keys_tell_identifiers_apart(pairs):
    columns = [pa.chunked_array([pa.array(values, pa.string())]) for values in zip(*pairs, strict=True)]
    found = keys(columns).to_pylist()
    assert [key is None for key in found] == [pair == (None, None) for pair in pairs]
    assert len(set(found)) == len(set(pairs))


def test_a_single_identifier_is_its_own_key():
    assert keys([pa.chunked_array([pa.array([3, None, 1])])]).to_pylist() == ["3", None, "1"]
