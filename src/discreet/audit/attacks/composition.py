"""Composition: who holds several releases of the same people keeps the values that all of them leave for a person.

The attacker finds a person's groups in each release by the quasi-identifiers that all of them show, and guesses the
value that is likeliest by Bayes' rule: the product of its shares in these groups, over its share among all people
(`composition/candidates.py`), scaled so that every group is expected to hold what it does (`composition/jointly.py`).
Each release may keep its promise, and the value be known all the same. The blind guesser holds the attacked release
alone.

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
from discreet.audit.composition.candidates import MANY, Composition
from discreet.audit.composition.comparable import shared, shows_rows
from discreet.audit.composition.jointly import jointly
from discreet.audit.composition.people import recognise
from discreet.audit.guessing.guesses import Guesses, may_guess
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
        found = _likeliest([release, *given.others], people)
        return replace(found, details={"releases": 1 + len(given.others)})

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """The likeliest value of the groups in which a person may be, by the attacked release alone."""
        del given
        return _likeliest([release], people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def _likeliest(releases: Sequence[Release], people: pa.Table) -> Guesses:
    """The values with the largest weight, for everybody; who is in no release is taken to hold the most frequent."""
    quasi, sensitive = shared(releases), releases[0].promise.sensitive_column
    nobody = pa.nulls(len(people))
    found = recognise(releases, quasi, people.select([*quasi]).append_column(sensitive, nobody))
    if found.truth is None:
        raise InputError("nobody was named", hint="name the people to attack")
    of_person, _ = found.truth
    missing = any((of.held.values == len(found.values.domain)).any() for of in found.shown)
    values = found.values.decode(np.arange(len(found.values.domain) + missing))
    search = Composition(found.shown, found.values.size)
    present = np.any([of.present for of in found.shown], axis=0)
    kinds = np.flatnonzero(present)
    many = search.count(kinds)
    left = search.left(kinds, many) if len(releases) == 1 or many.sum() > MANY else jointly(search, kinds)
    kind = np.repeat(np.arange(kinds.size), np.diff(left.starts))
    may = may_guess(releases[0], values)
    weights = np.where(may[left.values], left.weights, 0.0)
    top, sums = np.zeros(kinds.size), np.bincount(kind, left.weights, kinds.size)
    np.maximum.at(top, kind, weights)
    best = (weights > 0) & (weights >= top[kind] * (1 - SAME))
    frequent = int(np.where(may, search.base[: may.size], -1).argmax())
    # a guess for each kind, and a last one for those of whom nothing is left
    ends = np.cumsum(np.bincount(kind[best], minlength=kinds.size))
    starts = np.concatenate([[0], ends, [best.sum() + 1]]).astype(np.int64)
    place = np.full(len(found.kinds), kinds.size)
    place[kinds] = np.where(top > 0, np.arange(kinds.size), kinds.size)
    sure = np.append(np.divide(top, sums, out=np.zeros(kinds.size), where=sums > 0), search.base[frequent])
    codes = np.append(left.values[best], frequent)
    return Guesses(values, place[of_person], starts, codes, sure, found.shown[0].present[of_person])
