"""What a server keeps of groups: sums from either end are what adding up each end by itself finds, to the digit."""

from math import isqrt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.answer.plan import kept
from discreet.engines import connect

LARGE, SMALL = 2**31 - 1, 10_000
GROUPS = {
    most: st.lists(st.lists(st.integers(-most - 1, most), min_size=1, max_size=12).map(sorted), min_size=1, max_size=5)
    for most in (LARGE, SMALL)
}


@given(GROUPS[LARGE], st.integers(2**27, LARGE))
@pytest.mark.parametrize("type_", [pa.int32(), pa.int64(), pa.float64()], ids=str)
@settings(max_examples=20, deadline=None)
def test_sums_from_either_end(type_, groups, large):
    """Of floats, and of whole numbers whose squares are no whole floats."""
    groups = [sorted([*groups[0], large, large]), *groups[1:]]
    found = kept_of(groups, type_)
    assert [row["smallest"] for row in found] == [added(values) for values in groups]
    assert [row["largest"] for row in found] == [added(values[::-1]) for values in groups]
    assert [row["size"] for row in found] == [len(values) for values in groups]


@given(GROUPS[SMALL])
@pytest.mark.parametrize("type_", [pa.int16(), pa.int32(), pa.int64(), pa.uint64()], ids=str)
@settings(max_examples=20, deadline=None)
def test_sums_and_squares_of_whole_numbers(type_, groups):
    if pa.types.is_unsigned_integer(type_):
        groups = [sorted(map(abs, values)) for values in groups]
    found = kept_of(groups, type_, "signature_squares")
    assert [row["smallest"] for row in found] == [added(values) for values in groups]
    assert [row["squares"] for row in found] == [added([value * value for value in values]) for values in groups]
    assert kept_of(groups, type_) is None


def test_squares_are_kept_while_floats_can_add_them_up():
    most = isqrt(2**53 // 2)
    for group, there in (([-most, most], False), ([-most - 1, most], True), ([-(2**63), 1], True)):
        assert (kept_of([group], pa.int64()) is not None) == there
        assert (kept_of([group], pa.int64(), "signature_squares") is None) == there


def test_sums_that_depend_on_their_order_are_made_in_it():
    """One large number of floats swallows the others, if it comes first."""
    [found] = kept_of([[1.0, 1.0, 1e16]], pa.float64())
    assert found["smallest"] == [0.0, 1.0, 2.0, 1e16 + 2]
    assert found["largest"] == [0.0, 1e16, 1e16, 1e16]


def test_a_value_is_kept_as_often_as_it_occurs():
    """Even if all groups together have fewer different values than one of them has rows."""
    groups = [[1] * 40 + [2] * 3, [1] * 2 + [2] * 50]
    for type_ in (pa.int32(), pa.float64()):
        assert [row["sorted"] for row in kept_of(groups, type_, "signature_arrays")] == groups
        sums = "signature_sums" if pa.types.is_floating(type_) else "signature_squares"
        assert [row["size"] for row in kept_of(groups, type_, sums)] == [43, 52]


@pytest.mark.parametrize("value", [1e200, -1e200, 1e-200, 5e-324, float("inf"), float("-inf")])
def test_no_sums_are_kept_where_a_float_could_not_hold_a_square(value):
    group = sorted([value, 1.0])
    assert kept_of([group], pa.float64()) is None
    [found] = kept_of([group], pa.float64(), "signature_arrays")
    assert found["sorted"] == group


def added(values):
    sums = [0.0]
    for value in values:
        sums.append(sums[-1] + value)
    return sums


def kept_of(groups, type_, name="signature_sums"):
    """What is kept of groups of values, each entry of which stands for the rows that are alike."""
    rows = [
        {"signature": number, "value": value, "n": values.count(value), "below": values.index(value)}
        for number, values in enumerate(groups, 1)
        for value in sorted(set(values))
    ]
    column = pa.array([row["value"] for row in rows]).cast(type_)
    held = pa.Table.from_pylist(rows).set_column(1, "value", column)
    engine = connect()
    try:
        engine.load("signature_values", held)
        engine.load("st", pa.table({"grp": [row["signature"] for row in rows]}))
        engine.load("qit", pa.table({"grp": [row["signature"] for row in rows for _ in range(row["n"])]}))
        found = {name: engine.run(query).to_pylist() for name, query in kept.made(engine, type_).items()}
        return found.get(name)
    finally:
        engine.close()
