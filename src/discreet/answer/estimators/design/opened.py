"""A release opened for `design`: its values and their classes, its design, and what questions say of its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.estimators.design.linear import Ratio, Targets
from discreet.answer.estimators.design.sought import Sought
from discreet.engines import Engine
from discreet.errors import ReleaseError
from discreet.learn.classes import MOST, Classes, classes
from discreet.learn.design import Design, Floats
from discreet.learn.view import present
from discreet.release.cache import Cache
from discreet.release.groups import read_groups
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise
from discreet.release.release import Release

NUMBERED = {"anatomy": "qit file", "permutation": "mapping file"}  # where the numbers of groups stand


@dataclass(frozen=True, eq=False)
class Opened:
    """The sensitive values in order, their classes, the design, and how many rows hold each value, by cell."""

    values: pa.Array
    first: int  # the number of the first group
    classes: Classes
    design: Design
    held: Floats

    @classmethod
    def of(cls, engine: Engine, release: Release, most: int = MOST) -> Opened | None:
        """None if there are too many values to be told apart."""
        promise = release.promise
        groups = read_groups(engine, promise, Cache.of(release))
        if groups is None:
            raise ReleaseError(
                "the rows of the release are not in the order of its groups, or are not as many as its values",
                hint="check it with `discreet verify`",
            )
        groups = groups._replace(values=present(groups.values))
        cells = promise.cells or (promise.groups,)
        cell = np.repeat(np.arange(len(cells), dtype=np.int32), cells)
        found = classes(groups, len(cells), most)
        if found is None:
            return None
        values = groups.values.values
        code = groups.values.codes + len(values) * np.repeat(cell, np.diff(groups.held)).astype(np.int64)
        held = np.bincount(code, groups.n if groups.n.size else None, len(cells) * len(values)).astype(float)
        return cls(
            values, _first(engine, promise), found, Design.of(groups, found.of, cell), held.reshape(len(cells), -1)
        )

    @property
    def told(self) -> str | None:
        """What is to be said of all its estimates."""
        if not self.classes.binned:
            return None
        bins = "1 bin" if self.classes.classes == 1 else f"{self.classes.classes:,} bins"
        return (
            f"the {self.classes.values:,} sensitive values are too many to be told apart, and are taken together in"
            f" {bins} of neighbours: that is right if rows in a bin match alike"
        )

    def by_class(self, wanted: Floats) -> Floats:
        """Totals of classes, from what is wanted of each row that holds a value."""
        starts = np.searchsorted(self.classes.of, np.arange(self.classes.classes))
        return np.add.reduceat(wanted[:, None, :] * self.held, starts, axis=2).reshape(len(wanted), -1)

    def targets(self, wanted: Floats) -> Targets:
        """Targets of classes, from what is wanted of each row that holds a value.

        Where a question takes some values of a class, their rows match as those of all do, but for chance: that is in
        the variance, too, as if they were drawn from all rows of the class.
        """
        total, rows = self.by_class(wanted), self.design.totals
        if not self.classes.binned:
            return Targets.of(self.design, total)
        mean = np.divide(total, rows, out=np.zeros_like(total), where=rows > 0)
        inside = np.maximum(self.by_class(wanted**2) - mean * total, 0)
        return Targets.of(self.design, total, inside * rows / np.maximum(rows - 1, 1))

    def by_value(self, means: Floats) -> Floats:
        """How many rows with each value match, from the means of classes."""
        shaped = means.reshape(-1, self.design.cells, self.classes.classes)[:, :, self.classes.of]
        found: Floats = (shaped * self.held).sum(axis=1)
        return found


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a question says of the sensitive values, and the targets that aggregates make of it, each made once."""

    opened: Opened
    sought: Sought
    targets: dict[tuple[str, int | None], Targets] = field(default_factory=dict)
    ratios: dict[int, Ratio] = field(default_factory=dict)

    @cached_property
    def matching(self) -> Floats:
        return self.sought.matching()

    def counted(self, argument: int | None) -> Targets:
        """Rows that match, or those of them whose argument has a value."""
        if ("count", argument) not in self.targets:
            self.targets["count", argument] = self._made(self._present(argument))
        return self.targets["count", argument]

    def summed(self, argument: int) -> Targets:
        if ("sum", argument) not in self.targets:
            self.targets["sum", argument] = self._made(self.matching * self.sought.numbers(argument))
        return self.targets["sum", argument]

    def averaged(self, argument: int) -> Ratio:
        """Sums around the mean of all, in units of the largest, so that no digits are lost."""
        if argument not in self.ratios:
            counted, numbers = self._present(argument), self.sought.numbers(argument)
            rows = counted.sum(axis=0) * self.opened.held.sum(axis=0)
            start = float(rows @ numbers / max(rows.sum(), 1))
            away = (numbers - start) * counted
            scale = float(np.abs(away).max(initial=0)) or 1.0
            above, both = (self._made(each) for each in (away / scale, away / scale + counted))
            self.ratios[argument] = Ratio(above, self.counted(argument), both, start, scale)
        return self.ratios[argument]

    def _present(self, argument: int | None) -> Floats:
        return self.matching if argument is None else self.matching * self.sought.present(argument)

    def _made(self, wanted: Floats) -> Targets:
        return self.opened.targets(wanted)


def _first(engine: Engine, promise: Promise) -> int:
    """The number of the first group."""
    files = exp.select(exp.Min(this=exp.column(promise.group, quoted=True))).from_(named(NUMBERED[promise.publication]))
    return int(engine.run(files).column(0)[0].as_py())
