"""How far the value of one column makes that of another certain: which classes of rows tell it, and to whom.

Rows that share a value of the telling column (or lie in one band of its order) are a class. Someone who knows a
person's class, and how the values go together in the table, looks at the *other* rows of the class: if nearly all hold
one value, the person's is taken to be the same. A class tells that value if nearly all of its rows hold it, and if such
a guess is nearly always right wherever it is made (leave one out). So a class of one row tells nothing, since there is
no other row to learn from; nor do small classes that agree by chance, since their guesses are as often wrong as chance
has it.

Nearly all is 95 %, and more where the value is frequent anyway: the doubt that is left is at most a tenth of what it
was without the column.
Cost: linear in the rows, and a sort of them where classes times values outnumber the rows by far.
Claim: telling_is_leaving_one_out — classes, rows and certainty are those of the definition, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.values.codes import Codes

SURE = 0.95
DOUBT = 0.1  # of the doubt before, what may be left
ENOUGH = (5, 25, 125)  # a class has at least so many rows; larger ones are judged without the smaller ones, too
DENSE = 8  # cells per row up to which all are counted in an array

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Classes:
    """The class of every row, and the lowest and the highest code that each class holds; of pairs, their number."""

    of_row: Ints
    low: Ints
    high: Ints

    @classmethod
    def of_values(cls, codes: Codes) -> Classes:
        """A class per value."""
        each = np.arange(codes.size)
        return cls(codes.codes.astype(np.int64), each, each)

    @classmethod
    def of_bands(cls, codes: Codes, bands: int) -> Classes:
        """Neighbouring values together, in about so many bands of equally many rows; a missing value by itself.

        A value that has more than two bands' share of the rows is a band of its own.
        """
        counts = codes.counts()
        present = len(codes.domain)
        middle = np.cumsum(counts) - counts / 2
        band = np.floor(middle[:present] * bands / max(int(counts[:present].sum()), 1)).astype(np.int64)
        if codes.missing:
            band = np.append(band, bands + 1)
        low = np.flatnonzero(np.diff(band, prepend=-1))
        numbered = np.cumsum(np.diff(band, prepend=-1) > 0) - 1
        return cls(numbered[codes.codes], low, np.append(low[1:], codes.size) - 1)

    @classmethod
    def of_prefixes(cls, codes: Codes, length: int) -> Classes:
        """Texts that begin with the same so many characters together; a missing value by itself.

        Texts are in order, so those of one beginning are neighbours.
        """
        begins = pc.utf8_slice_codeunits(codes.domain.cast(pa.string()), 0, length).dictionary_encode()
        number: Ints = np.asarray(begins.indices.to_numpy(zero_copy_only=False), np.int64)
        if codes.missing:
            number = np.append(number, len(begins.dictionary))
        low = np.flatnonzero(np.diff(number, prepend=-1))
        return cls(number[codes.codes], low, np.append(low[1:], codes.size) - 1)

    @property
    def size(self) -> int:
        return self.low.size

    def every(self, step: int) -> Classes:
        """The classes of one row in every so many."""
        return replace(self, of_row=self.of_row[::step])

    def times(self, other: Classes) -> Classes:
        """A class for every two of both that occur together."""
        pairs = self.of_row * other.size + other.of_row
        each = np.arange(self.size * other.size if self.size * other.size <= DENSE * pairs.size else 0)
        if not each.size:
            each, pairs = np.unique(pairs, return_inverse=True)
        return Classes(pairs, each, each)


@dataclass(frozen=True)
class Certainty:
    """Which classes tell a value, and which; and of how many rows, in classes that are large enough to judge."""

    classes: Classes
    tells: Bools  # of every class
    value: Ints  # of every class: the value that most of its rows hold
    size: Ints  # of every class: its rows
    held: Ints  # of every class: its rows that hold the value

    @property
    def told(self) -> int:
        """The rows in classes that tell."""
        return int(self.size[self.tells].sum())

    @property
    def right(self) -> int:
        """Those of them that hold the value that their class tells."""
        return int(self.held[self.tells].sum())

    @property
    def judged(self) -> int:
        """The rows in classes that are large enough to tell."""
        return int(self.size[self.size >= ENOUGH[0]].sum())

    @property
    def rows(self) -> Bools:
        """Of every row, whether its class tells."""
        return self.tells[self.classes.of_row]


def certainty(classes: Classes, values: Classes) -> Certainty:
    """What classes of rows tell of their values."""
    size, held, value = _tops(classes, values)
    shares = np.bincount(values.of_row, minlength=values.size) / max(values.of_row.size, 1)
    needed = np.maximum(SURE, 1 - DOUBT * (1 - shares))
    sure = needed[value]
    right = np.where(held - 1 >= sure * (size - 1), held, 0)
    wrong = np.where(held >= sure * (size - 1), size - held, 0)
    tells = np.zeros(size.size, np.bool_)
    for enough in ENOUGH:
        seen = size >= enough
        hits, misses = (np.bincount(value[seen], told[seen], values.size) for told in (right, wrong))
        reliable = (hits > 0) & (hits >= needed * (hits + misses))
        tells |= seen & (held >= sure * size) & reliable[value]
    return Certainty(classes, tells, value, size, held)


def _tops(classes: Classes, values: Classes) -> tuple[Ints, Ints, Ints]:
    """Of every class its rows, how many of them hold its most frequent value, and which that is."""
    cells = classes.of_row * values.size + values.of_row
    if classes.size * values.size <= DENSE * cells.size:
        counts = np.bincount(cells, minlength=classes.size * values.size).reshape(classes.size, values.size)
        return counts.sum(axis=1), counts.max(axis=1), counts.argmax(axis=1)
    cells, counts = np.unique(cells, return_counts=True)
    of_class, of_value = np.divmod(cells, values.size)
    size = np.bincount(of_class, counts, classes.size).astype(np.int64)
    held, value = np.zeros(classes.size, np.int64), np.zeros(classes.size, np.int64)
    rising = np.argsort(counts, kind="stable")  # what is written last stays
    held[of_class[rising]], value[of_class[rising]] = counts[rising], of_value[rising]
    return size, held, value
