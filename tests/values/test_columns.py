"""One table of types: what kind of values each has, and the word of a Data Package that stands for it."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv as pv
import pytest

from discreet.values.columns import ARROW, UNORDERED, Column, columns_of, exact_in_csv, is_ordered, kind_of, word_of

WORDS = {
    "integer": [pa.int8(), pa.uint8(), pa.int32(), pa.int64(), pa.uint64(), pa.decimal128(38, 0)],
    "number": [pa.float32(), pa.float64(), pa.decimal128(5, 2), pa.decimal128(10, 0), pa.decimal128(38, 1)],
    "boolean": [pa.bool_()],
    "string": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    "date": [pa.date32(), pa.date64()],
    "datetime": [pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "UTC")],
    "time": [pa.time32("s"), pa.time64("us")],
}
STRANGE = [pa.binary(), pa.list_(pa.int64()), pa.struct({"a": pa.int64()}), pa.decimal256(50, 2), pa.time64("ns")]
STRANGE += [pa.float16(), pa.null(), pa.month_day_nano_interval(), pa.duration("s")]


@pytest.mark.parametrize(
    ("word", "type_"), [(word, type_) for word, types in WORDS.items() for type_ in types], ids=str
)
def test_every_type_has_one_word(word, type_):
    assert word_of(type_) == word
    assert Column("x", type_).word == word
    assert is_ordered(type_) == (word not in UNORDERED) == (kind_of(type_) not in UNORDERED)


@pytest.mark.parametrize("type_", STRANGE, ids=str)
def test_a_type_that_cannot_be_published_has_none(type_):
    assert kind_of(type_) is word_of(type_) is None
    assert not Column("x", type_).ordered


def test_a_word_is_read_as_a_type_that_it_stands_for():
    assert set(ARROW) == set(WORDS)
    for word, type_ in ARROW.items():
        assert word_of(type_) == word
        assert exact_in_csv(type_)


def test_a_schema_is_its_columns():
    schema = pa.schema({"age": pa.int64(), "name": pa.string()})
    assert columns_of(schema) == (Column("age", pa.int64()), Column("name", pa.string()))


FINE = {
    pa.uint64(): 2**64 - 1,
    pa.decimal128(38, 0): Decimal(10**37),
    pa.decimal128(4, 2): Decimal("0.07"),
    pa.timestamp("ns"): 1_500_000_000_123_456_789,
    pa.timestamp("us", "UTC"): dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
}


@pytest.mark.parametrize("type_", [*FINE, pa.float32()], ids=str)
def test_what_the_type_of_a_word_cannot_hold_is_not_exact_in_csv(type_):
    assert not exact_in_csv(type_)


@pytest.mark.parametrize("type_", [t for types in WORDS.values() for t in types if exact_in_csv(t)], ids=str)
def test_what_is_exact_in_csv_comes_back(type_, tmp_path):
    samples = {
        "integer": [0, 1, 127],
        "number": [0.1, -1e300],
        "boolean": [True, False],
        "string": ["a", "ä b"],
        "date": [dt.date(1900, 2, 3)],
        "datetime": [dt.datetime(2020, 1, 2, 3, 4, 5)],  # noqa: DTZ001
        "time": [dt.time(1, 2, 3)],
    }
    word = word_of(type_)
    values = pa.array(samples[word], pa.string() if word == "string" else type_)
    pv.write_csv(pa.table({"x": values}), tmp_path / "x.csv")
    options = pv.ConvertOptions(column_types={"x": ARROW[word]})
    back = pv.read_csv(tmp_path / "x.csv", convert_options=options)["x"]
    assert back.cast(values.type).to_pylist() == values.to_pylist()
