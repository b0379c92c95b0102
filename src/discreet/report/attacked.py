"""Make all attacks on the release of a report; those that take long, on some of its groups where it is large.

Those share one sample, and what one of them finds out in it; what is found out in the whole release is kept apart.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pyarrow as pa

from discreet.audit import attacks
from discreet.audit.attacks.attack import Failed, Given, Success
from discreet.audit.guessing.model import FEW
from discreet.audit.sampled import can_be_sampled, people_of, sampled
from discreet.release import Release
from discreet.scratch import workplace

SAMPLED = ("learner", "population", "proximity", "background")  # which learn or draw: minutes for a million rows
ROWS = FEW + 1  # that these are made on at least: of more than `FEW`, a model is learned in a seventh of the time
WITHOUT = "without"  # the model that never saw the release, as attacks keep it: the same for all of them
SEED = 0


def attacked(release: Release, given: Given, progress: Callable[[str], None]) -> tuple[Success | Failed, ...]:
    """Every attack of the registry, in its order; one that was not made says why."""
    large = release.promise.rows > ROWS and given.truth is not None and can_be_sampled(release)
    some: tuple[Release, Given] | None = None
    found: list[Success | Failed] = []
    with ExitStack() as opened:
        for name in attacks.ATTACKS:
            progress(name)
            if large and name in SAMPLED:
                some = some or _some(release, given, opened)
                made = attacks.run_attacks(*some, [name], progress=progress)
                found += [_noted(each, release, some[0]) for each in made]
                continue
            if some is not None and WITHOUT in some[1].kept:
                given.kept.setdefault(WITHOUT, some[1].kept[WITHOUT])
            made = attacks.run_attacks(release, given, [name], progress=progress)
            found += made if some is None else [_beside(each, some[1]) for each in made]
    return tuple(found)


def _some(release: Release, given: Given, opened: ExitStack) -> tuple[Release, Given]:
    """Groups of so many rows, and what an attacker of the people in them has."""
    random = np.random.default_rng(SEED)
    sample = sampled(release, ROWS, opened.enter_context(workplace()), random)
    people, others = people_of(sample, given.scores(), random), given.holdout
    if others is not None and len(others) > ROWS:
        others = others.take(pa.array(random.permutation(len(others))[:ROWS]))
    return sample, replace(given, truth=people, holdout=others, kept={})


def _noted(made: Success | Failed, release: Release, sample: Release) -> Success | Failed:
    if isinstance(made, Failed):
        return made
    whole, some = release.promise, sample.promise
    note = (
        f"made on a random sample, {some.groups:,} of {whole.groups:,} groups, {some.rows:,} of {whole.rows:,} rows:"
        " who learns from the whole release may find more"
    )
    return replace(made, notes=(note, *made.notes))


def _beside(made: Success | Failed, some: Given) -> Success | Failed:
    """An attack on the whole release; what stands beside it may be of the people of the sample."""
    if isinstance(made, Failed) or made.without is None or made.without is not some.kept.get(WITHOUT):
        return made
    note = "the model that never saw the release guesses the people of a random sample, and learned from these"
    return replace(made, notes=(*made.notes, note))
