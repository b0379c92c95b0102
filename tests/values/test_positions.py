"""Marks against exact arithmetic on the values they stand for, and the columns that have none."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.values.positions import EXACT, LARGEST, PER_DAY, Scale, measured, per_day, positions, values_at
from values.kinds import ORDERED, column

INTEGERS = {
    pa.int8(): (-(2**7), 2**7 - 1),
    pa.uint8(): (0, 2**8 - 1),
    pa.int16(): (-(2**15), 2**15 - 1),
    pa.int32(): (-(2**31), 2**31 - 1),
    pa.uint32(): (0, 2**32 - 1),
    pa.int64(): (-(2**63), 2**63 - 1),
    pa.uint64(): (0, 2**64 - 1),
}
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- timestamps without a zone


@st.composite
def columns(draw):
    """A type, values of it, and for each the exact place where it lies, in units of a range."""
    kind = draw(st.sampled_from([*INTEGERS, "decimal", "date", "date64", "timestamp", "float", "float32"]))
    if kind in INTEGERS:
        values = draw(st.lists(st.integers(*INTEGERS[kind]), min_size=1, max_size=9))
        return kind, values, list(map(Fraction, values))
    if kind == "decimal":
        scale = draw(st.integers(0, 6))
        digits = draw(st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=9))
        values = [Decimal(n).scaleb(-scale) for n in digits]
        return pa.decimal128(25, scale), values, [Fraction(n, 10**scale) for n in digits]
    if kind in {"date", "date64"}:
        values = draw(st.lists(st.dates(), min_size=1, max_size=9))
        return pa.date32() if kind == "date" else pa.date64(), values, [Fraction(v.toordinal()) for v in values]
    if kind == "timestamp":
        unit = draw(st.sampled_from(list(PER_DAY)))
        ticks = draw(st.lists(st.integers(-(2**60), 2**60), min_size=1, max_size=9))
        return pa.timestamp(unit), ticks, [Fraction(n, PER_DAY[unit]) for n in ticks]
    width = 32 if kind == "float32" else 64
    values = draw(st.lists(st.floats(-(2.0**99), 2.0**99, width=width), min_size=1, max_size=9))
    return pa.float32() if kind == "float32" else pa.float64(), values, list(map(Fraction, values))


@settings(max_examples=1000, deadline=None)
@example(column=(pa.uint64(), [2**63, 2**64 - 1], [Fraction(2**63), Fraction(2**64 - 1)]))
@example(column=(pa.int64(), [-(2**63), -1], [Fraction(-(2**63)), Fraction(-1)]))
@example(column=(pa.uint64(), [1, 2**63], [Fraction(1), Fraction(2**63)]))
@given(column=columns())
def test_scale_keeps_distances(column):
    kind, values, exact = column
    order = sorted(dict(zip(exact, values, strict=True)).items())
    domain, places = pa.array([value for _, value in order], kind), [place for place, _ in order]
    whole = not pa.types.is_floating(kind)
    if whole and (places[-1] - places[0]) * Scale.of(domain[:1], "s").unit > LARGEST:
        with pytest.raises(InputError, match="`s` lie too far apart"):
            Scale.of(domain, "s")
        return
    scale = Scale.of(domain, "s")
    assert len(scale.marks) == len(places)
    if not whole:
        assert scale.marks.dtype == np.float64
        assert list(map(Fraction, scale.marks.tolist())) == places
        return
    assert scale.marks.dtype == np.int64
    assert [Fraction(mark, scale.unit) for mark in scale.marks.tolist()] == [place - places[0] for place in places]


@settings(max_examples=300, deadline=None)
@given(marks=st.sets(st.integers(0, 10**6), min_size=2), unit=st.sampled_from([1, 10, 100, 86_400]), data=st.data())
def test_steps_are_as_many_as_a_range_needs(marks, unit, data):
    """A range of so many steps is long enough, and one step less is not."""
    scale = Scale(np.array(sorted(marks)), unit)
    length = data.draw(st.integers(0, 1000) | st.floats(0, 1000) | st.decimals(0, 9, places=2).map(float))
    steps = scale.steps(length)
    assert Fraction(steps, unit) >= Fraction(repr(length)) > Fraction(steps - 1, unit)
    assert scale.steps(scale.length(7 * unit)) == 7 * unit


def test_decimal_lengths_are_read_as_written():
    """0.1 of a column with one digit is one step, though the float 0.1 is a little more than a tenth."""
    scale = Scale.of(pa.array([Decimal("0.0"), Decimal("0.1")], pa.decimal128(5, 1)), "s")
    assert scale.marks.tolist() == [0, 1]
    assert scale.steps(0.1) == 1
    assert scale.steps(1e300) == 10**301


def test_floats_are_their_own_marks():
    scale = Scale.of(pa.array([-2.5, 0.0, 1e300]), "s")
    assert scale.marks.tolist() == [-2.5, 0.0, 1e300]
    assert scale.steps(3) == 3.0
    assert scale.length(scale.marks[1] - scale.marks[0]) == 2.5


def test_sliced_columns():
    """Arrow arrays may begin inside a buffer."""
    decimals = pa.array([Decimal(n) for n in range(9)], pa.decimal128(9, 0))
    assert Scale.of(decimals[4:], "s").marks.tolist() == [0, 1, 2, 3, 4]
    assert Scale.of(decimals[:0], "s").marks.tolist() == []
    assert Scale.of(pa.array([5, 7, 8])[1:], "s").marks.tolist() == [0, 1]


def test_dates_are_told_in_days():
    stamps = [EPOCH, EPOCH + dt.timedelta(hours=12), EPOCH + dt.timedelta(days=3)]
    scale = Scale.of(pa.array(stamps, pa.timestamp("us")), "s")
    assert scale.length(scale.marks[2] - scale.marks[0]) == 3
    assert scale.length(scale.marks[1] - scale.marks[0]) == 0.5
    assert scale.steps(0.5) == PER_DAY["us"] // 2
    days = Scale.of(pa.array([EPOCH.date(), EPOCH.date() + dt.timedelta(days=3)]), "s")
    assert days.marks.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (pa.array([0.0, float("inf")]), "`s` holds infinite values"),
        (pa.array([float("-inf"), 0.0]), "`s` holds infinite values"),
        (pa.array([1.0, float("nan")]), "`s` holds infinite values"),
        (pa.array([-1e308, 1e308]), "`s` lie too far apart"),
        (pa.array([-(2**63), 0], pa.int64()), "`s` lie too far apart"),
        (pa.array([0, 2**63], pa.uint64()), "`s` lie too far apart"),
        (pa.array([Decimal(0), Decimal(10) ** 25]), "`s` lie too far apart"),
        (pa.array(["a", "b"]), "`s` holds string: it has no ranges\nHint: use it with `l`"),
        (pa.array([False, True]), "`s` holds bool: it has no ranges"),
    ],
)
def test_columns_without_a_scale(domain, message):
    with pytest.raises(InputError) as error:
        Scale.of(domain, "s")
    assert message in str(error.value)


@given(steps=st.integers(1, 2**62), unit=st.sampled_from([1, 100, 10**18, 86_400_000, 86_400_000_000, 86_400 * 10**9]))
def test_a_length_is_never_told_as_more_than_it_is(steps, unit):
    """So the largest range that an error names can be promised."""
    scale = Scale(np.array([0, steps]), unit)
    assert scale.steps(scale.length(steps)) <= steps


def test_wide_decimals_are_measured_by_their_differences():
    """Spark's default has eighteen digits behind the point: as digits, the values do not fit into 64 bits."""
    values = [Decimal(n) / 8 for n in (8, 9, 800_000)]
    scale = Scale.of(pa.array(values, pa.decimal128(38, 18)), "pay")
    assert [scale.length(mark) for mark in scale.marks] == [0, 0.125, 99_999]
    huge = pa.array([Decimal(10) ** 19, Decimal(10) ** 19 + 1], pa.decimal128(38, 0))
    assert Scale.of(huge, "pay").marks.tolist() == [0, 1]
    far = pa.array([Decimal(0), Decimal(10) ** 19 + Decimal("0.000000000000000001")], pa.decimal128(38, 18))
    with pytest.raises(InputError, match="too far apart"):
        Scale.of(far, "pay")


@pytest.mark.parametrize("kind", ORDERED, ids=str)
def test_positions_give_the_values_back(kind):
    @given(column(kind, ORDERED[kind]))
    def check(values):
        found = positions(pa.chunked_array([values]), "x")
        back = values_at(found, kind)
        assert back.type == kind
        assert back.to_pylist() == values.to_pylist()
        assert np.isnan(found).tolist() == values.is_null().to_pylist()

    check()


def test_positions_keep_the_order():
    found = positions(pa.chunked_array([pa.array([Decimal("-1.5"), Decimal("0.25"), None, Decimal("7.00")])]), "x")
    assert found[[0, 1, 3]].tolist() == sorted(found[[0, 1, 3]])


@pytest.mark.parametrize(
    "values",
    [
        pa.array([EXACT + 1]),
        pa.array([-EXACT - 1]),
        pa.array([2**63 + 1], pa.uint64()),
        pa.array([Decimal(EXACT + 1).scaleb(-2)], pa.decimal128(38, 2)),
        pa.array([Decimal(10**30)], pa.decimal128(38, 0)),
        pa.array([1], pa.int64()).cast(pa.timestamp("ns")),
        pa.array([float("inf")]),
    ],
    ids=str,
)
def test_what_cannot_be_kept_exactly_is_refused(values):
    with pytest.raises(InputError, match="`x`") as caught:
        positions(pa.chunked_array([values]), "x")
    assert str(EXACT + 1) not in str(caught.value)


@pytest.mark.parametrize("kind", ORDERED, ids=str)
def test_measures_differ_as_the_values_do(kind):
    @given(st.lists(ORDERED[kind], min_size=2, max_size=2), st.booleans())
    def check(pair, gone):
        found = measured(pa.array([*pair, None] if gone else pair, kind))
        exact = pa.array(pair, kind).cast(STORED.get(kind.id, kind)).to_pylist()
        far = Fraction(exact[1]) - Fraction(exact[0])
        near = max(map(abs, map(Fraction, exact))) / 2**50
        assert abs(Fraction(found[1]) - Fraction(found[0]) - far / per_day(kind)) <= near / per_day(kind)
        assert np.isnan(found[2:]).all()

    check()


STORED = {pa.date32().id: pa.int32(), pa.timestamp("s").id: pa.int64(), pa.time64("us").id: pa.int64()}


def test_a_day_is_a_day_in_every_unit():
    day, next_day = dt.datetime(1971, 5, 1), dt.datetime(1971, 5, 2)  # noqa: DTZ001
    for kind in (pa.date32(), pa.date64(), *(pa.timestamp(unit) for unit in PER_DAY)):
        low, high = measured(pa.array([day, next_day], pa.timestamp("us")).cast(kind))
        assert high - low == 1
    assert measured(pa.array([dt.time(12)], pa.time64("us"))).tolist() == [0.5]
    assert measured(pa.array([dt.time(12)], pa.time32("s"))).tolist() == [0.5]
