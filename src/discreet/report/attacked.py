"""Make all attacks on the release of a report; those that take long, on some of its groups where it is large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.audit import attacks
from discreet.audit.attacks.attack import Failed, Given, Success
from discreet.audit.sampled import can_be_sampled, people_of, sampled
from discreet.release import Release
from discreet.scratch import workplace

SAMPLED = dict.fromkeys(("learner", "population", "proximity"), 20_000)  # rows that these are made on, at most
SEED = 0


def attacked(release: Release, given: Given, progress: Callable[[str], None]) -> tuple[Success | Failed, ...]:
    """Every attack of the registry, in its order; one that was not made says why."""
    found: list[Success | Failed] = []
    for name in attacks.ATTACKS:
        progress(name)
        few = SAMPLED.get(name, release.promise.rows)
        large = release.promise.rows > few and given.truth is not None and can_be_sampled(release)
        found += _on_some(name, few, release, given, progress) if large else _made(name, release, given, progress)
    return tuple(found)


def _made(name: str, release: Release, given: Given, progress: Callable[[str], None]) -> list[Success | Failed]:
    return attacks.run_attacks(release, given, [name], progress=progress)


def _on_some(
    name: str, rows: int, release: Release, given: Given, progress: Callable[[str], None]
) -> list[Success | Failed]:
    """The attack on groups of so many rows, scored with the people in them."""
    random = np.random.default_rng(SEED)
    with workplace() as folder:
        sample = sampled(release, rows, folder, random)
        people = people_of(sample, given.scores(), random)
        others = given.holdout
        if others is not None and len(others) > rows:
            others = others.take(pa.array(random.permutation(len(others))[:rows]))
        [made] = _made(name, sample, replace(given, truth=people, holdout=others), progress)
    if isinstance(made, Failed):
        return [made]
    whole, some = release.promise, sample.promise
    note = (
        f"made on a random sample, {some.groups:,} of {whole.groups:,} groups, {some.rows:,} of {whole.rows:,} rows:"
        " who learns from the whole release may find more"
    )
    return [replace(made, notes=(note, *made.notes))]
