"""The answers of core questions side by side: one row per key that any of them may have.

A key without a row in the answer of a part has nobody there: a count of 0, and no other figure. Rows that a release
leaves out may be anywhere, and then bounds say so. Cost: one join of small tables per level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.estimators.columns import floats, is_number
from discreet.answer.left_out import LeftOut
from discreet.answer.question.grammar import AGGREGATES
from discreet.answer.statement.cells import Cell, figure, opaque
from discreet.answer.statement.core import Core, core_question
from discreet.answer.statement.sheet import Sheet, exact_cell, same
from discreet.answer.statement.statement import Asked, Part
from discreet.engines import Engine
from discreet.release.layouts.file import named

FRAME, OTHER, NUMBER = "keys of a statement", "keys of a part", "number of the row"
Longs = npt.NDArray[np.int64]
NULLABLE = tuple(AGGREGATES - {exp.Count})  # missing where nobody matches


def by_level(asked: Asked) -> list[tuple[str, ...]]:
    """The names of parts that are asked for together; people are counted by themselves."""
    levels: dict[object, list[str]] = {}
    for name, part in asked.parts.items():
        apart = name if isinstance(part.aggregate.this, exp.Distinct) else ""
        levels.setdefault((part.level, apart), []).append(name)
    return [tuple(names) for names in levels.values()]


@dataclass(frozen=True)
class SideBySide:
    """How parts are asked for and laid out."""

    engine: Engine
    left_out: LeftOut
    ask: Callable[[str], Core]
    told: list[str]

    def rows(self, asked: Asked) -> Sheet:
        cores = {
            names: self.ask(core_question([asked.parts[name] for name in names], asked.keys))
            for names in by_level(asked)
        }
        frame = self._frame(asked, {name: core for names, core in cores.items() for name in names})
        columns: dict[str, pa.ChunkedArray] = {f"key_{at}": frame.column(at) for at in range(len(asked.keys))}
        cells: dict[str, Cell] = {name: exact_cell(each) for name, each in columns.items()}
        made: dict[str, frozenset[str]] = dict.fromkeys(columns, frozenset())
        for names, core in cores.items():
            places = self._places(frame, core, asked.parts[names[0]].level.keys)
            for at, name in enumerate(names):
                columns[name], cells[name] = self._part(name, asked.parts[name], core, at, places)
                made[name] = frozenset({core.estimators[at]})
            self.told.extend(note for note in core.notes if note not in self.told)
        sure = np.ones(len(frame), np.bool_)
        if asked.keys:
            sure = np.logical_or.reduce([cells[name].low >= 1 for name in asked.frame])
        complete = self.left_out.most == 0 or not asked.keys
        return Sheet(self.engine, pa.table(columns), cells, sure, complete, made, _Within(asked.parts))

    def _frame(self, asked: Asked, cores: Mapping[str, Core]) -> pa.Table:
        """The keys of all rows, sorted; without keys a single row."""
        width = len(asked.keys)
        if not width:
            return pa.table({"one": pa.array([1])})
        tables = [
            cores[name].table.select(range(width)).rename_columns([f"key_{at}" for at in range(width)])
            for name in asked.frame
        ]
        if len(tables) == 1:
            return tables[0]
        self.engine.load(FRAME, pa.concat_tables(tables), keep=False)
        keys = [exp.column(f"key_{at}", quoted=True) for at in range(width)]
        query = exp.select(*keys).from_(named(FRAME)).distinct()
        query = query.order_by(*(exp.Ordered(this=key.copy(), nulls_first=False) for key in keys))
        try:
            return self.engine.run(query)
        finally:
            self.engine.forget(FRAME)

    def _places(self, frame: pa.Table, core: Core, keys: Sequence[int]) -> Longs:
        """Where in an answer each row of the frame stands; -1 where it does not."""
        rows = len(frame)
        if not keys:
            return np.zeros(rows, np.int64)
        numbers = pa.array(np.arange(rows))
        other = core.table.select(range(len(keys))).rename_columns([f"key_{at}" for at in keys])
        self.engine.load(FRAME, frame.append_column(NUMBER, numbers), keep=False)
        self.engine.load(OTHER, other.append_column(NUMBER, pa.array(np.arange(len(other)))), keep=False)
        agree = [
            exp.NullSafeEQ(
                this=exp.column(f"key_{at}", table="a", quoted=True),
                expression=exp.column(f"key_{at}", table="b", quoted=True),
            )
            for at in keys
        ]
        query = exp.select(exp.column(NUMBER, table="b", quoted=True)).from_(exp.alias_(named(FRAME), "a", table=True))
        query = query.join(exp.alias_(named(OTHER), "b", table=True), on=exp.and_(*agree), join_type="left")
        try:
            found = self.engine.run(query.order_by(exp.column(NUMBER, table="a", quoted=True)))
        finally:
            self.engine.forget(FRAME)
            self.engine.forget(OTHER)
        return np.asarray(found.column(0).fill_null(-1).to_numpy(), np.int64)

    def _part(self, name: str, part: Part, core: Core, at: int, places: Longs) -> tuple[pa.ChunkedArray, Cell]:
        """A part by row; where its answer has no row, nobody who is shown matches."""
        missing = places < 0
        index = pa.array(places, mask=missing)
        value, stderr, low, high = (column.take(index) for column in core.parts[at])
        counts = isinstance(part.aggregate, exp.Count)
        if not is_number(value.type):
            absent = core.least(at, places) == 0
            return value, replace(opaque(same(low, high) & ~absent), absent=absent)
        figures = [floats(column) for column in (value, stderr, low, high)]
        if counts:
            most = np.inf if self.left_out.most is None else float(self.left_out.most)
            figures = [np.where(missing, instead, each) for each, instead in zip(figures, (0, 0, 0, most), strict=True)]
            value = value.fill_null(0) if missing.any() else value
        amount, spread, least, greatest = figures
        absent = np.zeros(len(places), np.bool_) if counts else core.least(at, places) == 0
        void = np.isnan(amount) & np.isnan(least) & np.isnan(greatest) & (self.left_out.most == 0)
        void &= isinstance(part.aggregate, NULLABLE)
        least = np.where(np.isnan(least) & ~void, -np.inf, least)
        greatest = np.where(np.isnan(greatest) & ~void, np.inf, greatest)
        cell = figure(name, amount, spread, least, greatest, absent | void, whole=counts)
        return value, replace(cell, nil=isinstance(part.aggregate, exp.Sum))


@dataclass(frozen=True)
class _Within:
    """Whether a part is never above another."""

    parts: Mapping[str, Part]

    def __call__(self, one: str, other: str) -> bool:
        return one in self.parts and other in self.parts and self.parts[one].within(self.parts[other])
