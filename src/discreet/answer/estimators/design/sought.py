"""What a question says of the sensitive values: which of them match, by key, and what the argument is of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.estimators.design.moments import numbered
from discreet.answer.question.question import Question
from discreet.engines import Engine
from discreet.learn.design import Flags, Floats
from discreet.release.groups import Ints
from discreet.release.layouts.file import named
from discreet.values.coded import to_arrow, to_numpy

VALUES = "values by code"


@dataclass(frozen=True, eq=False)
class Sought:
    """By code of the sensitive column: the number of its key, or -1 if it does not match; and a column per argument."""

    key: Ints
    names: pa.Table
    arguments: tuple[pa.ChunkedArray, ...]

    @property
    def count(self) -> int:
        """How many keys there are."""
        return max(len(self.names), 1)

    def matching(self) -> Floats:
        """By key and code, 1 if it matches."""
        found = np.zeros((self.count, self.key.size))
        codes = np.flatnonzero(self.key >= 0)
        found[self.key[codes], codes] = 1
        return found

    def present(self, argument: int) -> Flags:
        """Whether the argument of each code has a value."""
        return np.asarray(self.arguments[argument].is_valid().to_numpy(), np.bool_)

    def numbers(self, argument: int) -> Floats:
        """The argument of each code as a number, 0 where there is none."""
        found: Floats = to_numpy(self.arguments[argument].cast(pa.float64(), safe=False).fill_null(0))
        return found


def query(question: Question, arguments: list[exp.Expr], name: str) -> exp.Select:
    """Whether each code matches, its keys, and the arguments."""

    def placed(expression: exp.Expr) -> exp.Expr:
        def one(node: exp.Expr) -> exp.Expr:
            return exp.column("value") if isinstance(node, exp.Column) and node.name == name else node

        return expression.transform(one)

    condition = question.where.get("sensitive")
    holds = exp.true() if condition is None else exp.Coalesce(this=placed(condition), expressions=[exp.false()])
    keys = [(f"key_{i}", key.expression) for i, key in enumerate(question.keys) if key.side == "sensitive"]
    asked = [*keys, *((f"argument_{i}", each) for i, each in enumerate(arguments))]
    columns = [exp.alias_(holds, "holds")]
    for alias, each in asked:  # what does not match may be an error to compute
        found = placed(each) if condition is None else exp.Case(ifs=[exp.If(this=holds.copy(), true=placed(each))])
        columns.append(exp.alias_(found, alias))
    return exp.select(*columns).from_(named(VALUES)).order_by(exp.column("code"))


def load(engine: Engine, values: pa.Array) -> None:
    """Lay the values down where the engine can compute with them."""
    codes = to_arrow(np.arange(len(values), dtype=np.int32))
    engine.load(VALUES, pa.table({"code": codes, "value": values}))


def read(found: pa.Table) -> Sought:
    """What such a query found."""
    holds = np.flatnonzero(np.asarray(found.column("holds").to_numpy(), np.bool_))
    names = [name for name in found.column_names if name.startswith("key_")]
    keys = numbered(found.select(names).take(to_arrow(holds))) if names else None
    of = np.full(len(found), -1, np.int32)
    of[holds] = 0 if keys is None else keys.numbers
    arguments = (found.column(name) for name in found.column_names if name.startswith("argument_"))
    return Sought(of, pa.table({}) if keys is None else keys.names, tuple(arguments))
