"""People who have several rows: who they are, that their quasi-identifiers do not differ, and their groups.

What is promised of them, and its proof, stand in `partition/people/rule.py`. A release shows a number beside every row
that its person's rows have in common. It is drawn anew for every release, and tells nothing that is not seen without
it: a person's rows show the same quasi-identifiers, and the promise holds against those who know which rows are whose.
Cost: one code per row for the person, and for each quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError
from discreet.guarantees import Histograms
from discreet.partition import PARTITIONS
from discreet.policy import Policy
from discreet.publication.axes import Axis, axes, present
from discreet.table import Table
from discreet.values.codes import Codes
from discreet.values.random import RandomSource
from discreet.words import counted

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class People:
    """The person of every row, numbered from 1 in an order that is chance."""

    numbers: Numbers

    @property
    def number(self) -> int:
        return int(self.numbers.max(initial=0))

    @classmethod
    def of(cls, table: Table, policy: Policy, secret: RandomSource) -> People:
        """The people of the rows that are published; raise if a row is nobody's."""
        from discreet.partition.kernels import shuffle

        name = policy.person or ""
        codes = table.codes(name, present=present(policy))
        if codes.missing:
            missing = int(codes.counts()[-1])
            raise InputError(
                f"{counted(missing, 'row has', 'rows have')} no `{name}`: nobody can tell whose they are",
                hint="fill it in, or leave those rows out",
            )
        return cls((shuffle(secret.words(codes.size)) + np.int32(1))[codes.codes])

    def check_constant(self, quasi: Sequence[Axis], name: str) -> None:
        """Raise if somebody's quasi-identifiers differ from row to row."""
        people = self.numbers - 1
        first = np.empty(self.number, np.int64)
        first[people[::-1]] = np.arange(people.size - 1, -1, -1)
        differ = {axis.name: np.unique(people[_unlike(axis.codes, first[people])]).size for axis in quasi}
        told = [
            f"`{column}` differs from row to row of {counted(many, 'person', 'people')}"
            for column, many in differ.items()
            if many
        ]
        if told:
            raise InputError(
                f"{'; '.join(told)} (told apart by `{name}`): whoever knows two of them knows both rows",
                hint="make it the same in all rows of a person (the last, the largest, the year of birth and not the"
                " age at the visit), or list it in `drop`",
            )

    def holds(self, groups: Numbers, histograms: Histograms, guarantee: Mapping[str, float]) -> bool:
        """Whether every person is in one group, and every group keeps the rule."""
        of_person = self._groups(groups)
        return np.array_equal(of_person[self.numbers], groups) and bool(self.keeps(groups, histograms, guarantee).all())

    def keeps(self, groups: Numbers, histograms: Histograms, guarantee: Mapping[str, float]) -> npt.NDArray[np.bool_]:
        """Whether each group keeps the rule: decided anew, from the definition."""
        k, l = thresholds(guarantee)
        tops, sizes = histograms.tops.astype(np.int64), histograms.sizes
        rows, of_person = np.bincount(self.numbers)[1:], self._groups(groups)[1:]
        most = np.zeros(sizes.size, np.int64)
        np.maximum.at(most, of_person, rows)
        kept: npt.NDArray[np.bool_] = np.bincount(of_person, minlength=sizes.size) >= k
        return kept & (tops * most * l <= sizes) if l > 1 else kept

    def _groups(self, groups: Numbers) -> Numbers:
        """A group of each person, by number."""
        found = np.zeros(self.number + 1, groups.dtype)
        found[self.numbers] = groups
        return found


def _unlike(codes: Codes, first: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    unlike: npt.NDArray[np.bool_] = codes.codes != codes.codes[first]
    return unlike


def grouped(table: Table, policy: Policy, people: People, sensitive: Numbers, secret: RandomSource) -> Numbers:
    """The group of every row."""
    from discreet.partition.people.people import assign

    quasi = axes(table, policy)
    people.check_constant(quasi, policy.person or "")
    seen = [axis.codes.codes for axis in quasi] if PARTITIONS[policy.grouping].sees != "nothing" else []
    return assign(seen, people.numbers - np.int32(1), sensitive, *thresholds(policy.guarantee), secret)


def thresholds(guarantee: Mapping[str, float]) -> tuple[int, int]:
    """K and l, each 1 where it is not promised."""
    return int(guarantee.get("k", 1)), int(guarantee.get("l", 1))
