"""What estimates are to reach, and whether they do: coverage of two standard errors, and errors as ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from asked import DIMENSIONS, FORMS

Cell = tuple[str, int]
Way = tuple[str, str]  # a method and an estimator
REAL, ALL = ("SAL", "OCC", "Adult", "ACS", "jobs"), ("SAL", "OCC", "Adult", "ACS", "jobs", "unrelated")


@dataclass(frozen=True)
class Measured:
    """Of the questions of one kind: the mean and the median error, and the share of truths within two stderr."""

    mean: float
    median: float
    covered: float

    def __str__(self) -> str:
        return f"{self.mean:7.2%} {self.median:6.2%} {self.covered:4.0%}"


Figures = dict[Cell, Measured]
Results = Mapping[tuple[str, str, str], Figures]  # by table, method and estimator


@dataclass(frozen=True)
class Covered:
    """Of every kind of question, at least such a share of truths lies within two standard errors."""

    way: Way
    least: float
    tables: tuple[str, ...] = ALL

    def lines(self, results: Results) -> Iterator[str]:
        for table in self.tables:
            if (found := results.get((table, *self.way))) is not None:
                shares = {cell: each.covered for cell, each in found.items()}
                met = {cell: share >= self.least for cell, share in shares.items()}
                what = f"{table}, {' + '.join(self.way)}: truths within 2 stderr, at least {self.least:.0%}"
                yield _line(what, {cell: f"{share:.1%}" for cell, share in shares.items()}, met)


@dataclass(frozen=True)
class Ratio:
    """Of every kind of question, the mean error is at most so many times that of another way."""

    way: Way
    beside: Way
    most: float
    tables: tuple[str, ...]
    forms: tuple[str, ...] = FORMS

    def lines(self, results: Results) -> Iterator[str]:
        for table in self.tables:
            found, other = results.get((table, *self.way)), results.get((table, *self.beside))
            if found is not None and other is not None:
                ratios = {cell: found[cell].mean / other[cell].mean for cell in found if cell[0] in self.forms}
                met = {cell: ratio <= self.most for cell, ratio in ratios.items()}
                what = f"{table}, {' + '.join(self.way)} / {' + '.join(self.beside)}: mean error, at most {self.most:g}"
                yield _line(what, {cell: f"{ratio:.2f}" for cell, ratio in ratios.items()}, met)


FOLLOW, DEALT = ("local", "fitted"), ("mixed", "cells")  # the methods that estimators are meant for
TARGETS: tuple[Covered | Ratio, ...] = (
    *(Covered((method, each), 0.93) for each in ("design", "shrunk") for method in DEALT),
    *(Covered((method, "learned"), 0.88) for method in FOLLOW),
    *(Ratio((method, "learned"), (method, "even"), 0.55, ("OCC",)) for method in FOLLOW),
    *(Ratio((method, "learned"), (method, "even"), 0.65, ("SAL",)) for method in FOLLOW),
    *(
        Ratio((method, each), ("anatomize", "even"), 0.55, REAL, ("sets",))
        for each in ("design", "shrunk")
        for method in DEALT
    ),
    *(
        Ratio((method, each), ("anatomize", "even"), 0.3, REAL, ("ranges",))
        for each in ("design", "shrunk")
        for method in DEALT
    ),
    *(
        Ratio((method, each), (method, "even"), 1.1, ("unrelated",))
        for each in ("design", "shrunk")
        for method in DEALT
    ),
    *(Ratio((method, "learned"), (method, "even"), 1.1, ("unrelated",)) for method in FOLLOW),
)


def verdicts(results: Results) -> Iterator[str]:
    """Every target that something was measured for."""
    kinds = "  ".join(f"{form + ', ' + str(several):>9}" for form in FORMS for several in DIMENSIONS)
    found = [line for target in TARGETS for line in target.lines(results)]
    if found:
        yield f"\n{'what was to be reached':<86}{kinds}"
    yield from found


def _line(what: str, shown: Mapping[Cell, str], met: Mapping[Cell, bool]) -> str:
    """All kinds of questions, those that miss the target marked."""
    every = [(form, several) for form in FORMS for several in DIMENSIONS]
    cells = "  ".join(f"{shown.get(cell, '') + ' !' * (not met.get(cell, True)):>9}" for cell in every)
    return f"{what:<86}{cells}  {'PASS' if all(met.values()) else 'MISS'}"
