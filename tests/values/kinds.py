"""Values of every type that has an order, for properties that all of them have."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

from discreet.values.positions import EXACT

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


def column(kind, values):
    return st.lists(st.none() | values, min_size=1).map(lambda found: pa.array(found, kind))
