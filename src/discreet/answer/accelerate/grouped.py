"""A release in the order of its groups, as codes: what the pass goes over. Columns are read when first asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.kernels import in_order, label, label_too
from discreet.answer.latest import Latest
from discreet.engines import Engine
from discreet.release.cache import Cache
from discreet.release.groups import CODED, NONE, PUBLICATIONS, Codes, Ints, Longs, read_coded, read_groups
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise
from discreet.values.coded import Coded, code, to_arrow, whole

MOST_COMBINATIONS = 2**16  # of values of several columns, for which an expression is computed at once
KNOWN = 32  # expressions

Evaluated = tuple[Codes, pa.Array]  # the code of every entry, and the value of an expression for every code


@dataclass(eq=False)
class Entries:
    """One side of a release, in the order of groups: rows, or values that `n` rows of the group hold (all one: none).

    `columns` are those that were read so far, None where nearly every row has a value of its own. `known` are the
    latest expressions over a single column, for each of its values.
    """

    engine: Engine
    cache: Cache
    relation: str
    offsets: Longs
    n: Ints
    in_order: bool = False
    columns: dict[str, Coded | None] = field(default_factory=dict)
    known: Latest[str, pa.Array] = field(default_factory=lambda: Latest(KNOWN))

    def read(self, names: Sequence[str]) -> None:
        """Read those of the columns that were not."""
        for name in dict.fromkeys(names):
            if name not in self.columns and (kept := Coded.of(self.cache.get(name, CODED), int(self.offsets[-1]))):
                self.keep(name, kept)
        new = [name for name in dict.fromkeys(names) if name not in self.columns]
        for name, coded in (read_coded(self.engine, self.relation, new) if new else {}).items():
            self.keep(name, coded)
            if coded is not None:
                self.cache.put(name, coded.arrays())

    def keep(self, name: str, coded: Coded | None) -> None:
        """Keep a column, its values where the engine can compute with them."""
        self.columns[name] = coded
        if coded is not None:
            numbers = to_arrow(np.arange(len(coded.values), dtype=np.int32))
            self.engine.load(self._dictionary(name), pa.table({"code": numbers, "value": coded.values}))

    def evaluate(self, names: tuple[str, ...], expressions: Sequence[exp.Expr]) -> list[Evaluated]:
        """Expressions over columns, those over a single one computed once however often they are asked for."""
        column = self.columns[names[0]] if len(names) == 1 else None
        if column is None:
            return self._computed(names, expressions)
        asked = [each.sql(dialect=self.engine.dialect) for each in expressions]
        found = {sql: self.known[sql] for sql in asked if sql in self.known}
        found |= {
            sql: column.values for sql, each in zip(asked, expressions, strict=True) if isinstance(each, exp.Column)
        }
        new = {sql: each for sql, each in zip(asked, expressions, strict=True) if sql not in found}
        if new:
            for sql, (_, values) in zip(new, self._computed(names, [*new.values()]), strict=True):
                found[sql] = self.known[sql] = values
        return [(column.codes, found[sql]) for sql in asked]

    def _computed(self, names: tuple[str, ...], expressions: Sequence[exp.Expr]) -> list[Evaluated]:
        """Expressions for each combination of the values of columns, or if these are too many for each row."""
        coded = [column for name in names if (column := self.columns[name]) is not None]
        sizes = [len(column.values) for column in coded]
        if len(coded) < len(names) or prod(sizes) > max(MOST_COMBINATIONS, *sizes, 1):
            rows = self.engine.run(exp.select(*expressions).from_(named(self.relation)))
            found = [code(column) for column in rows.columns]
            return [(column.codes, column.values) for column in found]
        placed = [each.transform(_placed, names) for each in expressions]
        query = exp.select(*placed)
        for i, name in enumerate(names):
            table = named(self._dictionary(name)).as_(f"d{i}")
            query = query.from_(table) if i == 0 else query.join(table, join_type="cross")
        if len(names) > 1:
            query = query.order_by(*(exp.column("code", table=f"d{i}") for i in range(len(names))))
        values = self.engine.run(query)
        codes = coded[0].codes if coded else np.zeros(int(self.offsets[-1]), np.uint8)
        if len(coded) > 1:
            codes = _together(coded)
        return [(codes, whole(column)) for column in values.columns]

    def _dictionary(self, name: str) -> str:
        return f"values of {self.relation} {name}"


def names_in(expression: exp.Expr) -> tuple[str, ...]:
    """The columns that an expression names, each once."""
    return tuple(sorted({column.name for column in expression.find_all(exp.Column)}))


def _placed(node: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    """A column as the value in its dictionary."""
    return exp.column("value", table=f"d{names.index(node.name)}") if isinstance(node, exp.Column) else node


def _together(columns: Sequence[Coded]) -> Ints:
    """One code for the values of several columns, the last changing fastest."""
    first, *others = columns
    codes = np.empty(first.codes.size, np.int32)
    label(first.codes, _every(first), codes)
    for column in others:
        label_too(column.codes, _every(column), len(column.values), codes)
    return codes


def _every(column: Coded) -> Ints:
    return np.arange(len(column.values), dtype=np.int32)


@dataclass(eq=False)
class Grouped:
    """Both sides of a release, and the size of every group."""

    size: Ints
    quasi: Entries
    sensitive: Entries

    def side(self, name: str) -> Entries:
        return self.quasi if name == "quasi" else self.sensitive


def grouped(engine: Engine, promise: Promise, cache: Cache) -> Grouped | None:
    """The groups of a release, from its files as the engine sees them; None if they are not in order."""
    groups = read_groups(engine, promise, cache)
    if groups is None or promise.sensitive is None:
        return None
    source = PUBLICATIONS[promise.publication]
    quasi = Entries(engine, cache, source.rows, groups.rows, NONE)
    ascend = in_order(groups.held, groups.values.codes)
    sensitive = Entries(engine, cache, source.values, groups.held, groups.n, ascend)
    sensitive.keep(promise.sensitive, groups.values)
    return Grouped(np.diff(groups.rows).astype(np.int32), quasi, sensitive)
