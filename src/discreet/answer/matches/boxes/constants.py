"""Where a constant of a question lies on the line of a column, found without asking an engine.

A constant is a number, a text, a date or a time, with a sign, a cast, a sum or an interval around it; a text beside a
column is a value of the column's type. Dates count in days, times in microseconds, texts are what they are. What
this file cannot read is no mistake: the condition is tried on values instead.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.values.columns import kind_of
from discreet.values.positions import EXACT

Position: TypeAlias = Fraction | float | str  # a float is infinite

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the engine's zone is UTC
MICROSECOND, DAY = timedelta(microseconds=1), timedelta(days=1)
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
SPANS = {"DAY": DAY, "WEEK": 7 * DAY, "HOUR": DAY / 24, "MINUTE": DAY / 1440, "SECOND": DAY / 86_400}
CASTS = {
    **dict.fromkeys((exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT), pa.int64()),
    **dict.fromkeys((exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ), pa.timestamp("us")),
    exp.DType.TIMESTAMP_S: pa.timestamp("s"),
    exp.DType.TIMESTAMP_MS: pa.timestamp("ms"),
    exp.DType.TIMESTAMP_NS: pa.timestamp("ns"),
    exp.DType.FLOAT: pa.float32(),
    exp.DType.DOUBLE: pa.float64(),
    exp.DType.DATE: pa.date32(),
    exp.DType.TIME: pa.time64("us"),
}


class UnreadableError(ValueError):
    """It is no constant that can be read here."""


def position(constant: exp.Expr, type_: pa.DataType) -> Position | None:
    """Where on the line of its column a constant lies; None if it is missing."""
    node = constant.unnest()
    try:
        value = text_value(node.this, type_) if _is_text(node) else _value(node)
        return None if value is None else _placed(value, kind_of(type_))
    except (ArithmeticError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise UnreadableError(str(error)) from None


def text_value(text: str, type_: pa.DataType) -> Any:
    """What a text means as a value of a type; raises if it means none."""
    if kind_of(type_) == "time":
        return time.fromisoformat(text)
    return pa.scalar(text).cast(type_).as_py()


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def _value(node: exp.Expr) -> Any:
    """The value of a constant whose type does not depend on what stands beside it; a float if it is one."""
    match node:
        case exp.Null():
            return None
        case exp.Literal() if not node.is_string:
            return float(node.this) if "e" in node.this.lower() else Fraction(node.this)
        case exp.Neg():
            return -_value(node.this.unnest())
        case exp.Add() | exp.Sub():
            sign = 1 if isinstance(node, exp.Add) else -1
            return _sum(_value(node.this.unnest()), node.expression.unnest(), sign)
        case exp.Cast() if type(node) is exp.Cast:
            return _cast(node.this.unnest(), node.to)
    raise UnreadableError


def _cast(inner: exp.Expr, to: exp.DataType) -> Any:
    type_ = (
        pa.decimal128(*(int(each.name) for each in to.expressions)) if to.this == exp.DType.DECIMAL else CASTS[to.this]
    )
    if isinstance(inner, exp.Literal):
        value = text_value(inner.this, type_)
        return Fraction(value) if isinstance(value, int | Decimal) else value
    value = _value(inner)
    if isinstance(value, date) and kind_of(type_) == "timestamp":
        return _midnight(value)
    if isinstance(value, date) and kind_of(type_) == "date":
        return date(value.year, value.month, value.day)
    if value is None:
        return None
    raise UnreadableError


def _sum(left: Any, right: exp.Expr, sign: int) -> Any:
    if isinstance(right, exp.Interval):
        return _later(_midnight(left), sign * int(right.this.name), str(right.args.get("unit")).upper())
    value = _value(right)
    if isinstance(left, date) and not isinstance(left, datetime) and isinstance(value, Fraction):
        return left + sign * int(value) * DAY
    if isinstance(left, Fraction) and isinstance(value, Fraction):
        return left + sign * value
    raise UnreadableError


def _later(start: datetime, many: int, unit: str) -> datetime:
    unit = unit.removesuffix("S")
    if unit in SPANS:
        return start + many * SPANS[unit]
    if unit not in MONTHS:
        raise UnreadableError
    year, month = divmod(start.year * 12 + start.month - 1 + many * MONTHS[unit], 12)
    return start.replace(year=year, month=month + 1, day=min(start.day, monthrange(year, month + 1)[1]))


def _midnight(moment: Any) -> datetime:
    if isinstance(moment, datetime) or not isinstance(moment, date):
        return moment - timedelta()  # nothing but a timestamp goes through
    return datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001


def _placed(value: Any, kind: str | None) -> Position:
    if isinstance(value, str) and kind == "string":
        return value
    if isinstance(value, date) and kind in {"date", "timestamp"}:
        return Fraction((_midnight(value) - EPOCH) // MICROSECOND, DAY // MICROSECOND if kind == "date" else 1)
    if isinstance(value, time) and kind == "time":
        return Fraction((datetime.combine(EPOCH, value) - EPOCH) // MICROSECOND)
    if kind not in {"integer", "float", "decimal"} or not isinstance(value, int | Fraction | float | Decimal):
        raise UnreadableError
    if isinstance(value, float) and not isfinite(value):
        return -inf if value == -inf else inf  # not a number comes after all others
    if isinstance(value, float) and kind == "integer" and abs(value) > EXACT:
        raise UnreadableError  # the engine rounds whole numbers before it compares them with it
    return Fraction(float(value) if kind == "float" else value)
