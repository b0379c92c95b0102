"""People who have several rows: who they are, that their quasi-identifiers do not differ, that groups keep the rule.

What is promised of them, and its proof, stand in `partition/people/rule.py`. A release shows a number beside every row
that its person's rows have in common. It is drawn anew for every release, and tells nothing that is not seen without
it: a person's rows show the same quasi-identifiers, and the promise holds against those who know which rows are whose.
Cost: one code per row for the person, and for each quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError
from discreet.guarantees import Crowd, Guarantee, Histograms
from discreet.policy import Policy
from discreet.publication.axes import Axis, present
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
                f"{counted(missing, 'row has', 'rows have')} no `{name}`: it cannot be known whose they are",
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

    def holds(self, groups: Numbers, histograms: Histograms, guarantee: Guarantee) -> bool:
        """Whether every person is in one group, and every group keeps the rule."""
        of_person = self._groups(groups)
        return np.array_equal(of_person[self.numbers], groups) and bool(self.keeps(groups, histograms, guarantee).all())

    def keeps(self, groups: Numbers, histograms: Histograms, guarantee: Guarantee) -> npt.NDArray[np.bool_]:
        """Whether each group keeps the rule: decided anew, from the definition."""
        return guarantee.holds_of_people(histograms, self.crowd(groups, histograms.sizes.size))

    def crowd(self, groups: Numbers, number: int) -> Crowd:
        """How many people each of so many groups has, and the most rows of one."""
        rows, of_person = np.bincount(self.numbers)[1:], self._groups(groups)[1:]
        most = np.zeros(number, np.int64)
        np.maximum.at(most, of_person, rows)
        return Crowd(np.bincount(of_person, minlength=number), most)

    def _groups(self, groups: Numbers) -> Numbers:
        """A group of each person, by number."""
        found = np.zeros(self.number + 1, groups.dtype)
        found[self.numbers] = groups
        return found


def _unlike(codes: Codes, first: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    unlike: npt.NDArray[np.bool_] = codes.codes != codes.codes[first]
    return unlike
