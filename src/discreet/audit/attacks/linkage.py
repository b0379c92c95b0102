"""Linkage: who has a public table of people, with names, looks for each of them in the release.

Whom no row of the release could be is not in it; of the others, one of the rows that could be theirs is taken. If F
people of the public table look the same and f rows do, a link is right for 1 in F at most: it is the marketer's attack,
and the surest are those who are alone in both. Of people who were not in the table every link is wrong; the private
table tells how many of those who look the same were in it. Where boxes are shown, all rows of all boxes that hold a
person could be theirs. The blind guesser links everybody to any row.

Source: Sweeney, "Simple demographics often identify people uniquely", 2000; El Emam, 2013.
Cost: a sort of the rows and of the public table; boxes: the boxes near each different person.
Claim: links_are_right_as_often_as_counted — the same as by linking people one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Rate, Success, Threat, silent
from discreet.audit.guessing.guesses import Floats, Ints, Scored
from discreet.audit.places.matched import both, candidates, known_of, looks
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of

NOTES = (
    "what is found is a person's row, not yet a sensitive value",
    "there is no model without the release, and nobody who was not in the table has a row to be linked to",
)


@dataclass(frozen=True, eq=False)
class Linked:
    """Of each person how many rows of the release could be theirs, and how many people look the same."""

    rows: Ints
    people: Ints

    @property
    def sure(self) -> Floats:
        """How likely the attacker takes a link to be right."""
        return np.where(self.rows > 0, 1 / np.maximum(np.maximum(self.rows, self.people), 1), 0.0)

    def same(self, other: Linked) -> bool:
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.people, other.people)


@dataclass(frozen=True)
class Linkage:
    """The attack with a public table."""

    name: ClassVar[str] = "linkage"
    threat: ClassVar[Threat] = Threat(
        knows="of everybody in a public table the quasi-identifiers that it has, and not who is in the private table",
        wants="which row of the release is whose",
        given="the release and the public table",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if layout_of(release.promise).matching == "margins":
            return f"a release by `{release.promise.publication}` shows no whole row that could be anybody's"
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Linked:
        del given
        progress("linking")
        known = people.select([*known_of(release, people, "public table")])
        same = looks(known)
        return Linked(candidates(release, known), np.bincount(same)[same])

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        if given.public is None:
            raise InputError("no public table of people was given", hint="name one with --public")
        truth, names = given.scores(), known_of(release, given.public, "public table")
        found = self.guesses(release, given.public, given, progress=progress)
        linked = found.rows > 0
        if not linked.any():
            raise InputError(
                "nobody of the public table could be in the release",
                hint="give a table of people some of whom were published, written in the same way",
            )
        inside = _inside(truth, given.public, names)
        right = np.where(linked, inside / np.maximum(found.rows, 1), 0.0)[linked]
        scored = Scored(right, found.sure[linked])
        unique = linked & (found.rows == 1) & (found.people == 1)
        return Success(
            self.name,
            self.threat,
            scored.people,
            scored.rate(),
            Rate.of(float(inside[linked].sum()) / release.promise.rows, scored.people),
            None,
            None,
            scored.at_recall(),
            (f"people were found by {', '.join(names)}", *NOTES),
            {"public": len(given.public), "linked": int(linked.sum()), "unique": int(unique.sum())},
        )


def _inside(truth: pa.Table, public: pa.Table, names: Sequence[str]) -> Floats:
    """How likely each person of a public table is in the private one: of those who look the same, so many are."""
    same = looks(both(truth, public, names))
    private = np.bincount(same[: len(truth)], minlength=int(same.max(initial=-1)) + 1)
    others = np.bincount(same[len(truth) :], minlength=private.size)
    return np.minimum(private / np.maximum(others, 1), 1.0)[same[len(truth) :]]
