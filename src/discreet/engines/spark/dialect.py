"""How Spark says what engines say differently.

Plans are written for an engine that divides, cuts and computes means as DuckDB does. What Spark does otherwise, in ANSI
mode and in UTC, is written here so that it comes to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generator import Generator

from discreet.engines.dialect import LookedUp, log_gamma


def _fingerprint(columns: Sequence[exp.Expr]) -> exp.Expr:
    """A hash in which a missing value counts: Spark's own passes over it."""
    return exp.func("xxhash64", *(each for column in columns for each in (column, column.copy().is_(exp.null()))))


def _is_finite(value: exp.Expr) -> exp.Expr:
    """What is not a number is larger here than all that are."""
    return exp.LT(
        this=exp.Abs(this=exp.cast(value, "DOUBLE")), expression=exp.cast(exp.Literal.string("Infinity"), "DOUBLE")
    )


def _microseconds(value: exp.Expr) -> exp.Expr:
    """By way of text, which times and timestamps both have, and to the microsecond."""
    text = exp.cast(value, "TEXT")
    day = exp.func("CONCAT", exp.Literal.string("1970-01-01 "), text)
    moment = exp.case().when(exp.Like(this=text.copy(), expression=exp.Literal.string("__:%")), day).else_(text.copy())
    return exp.func("UNIX_MICROS", exp.cast(moment, exp.DataType(this=exp.DType.TIMESTAMPTZ)))


FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], exp.Expr]] = {
    "FINGERPRINT": _fingerprint,
    "IS_FINITE": lambda value: _is_finite(value[0]),
    "EPOCH_US": lambda value: _microseconds(value[0]),
    "EPOCH_NS": lambda value: exp.Mul(this=_microseconds(value[0]), expression=exp.Literal.number(1000)),
}
TYPES = {
    exp.DType.UTINYINT: "SMALLINT",
    exp.DType.USMALLINT: "INT",
    exp.DType.UINT: "BIGINT",
    exp.DType.UBIGINT: "DECIMAL(20, 0)",
    exp.DType.INT128: "DECIMAL(38, 0)",
    exp.DType.TEXT: "STRING",
    exp.DType.VARCHAR: "STRING",
    exp.DType.TIME: "TIME(6)",
    exp.DType.TIMESTAMP: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMP_S: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMP_MS: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMP_NS: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMPTZ: "TIMESTAMP_LTZ",
    exp.DType.TIMESTAMPLTZ: "TIMESTAMP_LTZ",
}
NO_ESCAPE = "\x01"  # stands for itself in no pattern
PARTS = {"DOW": "DAYOFWEEK", "DAYOFWEEK": "DAYOFWEEK", "WEEKDAY": "DAYOFWEEK"}


def _div(self: Any, each: exp.Div) -> str:
    """A quotient of floats, and missing where the divisor is 0."""
    return f"CAST({self.sql(each.this)} AS DOUBLE) / {_divisor(self, each.expression, 'DOUBLE')}"


def _mod(self: Any, each: exp.Mod) -> str:
    return f"{self.sql(each.this)} % {_divisor(self, each.expression)}"


def _int_div(self: Any, each: exp.IntDiv) -> str:
    """The quotient of whole numbers without its fraction."""
    return f"({self.sql(each.this)} DIV {_divisor(self, each.expression)})"


def _sub(self: Any, each: exp.Sub) -> str:
    """Days between dates are a number."""
    sides = each.this.unnest(), each.expression.unnest()
    dated = [isinstance(side, exp.Cast) and side.is_type(exp.DType.DATE) for side in sides]
    if any(dated) and not isinstance(sides[1], exp.Interval | exp.Literal):
        return f"DATEDIFF({self.sql(each.this)}, {self.sql(each.expression)})"
    sql: str = self.binary(each, "-")
    return sql


def _divisor(self: Any, divisor: exp.Expr, type_: str | None = None) -> str:
    known = isinstance(divisor, exp.Literal) and not divisor.is_string and float(divisor.this) != 0
    written = self.sql(divisor)
    typed = f"CAST({written} AS {type_})" if type_ else written
    return typed if known else f"NULLIF({typed}, 0)"


def _truncated(self: Any, each: exp.Expr) -> str:
    """Of a date as of a timestamp, and without a zone."""
    moment = f"CAST({self.sql(each.this)} AS TIMESTAMP_LTZ)"
    return f"CAST(DATE_TRUNC('{each.args['unit'].name}', {moment}) AS TIMESTAMP_NTZ)"


def _extract(self: Any, each: exp.Extract) -> str:
    part = each.this.name.upper()
    if part in PARTS:
        return f"(EXTRACT({PARTS[part]} FROM {self.sql(each.expression)}) - 1)"
    if part == "ISODOW":
        return f"EXTRACT(DAYOFWEEK_ISO FROM {self.sql(each.expression)})"
    if part == "EPOCH":
        return f"(UNIX_MICROS(CAST({self.sql(each.expression)} AS TIMESTAMP_LTZ)) / 1000000.0D)"
    return f"EXTRACT({part} FROM {self.sql(each.expression)})"


def _double(self: Any, this: exp.Expr) -> str:
    """A float, or the different ones."""
    different = "DISTINCT " if isinstance(this, exp.Distinct) else ""
    return f"{different}CAST({self.sql(this.expressions[0] if different else this)} AS DOUBLE)"


def _log(self: Any, each: exp.Log) -> str:
    """LOG of one argument is to the base 10; of two, the base comes first."""
    if each.expression is None:
        return f"LOG10({self.sql(each.this)})"
    return f"LOG({self.sql(each.this)}, {self.sql(each.expression)})"


def _percentile(self: Any, each: exp.PercentileCont | exp.PercentileDisc | exp.Quantile) -> str:
    """A quantile of a column, which DuckDB writes as a function of both."""
    name = "PERCENTILE_CONT" if isinstance(each, exp.PercentileCont) else "PERCENTILE_DISC"
    share = each.args.get("quantile") or each.expression
    if share is None:  # its column stands in WITHIN GROUP
        return f"{name}({self.sql(each.this)})"
    return f"{name}({self.sql(share)}) WITHIN GROUP (ORDER BY {self.sql(each.this)})"


def _looked_up(self: Any, each: LookedUp) -> str:
    """The largest of the one value that there is: Spark wants to see that there is one."""
    query = each.query()
    query.set("expressions", [exp.Max(this=query.expressions[0])])
    sql: str = self.sql(exp.paren(query, copy=False))
    return sql


class Dialect(Spark):
    """Spark's SQL, and the words of `engines/dialect.py` in it."""

    class Generator(Spark.Generator):  # type: ignore[valid-type,misc] # sqlglot keeps it in a variable
        TRANSFORMS = {  # noqa: RUF012
            **Spark.Generator.TRANSFORMS,
            LookedUp: _looked_up,
            exp.Div: _div,
            exp.Mod: _mod,
            exp.IntDiv: _int_div,
            exp.Extract: _extract,
            exp.DayOfWeek: lambda self, each: f"(DAYOFWEEK({self.sql(each.this)}) - 1)",
            exp.DayOfWeekIso: lambda self, each: f"EXTRACT(DAYOFWEEK_ISO FROM {self.sql(each.this)})",
            exp.Week: lambda self, each: f"WEEKOFYEAR({self.sql(each.this)})",
            exp.DateTrunc: _truncated,
            exp.TimestampTrunc: _truncated,
            exp.Avg: lambda self, each: f"AVG({_double(self, each.this)})",
            exp.Median: lambda self, each: f"MEDIAN({_double(self, each.this)})",
            exp.WithinGroup: lambda self, each: self.withingroup_sql(each),  # sqlglot's is approximate
            exp.Sub: _sub,
            exp.Dayname: lambda self, each: f"DATE_FORMAT({self.sql(each.this)}, 'EEEE')",
            exp.Monthname: lambda self, each: f"DATE_FORMAT({self.sql(each.this)}, 'MMMM')",
            exp.PercentileCont: _percentile,
            exp.PercentileDisc: _percentile,
            exp.Quantile: _percentile,
            exp.Log: _log,
        }

        def anonymous_sql(self, expression: exp.Anonymous) -> str:
            ours = FUNCTIONS.get(expression.name)
            if expression.name.upper() == "LGAMMA":
                return log_gamma(f"CAST({self.sql(expression.expressions[0])} AS DOUBLE)")
            sql: str = super().anonymous_sql(expression) if ours is None else self.sql(ours(expression.expressions))
            return sql

        def cte_sql(self, expression: exp.CTE) -> str:
            expression.set("materialized", None)  # Spark decides by itself
            sql: str = super().cte_sql(expression)
            return sql

        def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
            """CAST as it stands: sqlglot writes some as functions of Spark's that know no time without a zone."""
            return Generator.cast_sql(self, expression, safe_prefix)

        def _like_sql(self, expression: exp.Like | exp.ILike, escape: exp.Escape | None = None) -> str:
            """A backslash in a pattern stands for itself, unless an escape is named."""
            sql: str = super()._like_sql(expression, escape)
            pattern = expression.expression
            plain = pattern.is_string and "\\" not in pattern.name
            if plain or escape is not None or isinstance(expression.parent, exp.Escape):
                return sql
            return f"{sql} ESCAPE {self.sql(exp.Literal.string(NO_ESCAPE))}"

        def datatype_sql(self, expression: exp.DataType) -> str:
            sql: str = TYPES.get(expression.this) or super().datatype_sql(expression)
            return sql
