"""A hierarchy of the calendar for dates and timestamps: days, weeks, months, quarters, years, decades.

Weeks begin on Monday and have the numbers of ISO 8601. A timestamp with a zone is taken in UTC.
Cost: a few whole-number operations per value and level.
Claim: dates_hold — every value lies between the low and the high of its node at every level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InputError
from discreet.hierarchies.intervals import clamped, ranged
from discreet.hierarchies.levels import Levels, renumbered
from discreet.hierarchies.match import kind, texts
from discreet.values.positions import per_day, stored

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """A part of the calendar: the number of the one that a day lies in, the day on which one begins, its label."""

    within: tuple[str, ...]  # the parts that it is a part of
    number: Callable[[Ints], Ints]
    start: Callable[[Ints], Ints]
    label: Callable[[int], str]


def _months(days: Ints) -> Ints:
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def _first(months: Ints) -> Ints:
    """The first day of each month."""
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _year(month: int) -> str:
    return str(np.datetime64(month, "M").astype("M8[Y]"))


def _week(number: int) -> str:
    """The year and number of a week are those of its Thursday."""
    thursday = np.int64(7 * number)
    month = _months(thursday.reshape(1))[0]
    days = int(thursday - _first((month // 12 * 12).reshape(1))[0])
    return f"{_year(int(month))}-W{days // 7 + 1:02}"


PARTS = {
    "day": Part(
        ("week", "month", "quarter", "year", "decade"),
        lambda days: days,
        lambda n: n,
        lambda n: str(np.datetime64(n, "D")),
    ),
    "week": Part((), lambda days: (days + 3) // 7, lambda n: 7 * n - 3, _week),
    "month": Part(("quarter", "year", "decade"), _months, _first, lambda n: str(np.datetime64(n, "M"))),
    "quarter": Part(
        ("year", "decade"),
        lambda days: _months(days) // 3,
        lambda n: _first(3 * n),
        lambda n: f"{_year(3 * n)}-Q{n % 4 + 1}",
    ),
    "year": Part(("decade",), lambda days: _months(days) // 12, lambda n: _first(12 * n), lambda n: _year(12 * n)),
    "decade": Part(
        (),
        lambda days: (_months(days) // 12 + 1970) // 10,
        lambda n: _first(12 * (10 * n - 1970)),
        lambda n: f"{_year(12 * (10 * n - 1970))}s",
    ),
}


@dataclass(frozen=True)
class Dates:
    """Parts of the calendar, the shortest first."""

    source: str
    parts: tuple[str, ...]

    def levels(self, domain: pa.Array, column: str) -> Levels:
        """The parts of the calendar that hold values of the column; dates reach the high, timestamps stay below it."""
        holds, type_ = kind(domain.type), domain.type
        if holds not in ("dates", "timestamps"):
            raise InputError(
                f"{self.source}: `dates` are for dates and timestamps, but the column `{column}` holds {holds}",
                hint="use another form of hierarchy, or read the column as dates",
            )
        per = per_day(type_)
        whole = stored(type_)
        days = domain.cast(whole).to_numpy().astype(np.int64) // per
        nodes, ends = [np.arange(len(days), dtype=np.int32)], [(domain, domain)]
        labels = [tuple(texts(domain))]
        for part in (PARTS[name] for name in self.parts):
            numbers, used = renumbered(part.number(days))
            starts, following = (part.start(np.array(used, np.int64) + more).tolist() for more in (0, 1))
            last = per if holds == "dates" else 0
            low = clamped([day * per for day in starts], whole).cast(type_)
            high = clamped([day * per - last for day in following], whole).cast(type_)
            nodes.append(numbers)
            ends.append((low, high))
            labels.append(tuple(part.label(number) for number in used))
        return ranged(nodes, labels, ends)
