"""How DuckDB says what engines say differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from discreet.engines.dialect import LookedUp

FUNCTIONS: dict[str, Callable[[Sequence[exp.Expr]], exp.Expr]] = {
    "FINGERPRINT": lambda columns: exp.func("hash", *columns),
    "IS_FINITE": lambda value: exp.func("isfinite", *value),
    "EPOCH_US": lambda value: exp.func("epoch_us", *value),
    "EPOCH_NS": lambda value: exp.func("epoch_ns", *value),
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
