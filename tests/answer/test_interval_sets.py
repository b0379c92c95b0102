"""Where a condition on one column holds: what interval sets and constants say, against plain SQL."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import inf
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from discreet.answer.matches.boxes.constants import UnreadableError, position
from discreet.answer.matches.boxes.interval_sets import Interval, IntervalSet, interval_set

PARTS = (
    *("x < {}", "{} <= x", "x = {}", "x <> {}", "x BETWEEN {} AND {}", "x IN ({}, {}, {})", "x IS NULL", "TRUE"),
    *("x NOT IN ({}, NULL)", "x > NULL", "(x >= {}) IS TRUE", "(NOT x < {}) IS FALSE", "x IS NOT NULL"),
)
NUMBERS = ("-1", "0", "0.5", "2", "3.25", "7", "1 + 1.5", "-(3)")
TEXTS = ("''", "'a'", "'ab'", "'b'", "'é'", "'Z'")


def random_condition(rng: Random, constants: tuple[str, ...]) -> str:
    def random_part() -> str:
        return rng.choice(PARTS).format(*(rng.choice(constants) for _ in range(3)))

    condition = random_part()
    for _ in range(rng.randint(0, 4)):
        join = rng.choice(["({}) AND ({})", "({}) OR ({})", "NOT (({}) AND ({}))", "NOT (({}) OR ({}))"])
        condition = join.format(condition, random_part())
    return condition


def solved(condition: str, kind: pa.DataType) -> IntervalSet:
    node = parse_one(f"SELECT {condition}", dialect="duckdb").expressions[0]
    return interval_set(node, lambda constant: position(constant, kind))


def holds(found: IntervalSet, at: Any) -> bool:
    if at is None:
        return found.missing
    return any(
        (each.low == -inf or each.low < at or (each.low == at and each.low_closed))
        and (each.high == inf or at < each.high or (each.high == at and each.high_closed))
        for each in found.intervals
    )


def by_engine(condition: str, values: list[Any], kind: str) -> list[bool]:
    rows = ", ".join(f"(CAST({exp.convert(value).sql(dialect='duckdb')} AS {kind}))" for value in [*values, None])
    return [row[0] for row in duckdb.sql(f"SELECT ({condition}) IS TRUE FROM (VALUES {rows}) AS t(x)").fetchall()]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=True))
def test_interval_sets_hold_what_the_condition_holds(rng: Random) -> None:
    condition = random_condition(rng, NUMBERS)
    note(condition)
    found = solved(condition, pa.float64())
    numbers = [Fraction(number, 4) for number in range(-14, 36)]
    expected = by_engine(condition, list(map(float, numbers)), "DOUBLE")
    assert [holds(found, at) for at in [*numbers, None]] == expected
    assert not found.nothing or not any(expected)
    assert not found.everything or all(expected)
    for low, high in pairwise(found.intervals):
        assert low.high < high.low or not (low.high_closed or high.low_closed)
    runs = found.runs()
    for number, held in zip(numbers, expected[:-1], strict=True):
        if number.denominator == 1:
            assert any((a is None or a <= number) and (b is None or number <= b) for a, b in runs) == held
    assert all(after[0] > before[1] + 1 for before, after in pairwise(runs))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=True))
def test_texts_are_ordered_as_the_engine_orders_them(rng: Random) -> None:
    condition = random_condition(rng, TEXTS)
    note(condition)
    found = solved(condition, pa.string())
    values = ["", " ", "Z", "a", "aa", "ab", "abc", "b", "z", "é", "éa", "𝄞"]
    assert [holds(found, at) for at in [*values, None]] == by_engine(condition, values, "VARCHAR")


@pytest.mark.parametrize(
    ("condition", "runs", "missing"),
    [
        ("x > 35 AND x < 36", [], False),
        ("x <= 3 OR x >= 4", [(None, None)], False),
        ("x <= 3.5 OR x IS NULL", [(None, 3)], True),
        ("x BETWEEN 3 AND 1", [], False),
        ("x IN (1, 2, 3, 5)", [(1, 3), (5, 5)], False),
        ("x <> 1.5", [(None, None)], False),
        ("x < 1e0 OR x > 2e0", [(None, 0), (3, None)], False),
    ],
)
def test_runs_of_whole_numbers(condition: str, runs: list[Any], missing: bool) -> None:  # noqa: FBT001
    found = solved(condition, pa.int64())
    assert (found.runs(), found.missing) == (runs, missing)


def test_infinite_constants_are_the_ends_of_the_line() -> None:
    found = solved("x < CAST('inf' AS DOUBLE) AND x >= CAST('-inf' AS DOUBLE)", pa.float64())
    assert found == IntervalSet((Interval(-inf, inf, low_closed=True, high_closed=False),), missing=False)
    assert found.runs() == [(None, None)]


@pytest.mark.parametrize(
    "condition", ["x % 2 = 0", "x > y", "x + 1 > 2", "x > ABS(3)", "x LIKE 'a%'", "x BETWEEN y AND 3", "x = (SELECT 1)"]
)
def test_what_is_more_than_a_comparison_with_constants(condition: str) -> None:
    with pytest.raises(UnreadableError):
        solved(condition, pa.int64())


CONSTANTS = [
    (
        pa.int64(),
        "BIGINT",
        [
            "3",
            "-3",
            "2.5",
            "1e3",
            "'17'",
            "CAST(4 AS BIGINT)",
            "CAST('4' AS INTEGER)",
            "CAST(2.5 AS DECIMAL(4, 1))",
            "1 + 2",
            "NULL",
        ],
    ),
    (pa.float64(), "DOUBLE", ["0.1", "1e-5", "'0.1'", "CAST(0.1 AS DOUBLE)", "-(0.25)"]),
    (pa.decimal128(9, 2), "DECIMAL(9, 2)", ["0.01", "'0.01'", "3"]),
    (
        pa.date32(),
        "DATE",
        ["'2020-02-29'", "DATE '2020-02-29' + INTERVAL 1 YEAR", "DATE '2020-01-31' - INTERVAL 2 MONTHS"],
    ),
    (
        pa.date32(),
        "DATE",
        ["DATE '2020-01-01' + 3", "TIMESTAMP '2020-01-01 12:00:00'", "CAST(DATE '1969-12-31' AS TIMESTAMP)"],
    ),
    (
        pa.timestamp("us"),
        "TIMESTAMP",
        ["'2020-01-01'", "'2020-01-01 01:02:03.5'", "DATE '1960-01-01' + INTERVAL 90 MINUTES"],
    ),
    (pa.time64("us"), "TIME", ["'03:00:00'", "TIME '03:00:00.25'"]),
]


@pytest.mark.parametrize(
    ("kind", "word", "constant"),
    [(kind, word, constant) for kind, word, constants in CONSTANTS for constant in constants],
    ids=str,
)
def test_constants_lie_where_the_engine_puts_them(kind: pa.DataType, word: str, constant: str) -> None:
    """Just where a column's values begin to be larger."""
    at = position(parse_one(f"SELECT {constant}", dialect="duckdb").expressions[0], kind)
    if constant == "NULL":
        assert at is None
        return
    near = _near(at, kind)
    expected = [(place > at, place == at) for place, _ in near]
    rows = ", ".join(f"(CAST('{value}' AS {word}))" for _, value in near)
    assert duckdb.sql(f"SELECT x > {constant}, x = {constant} FROM (VALUES {rows}) AS t(x)").fetchall() == expected


def _near(at: Fraction, kind: pa.DataType) -> list[tuple[Fraction, Any]]:
    """Values of a type close to a position, and their positions."""
    if pa.types.is_floating(kind):
        return [(Fraction(float(at) + step), repr(float(at) + step)) for step in (-0.5, 0.0, 0.5)]
    if pa.types.is_decimal(kind):
        return [(at + Fraction(step, 100), Decimal(int(at * 100) + step) / 100) for step in (-1, 0, 1)]
    whole = [int(at) + step for step in (-1, 0, 1)]
    if pa.types.is_integer(kind):
        return [(Fraction(place), place) for place in whole]
    if pa.types.is_date(kind):
        return [(Fraction(place), date.fromordinal(date(1970, 1, 1).toordinal() + place)) for place in whole]
    return [(Fraction(place), pa.scalar(place, pa.int64()).cast(kind).as_py()) for place in whole]


@pytest.mark.parametrize(
    ("kind", "constant"),
    [
        (pa.int64(), "'old'"),
        (pa.int64(), "'1.5'"),
        (pa.int64(), "1e18"),
        (pa.int64(), "DATE '2020-01-01'"),
        (pa.date32(), "3"),
        (pa.date32(), "'spring'"),
        (pa.date32(), "DATE '9999-12-31' + INTERVAL 1 DAY"),
        (pa.date32(), "DATE '2020-01-01' + INTERVAL 1 CENTURY"),
        (pa.timestamp("us"), "'2020-01-01 25:00:00'"),
        (pa.bool_(), "1"),
        (pa.string(), "3"),
        (pa.float64(), "CAST(1.5 AS VARCHAR)"),
        (pa.float64(), "CAST(1.5 AS INTEGER)"),
        (pa.float64(), "CAST(0.125 AS DECIMAL(4, 2))"),
        (pa.float64(), "CAST(1.5 AS HUGEINT)"),
        (pa.float64(), "TRY_CAST(1.5 AS DOUBLE)"),
        (pa.float64(), "SQRT(2)"),
    ],
    ids=str,
)
def test_constants_that_are_not_read_here(kind: pa.DataType, constant: str) -> None:
    with pytest.raises(UnreadableError):
        position(parse_one(f"SELECT {constant}", dialect="duckdb").expressions[0], kind)


def test_positions_are_days_or_microseconds() -> None:
    def at(value: Any, kind: pa.DataType) -> Any:
        return position(exp.Literal.string(str(value)), kind)

    assert at(date(1970, 1, 2), pa.date32()) == 1
    assert at(datetime(1970, 1, 2), pa.timestamp("us")) == 86_400_000_000  # noqa: DTZ001
    assert at(time(0, 0, 1), pa.time64("us")) == 1_000_000
