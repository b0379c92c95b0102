"""An expression over cells: interval arithmetic and slopes, node by node, each node visited once.

What is exact is computed by the engine, whatever it is. Of other functions those are known here that analysts put
around aggregates; of any other nothing is known but the estimate. Conditions are in `conditions.py`.
Cost: linear in the nodes of the expression, times the rows of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from sqlglot import exp

from discreet.answer.statement import cells
from discreet.answer.statement.cells import Cell, Flags, Floats, certain
from discreet.answer.statement.conditions import CONDITIONS, Rule, Truth
from discreet.answer.statement.division import is_whole

WHOLE = (exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.INT128, exp.DType.UBIGINT)
SUMMED = "summed"  # the mark of a CASE that is a sum over somebody
REAL = (exp.DType.DOUBLE, exp.DType.FLOAT)
Exactly: TypeAlias = Callable[[exp.Expr], Cell]


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """Cells by the name of their column, and what the engine says of an expression that is exact."""

    columns: Mapping[str, Cell]
    rows: int
    exactly: Exactly
    within: Callable[[str, str], bool] = lambda _one, _other: False  # whether a term is never above another
    doubtful: Callable[[exp.Expr], bool] = lambda _: False  # whether `//` in it may cut, or not

    def cell(self, node: exp.Expr) -> Cell:
        """What is known of an expression."""
        names = {column.name for column in node.find_all(exp.Column)}
        if isinstance(node, exp.Column):
            return self.columns[node.name]
        if all(self.columns[name].exact.all() for name in names) and not self.doubtful(node):
            return self.exactly(node)
        rule = RULES.get(type(node))
        if rule is None:
            return cells.unknown(*(self.columns[name] for name in names))
        return rule(self, node)

    def truth(self, node: exp.Expr) -> Truth:
        """What is known of a condition."""
        return Truth.of(self.cell(node))


def _binary(function: Callable[[Cell, Cell], Cell]) -> Rule:
    return lambda on, node: function(on.cell(node.this), on.cell(node.expression))


def _subtract(one: Cell, other: Cell) -> Cell:
    return cells.add(one, cells.negative(other))


def _quotient(on: Arithmetic, node: exp.Expr) -> Cell:
    """A share of a count that it is part of lies between 0 and 1."""
    one, other = on.cell(node.this), on.cell(node.expression)
    found = cells.divide(one, other)
    if one.multiple is None or other.multiple is None or not on.within(one.multiple, other.multiple):
        return found
    share = cells.slopes(one) / cells.slopes(other)
    return found.inside(np.minimum(share, 0), np.maximum(share, 0))


def _int_div(on: Arithmetic, node: exp.Expr) -> Cell:
    """Of integers it is cut to an integer, of other numbers not: where that is not known, it may be either."""
    found = cells.divide(on.cell(node.this), on.cell(node.expression))
    if is_whole(node, on.columns):
        return replace(cells.stepped(found, np.trunc, 0.5), whole=True)
    low, high = np.minimum(found.low, np.trunc(found.low)), np.maximum(found.high, np.trunc(found.high))
    exact = found.exact & ((low == high) | found.void)
    return cells.stepped(replace(found, low=low, high=high, exact=exact, offset=None), lambda x: x, 0.5)


def _round(on: Arithmetic, node: exp.Expr) -> Cell:
    digits = node.args.get("decimals")
    places = 0 if digits is None else _constant(digits)
    if places is None or abs(places) > 15:
        return cells.unknown(on.cell(node.this))
    unit = 10.0**-places
    scale = 10.0**places

    def rounded(x: Floats) -> Floats:
        return np.copysign(np.floor(np.abs(x) * scale + 0.5) / scale, x)

    return cells.stepped(on.cell(node.this), rounded, unit / 2)


def _constant(node: exp.Expr) -> int | None:
    sign, node = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    plain = isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit() and len(node.this) < 4
    return sign * int(node.this) if plain else None


def _power(on: Arithmetic, node: exp.Expr) -> Cell:
    base, power = on.cell(node.this), _constant(node.expression)
    if power is None or power < 0:
        return cells.unknown(base)
    raised = cells.absolute(base) if power % 2 == 0 else base
    return cells.monotone(raised, lambda x: x**power, lambda x: power * x ** (power - 1))


def _logarithm(on: Arithmetic, node: exp.Expr) -> Cell:
    inner, scale = node.this, 1.0
    if isinstance(node, exp.Log):
        base = 10 if node.expression is None else _constant(node.this)
        if base is None or base < 2:
            return cells.unknown(*(on.cell(each) for each in node.iter_expressions()))
        inner, scale = node.expression or node.this, 1 / np.log(base)
    found = on.cell(inner)
    positive = replace(found, low=np.where(found.low <= 0, np.nan, found.low))
    low = np.where(found.low <= 0, -np.inf, np.log(positive.low) * scale)
    logged = cells.monotone(found, lambda x: np.log(np.maximum(x, 0)) * scale, lambda x: scale / x)
    return replace(logged, low=np.where(found.void, np.nan, low))


def _root(on: Arithmetic, node: exp.Expr) -> Cell:
    return cells.monotone(on.cell(node.this), np.sqrt, lambda x: 0.5 / np.sqrt(x))


def _cast(on: Arithmetic, node: exp.Expr) -> Cell:
    found, kind = on.cell(node.this), node.args["to"]
    if kind.this in REAL:
        return found
    if kind.this in WHOLE:
        return replace(cells.stepped(found, np.rint, 0.5), whole=True)
    if kind.this == exp.DType.DECIMAL:
        scale = 3 if len(kind.expressions) < 2 else _constant(kind.expressions[1].this)
        unit = 10.0 ** -(scale or 0)
        low, high = found.low - unit / 2, found.high + unit / 2
        return cells.stepped(replace(found, low=low, high=high, offset=None), lambda x: x, unit / 2)
    return cells.unknown(found)


def _coalesce(on: Arithmetic, node: exp.Expr) -> Cell:
    several = [on.cell(each) for each in (node.this, *node.expressions)]
    found = several[-1]
    if several[0].nil and (several[1].exact & (several[1].low == 0)).all():
        return several[0].filled
    for cell in reversed(several[:-1]):
        missing = np.isnan(cell.value)
        found = cells.hull([cell, found], [~cell.void, cell.absent | cell.void], [~missing, missing])
    return found


def _nullif(on: Arithmetic, node: exp.Expr) -> Cell:
    cell, other = on.cell(node.this), on.cell(node.expression)
    overlap = (cell.low <= other.high) & (other.low <= cell.high)
    always = overlap & (cell.low == cell.high) & (other.low == other.high) & ~other.absent
    at = other.exact & cell.whole & (other.low == np.rint(other.low))  # an end that is ruled out moves by one
    low = np.where(at & (cell.low == other.low), cell.low + 1, cell.low)
    high = np.where(at & (cell.high == other.high), cell.high - 1, cell.high)
    value = np.where(cell.value == other.value, np.nan, cell.value)
    found = replace(cell, value=value, low=low, high=high, absent=cell.absent | overlap, exact=cell.exact & other.exact)
    empty = always | (low > high)
    return replace(found, low=np.where(empty, np.nan, low), high=np.where(empty, np.nan, high), offset=None)


def _case(on: Arithmetic, node: exp.Expr) -> Cell:
    if SUMMED in node.meta:
        [branch] = node.args["ifs"]
        return cells.if_any(on.cell(branch.this.this), on.cell(branch.args["true"]))
    if isinstance(node, exp.If):
        branches = [(node.this, node.args["true"])]
        last = node.args.get("false")
    else:
        subject = node.this
        conditions = [
            each.this if subject is None else exp.EQ(this=subject, expression=each.this) for each in node.args["ifs"]
        ]
        branches = [*zip(conditions, (each.args["true"] for each in node.args["ifs"]), strict=True)]
        last = node.args.get("default")
    reached = still = np.ones(on.rows, np.bool_)  # in some world, and at the estimates
    found: list[Cell] = []
    possible: list[Flags] = []
    chosen: list[Flags] = []
    for condition, then in branches:
        cell = on.cell(condition)
        truth, here = Truth.of(cell), still & (cell.value > 0)
        found.append(on.cell(then))
        possible.append(reached & truth.true)
        chosen.append(here)
        reached, still = reached & (truth.false | truth.null), still & ~here
    found.append(certain(np.full(on.rows, np.nan)) if last is None else on.cell(last))
    return cells.hull(found, [*possible, reached], [*chosen, still])


def _extreme(on: Arithmetic, node: exp.Expr) -> Cell:
    """GREATEST and LEAST leave missing values out."""
    several = [on.cell(each) for each in (node.this, *node.expressions)]
    pick, skip = (np.maximum, np.fmax) if isinstance(node, exp.Greatest) else (np.minimum, np.fmin)
    low, high = skip.reduce([each.low for each in several]), skip.reduce([each.high for each in several])
    for cell in several:  # without one that may be missing, the others remain
        others = [other for other in several if other is not cell] or [cell]
        rest = [skip.reduce([getattr(other, end) for other in others]) for end in ("low", "high")]
        low = np.where(cell.absent, np.fmin(low, rest[0]), low)
        high = np.where(cell.absent, np.fmax(high, rest[1]), high)
    if sum(bool(cell.absent.any()) for cell in several) > 1:
        low, high = np.fmin.reduce([each.low for each in several]), np.fmax.reduce([each.high for each in several])
    return Cell(
        pick.reduce([each.value for each in several]),
        low,
        high,
        np.logical_and.reduce([each.absent for each in several]),
        np.logical_and.reduce([each.exact for each in several]),
        cells.merged([cells.spread(each.stderr) for each in several]),
        whole=all(each.whole for each in several),
    )


RULES: dict[type[exp.Expr], Rule] = {
    exp.Paren: lambda on, node: on.cell(node.this),
    exp.Add: _binary(cells.add),
    exp.Sub: _binary(_subtract),
    exp.Mul: _binary(cells.multiply),
    exp.Div: _quotient,
    exp.IntDiv: _int_div,
    exp.Neg: lambda on, node: cells.negative(on.cell(node.this)),
    exp.Abs: lambda on, node: cells.absolute(on.cell(node.this)),
    exp.Sign: lambda on, node: cells.stepped(on.cell(node.this), np.sign, 1.0),
    exp.Round: _round,
    exp.Floor: lambda on, node: cells.stepped(on.cell(node.this), np.floor, 0.5),
    exp.Ceil: lambda on, node: cells.stepped(on.cell(node.this), np.ceil, 0.5),
    exp.Sqrt: _root,
    exp.Exp: lambda on, node: cells.monotone(on.cell(node.this), np.exp, np.exp),
    exp.Ln: _logarithm,
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Cast: _cast,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Case: _case,
    exp.If: _case,
    exp.Greatest: _extreme,
    exp.Least: _extreme,
    **CONDITIONS,
}
