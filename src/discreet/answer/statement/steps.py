"""One SELECT over rows that are there: keep, group, compute, sort and cut, by estimates, with bounds for every figure.

Estimates are what the engine says of the expression at the estimates below it. Aggregates over rows are windows over
all rows of a group, of which one is kept. Notes say where bounds allow other rows, or another order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.answer.estimators.columns import floats, is_number
from discreet.answer.question.grammar import AGGREGATES, check_scalar
from discreet.answer.question.refusals import refusal
from discreet.answer.statement import notes
from discreet.answer.statement.cells import Cell, Floats, opaque
from discreet.answer.statement.sheet import NUMBER, Sheet, exact_cell
from discreet.answer.statement.statement import Step
from discreet.answer.statement.windows import check_exact, check_window, firsts, partitions, window
from discreet.errors import QueryError


@dataclass(frozen=True)
class Steps:
    """Takes steps, and tells what is to be said of them."""

    told: list[str]

    def taken(self, sheet: Sheet, step: Step) -> Sheet:
        if step.where is not None:
            sheet = self._kept(sheet, step.where)
        if step.groups is not None:
            sheet, step = self._grouped(sheet, step)
        sheet, step = self._windows(sheet, step)
        if step.qualify is not None:
            sheet = self._kept(sheet, step.qualify)
        found = self._items(sheet, step)
        return self._cut(found, sheet, step)

    def _kept(self, sheet: Sheet, condition: exp.Expr) -> Sheet:
        """The rows of which a condition is true at the estimates; a note says where bounds allow otherwise."""
        check_scalar(condition)
        found = sheet.computed(condition).column(0).cast(pa.bool_()).fill_null(False)
        here = np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
        truth = sheet.arithmetic.truth(condition)
        always = truth.true & ~truth.false & ~truth.null
        self.told.extend(notes.of_condition(here, always, truth.true))
        sheet = replace(sheet, sure=sheet.sure & always, complete=sheet.complete and not (truth.true & ~here).any())
        return sheet.taken(np.flatnonzero(here))

    def _grouped(self, sheet: Sheet, step: Step) -> tuple[Sheet, Step]:
        """Aggregates of rows that are there: windows over all rows of a group, of which one is kept."""
        groups = list(step.groups or ())
        check_exact(sheet, groups, "GROUP BY")
        found: dict[exp.Expr, str] = {}

        def placed(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Window):
                raise QueryError(
                    "a window over a grouped SELECT of a SELECT is not supported", hint="put one more SELECT around it"
                )
            if isinstance(node, exp.Filter):
                inner, condition = node.this.copy(), node.expression.this
                value = exp.Literal.number(1) if isinstance(inner.this, exp.Star) else inner.this
                inner.set("this", exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())]))
                node = inner
            if isinstance(node, exp.AggFunc):
                if type(node) not in AGGREGATES:
                    raise refusal(node)
                found.setdefault(node, f"over_{len(found)}")
                return exp.column(found[node], quoted=True)
            return node

        def read(node: exp.Expr | None) -> exp.Expr | None:
            return None if node is None else node.copy().transform(placed)

        items = tuple((name, read(item) or item) for name, item in step.items)
        order = tuple(replaced(each, read(each.this) or each.this) for each in step.order)
        step = replace(step, items=items, having=read(step.having), order=order, groups=None)
        part = partitions(sheet, groups)
        for node, name in found.items():
            over = exp.Window(this=node, partition_by=[each.copy() for each in groups], over="OVER")
            sheet = self._beside(sheet, name, over)
        if not groups and not len(sheet.table):
            sheet = _of_nothing(sheet, found)
        else:
            first = firsts(part)
            sure = np.full(len(first), not groups)
            np.logical_or.at(sure, part, sheet.sure)
            sheet = replace(sheet.taken(first), sure=sure)
        if step.having is not None:
            sheet = self._kept(sheet, step.having)
        return sheet, step

    def _windows(self, sheet: Sheet, step: Step) -> tuple[Sheet, Step]:
        """Windows as columns, and the step with those in their place."""
        found: dict[exp.Window, str] = {}

        def placed(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Window):
                return node
            found.setdefault(node, f"window_{len(found)}")
            return exp.column(found[node], quoted=True)

        items = tuple((name, item.copy().transform(placed)) for name, item in step.items)
        qualify = None if step.qualify is None else step.qualify.copy().transform(placed)
        order = tuple(replaced(each, each.this.copy().transform(placed)) for each in step.order)
        for node, name in found.items():
            sheet = self._beside(sheet, name, node)
        return sheet, replace(step, items=items, qualify=qualify, order=order)

    def _beside(self, sheet: Sheet, name: str, node: exp.Window) -> Sheet:
        check_window(node)
        column = sheet.computed(node).column(0)
        cell = window(sheet, node)
        if not is_number(column.type) and not cell.exact.all():
            cell = replace(opaque(cell.exact), absent=cell.absent)
        return sheet.beside(name, column, cell, sheet.makers(node) or frozenset({"exact"}))

    def _items(self, sheet: Sheet, step: Step) -> Sheet:
        """The columns of the answer, each with its ends."""
        nodes = [item for _, item in step.items]
        for node in nodes:
            check_scalar(node)
        values = sheet.computed(*nodes)
        arithmetic = sheet.arithmetic
        columns: dict[str, pa.ChunkedArray] = {}
        cells: dict[str, Cell] = {}
        made: dict[str, frozenset[str]] = {}
        for at, ((label, node), value) in enumerate(zip(step.items, values.columns, strict=True)):
            name, cell = f"item_{at}", arithmetic.cell(node)
            made[name] = sheet.makers(node)
            columns[name], cells[name] = value, cell.known(_numbers(value)) if _countable(value) else cell
            if made[name]:
                ends = _ends(value, cells[name])
                self.told.extend(notes.without_bounds(label, cells[name], self.told))
                for end, column in ends.items():
                    columns[f"{name}{end}"], cells[f"{name}{end}"] = column, exact_cell(column)
                    made[f"{name}{end}"] = frozenset()
        table = pa.table(columns)
        return replace(sheet, table=table, cells=cells, made=made)

    def _cut(self, found: Sheet, sheet: Sheet, step: Step) -> Sheet:
        """Sorted, each row once if so asked, and cut."""
        if step.distinct:
            every = [exp.column(f"item_{at}", quoted=True) for at in range(len(step.items))]
            check_exact(found, every, "DISTINCT")
            rows = firsts(partitions(found, every))
            found, sheet = found.taken(rows), sheet.taken(rows)
        if step.order:
            both = sheet
            for name in found.cells:
                answer = name.replace("item_", "answer_", 1)
                both = both.beside(answer, found.table.column(name), found.cells[name], found.made[name])
            for each in step.order:
                check_scalar(each.this)
            by = [*(each.copy() for each in step.order), exp.Ordered(this=exp.column(NUMBER, quoted=True))]
            ranked = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=by), over="OVER")
            rows = np.argsort(np.asarray(both.computed(ranked).column(0).to_numpy(), np.int64))
            if step.limit is not None or step.offset is not None:
                self.told.extend(notes.of_cut(both, step.order[0], rows, step.offset or 0, step.limit))
            found = found.taken(rows)
        if step.limit is not None or step.offset is not None:
            start = step.offset or 0
            stop = len(found.table) if step.limit is None else start + step.limit
            whole = start == 0 and stop >= len(found.table)
            rows = np.arange(len(found.table))[start:stop]
            found = replace(found.taken(rows), complete=found.complete and whole)
        return found


def replaced(ordered: exp.Ordered, by: exp.Expr) -> exp.Ordered:
    """The same order by something else."""
    return exp.Ordered(this=by, desc=ordered.args["desc"], nulls_first=ordered.args["nulls_first"])


def _of_nothing(sheet: Sheet, found: Mapping[exp.Expr, str]) -> Sheet:
    """Aggregates of no rows: one row, in which counts are 0."""
    columns, cells, made = {}, {}, {}
    for node, name in found.items():
        column = pa.chunked_array([pa.array([0.0 if isinstance(node, exp.Count) else None], pa.float64())])
        cell = exact_cell(column)
        columns[name], cells[name] = column, cell if sheet.complete else replace(opaque(~cell.exact), absent=cell.exact)
        made[name] = sheet.made[name]
    return replace(sheet, table=pa.table(columns), cells=cells, made=made, sure=np.ones(1, np.bool_))


def _countable(column: pa.ChunkedArray) -> bool:
    return is_number(column.type) or bool(pa.types.is_boolean(column.type))


def _numbers(column: pa.ChunkedArray) -> Floats:
    return floats(column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column)


def _ends(value: pa.ChunkedArray, cell: Cell) -> dict[str, pa.ChunkedArray]:
    """Standard error, low and high as columns; what is unknown is missing."""
    stderr = np.where(np.isnan(cell.low), np.nan, cell.stderr)
    found = {"_stderr": _column(stderr)}
    if _countable(value):
        ends = {"_low": _column(cell.low), "_high": _column(cell.high)}
        if pa.types.is_boolean(value.type):
            ends = {name: column.cast(pa.bool_()) for name, column in ends.items()}
        return {**found, **ends}
    shown = pc.if_else(pa.array(cell.exact), value.combine_chunks(), pa.scalar(None, value.type))
    return {**found, "_low": pa.chunked_array([shown]), "_high": pa.chunked_array([shown])}


def _column(figures: Floats) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(figures, mask=~np.isfinite(figures))])
