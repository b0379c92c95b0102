"""Spark computes what DuckDB computes: a row of expressions at a time, written once as a tree."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from discreet.engines import connect, spark_of
from discreet.errors import EngineError

ROWS = pa.table(
    {
        "i": pa.array([7, -7, 0, None, 5_000_000_000], pa.int64()),
        "u": pa.array([200, 0, 255, None, 1], pa.uint8()),
        "w": pa.array([2**63 + 1, 0, 5, None, 1], pa.uint64()),
        "x": pa.array([2.5, -2.5, 0.1, None, 1e300], pa.float64()),
        "f": pa.array([1.5, 0.1, -3.0, None, 0.0], pa.float32()),
        "m": pa.array([Decimal("12.34"), Decimal("-0.05"), Decimal("0.00"), None, Decimal("99.99")], pa.decimal128(6, 2)),
        "s": pa.array(["it's", "a\\b_c%", "", None, "Änne ş"], pa.string()),
        "d": pa.array([dt.date(2020, 2, 29), dt.date(1969, 12, 31), dt.date(1, 1, 1), None, dt.date(2024, 3, 31)]),
        "t": pa.array(
            [dt.datetime(2020, 2, 29, 1, 2, 3, 456789), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), None, None, dt.datetime(1582, 10, 4)],  # noqa: DTZ001
            pa.timestamp("us"),
        ),
        "c": pa.array([dt.time(1, 2, 3), dt.time(23, 59, 59, 999999), dt.time(0), None, dt.time(12)], pa.time64("us")),
        "b": pa.array([True, False, None, True, False]),
    }
)  # fmt: skip
EXPRESSIONS = """
    i / 2, i // 2, i % 3, i + u, i * 2, -i, ABS(i), SIGN(i), u / 2, w / 2, CAST(w AS DOUBLE)
    x / 3, ROUND(x), ROUND(m, 1), FLOOR(m), CEIL(f), SQRT(ABS(x)), LN(ABS(x) + 1), LOG(ABS(x) + 1), POWER(2, 3), m / 3, m * m, m + i, f * 2
    s LIKE 'a\\b%', s LIKE 'it_s', s NOT LIKE '%''%', s ILIKE 'IT%', s LIKE 'a!%' ESCAPE '!', s LIKE '%!_c!%' ESCAPE '!', s < 'a', s || 'x', CONCAT(s, 'x')
    LENGTH(s), UPPER(s), LOWER(s), TRIM(s), SUBSTRING(s, 2, 3), LEFT(s, 2), REPLACE(s, 'a', '\\'), CONTAINS(s, 'b'), STARTS_WITH(s, 'a'), ENDS_WITH(s, '%')
    YEAR(d), MONTH(d), DAY(d), QUARTER(d), DAYOFWEEK(d), ISODOW(d), DAYOFYEAR(d), WEEK(d), DAYNAME(d), MONTHNAME(d), LAST_DAY(d), DATE_DIFF('day', d, DATE '2020-01-01')
    d - DATE '2020-01-01', d < DATE '2000-01-01', DATE_TRUNC('month', t), EXTRACT(hour FROM t), t < TIMESTAMP '2000-01-01 00:00:00', CAST(t AS DATE), c < TIME '12:00:00'
    EPOCH_US(t), EPOCH_US(c), EPOCH_NS(TIMESTAMP '2020-01-01 00:00:00'), IS_FINITE(x), b AND i > 0, NOT b, b IS NULL, COALESCE(i, 3), NULLIF(i, 7), GREATEST(i, 1), LEAST(i, NULL, 1)
    CASE WHEN i > 0 THEN 'a' ELSE s END, i IS DISTINCT FROM 7, i BETWEEN 0 AND 10, i IN (7, 0), s IN ('it''s', ''), i > '3', CAST(i AS VARCHAR), CAST('3' AS INTEGER), LGAMMA(CAST(u AS INTEGER) + 1)
"""
AGGREGATES = """
    COUNT(*), COUNT(i), SUM(CAST(i AS INT128)), AVG(i), MIN(x), MAX(s), MIN(d), MAX(t), MIN(b), MEDIAN(i), QUANTILE_CONT(i, 0.25), QUANTILE_DISC(i, 0.25)
    PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY x), STDDEV(u), STDDEV_POP(u), VARIANCE(u), VAR_POP(u), COUNT(DISTINCT b), SUM(u) FILTER (WHERE b), AVG(DISTINCT u), SUM(m), COUNT_IF(b), BOOL_AND(b)
"""


def told(texts):
    return [
        exp.alias_(each, f"e{i}")
        for i, each in enumerate(
            sqlglot.parse_one("SELECT " + ",".join(texts.strip().split("\n")), dialect="duckdb").expressions
        )
    ]


@pytest.fixture(scope="module")
def engines(spark):
    """Both with the same rows; Spark's are sent, as a query would."""
    here, there = connect(), spark_of(spark)
    here.load("rows", ROWS)
    there.load("rows", ROWS)
    there._send(["rows"])
    there._here.clear()
    there._views.add("rows")
    yield here, there
    here.close()
    there.close()


def plain(value):
    if isinstance(value, Decimal):
        return pytest.approx(float(value), rel=1e-12)
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-9)
    return dt.datetime(value.year, value.month, value.day) if type(value) is dt.date else value  # noqa: DTZ001


def number(value):
    if isinstance(value, Decimal):
        return float(value)
    return dt.datetime(value.year, value.month, value.day) if type(value) is dt.date else value  # noqa: DTZ001


@pytest.mark.parametrize("texts", [EXPRESSIONS, AGGREGATES], ids=["of a row", "of all rows"])
def test_spark_computes_what_duckdb_does(engines, texts):
    asked = told(texts)
    query = exp.select(*asked).from_("rows")
    if texts is EXPRESSIONS:
        query = query.order_by(exp.Ordered(this=exp.column("x"), nulls_first=False))
    expected, found = (engine.run(query.copy()) for engine in engines)
    wrong = [
        (each.this.sql(dialect="duckdb"), a.to_pylist(), b.to_pylist())
        for each, a, b in zip(asked, expected.columns, found.columns, strict=True)
        if [number(value) for value in b.to_pylist()] != [plain(value) for value in a.to_pylist()]
    ]
    assert not wrong
    assert len(asked) > 20


def test_fingerprints_tell_missing_values_apart(engines):
    from discreet.engines.dialect import fingerprint

    pairs = [("s", "i"), ("i", "s")]
    _, there = engines
    found = there.run(
        exp.select(*(exp.alias_(fingerprint(*map(exp.column, pair)), f"f{i}") for i, pair in enumerate(pairs))).from_(
            "rows"
        )
    )
    every = [value for column in found.columns for value in column.to_pylist()]
    assert None not in every
    assert len({*every}) == 9  # five rows two ways round; all is missing in one row


@pytest.mark.parametrize("sql", ["SELECT * FROM read_text('/etc/hostname')", "SELECT * FROM 'x.parquet'", "SELECT * FROM parquet.other", "SELECT * FROM stranger", "SET threads = 1", "DROP TABLE rows"])  # fmt: skip
def test_nothing_but_the_release_is_reached(engines, sql):
    with pytest.raises(EngineError, match="sealed"):
        engines[1].run(sqlglot.parse_one(sql, dialect="duckdb"))


@pytest.mark.parametrize(("sql", "said"), [("SELECT CAST(s AS INT) AS n FROM rows", "cannot be converted"), ("SELECT i * 5000000000 * 5000000000 AS n FROM rows", "too large"), ("SELECT stranger FROM rows", "cannot be resolved")])  # fmt: skip
def test_errors_carry_no_cell(engines, sql, said, capfd):
    with pytest.raises(EngineError, match=said) as caught:
        engines[1].run(sqlglot.parse_one(sql, dialect="duckdb"))
    assert caught.value.__cause__ is None
    assert "it's" not in str(caught.value)
    assert "org.apache" not in str(caught.value)
    assert "org.apache" not in capfd.readouterr().err
