"""Minimality: who knows how the partition decides asks why a cut was not made, and guesses by what that rules out.

Cuts are played again in two ways. Those of `local` and `mondrian` under `l` are followed one by one (`replay/local.py`,
`replay/mondrian.py`), and whoever is certain is guessed so. Every partition that looks at sensitive values is run on
worlds that the release permits (`replay/worlds.py`): of rows whose group comes about again only if some of them hold
certain values, these are the guess. Of everybody else, any value of the person's group is as likely as another. So a
release in which cuts tell nothing is guessed as blindly as by anyone.

What cannot be played is a failure, and no low risk: where rows were left out, were grouped in cells or in several
releases, or are of people who have several; where columns are shown by themselves, or boxes overlap so that nobody can
say who is in which; where a partition decides about more rows at once than can be played; and where no group comes
about again, since then it was not run as is supposed.

Source: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.
Cost: that of following the cuts, rows x quasi-identifiers x log(rows); and of the worlds, see there.
Claim: who_is_certain_is_guessed — beside the likeliest values of others in the worlds that agree.
Claim: worlds_beat_the_blind — at l = 2, of small tables by `topdown`, `compact` and `cluster`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.attacks.learner import Learner
from discreet.audit.guessing.guesses import Guesses, may_guess
from discreet.audit.guessing.scored import scored
from discreet.audit.metrics.truth import places
from discreet.audit.places.looks import Looks, Votes
from discreet.audit.replay import minimality
from discreet.audit.replay.everybody import HINT, rows_of
from discreet.audit.replay.minimality import Found
from discreet.audit.replay.played import SUPPOSED, Player
from discreet.audit.replay.worlds import WORLDS, Believed, believe
from discreet.errors import ReleaseError
from discreet.learn.plausible import secret_of
from discreet.learn.view import View
from discreet.release import Release
from discreet.release.manifest import Promise

# Those that look at sensitive values before a cut.
LOOK = {"local", "mondrian", "compact", "cluster", "topdown", "full_domain", "vault"}


@dataclass(frozen=True)
class Minimality:
    """The attack on cuts that were not made, by so many worlds."""

    worlds: int = WORLDS
    name: ClassVar[str] = "minimality"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, that the person is in the table, and how the partition decides",
        wants="the person's sensitive value",
        given="the release alone; where it shows boxes, the quasi-identifiers of everybody in the table as well",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        promise = release.promise
        if promise.partition not in LOOK:
            return f"`{promise.partition}` refuses no cut because of the values on its sides"
        if promise.cuts == "blind" or promise.lots is not None:  # a vault whose people may have several rows
            return f"`{promise.partition}` cut without looking at the values of the parts"
        if not promise.guarantee.keys() - {"k"}:
            return "only rows are promised, so that no cut was refused because of values"
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        """Where boxes are shown, everybody in the table is known; if nobody says who that is, it is who is asked of."""
        progress("playing the cuts again")
        found = minimality.attack(release)
        view, told, notes = None, None, list[str]()
        try:
            check_played(release.promise)
            view = rows_of(release, people if given.everybody is None else given.everybody)
            told = self._believed(release.promise, view, secret_of(release), progress)
            notes += _notes(told, release.promise)
        except ReleaseError as error:
            if found is None:
                raise
            notes.append(f"only cuts were followed: {error.message}")
        view = view or View.of(release)
        guessed = _guessed(release, view, _votes(view, told, found), people)
        if found is not None and found.supposing is not None:
            notes.insert(0, f"this supposes that {found.supposing}")
        return replace(guessed, notes=tuple(notes), details=_details(told, found))

    def _believed(self, promise: Promise, view: View, seed: int, progress: Progress) -> Believed:
        """What worlds tell; raise if none can be played."""
        progress("playing other worlds")
        told = believe(Player.of(promise, view), view, seed, self.worlds)
        if told is None:
            raise ReleaseError(
                f"`{promise.partition}` decides about all rows at once, and these are too many to be played often"
                " enough",
                hint=HINT,
            )
        if not told.again:
            raise ReleaseError(
                f"not one group came about again when `{promise.partition}` was played with {promise.told()}: it ran"
                " otherwise than is supposed, or chance decides too much",
                hint=HINT,
            )
        return told

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """Any value of the person's group; who knows everybody knows it, where boxes overlap, too."""
        if release.promise.boxes is None:
            return Learner().blind(release, people, given)
        view = rows_of(release, people if given.everybody is None else given.everybody)
        return _guessed(release, view, Votes.of_groups(view), people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        if given.everybody is None and given.truth is not None:
            given = replace(given, everybody=given.truth.select([*release.promise.quasi]))
        return scored(self, release, given, progress=progress)


def check_played(promise: Promise) -> None:
    """Raise if the rows of a release are not those that its partition was run on, all at once."""
    if promise.person is not None or promise.people is not None or promise.lots is not None:
        why = "people have several rows"
    elif promise.suppression:
        why = "rows may have been left out, and they had a say in it"
    elif promise.cells is not None:
        why = "rows were grouped in cells"
    elif promise.sequence is not None or promise.growth is not None:
        why = "groups were made in several releases"
    elif not promise.quasi:
        why = "there are no quasi-identifiers"
    else:
        return
    raise ReleaseError(f"how `{promise.partition}` decides cannot be played again: {why}", hint=HINT)


def _guessed(release: Release, view: View, votes: Votes, people: pa.Table) -> Guesses:
    """The value of most votes; of who looks like nobody, the most frequent one."""
    may, looks = may_guess(release, view.values), Looks.among(view, people)
    counts = np.where(may, np.bincount(view.held, minlength=may.size), 0)
    frequent = np.full(len(people), counts.argmax()), np.full(len(people), counts.max() / view.rows)
    return looks.guesses(view, votes, may, frequent)


def _votes(view: View, told: Believed | None, found: Found | None) -> Votes:
    """What rows may hold: any value of the group, those of the worlds that agree, or the one that is certain."""
    group = Votes.of_groups(view)
    values, first, several = group.values.astype(np.int64), group.first.copy(), group.several.copy()
    if told is not None:
        first[told.rows], several[told.rows] = values.size + told.ends[:-1], np.diff(told.ends)
        values = np.concatenate([values, told.values])
    if found is not None:
        rows = np.flatnonzero(found.certain)
        first[rows], several[rows] = values.size + np.arange(rows.size), 1
        values = np.concatenate([values, places(pa.chunked_array([found.values]), view.values)[rows]])
    return Votes(values, first, several)


def _notes(told: Believed, promise: Promise) -> list[str]:
    what = f"{told.worlds:,} worlds were played, which supposes that `{promise.partition}` {SUPPOSED}"
    if told.played == promise.rows:
        return [what]
    some = (
        f"they are of {told.played:,} of {promise.rows:,} rows, drawn in neighbourhoods: who plays them all finds more"
    )
    return [what, some]


def _details(told: Believed | None, found: Found | None) -> dict[str, int]:
    details = {} if found is None else {"certain": found.people, "unique": found.named}
    if told is not None:
        details |= {"worlds": told.worlds, "played": told.played, "again": told.again, "told": told.rows.size}
    return details
