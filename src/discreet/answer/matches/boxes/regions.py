"""Where on a line a condition on one column holds: a union of intervals.

Constants cut the line into cells: the points where they lie, and the gaps before, between and after
them. A comparison holds in some cells, does not hold in others, and is unknown where a value is
missing or the constant is; so cells are bits, and AND, OR and NOT work on the bits of a whole line at once.
Cost: linear in the condition times the number of constants, and one sort of them.
Claim: regions_hold_what_the_condition_holds — a number lies in the region if and only if SQL says that it matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf
from typing import TypeAlias

from sqlglot import exp

from discreet.answer.matches.boxes.truths import SIGNS, TURNED, asks_whether, is_column, is_constant

Place: TypeAlias = Fraction | float  # a float is infinite
Places: TypeAlias = Callable[[exp.Expr], Place | None]  # where a constant lies on the line; None if it is missing


@dataclass(frozen=True)
class Interval:
    """From one place to another; an end is inside if it is `closed`."""

    low: Place
    high: Place
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True)
class Region:
    """Disjoint intervals in ascending order, and whether the condition holds where a value is missing."""

    intervals: tuple[Interval, ...]
    missing: bool

    @property
    def everything(self) -> bool:
        return self.missing and len(self.intervals) == 1 and self.intervals[0] == LINE

    @property
    def nothing(self) -> bool:
        return not self.missing and not self.intervals

    def whole(self) -> list[tuple[int | None, int | None]]:
        """The whole numbers inside, as the first and last of each run; None where a run has no end."""
        runs: list[tuple[int | None, int | None]] = []
        for each in self.intervals:
            if each.low == inf or each.high == -inf:
                continue
            low = None if each.low == -inf else _first(each)
            high = None if each.high == inf else _last(each)
            if low is not None and high is not None and low > high:
                continue
            if runs and low is not None and runs[-1][1] == low - 1:
                runs[-1] = (runs[-1][0], high)
            else:
                runs.append((low, high))
        return runs


LINE = Interval(-inf, inf, low_closed=False, high_closed=False)


def readable(condition: exp.Expr) -> bool:
    """Whether a condition on one column compares it with constants only."""
    return all(_compares(atom) and all(map(is_constant, _compared_with(atom))) for atom in _atoms(condition))


def constants(condition: exp.Expr) -> Iterator[exp.Expr]:
    """What a readable condition compares its column with."""
    return (constant for atom in _atoms(condition) for constant in _compared_with(atom))


def _atoms(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts that a condition joins by AND, OR, NOT and IS TRUE."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        yield from (atom for each in node.flatten() for atom in _atoms(each))
    elif isinstance(node, exp.Not) or asks_whether(node):
        yield from _atoms(node.this)
    else:
        yield node


def _compares(atom: exp.Expr) -> bool:
    if type(atom) in SIGNS:
        return is_column(atom.this) or is_column(atom.expression)
    if isinstance(atom, exp.Is):
        return is_column(atom.this) and isinstance(atom.expression, exp.Null)
    plain = isinstance(atom, exp.Between | exp.In) and is_column(atom.this) and not atom.args.get("symmetric")
    return plain or isinstance(atom, exp.Boolean | exp.Null)


def _compared_with(atom: exp.Expr) -> list[exp.Expr]:
    if isinstance(atom, exp.Between):
        return [atom.args["low"], atom.args["high"]]
    if isinstance(atom, exp.In):
        return list(atom.expressions)
    if type(atom) in SIGNS:
        return [atom.expression if is_column(atom.this) else atom.this]
    return []


def region(condition: exp.Expr, place: Places) -> Region:
    """Where a readable condition holds."""
    cuts = sorted({at for at in map(place, constants(condition)) if at is not None})
    cells = _Cells({cut: number for number, cut in enumerate(cuts)}, place)
    holds = cells.truth(condition)[0]
    return Region(tuple(_intervals(cuts, holds)), bool(holds & cells.missing))


def runs(places: Iterable[int], *, missing: bool) -> Region:
    """The region of whole numbers, given in ascending order."""
    ends: list[list[int]] = []
    for at in places:
        if ends and ends[-1][1] == at - 1:
            ends[-1][1] = at
        else:
            ends.append([at, at])
    intervals = (Interval(Fraction(low), Fraction(high), low_closed=True, high_closed=True) for low, high in ends)
    return Region(tuple(intervals), missing)


_Truth: TypeAlias = tuple[int, int]  # the cells in which a condition is true, and in which it is false


@dataclass(frozen=True)
class _Cells:
    """Bit 2i is the gap before cut i, bit 2i + 1 the cut itself; the last gap lies after all, then comes `missing`."""

    numbers: dict[Place, int]
    place: Places

    @property
    def present(self) -> int:
        return (1 << (2 * len(self.numbers) + 1)) - 1

    @property
    def missing(self) -> int:
        return self.present + 1

    @property
    def all(self) -> int:
        return self.present | self.missing

    def truth(self, node: exp.Expr) -> _Truth:
        node = node.unnest()
        if isinstance(node, exp.Not):
            yes, no = self.truth(node.this)
            return no, yes
        if isinstance(node, exp.And):
            return self._both(map(self.truth, node.flatten()))
        if isinstance(node, exp.Or):
            return self._either(map(self.truth, node.flatten()))
        if asks_whether(node):
            holds = self.truth(node.this)[0 if node.expression.this else 1]
            return holds, self.all ^ holds
        return self._of_atom(node)

    def _of_atom(self, atom: exp.Expr) -> _Truth:
        if isinstance(atom, exp.Between):
            ends = ((">=", atom.args["low"]), ("<=", atom.args["high"]))
            return self._both(self._compared(*end) for end in ends)
        if isinstance(atom, exp.In):
            return self._either(self._compared("=", each) for each in atom.expressions)
        if isinstance(atom, exp.Is):
            return self.missing, self.present
        if isinstance(atom, exp.Boolean | exp.Null):
            return (0, 0) if isinstance(atom, exp.Null) else (self.all, 0) if atom.this else (0, self.all)
        sign = SIGNS[type(atom)]
        if is_column(atom.this):
            return self._compared(sign, atom.expression)
        return self._compared(TURNED.get(sign, sign), atom.this)

    def _both(self, parts: Iterable[_Truth]) -> _Truth:
        no, yes = self._either((fails, holds) for holds, fails in parts)
        return yes, no

    def _either(self, parts: Iterable[_Truth]) -> _Truth:
        yes, no = 0, self.all
        for holds, fails in parts:
            yes, no = yes | holds, no & fails
        return yes, no

    def _compared(self, sign: str, constant: exp.Expr) -> _Truth:
        at = self.place(constant)
        if at is None:
            return 0, 0
        number = self.numbers[at]
        less, same = (1 << (2 * number + 1)) - 1, 1 << (2 * number + 1)
        more = self.present ^ less ^ same
        yes = {"<": less, "<=": less | same, "=": same, "<>": less | more, ">": more, ">=": more | same}[sign]
        return yes, self.present ^ yes


def _intervals(cuts: list[Place], holds: int) -> Iterator[Interval]:
    """The intervals that runs of cells make."""
    ends = [-inf, *cuts, inf]
    start = None
    for cell in range(2 * len(cuts) + 2):
        here = cell <= 2 * len(cuts) and bool(holds >> cell & 1)
        if here and start is None:
            start = cell
        elif not here and start is not None:
            last = cell - 1
            yield Interval(
                ends[(start + 1) // 2], ends[last // 2 + 1], low_closed=start % 2 == 1, high_closed=last % 2 == 1
            )
            start = None


def _first(interval: Interval) -> int:
    return ceil(interval.low) if interval.low_closed else floor(interval.low) + 1


def _last(interval: Interval) -> int:
    return floor(interval.high) if interval.high_closed else ceil(interval.high) - 1
