"""What a question says of the entries of one side: whether they match, and which keys they have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.grouped import Entries, names_in
from discreet.answer.accelerate.kernels import Codes, Counts, Ints, label, label_too, matched
from discreet.answer.question.grammar import conjuncts
from discreet.answer.question.question import Question
from discreet.values.coded import ranked, to_arrow, to_numpy

MOST_LABELS = 2**31 - 2
SPARSE = 2**12  # so many combinations of keys are numbered anew, by those that occur

Cells: TypeAlias = npt.NDArray[np.int64]


class NotServed(Exception):  # noqa: N818 - no error
    """A question that the pass leaves to the plan."""


@dataclass(frozen=True, eq=False)
class Part:
    """A number in [0, size) for every entry, or -1: `lut` of its code. It stands for some keys, the last fastest."""

    codes: Codes
    lut: Ints
    size: int
    keys: tuple[tuple[int, pa.Array], ...] = ()

    def beside(self, other: Part) -> Part:
        """Both numbers as one, where both are of the same codes."""
        both = np.where((self.lut >= 0) & (other.lut >= 0), self.lut * other.size + other.lut, -1)
        return Part(self.codes, both.astype(np.int32), self.size * other.size, (*self.keys, *other.keys))


@dataclass(frozen=True, eq=False)
class Labels:
    """Several numbers of every entry as one, the last changing fastest; -1 if any is. Without parts, all are 0."""

    entries: Entries
    parts: tuple[Part, ...] = ()
    occurring: Cells | None = None  # the combinations of keys that were numbered anew
    kept: Counts | None = None  # how often each occurs in every group, if that is known for all of them

    @property
    def size(self) -> int:
        """How many there are."""
        return prod(part.size for part in self.parts)

    def beside(self, part: Part) -> Labels:
        """These and one more, the fastest of all if it is of codes that were not there."""
        parts = list(self.parts)
        at = next((i for i, old in enumerate(parts) if old.codes is part.codes), None)
        if at is not None and (part.keys or part.size == 1 or at == len(parts) - 1):
            parts[at] = parts[at].beside(part)
        else:
            parts.append(part)
        if prod(each.size for each in parts) > MOST_LABELS:
            raise NotServed
        return Labels(self.entries, tuple(parts), self.occurring)

    def write(self, first: int, last: int, labels: Ints) -> Ints:
        """The labels of the entries from `first` to `last`."""
        found = labels[: last - first]
        start, *others = self.parts
        label(start.codes[first:last], start.lut, found)
        for part in others:
            label_too(part.codes[first:last], part.lut, part.size, found)
        return found

    def numbered_anew(self) -> Labels:
        """The same without combinations that do not occur, if there are many."""
        if self.size <= SPARSE:
            return self
        count = int(self.entries.offsets[-1])
        labels = self.write(0, count, np.empty(count, np.int32))
        labels += 1
        seen = np.zeros(self.size + 1, np.bool_)
        seen[labels] = True
        occurring = np.flatnonzero(seen[1:])
        lut = np.full(self.size + 1, -1, np.int32)
        lut[1 + occurring] = np.arange(occurring.size, dtype=np.int32)
        keys = tuple(key for part in self.parts for key in part.keys)
        return Labels(self.entries, (Part(labels, lut, max(occurring.size, 1), keys),), occurring)

    def keeping(self) -> Labels:
        """The same, how often each occurs in every group being known."""
        if not self.parts or self.kept is not None:
            return self
        offsets, n = self.entries.offsets, self.entries.n
        groups, count = offsets.size - 1, int(offsets[-1])
        found = Counts.room(groups, max(count, groups) + 1)
        matched(offsets, self.write(0, count, np.empty(count, np.int32)), n, np.zeros(self.size + 1, np.int32), found)
        pairs = found.offsets[-1]
        return replace(self, kept=Counts(found.offsets, found.keys[:pairs].copy(), found.n[:pairs].copy()))

    def columns(self, labels: Cells) -> dict[str, pa.Array]:
        """The keys of some labels."""
        keys = [key for part in self.parts for key in part.keys]
        if not keys:
            return {}
        combined = labels if self.occurring is None else self.occurring[labels]
        places = np.unravel_index(combined, [len(values) for _, values in keys])
        return {f"key_{number}": values.take(to_arrow(at)) for at, (number, values) in zip(places, keys, strict=True)}


def labelled(entries: Entries, question: Question, side: str) -> Labels:
    """What the condition and the keys of a question say of each entry of a side."""
    where = question.where.get(side)
    asked: list[tuple[int | None, exp.Expr]] = [] if where is None else [(None, each) for each in conjuncts(where)]
    asked += [(number, key.expression) for number, key in enumerate(question.keys) if key.side == side]
    entries.read([name for _, each in asked for name in names_in(each)])
    by_names: dict[tuple[str, ...], list[tuple[int | None, exp.Expr]]] = {}
    for number, each in asked:
        by_names.setdefault(names_in(each), []).append((number, each))
    labels = Labels(entries)
    for names, some in by_names.items():
        wanted = [_holds(each) if number is None else each.copy() for number, each in some]
        for (number, _), (codes, values) in zip(some, entries.evaluate(names, wanted), strict=True):
            labels = labels.beside(_condition(codes, values) if number is None else _key(number, codes, values))
    return labels.numbered_anew()


def _holds(condition: exp.Expr) -> exp.Expr:
    return exp.Case().when(condition.copy(), exp.Literal.number(1)).else_(exp.Literal.number(0))


def _condition(codes: Codes, holds: pa.Array) -> Part:
    return Part(codes, to_numpy(holds).astype(np.int32) - np.int32(1), 1)


def _key(number: int, codes: Codes, found: pa.Array) -> Part:
    ranks, values = ranked(found)
    return Part(codes, ranks, len(values), ((number, values),))
