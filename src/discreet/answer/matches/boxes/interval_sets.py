"""Where on the line of its column a condition holds: a set of intervals.

Constants cut the line into cells: the points where they lie, and the gaps before, between and after
them. A comparison holds in some cells, does not hold in others, and is unknown where a value is
missing or the constant is; so cells are bits, and AND, OR and NOT work on the bits of a whole line at once.
Cost: linear in the condition times the number of constants, and one sort of them.
Claim: interval_sets_hold_what_the_condition_holds — a number lies in the set if and only if SQL says that it matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import ceil, floor, inf
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.answer.matches.boxes.constants import Position, UnreadableError

Run: TypeAlias = tuple[int | None, int | None]  # the first and the last of whole numbers in a row; None: no end
Positions: TypeAlias = Callable[[exp.Expr], Position | None]  # of a constant; None if it is missing

SIGNS: dict[type[exp.Expr], str] = {exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.EQ: "=", exp.NEQ: "<>"}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Interval:
    """From one position to another; an end is inside if it is `closed`."""

    low: Position
    high: Position
    low_closed: bool
    high_closed: bool


LINE = Interval(-inf, inf, low_closed=False, high_closed=False)


@dataclass(frozen=True)
class IntervalSet:
    """Disjoint intervals in ascending order, and whether the condition holds where a value is missing."""

    intervals: tuple[Interval, ...]
    missing: bool

    @property
    def everything(self) -> bool:
        return self.missing and self.intervals == (LINE,)

    @property
    def nothing(self) -> bool:
        return not self.missing and not self.intervals

    def runs(self) -> list[Run]:
        """The whole numbers inside."""
        runs: list[Run] = []
        for low, high in map(_whole, self.intervals):
            if low is not None and high is not None and low > high:
                continue
            if runs and low is not None and runs[-1][1] == low - 1:
                runs[-1] = (runs[-1][0], high)
            else:
                runs.append((low, high))
        return runs


def interval_set(condition: exp.Expr, position: Positions) -> IntervalSet:
    """Where a condition on one column holds; raises unless it compares the column with constants only."""
    cells = _Cells()
    truth = _read(condition, position, cells)
    cuts = sorted(cells.numbers)
    cells.numbers.update((cut, number) for number, cut in enumerate(cuts))
    holds = truth()[0]
    return IntervalSet(tuple(_intervals(cuts, holds)), bool(holds & cells.missing))


def _whole(interval: Interval) -> Run:
    low, high = interval.low, interval.high
    if isinstance(low, str) or isinstance(high, str) or low == inf or high == -inf:
        return 1, 0
    first = None if low == -inf else ceil(low) if interval.low_closed else floor(low) + 1
    last = None if high == inf else floor(high) if interval.high_closed else ceil(high) - 1
    return first, last


_Truth: TypeAlias = tuple[int, int]  # the cells in which a condition is true, and in which it is false
_Lazy: TypeAlias = Callable[[], _Truth]  # found once all constants are known


class _Cells:
    """Bit 2i is the gap before cut i, bit 2i + 1 the cut itself; the last gap lies after all, then comes `missing`."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    @property
    def present(self) -> int:
        return (1 << (2 * len(self.numbers) + 1)) - 1

    @property
    def missing(self) -> int:
        return self.present + 1

    @property
    def all(self) -> int:
        return self.present | self.missing

    def where(self, holds: int) -> _Truth:
        """True in these cells, and false in all others."""
        return holds, self.all ^ holds

    def compared(self, sign: str, at: Position | None) -> _Truth:
        if at is None:
            return 0, 0
        same = 1 << (2 * self.numbers[at] + 1)
        less = same - 1
        more = self.present ^ less ^ same
        yes = {"<": less, "<=": less | same, "=": same, "<>": less | more, ">": more, ">=": more | same}[sign]
        return yes, self.present ^ yes


def _read(node: exp.Expr, position: Positions, cells: _Cells) -> _Lazy:
    """The truth of a condition, once all its constants are known to the cells."""
    match node.unnest():
        case exp.Not(this=negated):
            truth = _read(negated, position, cells)
            return lambda: truth()[::-1]
        case exp.And() | exp.Or() as several:
            parts = [_read(each, position, cells) for each in several.flatten()]
            return _joined(parts, every=isinstance(several, exp.And))
        case exp.Is(this=asked, expression=exp.Boolean(this=wanted)):
            truth = _read(asked, position, cells)
            return lambda: cells.where(truth()[0 if wanted else 1])
        case atom:
            return _atom(atom, position, cells)


def _atom(atom: exp.Expr, position: Positions, cells: _Cells) -> _Lazy:
    if isinstance(atom, exp.Is) and _is_column(atom.this) and isinstance(atom.expression, exp.Null):
        return lambda: cells.where(cells.missing)
    if isinstance(atom, exp.Boolean | exp.Null):
        return lambda: (0, 0) if isinstance(atom, exp.Null) else cells.where(cells.all if atom.this else 0)
    signs, places = [], []
    for sign, constant in _comparisons(atom):
        signs.append(sign)
        places.append(position(constant))
    cells.numbers |= {at: 0 for at in places if at is not None}
    parts = [partial(cells.compared, sign, at) for sign, at in zip(signs, places, strict=True)]
    return _joined(parts, every=not isinstance(atom, exp.In))


def _comparisons(atom: exp.Expr) -> list[tuple[str, exp.Expr]]:
    """What an atom compares its column with, and how."""
    if isinstance(atom, exp.Between) and _is_column(atom.this) and not atom.args.get("symmetric"):
        return [(">=", atom.args["low"]), ("<=", atom.args["high"])]
    if isinstance(atom, exp.In) and _is_column(atom.this) and atom.expressions:
        return [("=", each) for each in atom.expressions]
    sign = SIGNS.get(type(atom))
    if sign is not None and _is_column(atom.this):
        return [(sign, atom.expression)]
    if sign is not None and _is_column(atom.expression):
        return [(TURNED.get(sign, sign), atom.this)]
    raise UnreadableError


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node.unnest(), exp.Column)


def _joined(parts: Sequence[_Lazy], *, every: bool) -> _Lazy:
    """The truth of parts of which every one must hold, or any; there is at least one."""

    def both(one: _Truth, other: _Truth) -> _Truth:
        return (one[0] & other[0], one[1] | other[1]) if every else (one[0] | other[0], one[1] & other[1])

    return lambda: reduce(both, (part() for part in parts))


def _intervals(cuts: Sequence[Position], holds: int) -> Iterator[Interval]:
    """The intervals that runs of cells make."""
    ends = [-inf, *cuts, inf]
    start = None
    for cell in range(2 * len(cuts) + 2):
        here = cell <= 2 * len(cuts) and bool(holds >> cell & 1)
        if here and start is None:
            start = cell
        elif not here and start is not None:
            low, high = ends[(start + 1) // 2], ends[(cell - 1) // 2 + 1]
            yield Interval(low, high, low_closed=start % 2 == 1, high_closed=cell % 2 == 0)
            start = None
