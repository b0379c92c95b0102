"""What is to be said beside a statement's figures: which rows and orders hang on estimates, and what has no bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from discreet.answer.statement.cells import Cell, Flags
from discreet.answer.statement.sheet import Sheet


def of_condition(here: Flags, always: Flags, possible: Flags) -> Iterator[str]:
    """Say in how many rows the bounds allow another outcome of a condition on figures."""
    doubtful, others = int((here & ~always).sum()), int((~here & possible).sum())
    if doubtful or others:
        shown = f"{doubtful} of {here.sum()} rows shown may not satisfy it" if doubtful else ""
        left = f"{others} of {(~here).sum()} rows left out may satisfy it" if others else ""
        both = " and ".join(filter(None, [shown, left]))
        yield f"which rows satisfy a condition on figures was decided by the estimates; by the bounds, {both}"


def of_cut(
    sheet: Sheet, first: exp.Ordered, rows: npt.NDArray[np.int64], offset: int, limit: int | None
) -> Iterator[str]:
    """Say that bounds allow other rows to come first."""
    cell = sheet.arithmetic.cell(first.this)
    kept = rows[offset : None if limit is None else offset + limit]
    gone = np.setdiff1d(rows, kept)
    if cell.exact.all() or not len(kept) or not len(gone):
        return
    low, high = (cell.low, cell.high) if first.args.get("desc") else (-cell.high, -cell.low)
    others = int((high[gone] > low[kept].min()).sum())
    if others:
        among = f"{others} of {len(gone)} rows left out may belong among them"
        yield f"rows are sorted by estimates; by the bounds, {among}"


def without_bounds(name: str, cell: Cell, told: Collection[str]) -> Iterator[str]:
    """Say where a figure has no bounds."""
    open_ = ~cell.exact & ~(np.isfinite(cell.low) & np.isfinite(cell.high)) & ~cell.void
    if open_.any():
        rows = "this row" if open_.size == 1 else f"{open_.sum()} of {open_.size} rows"
        why = "it divides by what may be 0, or is computed in a way that has no bounds"
        note = f"{name}: in {rows} low or high is not known: {why}"
        if note not in told:
            yield note
