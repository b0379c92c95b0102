"""The few things that engines say differently, under names of our own that every engine's dialect writes in its words.

A plan is a tree that no engine has seen. What SQL has one word for, or sqlglot a node that it writes in every dialect,
stands in it as that. What is left is here:

    FINGERPRINT(a, b, …)   a whole number that equal values have in common, missing ones too, and others hardly ever
    IS_FINITE(x)           whether a float is a number, and not an infinite one
    EPOCH_US(x)            the microseconds of a timestamp since 1970, or of a time since midnight
    EPOCH_NS(x)            the nanoseconds of a timestamp since 1970
    AT_MOST(values, x)     how many values of an array in ascending order are not above x
    EQUAL_TO(values, x)    how many values of an array are x

and a node that no text is read as: `LookedUp`, a column of the one row of a relation that has certain keys.
"""

from __future__ import annotations

from typing import TypeVar

import pyarrow as pa
from pyarrow import types
from sqlglot import exp, generator

from discreet.errors import EngineError, InternalError

# ln Γ(x) for x from 1 on: Stirling's series at x + 9, and back (error below 1e-11).
Tree = TypeVar("Tree", bound=exp.Expr)
LGAMMA = (
    "(({y} - 0.5) * LN({y}) - {y} + 0.9189385332046727 + 1 / (12 * {y}) - 1 / (360 * POWER({y}, 3))"
    " + 1 / (1260 * POWER({y}, 5)) - 1 / (1680 * POWER({y}, 7)) - LN({before}))"
)
FUNCTIONS = ("FINGERPRINT", "IS_FINITE", "EPOCH_US", "EPOCH_NS", "AT_MOST", "EQUAL_TO")


def check_sqlglot() -> None:
    """Raise beside sqlglot's compiled build, whose classes refuse to be extended, with an error that names neither."""
    if not str(generator.__file__).endswith(".py"):
        raise EngineError(
            "sqlglot is installed in its compiled form (`sqlglotc`), which discreet cannot extend",
            hint="remove it with `pip uninstall sqlglotc`, or use an environment of its own for discreet",
        )


class LookedUp(exp.Expression, exp.Func):
    """A `column` of the row of a `relation` whose `keys` are what `expressions` are; nothing if there is none.

    People know it as the column `this` of a `table`; `kinds` say which keys are known to be text or numbers.
    """

    arg_types = {  # noqa: RUF012
        "this": True,
        "table": True,
        "relation": True,
        "column": True,
        "keys": True,
        "kinds": True,
        "expressions": True,
    }

    def query(self) -> exp.Select:
        """As a subquery over the relation, whose columns have names that stand for nothing else."""
        row = [exp.column(key, quoted=True) for key in self.args["keys"]]
        same = [
            exp.EQ(this=key, expression=exp.paren(each.copy())) for key, each in zip(row, self.expressions, strict=True)
        ]
        found = exp.select(exp.column(self.args["column"], quoted=True))
        return found.from_(exp.to_identifier(self.args["relation"], quoted=True)).where(*same)

    def shown(self) -> exp.Column:
        """As people write it."""
        return exp.column(self.this.copy(), table=self.args["table"])


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


def log_gamma(x: str) -> str:
    """LGAMMA of SQL that is a double, where an engine has no such function."""
    return LGAMMA.format(y=f"({x} + 9)", before=" * ".join(f"({x} + {i})" for i in range(9)))


def wide_integer() -> exp.DataType:
    """The type of whole numbers that sums of 64 bits fit into."""
    return exp.DataType(this=exp.DType.INT128)


def fingerprint(*columns: exp.Expr) -> exp.Expr:
    return _function("FINGERPRINT", *columns)


def is_finite(value: exp.Expr) -> exp.Expr:
    return _function("IS_FINITE", value)


def _function(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def placeless(tree: Tree) -> Tree:
    """The same tree without the place of every name in its text: to copy these takes longer than all the rest."""
    for node in tree.walk():
        if node.meta_get("line") is not None:
            node._meta = None  # noqa: SLF001 - an empty one would be copied as well
    return tree
