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

from discreet.answer.truths import SIGNS, TURNED, is_column, is_constant

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


def readable(node: exp.Expr) -> bool:
    """Whether a condition on one column compares it with constants only."""
    match node.unnest():
        case exp.And() | exp.Or() as both:
            return all(map(readable, both.flatten()))
        case exp.Not() as other:
            return readable(other.this)
        case exp.Between() as between:
            ends = between.args["low"], between.args["high"]
            return is_column(between.this) and all(map(is_constant, ends)) and not between.args.get("symmetric")
        case exp.In() as listed:
            return is_column(listed.this) and bool(listed.expressions) and all(map(is_constant, listed.expressions))
        case exp.Is(expression=exp.Null()) as test:
            return is_column(test.this)
        case exp.Is(expression=exp.Boolean()) as test:
            return readable(test.this)
        case exp.Boolean() | exp.Null():
            return True
        case atom if type(atom) in SIGNS:
            sides = atom.this, atom.expression
            return any(map(is_column, sides)) and any(map(is_constant, sides))
    return False


def constants(node: exp.Expr) -> Iterator[exp.Expr]:
    """What a readable condition compares its column with."""
    match node.unnest():
        case exp.And() | exp.Or() as both:
            for each in both.flatten():
                yield from constants(each)
        case exp.Not() as other:
            yield from constants(other.this)
        case exp.Between() as between:
            yield from (between.args["low"], between.args["high"])
        case exp.In() as listed:
            yield from listed.expressions
        case exp.Is(expression=exp.Boolean()) as test:
            yield from constants(test.this)
        case atom if type(atom) in SIGNS:
            yield atom.expression if is_column(atom.this) else atom.this


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

    def truth(self, node: exp.Expr) -> _Truth:
        all_cells = self.present | self.missing
        match node.unnest():
            case exp.And() as both:
                yes, no = all_cells, 0
                for holds, fails in map(self.truth, both.flatten()):
                    yes, no = yes & holds, no | fails
                return yes, no
            case exp.Or() as either:
                return self._either(map(self.truth, either.flatten()))
            case exp.Not() as other:
                yes, no = self.truth(other.this)
                return no, yes
            case exp.Between() as between:
                ends = ((">=", between.args["low"]), ("<=", between.args["high"]))
                (above, below), (under, over) = (self._compared(*end) for end in ends)
                return above & under, below | over
            case exp.In() as listed:
                return self._either(self._compared("=", each) for each in listed.expressions)
            case exp.Is(expression=exp.Boolean()) as test:
                yes, no = self.truth(test.this)
                holds = yes if test.expression.this else no
                return holds, all_cells ^ holds
            case exp.Is():
                return self.missing, self.present
            case exp.Null():
                return 0, 0
            case exp.Boolean() as constant:
                return (all_cells, 0) if constant.this else (0, all_cells)
            case atom:
                sign = SIGNS[type(atom)]
                if is_column(atom.this):
                    return self._compared(sign, atom.expression)
                return self._compared(TURNED.get(sign, sign), atom.this)

    def _either(self, parts: Iterable[_Truth]) -> _Truth:
        yes, no = 0, self.present | self.missing
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
