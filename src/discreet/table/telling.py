"""Which quasi-identifiers, alone, two or three together, tell the sensitive value: of how many people, how surely.

Each column is looked at value by value and, where its values have an order, in bands of neighbours too, so that a range
such as "everybody below a certain age" is found among thousands of different dates. Where texts are many they are also
looked at by their first one, two and three characters, so that a chapter of a code is found among thousands of codes. A
sensitive column of very many numbers is also looked at in twenty bands: to know somebody's band is to know the number
nearly.

Large tables are measured on rows drawn at random: half a million for single columns, fewer for two or three. The draw
is always the same, so that a table is judged alike each time. Of many columns only those with the fewest different
values are looked at three together.
Cost: a pass over every column, over the drawn rows for every two, and for every three of at most seven.
Claim: a_telling_part_is_found — where everybody in a part of the range of a column holds one value, that is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.table.certainty import Certainty, Classes, certainty
from discreet.table.database import Counted
from discreet.table.table import Table
from discreet.values.codes import Codes

DRAWN = 500_000
# Of two columns together, and of three: on how many rows, in at most so many bands, and of at most so many columns.
SEVERAL = {2: (200_000, 64, None), 3: (50_000, 16, 7)}
BANDS, IN_A_BAND = 256, 25  # at most so many bands, each of about so many rows or more
PREFIXES, FINE = (1, 2, 3), 125  # characters at the beginning of texts, if a text has fewer rows than that
BANDS_OF_SENSITIVE = 20  # where it has more than five times as many values
CLEARLY = 0.01  # a coarser look must tell this share of the rows more than a finer one
MORE = 0.05  # two columns are worth a word if they tell this share of the rows beyond what single ones do
EXAMPLES = 3
TEXTS = (pa.string(), pa.large_string())
Rows: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Part:
    """Values of the telling columns, from `low` to `high`, and of the sensitive one, from `least` to `most`.

    `rows` have the former; `held` of them have the latter.
    """

    low: tuple[Any, ...]
    high: tuple[Any, ...]
    least: Any
    most: Any
    rows: int
    held: int


@dataclass(frozen=True, slots=True)
class Telling:
    """What columns tell: of `told` among `rows` rows, how often rightly; and how often a `blind` guess is right.

    `judged` rows share their values with enough others to judge by. With `banded`, it is not the value that is told
    but a band of values. `parts` are the largest; `more` is the number of rows that nothing before it tells.
    """

    columns: tuple[str, ...]
    rows: int
    sampled: bool
    judged: int
    told: int
    more: int
    certainty: float
    blind: float
    banded: bool
    parts: tuple[Part, ...]

    @property
    def outright(self) -> bool:
        """Whether practically all rows that can be judged are told, and these are not a few."""
        return self.told >= 0.95 * self.judged and self.judged >= 0.1 * self.rows


@dataclass(frozen=True)
class _Column:
    """A column of the drawn rows."""

    name: str
    codes: Codes
    ordered: bool

    def banded(self, most: int) -> Classes | None:
        """Its values in bands, where they have an order and are more than the bands."""
        bands = min(most, self.codes.codes.size // IN_A_BAND)
        return Classes.of_bands(self.codes, bands) if self.ordered and self.codes.size > bands > 1 else None

    def prefixed(self) -> Iterator[Classes]:
        """Its texts by how they begin, where they are many and that puts some together, the finest first."""
        finer = self.codes.size
        many = finer * FINE > self.codes.codes.size and self.codes.domain.type in TEXTS
        for length in reversed(PREFIXES) if many else ():
            found = Classes.of_prefixes(self.codes, length)
            if 1 < found.size < finer:
                yield found
            finer = min(finer, found.size)

    def value(self, code: int) -> Any:
        return self.codes.domain[code].as_py() if code < len(self.codes.domain) else None


@dataclass(frozen=True)
class _Found:
    """What was found of some columns: the classes of each, the values that they may tell, and what they do."""

    columns: Sequence[_Column]
    classes: Sequence[Classes]
    sensitive: _Column
    values: Classes
    certain: Certainty
    joined: Sequence[Classes] = ()  # of several columns: the first two, those and the third, and so on

    def telling(self, *, sampled: bool, more: int) -> Telling:
        certain, rows = self.certain, self.values.of_row.size
        return Telling(
            columns=tuple(column.name for column in self.columns),
            rows=rows,
            sampled=sampled,
            judged=certain.judged,
            told=certain.told,
            more=more,
            certainty=certain.right / max(certain.told, 1),
            blind=int(np.bincount(self.values.of_row).max()) / rows,
            banded=bool((self.values.low != self.values.high).any()),
            parts=tuple(self._parts()),
        )

    def _parts(self) -> Iterator[Part]:
        """The largest parts that are told; neighbours that tell the same are one."""
        certain = self.certain
        at = np.flatnonzero(certain.tells)
        if not at.size:
            return
        apart = np.ones(at.size, np.bool_)
        if len(self.columns) == 1 and self.columns[0].ordered:
            missing = at == (certain.classes.size - 1 if self.columns[0].codes.missing else -1)
            apart[1:] = (np.diff(at) > 1) | (np.diff(certain.value[at]) != 0) | missing[1:]
        first = np.flatnonzero(apart)
        last = np.append(first[1:], at.size) - 1
        rows, held = (np.add.reduceat(counts[at], first) for counts in (certain.size, certain.held))
        for part in np.argsort(-rows, kind="stable")[:EXAMPLES]:
            value = certain.value[at[first[part]]]
            yield Part(
                self._names(at[first[part]], "low"),
                self._names(at[last[part]], "high"),
                self.sensitive.value(self.values.low[value]),
                self.sensitive.value(self.values.high[value]),
                int(rows[part]),
                int(held[part]),
            )

    def _names(self, which: int, end: str) -> tuple[Any, ...]:
        """The values of the columns at one end of a class."""
        numbers, number = list[int](), int(which)
        for joined, last in zip(reversed(self.joined), reversed(self.classes), strict=False):
            number, own = divmod(int(joined.low[number]), last.size)
            numbers.append(own)
        numbers.append(number)
        ends = [getattr(of, end)[number] for of, number in zip(self.classes, reversed(numbers), strict=True)]
        return tuple(column.value(code) for column, code in zip(self.columns, ends, strict=True))


def tellings(
    table: Table,
    quasi: Sequence[str],
    sensitive: str,
    *,
    codes: Codes | None = None,
    among: Rows | None = None,
    ordered: Collection[str] = (),
    present: str | None = None,
) -> tuple[Telling, ...]:
    """What each of the quasi-identifiers tells, in their order; then the pairs, and threes, that tell most beyond that.

    `codes` are those of the sensitive column, if they are known. `ordered` are texts whose order means something. Rows
    in which `present` is missing are left out; of the others only those at the places `among` are looked at, if given.
    """
    if isinstance(table, Counted):
        return _of_counts(table, quasi, sensitive, ordered, present)
    rows = table.count(present=present) if codes is None else codes.codes.size
    drawn = _drawn(rows, among)

    def column(name: str, known: Codes | None = None) -> _Column:
        if known is None:
            known = table.codes(name, present=present, at=drawn)
        elif drawn is not None:
            known = replace(known, codes=known.codes[drawn])
        return _Column(name, known, ordered=table[name].ordered or name in ordered)

    if not rows or table[sensitive].kind is None:
        return ()
    private = column(sensitive, codes)
    ways = _ways(private)
    columns = [column(name) for name in dict.fromkeys(quasi) if name != sensitive and table[name].kind is not None]
    singles = [_single(each, private, ways) for each in columns]
    sampled = (rows if among is None else among.size) > DRAWN
    return (
        *(found.telling(sampled=sampled, more=found.certain.told) for found in singles),
        *_several(columns, singles, private, ways[-1], sampled=sampled),
    )


def _of_counts(
    table: Counted, quasi: Sequence[str], sensitive: str, ordered: Collection[str], present: str | None
) -> tuple[Telling, ...]:
    """The same of single columns: where rows stay in their server, only pairs of columns are counted."""
    names, found = [*dict.fromkeys(quasi)], []
    for name, pair in zip(names, table.together(names, sensitive, present=present), strict=True):
        column, private = (
            _Column(each, codes, ordered=table[each].ordered or each in ordered)
            for each, codes in zip((name, sensitive), pair, strict=True)
        )
        single = _single(column, private, _ways(private))
        found.append(single.telling(sampled=table.sampled, more=single.certain.told))
    return tuple(found)


def _ways(private: _Column) -> list[Classes]:
    """How sensitive values are looked at: each by itself, and in bands where they are many."""
    banded = private.banded(BANDS_OF_SENSITIVE) if private.codes.size > 5 * BANDS_OF_SENSITIVE else None
    return [values for values in (Classes.of_values(private.codes), banded) if values is not None]


def _drawn(rows: int, among: Rows | None) -> Rows | None:
    """The rows to look at, if not all: one at random of every so many."""
    rows = rows if among is None else among.size
    if rows <= DRAWN:
        return among
    edges = np.arange(DRAWN + 1) * rows // DRAWN
    drawn: Rows = np.random.default_rng(DRAWN).integers(edges[:-1], edges[1:])
    return drawn if among is None else among[drawn]


def _single(column: _Column, sensitive: _Column, ways: Sequence[Classes]) -> _Found:
    """What a column tells, looked at in the finest way that does not miss much."""
    banded = column.banded(BANDS)
    looks = [Classes.of_values(column.codes), *([] if banded is None else [banded]), *column.prefixed()]
    found = [
        _Found([column], [classes], sensitive, values, certainty(classes, values))
        for values, classes in product(ways, looks)
    ]
    best = found[0]
    for other in found[1:]:
        if other.certain.told > best.certain.told + CLEARLY * other.values.of_row.size:
            best = other
    return best


def _several(
    columns: Sequence[_Column], singles: Sequence[_Found], sensitive: _Column, values: Classes, *, sampled: bool
) -> Iterator[Telling]:
    """The pairs, and then the threes, that tell most of the rows that nothing before them tells."""
    known = np.zeros(values.of_row.size, np.bool_)
    for found in singles:
        known |= found.certain.rows
    step = 1
    for size, (rows, bands, most) in SEVERAL.items():
        thinner = max(-(-values.of_row.size // (rows * step)), 1)  # every so many of those before
        step, known = step * thinner, known[::thinner]
        chosen = _chosen(columns, most)
        looks = {each.name: (each.banded(bands) or Classes.of_values(each.codes)).every(step) for each in chosen}
        few = values.every(step)
        every = (_together(group, looks, sensitive, few) for group in combinations(chosen, size))
        worth = [found for found in every if _more(found, known) >= MORE * known.size]
        while worth:
            best = max(worth, key=lambda found: _more(found, known))
            if (more := _more(best, known)) < MORE * known.size:
                break
            worth.remove(best)
            yield best.telling(sampled=sampled or step > 1, more=more)
            known = known | best.certain.rows


def _chosen(columns: Sequence[_Column], most: int | None) -> list[_Column]:
    """The columns to look at together: if there are too many, those with the fewest different values."""
    fewest = sorted(columns, key=lambda column: column.codes.size)[:most]
    return [column for column in columns if column in fewest]


def _together(columns: Sequence[_Column], looks: Mapping[str, Classes], sensitive: _Column, values: Classes) -> _Found:
    """What several columns tell together."""
    classes = [looks[column.name] for column in columns]
    joined = list(accumulate(classes, Classes.times))[1:]
    return _Found(columns, classes, sensitive, values, certainty(joined[-1], values), joined)


def _more(found: _Found, known: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(found.certain.rows & ~known))
