"""How PostgreSQL says what engines say differently, and which of its types are which of Arrow's.

Plans are written for an engine that divides, underflows and computes means as DuckDB does. What PostgreSQL does
otherwise is written here so that it comes to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types
from sqlglot import exp
from sqlglot.dialects.postgres import Postgres

from discreet.engines.dialect import LookedUp, log_gamma, sql_type
from discreet.errors import InputError
from discreet.values.columns import WIDE


def _fingerprint(columns: Sequence[exp.Expr]) -> exp.Expr:
    """A hash of the text of a row, in which a missing value is told from an empty text."""
    row = exp.cast(exp.func("ROW", *columns), "TEXT")
    return exp.func("hashtextextended", row, exp.Literal.number(0))


def _epoch(value: exp.Expr, units: int) -> exp.Expr:
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=value)
    return exp.cast(exp.Mul(this=seconds, expression=exp.Literal.number(units)), "BIGINT")


def _is_finite(value: exp.Expr) -> exp.Expr:
    """As texts: whole numbers are neither infinite nor not a number."""
    texts = [exp.Literal.string(text) for text in ("NaN", "Infinity", "-Infinity")]
    return exp.not_(exp.In(this=exp.cast(value, "TEXT"), expressions=texts))


FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], exp.Expr]] = {
    "FINGERPRINT": _fingerprint,
    "IS_FINITE": lambda value: _is_finite(value[0]),
    "EPOCH_US": lambda value: _epoch(value[0], 1_000_000),
    "EPOCH_NS": lambda value: _epoch(value[0], 1_000_000_000),
    "AT_MOST": lambda given: exp.func("width_bucket", given[1], given[0]),
    "EQUAL_TO": lambda given: exp.func("cardinality", exp.func("array_positions", *given)),
}
NUMBERS = {
    exp.DType.TINYINT: "SMALLINT",
    exp.DType.UTINYINT: "SMALLINT",
    exp.DType.USMALLINT: "INTEGER",
    exp.DType.UINT: "BIGINT",
    exp.DType.UBIGINT: "NUMERIC(20, 0)",
    exp.DType.INT128: "NUMERIC",
    exp.DType.TIMESTAMP_S: "TIMESTAMP",
    exp.DType.TIMESTAMP_MS: "TIMESTAMP",
}
LEAST_EXPONENT = -700  # EXP of less is an error here, and 0 elsewhere


def _exp(self: Any, each: exp.Exp) -> str:
    x = self.sql(each.this)
    return f"CASE WHEN {x} < {LEAST_EXPONENT} THEN 0 ELSE EXP({x}) END"


def _round(self: Any, each: exp.Round) -> str:
    """Halves away from zero: the server rounds halves of floats to the even number."""
    x, places = self.sql(exp.paren(each.this.copy())), each.args.get("decimals")
    if places is None:
        return f"(SIGN{x} * FLOOR(ABS{x} + 0.5))"
    return f"CAST(ROUND(CAST({x} AS NUMERIC), {self.sql(places)}) AS DOUBLE PRECISION)"


def _extreme(self: Any, each: exp.Min | exp.Max) -> str:
    """MIN and MAX, which the server has not of truth values: of what may be one, the first or the last in order."""
    this = each.this.unnest()
    of_truth = this.name == "value" or isinstance(this, exp.Predicate | exp.Not | exp.Connector | exp.Boolean)
    if not of_truth or isinstance(each.parent, exp.Window):
        return f"{each.key.upper()}({self.sql(each.this)})"
    return f"PERCENTILE_DISC({int(isinstance(each, exp.Max))}) WITHIN GROUP (ORDER BY {self.sql(each.this)})"


def _sum(self: Any, each: exp.Sum) -> str:
    """Of fingerprints, whole numbers of 64 bits, as they are: the server adds up longer ones more slowly."""
    this = each.this
    if isinstance(this, exp.Cast) and isinstance(this.this, exp.Anonymous) and this.this.name == "FINGERPRINT":
        this = this.this
    return f"SUM({self.sql(this)})"


def _agreeing(self: Any, each: exp.NullSafeEQ) -> str:
    """A key of two relations as arrays of one, which are equal where both are missing, too, and can be hashed.

    Of IS NOT DISTINCT FROM the server tries each row with each. What is no key may be of two types.
    """
    one, other = each.this, each.expression
    keys = isinstance(one, exp.Column) and isinstance(other, exp.Column) and one.name == other.name
    if keys and one.name.startswith("key_") and one.table != other.table:
        return f"ARRAY[{self.sql(one)}] = ARRAY[{self.sql(other)}]"
    return str(self.binary(each, "IS NOT DISTINCT FROM"))


def _truncated(self: Any, each: exp.Expr) -> str:
    """Of a date, a time without a zone: the server would add its own."""
    return f"DATE_TRUNC('{each.args['unit'].name}', CAST({self.sql(each.this)} AS TIMESTAMP))"


class Dialect(Postgres):
    """PostgreSQL's SQL, and the words of `engines/dialect.py` in it."""

    class Generator(Postgres.Generator):  # type: ignore[valid-type,misc] # sqlglot keeps it in a variable
        TRANSFORMS = {  # noqa: RUF012
            **Postgres.Generator.TRANSFORMS,
            LookedUp: lambda self, each: self.sql(exp.paren(each.query(), copy=False)),
            exp.Exp: _exp,
            exp.IsNan: lambda self, each: f"({self.sql(each.this)} = 'NaN')",
            exp.Contains: lambda self, each: f"(STRPOS({self.sql(each.this)}, {self.sql(each.expression)}) > 0)",
            exp.EndsWith: lambda self, each: (
                f"(RIGHT({self.sql(each.this)}, LENGTH({self.sql(each.expression)})) = {self.sql(each.expression)})"
            ),
            exp.DayOfWeek: lambda self, each: f"EXTRACT(DOW FROM {self.sql(each.this)})",
            exp.Min: _extreme,
            exp.Max: _extreme,
            exp.Sum: _sum,
            exp.DateTrunc: _truncated,
            exp.TimestampTrunc: _truncated,
            exp.Round: _round,
            exp.NullSafeEQ: _agreeing,
            exp.Avg: lambda self, each: f"AVG(CAST({self.sql(each.this)} AS DOUBLE PRECISION))",
        }

        def anonymous_sql(self, expression: exp.Anonymous) -> str:
            ours = FUNCTIONS.get(expression.name)
            if expression.name.upper() == "LGAMMA":
                return log_gamma(f"CAST({self.sql(exp.Paren(this=expression.expressions[0]))} AS DOUBLE PRECISION)")
            sql: str = super().anonymous_sql(expression) if ours is None else self.sql(ours(expression.expressions))
            return sql

        def datatype_sql(self, expression: exp.DataType) -> str:
            sql: str = NUMBERS.get(expression.this) or super().datatype_sql(expression)
            return sql


# The types of Arrow that values of a type are read as without loss; a domain is read as what it is made of.
_ARROW: Mapping[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "bpchar": pa.string(),
    "name": pa.string(),
    "char": pa.string(),
    "uuid": pa.string(),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
}
# What to write in a query instead, of types that lose something or have no counterpart.
_INSTEAD: Mapping[str, str] = {
    "citext": "texts that differ in case only would no longer be equal: write `{}::text`, or `lower({}::text)`",
    "json": "write the member that you mean, such as `{}->>'name'`",
    "jsonb": "write the member that you mean, such as `{}->>'name'`",
    "timetz": "write `{}::time`",
    "interval": "write `EXTRACT(EPOCH FROM {})`",
    "money": "write `{}::numeric(14, 2)`",
    "numeric": "its digits have no limit: write `{}::numeric(18, 2)`, with as many as it needs",
}
MOST_DIGITS = 38


def arrow_type(column: str, name: str, modifier: int, kind: str) -> pa.DataType:
    """The type that values of a column are read as; raise by name for one that has none without loss.

    `name`, `modifier` and `kind` are those of the catalogue: `kind` is `e` for an enumeration, whose labels are texts.
    """
    if kind == "e":
        return pa.string()
    if name == "numeric" and modifier >= 0:
        digits, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
        if digits <= MOST_DIGITS and scale <= digits:
            return WIDE if (digits, scale) == (38, 0) else pa.decimal128(digits, scale)
    if name in _ARROW:
        return _ARROW[name]
    told = name.removeprefix("_") + "[]" if name.startswith("_") else name
    written = f'"{column}"'
    instead = _INSTEAD.get(name, "cast it to text or to numbers in a query, or leave it out").replace("{}", written)
    raise InputError(f"the column `{column}` is of the type `{told}`, which has no counterpart here", hint=instead)


def type_in_server(column: str, type_: pa.DataType) -> str:
    """The type of a column that holds values of a type of Arrow; texts are compared as the files are sorted."""
    if types.is_timestamp(type_) and type_.unit == "ns":
        raise InputError(
            f"the column `{column}` holds times down to nanoseconds, and PostgreSQL only has microseconds",
            hint="round it in the table, and publish it again",
        )
    if types.is_dictionary(type_):
        type_ = type_.value_type
    sql = sql_type(type_).sql(dialect=Dialect)
    return f'{sql} COLLATE "C"' if sql == "TEXT" else sql
