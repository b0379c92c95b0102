"""Windows over the rows of an answer, and aggregates of them: the engine computes estimates, this their bounds.

A row that possibly nobody is in may be missing from the true answer: then it adds nothing, and is nobody's neighbour.
The rank of a row is at least one more than the rows that are ahead for certain, and at most one more than those that
may be. What cannot be bounded so has no bounds. Cost: linear in the rows of all different frames; ranks n log n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.question.grammar import AGGREGATES, SCALARS
from discreet.answer.question.refusals import refusal
from discreet.answer.statement import cells
from discreet.answer.statement.cells import Cell, Flags, Floats, Term, certain
from discreet.answer.statement.sheet import Sheet
from discreet.errors import QueryError

Longs = npt.NDArray[np.int64]
RANKED = (exp.Rank, exp.DenseRank, exp.RowNumber)
PLACE = "place of the row"
FUNCTIONS = (*RANKED, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue)
KNOWN = frozenset((exp.Window, exp.WindowSpec, exp.Order, exp.Ordered, exp.Star, *FUNCTIONS))


def check_window(node: exp.Window) -> None:
    """Raise for a window with anything in it that is not allowed."""
    for inner in node.walk():
        kind = type(inner)
        if kind not in SCALARS and kind not in AGGREGATES and kind not in KNOWN:
            raise refusal(inner)


def window(sheet: Sheet, node: exp.Window) -> Cell:
    """What is known of a window in each row."""
    read = [column.name for column in node.find_all(exp.Column)]
    if sheet.sure.all() and sheet.complete and all(sheet.cells[name].exact.all() for name in read):
        return sheet.exactly(node)
    check_exact(sheet, node.args.get("partition_by") or [], "PARTITION BY")
    order = [each.this for each in node.args["order"].expressions] if node.args.get("order") is not None else []
    if isinstance(node.this, RANKED) and sheet.complete:
        return _rank(sheet, node)
    sorted_ = all(sheet.arithmetic.cell(each).exact.all() for each in order)
    rule = next((rule for kinds, rule in OF_ROWS.items() if isinstance(node.this, kinds)), None)
    return rule(sheet, node) if rule is not None and sheet.complete and sorted_ else _unknown(sheet)


def partitions(sheet: Sheet, by: Sequence[exp.Expr]) -> Longs:
    """The number of each row's partition, from 0."""
    if not by:
        return np.zeros(len(sheet.table), np.int64)
    order = exp.Order(expressions=[exp.Ordered(this=each.copy()) for each in by])
    found = sheet.computed(exp.Window(this=exp.DenseRank(), order=order, over="OVER")).column(0)
    return np.asarray(found.to_numpy(), np.int64) - 1


def firsts(part: Longs) -> Longs:
    """The first row of each partition, in the order of partitions."""
    return np.asarray(np.unique(part, return_index=True)[1], np.int64)


def check_exact(sheet: Sheet, nodes: Sequence[exp.Expr], clause: str) -> None:
    for node in nodes:
        if not sheet.arithmetic.cell(node).exact.all():
            raise QueryError(
                f"{clause} of a figure that is only estimated is not supported",
                hint="group and partition by columns of the table, not by what was computed",
            )


def _unknown(sheet: Sheet) -> Cell:
    never = np.zeros(len(sheet.table), np.bool_)
    return replace(cells.opaque(never), absent=~never)


@dataclass(frozen=True, eq=False)
class _Frames:
    """Which rows a window looks at: those from `start` to before `stop` of `order`; each different lot once."""

    order: Longs
    start: Longs
    stop: Longs
    of_row: Longs  # which lot

    def reduced(self, ufunc: np.ufunc, values: Floats) -> Floats:
        """A function over the rows of each lot."""
        ends = np.column_stack([self.start, self.stop]).ravel()
        padded = np.append(values[self.order], 0.0)
        found: Floats = ufunc.reduceat(padded, ends)[::2]
        return found


def _frames(sheet: Sheet, node: exp.Window) -> _Frames | None:
    by, order, spec = node.args.get("partition_by") or [], node.args.get("order"), node.args.get("spec")
    part = partitions(sheet, by)
    numbered = exp.Window(this=exp.RowNumber(), partition_by=[each.copy() for each in by], over="OVER")
    if order is not None:
        numbered.set("order", order.copy())
    place = np.asarray(sheet.computed(numbered).column(0).to_numpy(), np.int64) - 1
    sorted_ = np.lexsort([place, part])
    first = np.searchsorted(part[sorted_], part)
    if order is None:
        size = np.bincount(part)[part]
        start, stop = first, first + size
    else:
        placed = sheet.beside(PLACE, pa.chunked_array([pa.array(place)]), certain(place.astype(float)), frozenset())
        edges = []
        for function in (exp.Min, exp.Max):
            edge = node.copy()
            edge.set("this", function(this=exp.column(PLACE, quoted=True)))
            edges.append(edge)
        found = placed.computed(*edges)
        if found.column(0).null_count:
            return None
        start, last = (np.asarray(found.column(at).to_numpy(), np.int64) for at in (0, 1))
        start, stop = first + start, first + last + 1
    if (
        spec is not None
        and not sheet.sure.all()
        and (spec.args.get("start"), spec.args.get("end")) != ("UNBOUNDED", "CURRENT ROW")
    ):
        return None  # a row that is not there would move the frame
    lots, of_row = np.unique(np.column_stack([start, stop]), axis=0, return_inverse=True)
    return _Frames(sorted_, lots[:, 0], lots[:, 1], np.asarray(of_row, np.int64).ravel())


def _over_frames(sheet: Sheet, node: exp.Window) -> Cell:
    frames = _frames(sheet, node)
    function = node.this
    counted = isinstance(function, exp.Count)
    if frames is None or isinstance(function.this, exp.Distinct):
        return _unknown(sheet)
    every = isinstance(function.this, exp.Star) or function.this is None
    cell = certain(np.ones(len(sheet.table))) if every else sheet.arithmetic.cell(function.this)
    if counted:
        may, must = ~cell.void, sheet.sure & ~cell.absent & ~cell.void
        low, high = (frames.reduced(np.add, flags.astype(float)) for flags in (must, may))
        value = frames.reduced(np.add, (~np.isnan(cell.value)).astype(float)) if cell.terms is not None else high
        return _placed(
            frames, value, low, high, np.where(low == high, 0, np.nan), np.zeros(len(low), np.bool_), whole=True
        )
    may, must = ~cell.void, sheet.sure & ~cell.absent & ~cell.void
    stderr = frames.reduced(np.add, np.where(may, cell.stderr, 0))
    number = frames.reduced(np.add, may.astype(float))
    certain_ = frames.reduced(np.add, must.astype(float))
    value = np.where(np.isnan(cell.value), 0, cell.value)
    absent = certain_ == 0
    if isinstance(function, exp.Sum):
        low = frames.reduced(np.add, np.where(may, np.where(must, cell.low, np.minimum(cell.low, 0)), 0))
        high = frames.reduced(np.add, np.where(may, np.where(must, cell.high, np.maximum(cell.high, 0)), 0))
        return _placed(frames, frames.reduced(np.add, value), low, high, stderr, absent, number, whole=cell.whole)
    least = frames.reduced(np.minimum, np.where(may, cell.low, np.inf))
    most = frames.reduced(np.maximum, np.where(may, cell.high, -np.inf))
    if isinstance(function, exp.Avg):
        all_ = number == certain_
        low = np.where(all_, frames.reduced(np.add, np.where(may, cell.low, 0)) / number, least)
        high = np.where(all_, frames.reduced(np.add, np.where(may, cell.high, 0)) / number, most)
        return _placed(
            frames,
            frames.reduced(np.add, value) / number,
            low,
            high,
            np.where(all_, stderr / number, np.nan),
            absent,
            number,
        )
    if isinstance(function, exp.Min):
        high = frames.reduced(np.minimum, np.where(must, cell.high, np.inf))
        most, value = np.where(certain_ > 0, high, most), frames.reduced(np.minimum, np.where(may, cell.value, np.inf))
    else:
        low = frames.reduced(np.maximum, np.where(must, cell.low, -np.inf))
        least, value = (
            np.where(certain_ > 0, low, least),
            frames.reduced(np.maximum, np.where(may, cell.value, -np.inf)),
        )
    stderr = np.where(number == certain_, stderr, np.nan)
    return _placed(frames, value, least, most, stderr, absent, number, whole=cell.whole)


def _placed(
    frames: _Frames,
    value: Floats,
    low: Floats,
    high: Floats,
    stderr: Floats,
    absent: Flags,
    number: Floats | None = None,
    *,
    whole: bool = False,
) -> Cell:
    """What was found of each lot, in its rows; a lot of nobody is missing."""
    if number is not None:
        value, low, high = (np.where(number == 0, np.nan, each) for each in (value, low, high))
    at = frames.of_row
    exact = ((low == high) & ~absent) | np.isnan(low)
    terms = cells.spread(np.where(exact, 0, stderr)[at])
    return Cell(value[at], low[at], high[at], absent[at], exact[at], terms, whole=whole)


def _rank(sheet: Sheet, node: exp.Window) -> Cell:
    """RANK, DENSE_RANK and ROW_NUMBER."""
    order = node.args["order"].expressions if node.args.get("order") is not None else []
    if not order:
        return _unknown(sheet)
    cell = sheet.arithmetic.cell(order[0].this)
    if cell.terms is None and not cell.exact.all():
        return _unknown(sheet)
    if cell.terms is None or cell.absent.any():  # texts and missing values have a place that only the engine knows
        return _unknown(sheet)
    low, high = (cell.low, cell.high) if order[0].args.get("desc") else (-cell.high, -cell.low)
    ties = len(order) > 1 or isinstance(node.this, exp.RowNumber)
    part = partitions(sheet, node.args.get("partition_by") or [])
    ahead, perhaps = np.zeros(len(part)), np.zeros(len(part))
    for number in range(part.max(initial=-1) + 1):
        here = np.flatnonzero(part == number)
        lows, highs = np.sort(low[here][sheet.sure[here]]), np.sort(high[here])
        ahead[here] = len(lows) - np.searchsorted(lows, high[here], side="right")
        perhaps[here] = len(highs) - np.searchsorted(highs, low[here], side="left" if ties else "right")
        perhaps[here] -= (high[here] >= low[here]) if ties else (high[here] > low[here])  # itself
    if isinstance(node.this, exp.DenseRank):
        ahead = np.minimum(ahead, 1)
    found = certain(1 + ahead, whole=True)
    exact = ahead == perhaps
    terms = cells.spread(np.where(exact, 0, np.nan))
    return replace(found, high=1 + perhaps, exact=exact, terms=terms, offset=None)


def _neighbour(sheet: Sheet, node: exp.Window) -> Cell:
    """LAG and LEAD: the cell of another row; where rows may be missing, of any row of the partition."""
    function = node.this
    cell = sheet.arithmetic.cell(function.this)
    if function.args.get("default") is not None:
        return _unknown(sheet)
    if sheet.sure.all():
        numbered = sheet.beside(
            PLACE,
            pa.chunked_array([pa.array(np.arange(len(sheet.table)))]),
            certain(np.arange(len(sheet.table)).astype(float)),
            frozenset(),
        )
        moved = node.copy()
        moved.this.set("this", exp.column(PLACE, quoted=True))
        at = numbered.computed(moved).column(0)
        missing = np.asarray(at.is_null().to_numpy(), np.bool_)
        found = cell.taken(np.asarray(at.fill_null(0).to_numpy(), np.int64))
        gone = np.where(missing, np.nan, 0)
        terms = (
            None
            if found.terms is None
            else cells.apart({name: _without(term, missing) for name, term in found.terms.items()})
        )
        offset = None if found.offset is None else found.offset + gone
        return replace(
            found,
            value=found.value + gone,
            low=found.low + gone,
            high=found.high + gone,
            absent=found.absent | missing,
            exact=found.exact | missing,
            terms=terms,
            offset=offset,
        )
    part = partitions(sheet, node.args.get("partition_by") or [])
    low, high = np.full(part.max(initial=-1) + 1, np.inf), np.full(part.max(initial=-1) + 1, -np.inf)
    np.minimum.at(low, part, np.where(cell.void, np.inf, cell.low))
    np.maximum.at(high, part, np.where(cell.void, -np.inf, cell.high))
    found = _unknown(sheet)
    return replace(found, low=low[part], high=high[part])


def _without(term: Term, missing: Flags) -> Term:
    slope = np.where(missing, 0, term.slope)
    return Term(slope, *(np.where(missing, 0, each) for each in term[1:]))


OF_ROWS = {
    (exp.Lag, exp.Lead): _neighbour,
    (exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max): _over_frames,
}
