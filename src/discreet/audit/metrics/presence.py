"""Whether somebody can be told to be in a full permutation, and to hold a value: probabilities, row by row.

    presence    for a person in a group of N rows, of which n_i hold the person's value of column i, the product of all
                n_i / N (lemma 1, equation 2): how likely one given row of the group, its columns drawn by themselves,
                is like the person
    somebody    N x presence, at most 1: how likely any row of the group is, at most. The lemma calls presence itself
                the most that can be found out, which it is not: a group of one age and one sex has them for sure
    disclosure  c / N, where c people of the group hold the person's sensitive value: how likely a guess of the value
                is right if the person is known to be in the group
    product     presence x disclosure: that a row of the group is theirs, and the guess right
    rce         error of rows rebuilt from the release: over all people 1 - 2 d c + d^2 s, where d is the presence
                and s the sum of c^2 over the values of the group (equations 6 and 9)
    rce_bound   over all people 1 - 2 d + l d^2, where every group keeps l (equation 7)
    rce_normalised  the same as `rce` with c / N in the place of c: see below

From the release alone, a person is taken to be as a published row shows, with the group's most frequent value for the
product and each of its values alike for `rce`. With the truth, people are real; a release does not say which group
somebody is in, so it is taken to be, of the groups that hold all of their values, the one where presence is largest.
The paper prints another disclosure (its theorem 1 and example 3 disagree); ours is the larger, given the group.
As printed, what is rebuilt of a person adds up to N times the presence, and `rce` may be larger than if
nothing were known; with c / N it adds up to the presence, and where that is 1 the error is that of anatomy.
The bound (7) holds where the values of a group all differ, as `cluster`, `deal`, `mixed` and `anatomize` make them.

Source: Li et al., "Permutation anonymization", J. Intell. Inf. Syst. 2015, section 2.
Cost: one sort per column; with the truth, for each different person the groups that hold their rarest value.
Claim: presence_is_that_of_lemma_1 — the same as counted person by person.
Claim: rce_is_at_least_its_bound — where the values of every group differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.audit.metrics.boxes import Counts, Floats
from discreet.audit.metrics.margins import Margin, Margins, read_margins
from discreet.audit.metrics.truth import likeliest, read_truth
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of


@dataclass(frozen=True, slots=True)
class Spread:
    """How probabilities are spread over people."""

    least: float
    lower_quartile: float
    median: float
    upper_quartile: float
    most: float
    mean: float

    @classmethod
    def of(cls, values: Floats) -> Spread:
        least, lower, median, upper, most = map(float, np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
        return cls(least, lower, median, upper, most, float(values.mean()))


@dataclass(frozen=True, slots=True)
class Presence:
    """What the module's docstring explains, over real people if `real`, else over the rows that are published.

    `largest` is the presence of the most exposed person whom any group could hold. `lone` counts the people whose
    quasi-identifiers only one group could hold (real ones: from the files alone nobody knows), and `absent` those
    of the truth whom no group could hold: they were not published. Without a sensitive column there is no disclosure.
    """

    real: bool
    people: int
    absent: int
    presence: Spread
    somebody: Spread
    largest: float
    lone: int | None = None
    disclosure: Spread | None = None
    product: Spread | None = None
    rce: float | None = None
    rce_bound: float | None = None
    rce_normalised: float | None = None


def of_people(release: Release, truth: str | Path | Any) -> pa.Table:
    """For each person of the private table the group that could hold them best, presence there, and what follows.

    The rows are in the order of the truth; of somebody whom no group could hold all columns are missing.
    """
    margins, blocks = read_margins(release), layout_of(release.promise).blocks(release.promise)
    if margins is None or any(len(block) > 1 for block in blocks):
        raise InputError(
            "presence is defined only for releases by `full_permutation`", hint="name a release by `full_permutation`"
        )
    found = likeliest(margins, read_truth(truth, release.promise.columns))
    nowhere = found.group < 0
    sizes = margins.sizes[found.group]
    columns = {"group": found.group + 1, "presence": found.presence, "somebody": _somebody(found.presence, sizes)}
    columns["groups"] = found.groups
    if margins.value is not None:
        columns["disclosure"] = found.holders / sizes
    return pa.table({name: pa.array(values, mask=nowhere) for name, values in columns.items()})


def presence(margins: Margins) -> Presence:
    """Measure presence and disclosure, with every row that is published as a person."""
    group, held = margins.group, margins.value
    delta = np.ones(group.size)
    for column in margins.columns.values():
        delta *= column.counts[column.rows] / margins.sizes[group]
    found = _measured(margins, group, delta, real=False)
    if held is None:
        return found
    square, sizes = _squares(held, margins.sizes.size)[group], margins.sizes[group]
    top = np.zeros(margins.sizes.size, np.int64)
    np.maximum.at(top, held.groups, held.counts)
    shares = (held.counts / margins.sizes[held.groups])[held.rows]
    return _with_values(
        found, margins, group, delta, counts=square / sizes, disclosure=shares, guess=top[group] / sizes
    )


def real_presence(release: Release, margins: Margins, truth: str | Path | Any) -> Presence:
    """The same for the people of the private table, which is a file or a frame."""
    people = likeliest(margins, read_truth(truth, release.promise.columns))
    here = people.group >= 0
    if not here.any():
        raise InputError("nobody of the truth can be in the release", hint="name the table that it was published from")
    group, delta, counts = people.group[here], people.presence[here], people.holders[here]
    found = _measured(margins, group, delta, real=True)
    found = replace(found, absent=int((~here).sum()), lone=int((people.groups[here] == 1).sum()))
    if margins.value is None:
        return found
    shares = counts / margins.sizes[group]
    return _with_values(found, margins, group, delta, counts=counts, disclosure=shares, guess=shares)


def _measured(margins: Margins, group: Counts, delta: Floats, *, real: bool) -> Presence:
    somebody = Spread.of(_somebody(delta, margins.sizes[group]))
    return Presence(real, delta.size, 0, Spread.of(delta), somebody, _largest(margins))


def _somebody(delta: Floats, sizes: Counts) -> Floats:
    """At most how likely a row of a group of this size is like a person: as many rows are expected, or one."""
    return np.minimum(delta * sizes, 1.0)


def _with_values(
    found: Presence,
    margins: Margins,
    group: Counts,
    delta: Floats,
    *,
    counts: Counts | Floats,
    disclosure: Floats,
    guess: Floats,
) -> Presence:
    """What is known of sensitive values, too: how many of a person's group hold theirs, and how good a guess is."""
    held = margins.value
    if held is None:
        return found
    l = int((margins.sizes[held.groups] // held.counts).min())
    square, shared = _squares(held, margins.sizes.size)[group], delta / margins.sizes[group]
    return replace(
        found,
        disclosure=Spread.of(disclosure),
        product=Spread.of(delta * guess),
        rce=float(np.sum(1 - 2 * delta * counts + delta**2 * square)),
        rce_bound=float(np.sum(1 - 2 * delta + l * delta**2)),
        rce_normalised=float(np.sum(1 - 2 * shared * counts + shared**2 * square)),
    )


def _largest(margins: Margins) -> float:
    """The presence of somebody who has the most frequent value of every column of a group, in the worst group."""
    found = np.ones(margins.sizes.size)
    for column in margins.columns.values():
        top = np.zeros(margins.sizes.size, np.int64)
        np.maximum.at(top, column.groups, column.counts)
        found *= top / margins.sizes
    return float(found.max())


def _squares(held: Margin, groups: int) -> Floats:
    """For each group the sum of the squares of the counts of its values."""
    squares = held.counts.astype(np.float64) ** 2
    return np.asarray(np.bincount(held.groups, weights=squares, minlength=groups), np.float64)
