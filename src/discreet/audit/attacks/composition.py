"""Composition: who holds several releases of the same people keeps the values that all of them leave for a person.

The attacker knows of people the quasi-identifiers that the attacked release shows, finds a person's groups in each
release by those of them that it shows (`composition/known.py`), and guesses the value that is likeliest by Bayes' rule:
the product of its shares in these groups, over its share among all people (`composition/candidates.py`), scaled so that
every group is expected to hold what it does (`composition/jointly.py`).
Each release may keep its promise, and the value be known all the same. Other releases that are hardly of the same
people are noticed from the files, and a note says so. The blind guesser holds the attacked release alone.

Source: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008.
Cost: a sort of all rows, then different people x values in their groups.
Claim: independent_releases_add_up — two and three anatomies of the same people tell more than one, and one as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.belongs import LEAST, in_common
from discreet.audit.composition.candidates import MANY, Candidates, Composition
from discreet.audit.composition.comparable import shared, shows_rows
from discreet.audit.composition.jointly import jointly
from discreet.audit.composition.known import known_columns, recognise_known
from discreet.audit.guessing.guesses import Flags, Floats, Guesses, Ints, may_guess
from discreet.audit.guessing.scored import scored
from discreet.errors import InputError
from discreet.release import Release

SAME = 1e-9  # weights, for rounding


@dataclass(frozen=True)
class Composer:
    """The attack with other releases of the same people."""

    name: ClassVar[str] = "composition"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, and that the person is in every table",
        wants="the person's sensitive value",
        given="the release, and others of the same people that were made independently",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if release.promise.sensitive is None:
            return "a release without a sensitive column tells nobody's value"
        if not shows_rows(release):
            return f"a release by `{release.promise.publication}` shows no quasi-identifiers as they are"
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        if not given.others:
            raise InputError("no other release of the same people was given", hint="name one with --other")
        progress("intersecting")
        notes = _told(release, given.others)
        found = _likeliest([release, *given.others], people)
        return replace(found, notes=notes, details={"releases": 1 + len(given.others)})

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """The likeliest value of the groups in which a person may be, by the attacked release alone."""
        del given
        return _likeliest([release], people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def _told(release: Release, others: Sequence[Release]) -> tuple[str, ...]:
    """What is to be said of releases with other columns, and of those that are hardly of the same people.

    Raise if none of them can be.
    """
    columns = [shared([release, each]) for each in others]
    shares = [in_common(release, each, by) for each, by in zip(others, columns, strict=True)]
    if not any(shares):
        raise InputError(
            "nobody of the release is in any of the others, by quasi-identifiers and values: they are of other people",
            hint="name releases of the same people with --other",
        )
    strangers = (
        f"`{each.path.name}` accounts for {share:.1%} of the release: as far as it is of other people, it tells nothing"
        " of these, and that says nothing of what a release of the same people would tell"
        for each, share in zip(others, shares, strict=True)
        if share < LEAST
    )
    told = (_recognised(release, each) for each in others)
    return (*(note for note in told if note), *strangers)


def _recognised(release: Release, other: Release) -> str:
    """By which columns people were recognised in another release, if it has not just those of the attacked one."""
    by, name = known_columns(release, other), other.path.name
    mine, theirs = release.promise.quasi, other.promise.quasi
    lacking = [column for column in mine if column not in theirs]
    beyond = [column for column in theirs if column not in mine]
    if not lacking and not beyond:
        return ""
    note = f"in `{name}`, people were recognised by {_listed(by)}"
    if lacking:
        note += f": it does not show {_listed(lacking)}"
    if beyond:
        note += f"{', and' if lacking else ':'} of {_listed(beyond)} there this attacker knows nothing"
    return note


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _likeliest(releases: Sequence[Release], people: pa.Table) -> Guesses:
    """The values with the largest weight, for everybody.

    Of whom the releases together leave nothing, they are not all about the person: the first one alone is asked. Who is
    in no release is taken to hold the most frequent value.
    """
    found = recognise_known(releases, people)
    missing = any((of.held.values == len(found.values.domain)).any() for of in found.shown)
    values = found.values.decode(np.arange(len(found.values.domain) + missing))
    search = Composition(found.shown, found.values.size)
    kinds = np.flatnonzero(np.any([of.present for of in found.shown], axis=0))
    many = search.count(kinds)
    left = search.left(kinds, many) if len(releases) == 1 or many.sum() > MANY else jointly(search, kinds)
    may = may_guess(releases[0], values)
    best = _Best.of(left, may)
    if (best.top == 0).any() and len(releases) > 1:
        first = Composition(found.shown[:1], found.values.size)
        best = best.filled(_Best.of(first.left(kinds, first.count(kinds)), may))
    frequent = int(np.where(may, search.base[: may.size], -1).argmax())
    # a guess for each kind, and a last one for those of whom nothing is left
    ends = np.cumsum(np.bincount(best.kind, minlength=kinds.size))
    starts = np.concatenate([[0], ends, [best.kind.size + 1]]).astype(np.int64)
    there = found.shown[0].present
    place = np.full(there.size, kinds.size)
    place[kinds] = np.where(best.top > 0, np.arange(kinds.size), kinds.size)
    sure, codes = np.append(best.top, search.base[frequent]), np.append(best.values, frequent)
    return Guesses(values, place[found.of_person], starts, codes, sure, there[found.of_person])


@dataclass(frozen=True, eq=False)
class _Best:
    """The likeliest values of kinds of people, in the order of kinds, and of each kind how likely they are."""

    kind: Ints
    values: Ints
    top: Floats

    @classmethod
    def of(cls, left: Candidates, may: Flags) -> _Best:
        kinds = left.starts.size - 1
        kind = np.repeat(np.arange(kinds), np.diff(left.starts))
        weights = np.where(may[left.values], left.weights, 0.0)
        top, sums = np.zeros(kinds), np.bincount(kind, left.weights, kinds)
        np.maximum.at(top, kind, weights)
        best = (weights > 0) & (weights >= top[kind] * (1 - SAME))
        return cls(kind[best], left.values[best], np.divide(top, sums, out=np.zeros(kinds), where=sums > 0))

    def filled(self, other: _Best) -> _Best:
        """The other's values for kinds of which nothing is left here."""
        more = self.top[other.kind] == 0
        kind = np.concatenate([self.kind, other.kind[more]])
        order = np.argsort(kind, kind="stable")
        values = np.concatenate([self.values, other.values[more]])
        return _Best(kind[order], values[order], np.where(self.top > 0, self.top, other.top))
