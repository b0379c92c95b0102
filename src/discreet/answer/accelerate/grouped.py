"""A release in the order of its groups, as codes: what the pass goes over. Columns are read when first asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.coded import Coded, code, has_many
from discreet.answer.accelerate.kernels import Codes, Ints, Longs, distinct, in_order, label, label_too, offsets_of
from discreet.engines import Engine
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise

MOST_COMBINATIONS = 2**16  # of values of several columns, for which an expression is computed at once

Evaluated = tuple[Codes, pa.Array]  # the code of every entry, and the value of an expression for every code


@dataclass(eq=False)
class Entries:
    """One side of a release, in the order of groups: rows, or values that `n` rows of the group hold (all one: none).

    `columns` are those that were read so far, None where nearly every row has a value of its own.
    """

    engine: Engine
    relation: str
    offsets: Longs
    n: Ints
    in_order: bool = False
    columns: dict[str, Coded | None] = field(default_factory=dict)

    def read(self, names: Sequence[str]) -> None:
        """Read those of the columns that were not."""
        new = [name for name in dict.fromkeys(names) if name not in self.columns]
        if not new:
            return
        columns = exp.select(*(exp.column(name, quoted=True) for name in new))
        table = self.engine.run(columns.from_(named(self.relation)))
        for name, column in zip(new, table.columns, strict=True):
            self.keep(name, None if has_many(column) else code(column))

    def keep(self, name: str, coded: Coded | None) -> None:
        """Keep a column, its values where the engine can compute with them."""
        self.columns[name] = coded
        if coded is not None:
            numbers = pa.array(np.arange(len(coded.values), dtype=np.int32))
            self.engine.load(self._dictionary(name), pa.table({"code": numbers, "value": coded.values}))

    def evaluate(self, names: tuple[str, ...], expressions: Sequence[exp.Expr]) -> list[Evaluated]:
        """Expressions over columns: for each combination of their values, or if these are too many for each row."""
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
        return [(codes, _whole(column)) for column in values.columns]

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


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found: Any = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.array([], column.type)


@dataclass(eq=False)
class Grouped:
    """Both sides of a release, and the size of every group."""

    size: Ints
    quasi: Entries
    sensitive: Entries

    def side(self, name: str) -> Entries:
        return self.quasi if name == "quasi" else self.sensitive


def grouped(engine: Engine, promise: Promise) -> Grouped | None:
    """The groups of a release, from its files as the engine sees them; None if they are not in order."""
    read = {"anatomy": _anatomy, "permutation": _permutation}.get(promise.publication)
    return None if read is None or promise.sensitive is None else read(engine, promise, promise.sensitive)


def _anatomy(engine: Engine, promise: Promise, sensitive: str) -> Grouped | None:
    [of_rows] = _columns(engine, "qit file", promise.group)
    of_values, values, counts = _columns(engine, "st file", promise.group, sensitive, promise.count)
    rows, held = _offsets(of_rows, promise), _offsets(of_values, promise)
    if rows is None or held is None:
        return None
    n = _numbers(counts).astype(np.int32)
    return _grouped(engine, rows, ("qit file", "st file"), (sensitive, held, code(values), n))


def _permutation(engine: Engine, promise: Promise, sensitive: str) -> Grouped | None:
    row, values = _columns(engine, "permuted file", promise.row, sensitive)
    same, groups = _columns(engine, "mapping file", promise.row, promise.group)
    rows = _offsets(groups, promise)
    if rows is None or not (_ascends(_numbers(row)) and np.array_equal(_numbers(row), _numbers(same))):
        return None
    coded = code(values)
    held, codes, n = distinct(rows, coded.codes, len(coded.values))
    return _grouped(engine, rows, ("permuted file",) * 2, (sensitive, held, Coded(codes, coded.values), n))


def _grouped(
    engine: Engine, rows: Longs, relations: tuple[str, str], values: tuple[str, Longs, Coded, Ints]
) -> Grouped | None:
    name, offsets, coded, n = values
    size = np.diff(rows)
    counted = np.diff(offsets) if (n == 1).all() else np.add.reduceat(n, offsets[:-1], dtype=np.int64)
    if not np.array_equal(size, counted):
        return None
    none = np.zeros(0, np.int32)
    quasi = Entries(engine, relations[0], rows, none)
    sensitive = Entries(engine, relations[1], offsets, none if (n == 1).all() else n, in_order(offsets, coded.codes))
    sensitive.keep(name, coded)
    return Grouped(size.astype(np.int32), quasi, sensitive)


def _columns(engine: Engine, relation: str, *names: str) -> list[pa.ChunkedArray]:
    query = exp.select(*(exp.column(name, quoted=True) for name in names))
    return list(engine.run(query.from_(named(relation))).columns)


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = column.to_numpy()
    return found


def _offsets(groups: pa.ChunkedArray, promise: Promise) -> Longs | None:
    """Where each group starts; None if rows do not lie in the order of groups, all of which have some."""
    numbers = _numbers(groups)
    if not numbers.size or numbers.dtype.kind not in "iu":
        return None
    offsets: Longs = offsets_of(numbers, int(numbers[0]), promise.groups)
    return offsets if offsets.size and (np.diff(offsets) > 0).all() else None


def _ascends(numbers: npt.NDArray[Any]) -> bool:
    return bool((np.diff(numbers) > 0).all())
