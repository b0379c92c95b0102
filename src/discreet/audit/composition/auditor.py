"""The composition auditor: what releases that show rows tell together, from the released files alone.

People are recognised by the quasi-identifiers that all releases show (`people`), what each release leaves for them is
intersected (`candidates`), and if everybody in a release is known to be in every larger one, heads are counted
(`elimination`). Who is only recognised may be somebody else in the other release: what is told of them then holds if
they are in both.

People with several rows. A row that is in two releases holds the same value in both. What is left and how likely it is,
is found for a row; of a person with r rows the belief that they hold a value in *any* row is r times that at most, or 1
(the union bound, as in what is promised: `release/verify/people.py`), with r the most rows that a person of the kind
has in any of the releases.

Harmless values. What is promised is promised as if nobody held one, so that is what is asked: values that all releases
name harmless are left out, and of the others it is said how likely each is to whoever knows that a person holds one of
these. Who can hold harmless values alone is not counted. Heads are not counted then: who holds a harmless value is not
known.
Cost: a few passes and one sort of all rows, then bundles x values in their groups (see `candidates`).
Claim: pinned_people_are_certain — who is pinned has one value in every table that all releases could be of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.composition.candidates import MANY, Bundles, Composition, Told, told
from discreet.audit.composition.comparable import harmless, promised, shared
from discreet.audit.composition.elimination import eliminate
from discreet.audit.composition.people import Floats, People, Shown, recognise
from discreet.audit.composition.report import Alone, Composed, Score
from discreet.audit.metrics.truth import read_truth
from discreet.audit.sequence.groups import Counts, Numbers
from discreet.errors import InputError, InternalError, ReleaseError
from discreet.release import Release
from discreet.values.names import fresh
from discreet.values.positions import Scale

EXACT = 1e-9  # shares are sums of floats
Flags = npt.NDArray[np.bool_]


def compose(releases: Sequence[Release], *, same_people: bool = False, truth: str | Path | Any = None) -> Composed:
    """Intersect what releases tell of the people that they share.

    If `same_people`, everybody in a release is in every larger one, or one as large, too.
    """
    quasi = shared(releases)
    table = None if truth is None else read_truth(truth, (*quasi, releases[0].promise.sensitive_column))
    found = _found(releases, quasi, table, same_people=same_people)
    spared = harmless(releases, found.values)
    if spared.any():
        found = replace(found, shown=tuple(replace(of, held=_without(of.held, spared)) for of in found.shown))
    asked = np.flatnonzero(np.sum([of.present for of in found.shown], axis=0) >= 2)
    search = Composition(found.shown, found.values.size)
    bundles = search.bundles(asked)
    left, counted = _narrowed(search, bundles, found, count=same_people and not spared.any())
    return _Summary(releases, found, search, bundles, asked, left).composed(
        quasi, same_people=same_people, counted=counted
    )


def _without(held: Counts, spared: Flags) -> Counts:
    """What groups hold without some values."""
    kept = ~spared[held.values]
    ends = np.concatenate([[0], np.cumsum(kept)])
    if (np.diff(ends[held.starts]) == 0).any():
        raise ReleaseError(
            "a group holds harmless values only, which a release that passes `discreet verify` never does",
            hint="run `discreet verify` on each of them, and get a new copy of the one that fails",
        )
    return Counts(ends[held.starts].astype(np.int64), held.values[kept], held.counts[kept])


def _found(releases: Sequence[Release], quasi: Sequence[str], truth: Any, *, same_people: bool) -> People:
    """Everybody in each release; the same people with the same rows are recognised by how many these are, too."""
    numbered = truth is None and all(release.promise.person is not None for release in releases)
    for by_rows in (True, False) if same_people and numbered else (False,):
        found = recognise(releases, quasi, truth, by_rows=by_rows)
        try:
            return replace(found, shown=_nested(releases, found.shown)) if same_people else found
        except ReleaseError:
            if not by_rows:
                raise
    raise InternalError("it is not stated how people are recognised")


def _nested(releases: Sequence[Release], shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """The same without places of people who need not be there; raise if somebody is not in a larger release.

    Where only blocks are shown, somebody who is in no smaller release that shows whole rows may be another one.
    """
    entire = [i for i, of in enumerate(shown) if of.whole]
    if not entire:
        raise InputError(
            "none of the releases shows whole rows, so nobody can be known to be in all of them",
            hint="leave out `--same-people`",
        )
    found = list(shown)
    for j, other in enumerate(shown):
        smaller = [i for i in entire if i != j and releases[i].promise.rows <= releases[j].promise.rows]
        for i in smaller:
            if (shown[i].rows > other.rows if other.whole else shown[i].present & ~other.present).any():
                raise ReleaseError(
                    f"`{releases[j].path}` lacks people of `{releases[i].path}`: they are not the same people",
                    hint="say that people are the same only if everybody in a release is in every larger one,"
                    " with the same quasi-identifiers",
                )
        if not other.whole:
            sure = np.any([shown[i].present for i in smaller], axis=0) if smaller else np.zeros_like(other.present)
            found[j] = replace(other, places=other.places.only(sure))
    return tuple(found)


def _narrowed(search: Composition, bundles: Bundles, found: People, *, count: bool) -> tuple[Told, bool]:
    """What is left of each bundle, and whether heads were counted: not if there is too much, or values changed."""
    distinct = search.count(bundles.kinds)
    if distinct.sum() > MANY:
        ends = np.searchsorted(np.cumsum(distinct), np.arange(0, distinct.sum(), MANY), side="right")
        parts = [part for part in np.split(np.arange(distinct.size), ends[1:]) if part.size]
        of = [told(search.left(bundles.kinds[part], distinct[part])) for part in parts]
        return Told(*(np.concatenate(column) for column in zip(*of, strict=True))), False
    candidates = search.left(bundles.kinds, distinct)
    if not count or not distinct.all():
        return told(candidates), False
    rows = [of.rows if of.whole else None for of in found.shown]
    kept = (
        eliminate(candidates, bundles, search.places, search.groups, rows)
        if any(of.whole for of in found.shown)
        else None
    )
    if kept is None:
        return told(candidates), False
    return told(candidates._replace(weights=np.where(kept, candidates.weights, 0.0))), True


class _Summary:
    """What was found, of every kind of people that is in two releases."""

    def __init__(
        self,
        releases: Sequence[Release],
        found: People,
        search: Composition,
        bundles: Bundles,
        asked: Numbers,
        left: Told,
    ) -> None:
        at = bundles.of[asked]
        posterior, fewest = search.alone(bundles.kinds)
        self.releases, self.found, self.search, self.asked = releases, found, search, asked
        rows = np.stack([np.where(of.present, of.most, 0)[asked] for of in found.shown])
        self.most = rows.max(axis=0)
        self.fewer = ((rows > 0) & (rows < self.most)).any(axis=0)
        self.left = left.at(at)
        self.left = self.left._replace(posterior=np.minimum(self.left.posterior * self.most, 1.0))
        self.posterior_alone, self.fewest_alone = np.minimum(posterior[at] * self.most, 1.0), fewest[at]
        self.people = _people(found)[asked]
        self.promise = promised(releases)

    def composed(self, quasi: tuple[str, ...], *, same_people: bool, counted: bool) -> Composed:
        left, people, some = self.left, self.people, self.left.distinct > 0
        pinned, pinned_alone = left.distinct == 1, self.fewest_alone == 1
        spans = self._spans()
        broken = some & (self._broken(spans) | (pinned & ~pinned_alone))
        return Composed(
            self.promise,
            same_people,
            quasi,
            tuple(self._alone(i) for i in range(len(self.releases))),
            people=int(people.sum()),
            pinned=int(people[pinned].sum()),
            pinned_alone=int(people[pinned_alone].sum()),
            vulnerable=int(people[broken].sum()),
            posterior=float(left.posterior.max(initial=0)),
            posterior_alone=float(self.posterior_alone.max(initial=0)),
            guess=_average(left.posterior[some], people[some]),
            guess_alone=_average(self.posterior_alone[some], people[some]),
            impossible=int(people[~some].sum()),
            span=None if spans is None or not some.any() else float(spans[0].length(spans[1][some].min())),
            counted=counted,
            truth=self._score(pinned),
            linked=self._linked(),
        )

    def _broken(self, spans: tuple[Scale, npt.NDArray[Any]] | None) -> Flags:
        """Of whom more is told than every release promises."""
        broken, promise = np.zeros(self.asked.size, np.bool_), self.promise
        if "l" in promise:
            alone = np.where(self.fewer, 0.0, self.posterior_alone)  # too much, of a release with fewer rows
            broken |= self.left.posterior > np.maximum(1 / promise["l"], alone) + EXACT
        if "distinct_l" in promise:
            broken |= self.left.distinct < promise["distinct_l"]
        if spans is not None:
            broken |= (self.left.distinct < promise.get("k", 1)) | (spans[1] < spans[0].steps(promise["e"]))
        return broken

    def _spans(self) -> tuple[Scale, npt.NDArray[Any]] | None:
        """How far apart the lowest and the highest value lie that are left, if a range is promised."""
        if "e" not in self.promise:
            return None
        scale = Scale.of(self.found.values.domain, self.releases[0].promise.sensitive_column)
        return scale, scale.marks[self.left.high] - scale.marks[self.left.low]

    def _alone(self, i: int) -> Alone:
        release, held = self.releases[i], self.found.shown[i].held
        starts = held.starts[:-1]
        shares = np.maximum.reduceat(held.counts, starts) / np.add.reduceat(held.counts, starts)
        promise = release.promise
        return Alone(release.path, promise.rows, promise.groups, dict(promise.guarantee), float(shares.max()))

    def _score(self, pinned: Flags) -> Score | None:
        """How many people really have the value that is left, or that is the likeliest."""
        if self.found.truth is None:
            return None
        kinds, values = self.found.truth
        width = self.found.values.size + 1
        pairs, rows = np.unique(kinds * width + values, return_counts=True)
        wanted = self.asked * width + np.where(self.left.guess < 0, width - 1, self.left.guess)
        place = np.minimum(np.searchsorted(pairs, wanted), pairs.size - 1)
        right = np.where(pairs[place] == wanted, np.minimum(rows[place], self.people), 0)
        return Score(int(right[pinned].sum()), int(right.sum()))

    def _linked(self) -> pa.Table:
        """A row per combination of quasi-identifiers: its people, how many values are left, the likeliest of them."""
        kinds, left = self.found.kinds.take(pa.array(self.asked)), self.left
        guess = self.found.values.decode(np.where(left.guess < 0, len(self.found.values.domain), left.guess))
        columns = {"people": self.people, "candidates": left.distinct, "guess": guess, "posterior": left.posterior}
        for name, column in columns.items():
            kinds = kinds.append_column(fresh(name, kinds.column_names), pa.array(column))
        return kinds


def _people(found: People) -> Numbers:
    """How many people of each kind are in two releases at most: no more than the fewest of any that has them."""
    rows = [of.people for of in found.shown if of.whole]
    if not rows and found.truth is not None:
        return np.bincount(found.truth[0], minlength=len(found.kinds))
    fewest = np.min([np.where(of > 0, of, np.iinfo(np.int64).max) for of in rows], axis=0)
    return np.asarray(np.where(fewest == np.iinfo(np.int64).max, 0, fewest), np.int64)


def _average(shares: Floats, people: Numbers) -> float:
    return float(np.average(shares, weights=people)) if people.sum() else 0.0
