"""A release in the order of its groups, as codes: what the pass goes over. Columns are read when first asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.cache import Cache
from discreet.answer.accelerate.coded import (
    DENSE,
    Coded,
    code,
    has_many,
    narrow,
    to_arrow,
    to_numpy,
    whole,
    whole_numbers,
)
from discreet.answer.accelerate.kernels import Codes, Ints, Longs, distinct, in_order, label, label_too, offsets_of
from discreet.engines import Engine
from discreet.engines.dialect import sql_type
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise

MOST_COMBINATIONS = 2**16  # of values of several columns, for which an expression is computed at once
KNOWN = 32  # expressions

NONE = np.zeros(0, np.int32)
CODED, GROUPS = ("codes", "values"), ""  # a column of the release has a name

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
    known: dict[str, pa.Array] = field(default_factory=dict)

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
                while len(self.known) >= KNOWN:
                    self.known.pop(next(iter(self.known)))
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


def read_coded(engine: Engine, relation: str, names: Sequence[str]) -> dict[str, Coded | None]:
    """Columns as codes; None where nearly every row has a value of its own.

    Whole numbers in a small range leave the engine as their codes: that takes less than the numbers.
    """
    columns = {name: exp.column(name, quoted=True) for name in names}
    kinds = engine.run(exp.select(*columns.values()).from_(named(relation)).limit(0)).schema
    whole = [name for name, kind in zip(names, kinds.types, strict=True) if pa.types.is_integer(kind)]
    ranges = {name: each for name, each in _ranges(engine, relation, whole).items() if each is not None}
    wanted = [_distance(columns[name], *ranges[name]) if name in ranges else columns[name] for name in names]
    table = engine.run(exp.select(*wanted).from_(named(relation)))
    found: dict[str, Coded | None] = {}
    for name, column, kind in zip(names, table.columns, kinds.types, strict=True):
        if name in ranges:
            found[name] = Coded(to_numpy(column), whole_numbers(*ranges[name], kind))
        else:
            found[name] = None if has_many(column) else code(column)
    return found


def _ranges(engine: Engine, relation: str, names: Sequence[str]) -> dict[str, tuple[int, int] | None]:
    """The smallest and the largest of columns of whole numbers; None if one is missing, or they are far apart."""
    if not names:
        return {}
    query = exp.select().from_(named(relation))
    for name in names:
        column = exp.column(name, quoted=True)
        gaps = exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=column.copy()))
        query = query.select(exp.Min(this=column), exp.Max(this=column.copy()), gaps)
    [row] = zip(*(column.to_pylist() for column in engine.run(query).columns), strict=True)
    found: dict[str, tuple[int, int] | None] = {}
    for name, low, high, gaps in zip(names, row[::3], row[1::3], row[2::3], strict=True):
        fits = low is not None and not gaps and high - low < DENSE and low > -(2**62) and high < 2**62
        found[name] = (low, high) if fits else None
    return found


def _distance(column: exp.Expr, low: int, high: int) -> exp.Expr:
    """How far a whole number is from the smallest."""
    number = exp.Sub(this=exp.cast(column.copy(), "BIGINT"), expression=exp.Literal.number(low))
    return exp.cast(number, sql_type(pa.from_numpy_dtype(narrow(high - low + 1))))


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
    way = PUBLICATIONS.get(promise.publication)
    if way is None or promise.sensitive is None:
        return None
    read, of_rows, of_values = way
    groups = _kept(cache, promise)
    if groups is None:
        groups = read(engine, promise, promise.sensitive)
        if groups is None:
            return None
        cache.put(GROUPS, {"rows": groups.rows, "held": groups.held, "n": groups.n, **groups.values.arrays()})
    size = np.diff(groups.rows)
    counted = np.add.reduceat(groups.n, groups.held[:-1], dtype=np.int64) if groups.n.size else np.diff(groups.held)
    if not np.array_equal(size, counted):
        return None
    quasi = Entries(engine, cache, of_rows, groups.rows, NONE)
    ascend = in_order(groups.held, groups.values.codes)
    sensitive = Entries(engine, cache, of_values, groups.held, groups.n, ascend)
    sensitive.keep(promise.sensitive, groups.values)
    return Grouped(size.astype(np.int32), quasi, sensitive)


class _Groups(NamedTuple):
    """Where the rows and the values of each group start, and of each value its code and how many rows hold it."""

    rows: Longs
    held: Longs
    n: Ints
    values: Coded


def _kept(cache: Cache, promise: Promise) -> _Groups | None:
    """What an earlier process left, if it can be so."""
    arrays = cache.get(GROUPS, ("rows", "held", "n", *CODED))
    if arrays is None:
        return None
    rows, held, n = arrays["rows"], arrays["held"], arrays["n"]
    if not (_are_offsets(rows, promise) and _are_offsets(held, promise) and n.dtype == np.int32):
        return None
    values = Coded.of(arrays, int(held[-1]))
    sound = values is not None and n.shape in {(0,), (held[-1],)} and rows[-1] == promise.rows
    return _Groups(rows, held, n, values) if sound and values is not None and (n > 0).all() else None


def _are_offsets(offsets: Longs, promise: Promise) -> bool:
    return (
        offsets.shape == (promise.groups + 1,)
        and offsets.dtype == np.int64
        and offsets[0] == 0
        and bool((np.diff(offsets) > 0).all())
    )


def _anatomy(engine: Engine, promise: Promise, sensitive: str) -> _Groups | None:
    [of_rows] = _columns(engine, "qit file", promise.group)
    [of_values] = _columns(engine, "st file", promise.group)
    rows, held = _offsets(of_rows, promise), _offsets(of_values, promise)
    if rows is None or held is None:
        return None
    n = NONE
    if _ranges(engine, "st file", [promise.count])[promise.count] != (1, 1):
        [counts] = _columns(engine, "st file", promise.count)
        n = counts.astype(np.int32)
    return _Groups(rows, held, n, _values(engine, "st file", sensitive))


def _permutation(engine: Engine, promise: Promise, sensitive: str) -> _Groups | None:
    [row] = _columns(engine, "permuted file", promise.row)
    same, groups = _columns(engine, "mapping file", promise.row, promise.group)
    rows = _offsets(groups, promise)
    if rows is None or not ((np.diff(row) > 0).all() and np.array_equal(row, same)):
        return None
    coded = _values(engine, "permuted file", sensitive)
    held, codes, n = distinct(rows, coded.codes, len(coded.values))
    return _Groups(rows, held, NONE if n.max(initial=1) == 1 else n, Coded(codes, coded.values))


# How the groups of a publication whose rows can be counted are read, and the relations of rows and of values.
PUBLICATIONS = {
    "anatomy": (_anatomy, "qit file", "st file"),
    "permutation": (_permutation, "permuted file", "permuted file"),
}


def _columns(engine: Engine, relation: str, *names: str) -> list[npt.NDArray[Any]]:
    """Columns of whole numbers, none missing."""
    query = exp.select(*(exp.column(name, quoted=True) for name in names))
    return [to_numpy(column) for column in engine.run(query.from_(named(relation))).columns]


def _values(engine: Engine, relation: str, name: str) -> Coded:
    """The sensitive values, however many there are."""
    coded = read_coded(engine, relation, [name])[name]
    if coded is None:
        column = exp.select(exp.column(name, quoted=True)).from_(named(relation))
        coded = code(engine.run(column).column(0))
    return coded


def _offsets(groups: npt.NDArray[Any], promise: Promise) -> Longs | None:
    """Where each group starts; None if rows do not lie in the order of groups, all of which have some."""
    if not groups.size or groups.dtype.kind not in "iu":
        return None
    offsets: Longs = offsets_of(groups, int(groups[0]), promise.groups)
    return offsets if offsets.size and _are_offsets(offsets, promise) else None
