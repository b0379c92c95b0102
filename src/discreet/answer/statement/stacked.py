"""UNION: the rows of two SELECTs below each other; what is a figure in one is a figure in both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.estimators.columns import is_number
from discreet.answer.question.question import ENDS
from discreet.answer.statement.cells import Cell, spread
from discreet.answer.statement.sheet import Sheet, exact_cell
from discreet.answer.statement.windows import firsts, partitions
from discreet.errors import QueryError

ONE_OF_SEVERAL = "UNION keeps one of several rows whose estimates are equal; UNION ALL keeps all"


def stacked(upper: Sheet, lower: Sheet, names: tuple[str, ...]) -> Sheet:
    """Both, the one below the other."""
    sheets = (upper, lower)
    columns: dict[str, pa.ChunkedArray] = {}
    cells: dict[str, Cell] = {}
    made: dict[str, frozenset[str]] = {}
    for at, label in enumerate(names):
        name = f"item_{at}"
        made[name] = upper.made[name] | lower.made[name]
        columns[name] = _concatenated([sheet.table.column(name) for sheet in sheets], label)
        cells[name] = _joined([sheet.cells[name] for sheet in sheets])
        for end in ENDS.values():
            if end and made[name]:
                column = _concatenated([_end(sheet, name, end) for sheet in sheets], label)
                columns[f"{name}{end}"], cells[f"{name}{end}"] = column, exact_cell(column)
                made[f"{name}{end}"] = frozenset()
    sure = np.concatenate([sheet.sure for sheet in sheets])
    complete = upper.complete and lower.complete
    return Sheet(upper.engine, pa.table(columns), cells, sure, complete, made, lambda _one, _other: False)


def once(sheet: Sheet, width: int) -> tuple[Sheet, list[str]]:
    """Each row once, by the estimates, and what is to be said of that."""
    every: list[exp.Expr] = [exp.column(f"item_{at}", quoted=True) for at in range(width)]
    rows = np.sort(firsts(partitions(sheet, every)))
    found = sheet.taken(rows)
    if all(sheet.cells[each.name].exact.all() for each in every):
        return found, []
    return replace(found, complete=False), [ONE_OF_SEVERAL]


def _end(sheet: Sheet, name: str, end: str) -> pa.ChunkedArray:
    """A column of a SELECT for UNION; a key has the bounds that it is."""
    if f"{name}{end}" in sheet.cells:
        return sheet.table.column(f"{name}{end}")
    if end == "_stderr":
        return pa.chunked_array([pa.array(np.zeros(len(sheet.table)))])
    return sheet.table.column(name)


def _concatenated(parts: list[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    if all(is_number(part.type) for part in parts) and len({part.type for part in parts}) > 1:
        parts = [part.cast(pa.float64(), safe=False) for part in parts]
    kinds = [part.type for part in parts if not pa.types.is_null(part.type)]
    parts = [part.cast(kinds[0]) if kinds and pa.types.is_null(part.type) else part for part in parts]
    if len({part.type for part in parts}) > 1:
        raise QueryError(
            f"UNION of `{name}` joins {parts[0].type} and {parts[1].type}", hint="CAST both to the same type"
        )
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], parts[0].type)


def _joined(several: list[Cell]) -> Cell:
    """Cells below each other."""
    value, low, high = (np.concatenate([getattr(cell, name) for cell in several]) for name in ("value", "low", "high"))
    absent, exact = (np.concatenate([getattr(cell, name) for cell in several]) for name in ("absent", "exact"))
    found = Cell(value, low, high, absent, exact, None, whole=all(cell.whole for cell in several))
    if any(cell.terms is None and not cell.exact.all() for cell in several):
        return found
    return replace(found, terms=spread(np.concatenate([cell.stderr for cell in several])))
