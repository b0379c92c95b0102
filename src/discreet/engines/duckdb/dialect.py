"""How DuckDB says what engines say differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from discreet.engines.dialect import LookedUp


def _counted(how: type[exp.Binary], values: exp.Expr, constant: exp.Expr) -> exp.Expr:
    """How many values of a list compare so with a constant."""
    each = exp.to_identifier("each")
    compared = how(this=exp.column("each"), expression=constant.copy())
    return exp.func("len", exp.func("list_filter", values, exp.Lambda(this=compared, expressions=[each])))


FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], exp.Expr]] = {
    "FINGERPRINT": lambda columns: exp.func("hash", *columns),
    "IS_FINITE": lambda value: exp.func("isfinite", *value),
    "EPOCH_US": lambda value: exp.func("epoch_us", *value),
    "EPOCH_NS": lambda value: exp.func("epoch_ns", *value),
    "AT_MOST": lambda given: _counted(exp.LTE, *given),
    "EQUAL_TO": lambda given: _counted(exp.EQ, *given),
}


class Dialect(DuckDB):
    """DuckDB's SQL, and the words of `engines/dialect.py` in it."""

    class Generator(DuckDB.Generator):  # type: ignore[valid-type,misc] # sqlglot keeps it in a variable
        TRANSFORMS = {  # noqa: RUF012
            **DuckDB.Generator.TRANSFORMS,
            LookedUp: lambda self, each: self.sql(exp.paren(each.query(), copy=False)),
        }

        def anonymous_sql(self, expression: exp.Anonymous) -> str:
            ours = FUNCTIONS.get(expression.name)
            sql: str = super().anonymous_sql(expression) if ours is None else self.sql(ours(expression.expressions))
            return sql
