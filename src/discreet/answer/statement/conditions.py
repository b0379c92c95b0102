"""Conditions over cells: which of three outcomes each may have, as in SQL.

They are rules of `arithmetic.py`, which asks them for a cell that is 1 where a condition is true and 0 where it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sqlglot import exp

from discreet.answer.statement.cells import Cell, Flags, Floats

if TYPE_CHECKING:
    from discreet.answer.statement.arithmetic import Arithmetic

Rule: TypeAlias = Callable[["Arithmetic", exp.Expr], Cell]


@dataclass(frozen=True, eq=False)
class Truth:
    """Which outcomes a condition may have."""

    true: Flags
    false: Flags
    null: Flags

    @classmethod
    def of(cls, cell: Cell) -> Truth:
        void = cell.void
        return cls(
            ~((cell.low == 0) & (cell.high == 0)) & ~void,
            (cell.low <= 0) & (cell.high >= 0) & ~void,
            cell.absent | void,
        )

    def cell(self, value: Floats, exact: Flags) -> Cell:
        """As a cell: 1 for true, 0 for false."""
        low = np.where(self.false, 0.0, np.where(self.true, 1.0, np.nan))
        high = np.where(self.true, 1.0, np.where(self.false, 0.0, np.nan))
        return Cell(value, low, high, self.null, exact, None, whole=True)


def _below(one: Floats, other: Floats, *, or_at: bool = False) -> Flags:
    """Whether one end lies below another for certain, though both may be off by the noise of fractions."""
    whole = (one == np.rint(one)) & (other == np.rint(other))
    noise = np.where(whole, 0, 1e-12 * np.maximum(np.abs(one), np.abs(other)))
    found: Flags = (one < other - noise) | (or_at & whole & (one == other))
    return found


def _compared(on: Arithmetic, node: exp.Expr) -> Cell:
    one, other = on.cell(node.this), on.cell(node.expression)
    less, more = _below(one.high, other.low), _below(other.high, one.low)
    touch, reach = _below(one.high, other.low, or_at=True), _below(other.high, one.low, or_at=True)
    same = (one.low == one.high) & (other.low == other.high) & (one.low == other.low)
    outcomes: dict[type[exp.Expr], tuple[Flags, Flags, Flags]] = {
        exp.LT: (less, reach, one.value < other.value),
        exp.LTE: (touch, more, one.value <= other.value),
        exp.GT: (more, touch, one.value > other.value),
        exp.GTE: (reach, less, one.value >= other.value),
        exp.EQ: (same, less | more, one.value == other.value),
        exp.NEQ: (less | more, same, one.value != other.value),
    }
    always, never, value = outcomes[type(node)]
    void = one.void | other.void
    truth = Truth(~never & ~void, ~always & ~void, one.absent | other.absent | void)
    missing = np.isnan(one.value) | np.isnan(other.value)
    return truth.cell(np.where(missing, np.nan, value.astype(np.float64)), one.exact & other.exact)


def _connected(on: Arithmetic, node: exp.Expr) -> Cell:
    one, other = on.cell(node.this), on.cell(node.expression)
    a, b = Truth.of(one), Truth.of(other)
    if isinstance(node, exp.And):
        truth = Truth(a.true & b.true, a.false | b.false, (a.null & (b.true | b.null)) | (b.null & (a.true | a.null)))
        value = np.where((one.value == 0) | (other.value == 0), 0, one.value * other.value)
    else:
        truth = Truth(a.true | b.true, a.false & b.false, (a.null & (b.false | b.null)) | (b.null & (a.false | a.null)))
        value = np.where((one.value > 0) | (other.value > 0), 1, one.value + other.value)
    return truth.cell(value, one.exact & other.exact)


def _not(on: Arithmetic, node: exp.Expr) -> Cell:
    cell = on.cell(node.this)
    truth = Truth.of(cell)
    return Truth(truth.false, truth.true, truth.null).cell(1 - cell.value, cell.exact)


def _is(on: Arithmetic, node: exp.Expr) -> Cell:
    cell = on.cell(node.this)
    never = np.zeros(on.rows, np.bool_)
    if isinstance(node.expression, exp.Null):
        value = np.isnan(cell.value).astype(np.float64)
        return Truth(cell.absent | cell.void, ~cell.void, never).cell(value, cell.exact)
    truth, wanted = Truth.of(cell), bool(node.expression.this)
    yes, no = (truth.true, truth.false) if wanted else (truth.false, truth.true)
    return Truth(yes, no | truth.null, never).cell((cell.value == float(wanted)).astype(np.float64), cell.exact)


def _between(on: Arithmetic, node: exp.Expr) -> Cell:
    low, high = node.args["low"], node.args["high"]
    return on.cell(
        exp.And(this=exp.GTE(this=node.this, expression=low), expression=exp.LTE(this=node.this, expression=high))
    )


def _in(on: Arithmetic, node: exp.Expr) -> Cell:
    several: Sequence[exp.Expr] = [exp.EQ(this=node.this, expression=each) for each in node.expressions]
    return on.cell(exp.or_(*several, copy=True, wrap=False))


CONDITIONS: dict[type[exp.Expr], Rule] = {
    **dict.fromkeys((exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ), _compared),
    exp.And: _connected,
    exp.Or: _connected,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
}
