"""Attack a release: the front door to all attacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.attacks import run_attacks
from discreet.audit.attacks.attack import Failed, Given, Progress, Success, silent
from discreet.audit.belongs import LEAST, belongs
from discreet.errors import InputError
from discreet.release import open_release

if TYPE_CHECKING:
    from discreet.release import Release


def attack(
    release: Release | str | Path,
    names: str | Sequence[str] | None = None,
    *,
    truth: str | Path | Any = None,
    holdout: str | Path | Any = None,
    population: str | Path | Any = None,
    public: str | Path | Any = None,
    others: Sequence[Release | str | Path] = (),
    exclude: int = 1,
    within: float = 0.05,
    groups: Any = None,
    progress: Progress = silent,
) -> list[Success | Failed]:
    """Attack a release as anyone could who holds it, by all attacks or those that are named.

    Guesses are made from the files and what the attacker is given; the private table, `truth`, is held against them
    afterwards, and decides whose values are guessed. `holdout` are people who were not in it, `population` others of
    whom the attacker learned, `public` is a public table of people, `others` are releases of the same people. What they
    are, and `groups`, is explained at `discreet.audit.attacks.attack.Given`. An attack that was not made is `Failed`,
    and says why. Of a truth that accounts for less than nine tenths of the release, a note says so.
    """
    if not isinstance(exclude, int) or isinstance(exclude, bool) or exclude < 1:
        raise InputError(f"`exclude` is a whole number from 1 on, got {exclude!r}", hint="leave it out for 1")
    if not 0 <= within < 1:
        raise InputError(f"`within` is a share from 0 to less than 1, got {within!r}", hint="0.05 is 5 %")
    opened = release if not isinstance(release, str | Path) else open_release(release)
    given = Given.read(
        opened,
        truth=truth,
        holdout=holdout,
        population=population,
        public=public,
        others=others,
        exclude=exclude,
        within=within,
        groups=None if groups is None else np.asarray(groups, np.int64),
    )
    found = run_attacks(opened, given, [names] if isinstance(names, str) else names, progress=progress)
    doubt = _doubt(opened, given) if any(isinstance(each, Success) for each in found) else ()
    return [replace(each, notes=(*doubt, *each.notes)) if isinstance(each, Success) else each for each in found]


def _doubt(release: Release, given: Given) -> tuple[str, ...]:
    """What is to be said where the truth is hardly the table that was published."""
    if given.truth is None or (share := belongs(release, given.truth).share) >= LEAST:
        return ()
    return (f"the truth accounts for {share:.1%} of the release: if it is another table, these figures mean nothing",)
