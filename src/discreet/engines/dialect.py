"""The few things that engines say differently, under names of our own that every engine's dialect writes in its words.

A plan is a tree that no engine has seen. What SQL has one word for, or sqlglot a node that it writes in every dialect,
stands in it as that. What is left is here:

    FINGERPRINT(a, b, …)   a whole number that equal values have in common, missing ones too, and others hardly ever
    IS_FINITE(x)           whether a float is a number, and not an infinite one
    EPOCH_US(x)            the microseconds of a timestamp since 1970, or of a time since midnight
    EPOCH_NS(x)            the nanoseconds of a timestamp since 1970
    REPEAT_ROWS(n)         in SELECT: the row so many times, numbered from 0
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types
from sqlglot import exp

from discreet.errors import InternalError

FUNCTIONS = ("FINGERPRINT", "IS_FINITE", "EPOCH_US", "EPOCH_NS", "REPEAT_ROWS")

_TYPES: dict[pa.DataType, exp.DType] = {
    pa.bool_(): exp.DType.BOOLEAN,
    pa.int8(): exp.DType.TINYINT,
    pa.int16(): exp.DType.SMALLINT,
    pa.int32(): exp.DType.INT,
    pa.int64(): exp.DType.BIGINT,
    pa.uint8(): exp.DType.UTINYINT,
    pa.uint16(): exp.DType.USMALLINT,
    pa.uint32(): exp.DType.UINT,
    pa.uint64(): exp.DType.UBIGINT,
    pa.float32(): exp.DType.FLOAT,
    pa.float64(): exp.DType.DOUBLE,
    pa.string(): exp.DType.TEXT,
    pa.large_string(): exp.DType.TEXT,
    pa.date32(): exp.DType.DATE,
    pa.date64(): exp.DType.DATE,
    pa.time32("s"): exp.DType.TIME,
    pa.time32("ms"): exp.DType.TIME,
    pa.time64("us"): exp.DType.TIME,
    pa.timestamp("s"): exp.DType.TIMESTAMP_S,
    pa.timestamp("ms"): exp.DType.TIMESTAMP_MS,
    pa.timestamp("us"): exp.DType.TIMESTAMP,
    pa.timestamp("ns"): exp.DType.TIMESTAMP_NS,
}


def sql_type(type_: pa.DataType) -> exp.DataType:
    """A type of Arrow as SQL has it."""
    if types.is_decimal(type_):
        sizes = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in (type_.precision, type_.scale)]
        return exp.DataType(this=exp.DType.DECIMAL, expressions=sizes)
    if types.is_timestamp(type_) and type_.tz is not None:
        return exp.DataType(this=exp.DType.TIMESTAMPTZ)
    if type_ not in _TYPES:
        raise InternalError(f"SQL has no type for {type_}")
    return exp.DataType(this=_TYPES[type_])


def wide_integer() -> exp.DataType:
    """The type of whole numbers that sums of 64 bits fit into."""
    return exp.DataType(this=exp.DType.INT128)


def fingerprint(*columns: exp.Expr) -> exp.Expr:
    return _function("FINGERPRINT", *columns)


def is_finite(value: exp.Expr) -> exp.Expr:
    return _function("IS_FINITE", value)


def repeat_rows(count: exp.Expr) -> exp.Expr:
    return _function("REPEAT_ROWS", count)


def _function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))
