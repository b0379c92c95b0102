"""Figures that are not certain, a column at a time: value, bounds, and what they hang on to the first order.

A cell stands for one number per row of an answer. `low` and `high` hold the number whatever the private table is, if
it is not missing; ±∞ is unknown, and not a number where it is missing for certain. `terms` are the figures of the core
answers that it depends on, each with its slope; a cell that is affine in them (`offset`) has its bounds from them, so
that x - x is 0 and not an interval around it. The standard error is the sum of |slope| · stderr: by the triangle
inequality never below the true spread of an affine formula, however its terms go together; of others to first order.
Claim: statement_bounds_contain_every_world — over all assignments, a formula stays between its low and high.
Claim: statement_stderr_is_never_too_small — of affine formulas it is at least the spread over even assignments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_numbers = itertools.count()


class Term(NamedTuple):
    """A figure of a core answer (its stderr, low and high), and the slope of a formula in it."""

    slope: Floats
    stderr: Floats
    low: Floats
    high: Floats

    def scaled(self, factor: Floats) -> Term:
        return self._replace(slope=self.slope * factor)

    def taken(self, rows: npt.NDArray[np.int64]) -> Term:
        return Term(*(each[rows] for each in self))


@dataclass(frozen=True, eq=False)
class Cell:
    """See the module. `absent`: may be missing; `exact`: it is as the engine says; `whole`: it has an integer type."""

    value: Floats
    low: Floats
    high: Floats
    absent: Flags
    exact: Flags
    terms: Mapping[str, Term] | None = field(default_factory=dict)  # None: no stderr is known
    offset: Floats | None = None
    whole: bool = False
    nil: bool = False  # a sum, in whose figures nobody counts as 0

    @property
    def stderr(self) -> Floats:
        if self.terms is None:
            return np.where(self.exact, 0.0, np.nan)
        found = np.zeros(len(self.value))
        for term in self.terms.values():
            found = found + np.where(term.slope == 0, 0, np.abs(term.slope) * term.stderr)
        return np.where(self.exact, 0.0, found)

    @property
    def void(self) -> Flags:
        """Where it is missing for certain."""
        return np.isnan(self.low)

    @property
    def multiple(self) -> str | None:
        """The name of its only term, if it is a multiple of that."""
        alone = self.terms is not None and len(self.terms) == 1 and self.offset is not None and not self.offset.any()
        return next(iter(self.terms)) if alone and self.terms is not None else None

    @property
    def filled(self) -> Cell:
        """A sum with 0 where it is missing, which is how its figures count that."""
        value, low, high = (np.where(np.isnan(each), 0, each) for each in (self.value, self.low, self.high))
        terms = {
            name: Term(*(np.where(self.void, 0, part) for part in term)) for name, term in (self.terms or {}).items()
        }
        offset = None if self.offset is None else np.where(self.void, 0, self.offset)
        never = np.zeros(len(value), np.bool_)
        return replace(self, value=value, low=low, high=high, absent=never, terms=terms, offset=offset)

    def taken(self, rows: npt.NDArray[np.int64]) -> Cell:
        """The cell of some rows."""
        terms = None if self.terms is None else {name: term.taken(rows) for name, term in self.terms.items()}
        value, low, high = (each[rows] for each in (self.value, self.low, self.high))
        offset = None if self.offset is None else self.offset[rows]
        return Cell(value, low, high, self.absent[rows], self.exact[rows], terms, offset, self.whole, self.nil)

    def known(self, found: Floats) -> Cell:
        """Where it is exact, the bounds are what was found."""
        low, high = (np.where(self.exact, found, end) for end in (self.low, self.high))
        return replace(self, value=np.where(self.exact, found, self.value), low=low, high=high)

    def inside(self, low: Floats, high: Floats) -> Cell:
        """With bounds that are no wider than these, which are known to hold."""
        return replace(self, low=np.maximum(self.low, low), high=np.minimum(self.high, high), offset=None)


def certain(value: Floats, *, whole: bool = False) -> Cell:
    """A number that is known, missing where it is not a number."""
    missing = np.isnan(value)
    return Cell(value, value, value, missing, np.ones(len(value), np.bool_), {}, value, whole)


def figure(name: str, value: Floats, stderr: Floats, low: Floats, high: Floats, absent: Flags, *, whole: bool) -> Cell:
    """A figure of a core answer."""
    exact = ((low == high) & ~absent) | np.isnan(low)
    if exact.all():
        return replace(certain(low, whole=whole), absent=np.isnan(low))
    slope = np.ones(len(value))
    return Cell(value, low, high, absent, exact, {name: Term(slope, stderr, low, high)}, np.zeros(len(value)), whole)


def opaque(exact: Flags) -> Cell:
    """Something that is no number; nothing is known of it but where it is exact."""
    none = np.full(len(exact), np.nan)
    wide = np.full(len(exact), np.inf)
    return Cell(none, -wide, wide, ~exact, exact, None)


def unknown(*cells: Cell) -> Cell:
    """What is made of cells in a way that tells nothing of its bounds."""
    found = opaque(np.logical_and.reduce([each.exact for each in cells]))
    return replace(found, absent=np.ones(len(found.exact), np.bool_))


def _with_bounds(cell: Cell) -> Cell:
    """An affine cell with the bounds that its terms give, as far as they are tighter."""
    if cell.offset is None or cell.terms is None:
        return cell
    low, high = cell.offset, cell.offset
    for term in cell.terms.values():
        ends = times(term.slope, term.slope, term.low, term.high)
        low, high = low + ends[0], high + ends[1]
    return replace(cell, low=np.maximum(low, cell.low), high=np.minimum(high, cell.high))


def times(a: Floats, b: Floats, c: Floats, d: Floats) -> tuple[Floats, Floats]:
    """The ends of [a, b] · [c, d]; what is unknown is finite, so that 0 times it is 0."""
    void = np.isnan(a) | np.isnan(c)
    products = [np.where((x == 0) | (y == 0), 0, x * y) for x in (a, b) for y in (c, d)]
    low, high = np.minimum.reduce(products), np.maximum.reduce(products)
    return np.where(void, np.nan, low), np.where(void, np.nan, high)


def add(one: Cell, other: Cell) -> Cell:
    offset = None if one.offset is None or other.offset is None else one.offset + other.offset
    found = Cell(
        one.value + other.value,
        one.low + other.low,
        one.high + other.high,
        one.absent | other.absent,
        one.exact & other.exact,
        merged([one.terms, other.terms]),
        offset,
        one.whole and other.whole,
    )
    return _with_bounds(found)


def negative(cell: Cell) -> Cell:
    factor = -np.ones(len(cell.value))
    terms = None if cell.terms is None else {name: term.scaled(factor) for name, term in cell.terms.items()}
    offset = None if cell.offset is None else -cell.offset
    return replace(cell, value=-cell.value, low=-cell.high, high=-cell.low, terms=terms, offset=offset)


def multiply(one: Cell, other: Cell) -> Cell:
    low, high = times(one.low, one.high, other.low, other.high)
    slopes = [_scaled(one, other.value), _scaled(other, one.value)]
    offset = None
    for constant, varying in ((one, other), (other, one)):
        if constant.exact.all() and constant.offset is not None and varying.offset is not None:
            offset = varying.offset * constant.low
    found = Cell(
        one.value * other.value,
        low,
        high,
        one.absent | other.absent,
        one.exact & other.exact,
        merged(slopes),
        offset,
        one.whole and other.whole,
    )
    return _with_bounds(found)


def divide(one: Cell, other: Cell) -> Cell:
    """Where the divisor may be 0, nothing is known of the quotient."""
    return multiply(one, reciprocal(other))


def reciprocal(cell: Cell) -> Cell:
    crosses = (cell.low <= 0) & (cell.high >= 0)
    low = np.where(crosses, -np.inf, 1 / cell.high)
    high = np.where(crosses, np.inf, 1 / cell.low)
    slope = -1 / cell.value**2
    exact = cell.exact & ~crosses
    offset = 1 / cell.low if exact.all() else None
    return Cell(1 / cell.value, low, high, cell.absent, cell.exact, _scaled(cell, slope), offset)


def monotone(cell: Cell, function: Callable[[Floats], Floats], slope: Callable[[Floats], Floats]) -> Cell:
    """A function that never falls, and its slope; it is unknown where the function is not defined."""
    low, high = function(cell.low), function(cell.high)
    low = np.where(np.isnan(low) & ~cell.void, -np.inf, low)
    high = np.where(np.isnan(high) & ~cell.void, np.inf, high)
    return Cell(function(cell.value), low, high, cell.absent, cell.exact, _scaled(cell, slope(cell.value)), whole=False)


def stepped(cell: Cell, function: Callable[[Floats], Floats], unit: float) -> Cell:
    """A function that rounds to multiples of a unit: at most that far off; ends are widened by noise first."""
    slack = np.where(cell.low == np.rint(cell.low), 0, 1e-9 * np.maximum(1, np.abs(cell.low)))
    low = function(cell.low - slack)
    slack = np.where(cell.high == np.rint(cell.high), 0, 1e-9 * np.maximum(1, np.abs(cell.high)))
    high = function(cell.high + slack)
    terms = cell.terms
    if terms is not None and not cell.exact.all():
        terms = {**terms, **spread(np.full(len(cell.value), unit))}
    return Cell(function(cell.value), low, high, cell.absent, cell.exact, terms)


def absolute(cell: Cell) -> Cell:
    crosses = (cell.low < 0) & (cell.high > 0)
    ends = np.abs(cell.low), np.abs(cell.high)
    low, high = np.where(crosses, 0, np.minimum(*ends)), np.maximum(*ends)
    terms = spread(cell.stderr) if crosses.any() else _scaled(cell, np.where(cell.low < 0, -1.0, 1.0))
    return Cell(np.abs(cell.value), low, high, cell.absent, cell.exact, terms, whole=cell.whole)


def if_any(number: Cell, cell: Cell) -> Cell:
    """A sum that is missing where nobody is summed over, and whose figures count that as 0."""
    nobody = number.high <= 0
    low, high = (np.where(nobody, np.nan, end) for end in (cell.low, cell.high))
    value = np.where(number.value > 0, cell.value, np.nan)
    return replace(
        cell,
        value=value,
        low=low,
        high=high,
        absent=number.low <= 0,
        exact=(cell.exact & (number.low > 0)) | nobody,
        nil=True,
    )


def hull(cells: list[Cell], possible: list[Flags], chosen: list[Flags]) -> Cell:
    """One of several cells: any that is `possible`, at the estimates the one that is `chosen`.

    Where more than one is possible there is no slope to tell the stderr by.
    """
    low = np.fmin.reduce([np.where(may, cell.low, np.nan) for cell, may in zip(cells, possible, strict=True)])
    high = np.fmax.reduce([np.where(may, cell.high, np.nan) for cell, may in zip(cells, possible, strict=True)])
    value = np.full(len(low), np.nan)
    absent, exact = np.zeros(len(low), np.bool_), np.ones(len(low), np.bool_)
    for cell, may, here in zip(cells, possible, chosen, strict=True):
        value = np.where(here, cell.value, value)
        absent |= may & cell.absent
        exact &= ~may | cell.exact
    # what is missing is no figure: the others hold where it is not, and their stderr with them
    several = (
        np.add.reduce([(may & ~cell.void).astype(np.int64) for cell, may in zip(cells, possible, strict=True)]) > 1
    )
    weights = [np.where(several, np.nan, here.astype(np.float64)) for here in chosen]
    terms = merged([_scaled(cell, weight) for cell, weight in zip(cells, weights, strict=True)])
    if terms is not None and several.any():
        terms = {**terms, **spread(np.where(several, np.nan, 0))}
    exact &= np.add.reduce([may.astype(np.int64) for may in possible]) == 1
    return Cell(value, low, high, absent, exact, terms, whole=all(cell.whole for cell in cells))


def spread(stderr: Floats) -> dict[str, Term]:
    """A term of its own, which goes together with no other."""
    wide = np.full(len(stderr), np.inf)
    return {f"spread {next(_numbers)}": Term(np.ones(len(stderr)), stderr, -wide, wide)}


def apart(terms: Mapping[str, Term]) -> dict[str, Term]:
    """Terms of another row, which are not those of this one."""
    return {f"{name} of row {next(_numbers)}": term for name, term in terms.items()}


def slopes(cell: Cell) -> Floats:
    """The slope in its only term."""
    [term] = (cell.terms or {}).values()
    return term.slope


def merged(several: Sequence[Mapping[str, Term] | None]) -> dict[str, Term] | None:
    """Slopes of a sum."""
    found: dict[str, Term] = {}
    for terms in several:
        if terms is None:
            return None
        for name, term in terms.items():
            have = found.get(name)
            found[name] = term if have is None else term._replace(slope=term.slope + have.slope)
    return found


def _scaled(cell: Cell, factor: Floats) -> dict[str, Term] | None:
    return None if cell.terms is None else {name: term.scaled(factor) for name, term in cell.terms.items()}
