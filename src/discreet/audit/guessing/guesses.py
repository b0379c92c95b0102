"""Guesses of people's values, and how often they are right.

Where several values are equally good guesses, one is taken at random, and the share of right guesses is the expected
one. Of people who were in the table, those count whom the release can hold: who looks like nobody in it, or holds a
value that nobody in it does, was not published. Harmless values are never guessed, and people who hold them are not
counted. Of a holdout everybody counts.
Cost: sorting the guesses, and the people by how sure the attacker is.
Claim: guesses_are_scored_as_by_hand — and the surest are picked first, those who tie in equal parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.attacks.attack import RECALLS, Rate
from discreet.audit.metrics.truth import places
from discreet.release import Release
from discreet.release.harmless import harmless_values

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Guesses:
    """What is guessed of people: person i by the guess `of[i]`, which is any of `values[codes[starts[i]:starts[i+1]]]`.

    `sure` says of every guess how likely the attacker takes it to be right, and `seen` of every person whether the
    release can hold anybody who looks so. `notes` are what is to be said of how they came about, `details` its figures.
    """

    values: pa.Array
    of: Ints
    starts: Ints
    codes: Ints
    sure: Floats
    seen: Flags
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def single(cls, values: pa.Array, codes: Ints, sure: Floats, seen: Flags | None = None) -> Guesses:
        """One guess for each person."""
        several = np.arange(codes.size + 1)
        return cls(values, several[:-1], several, codes, sure, np.ones(codes.size, np.bool_) if seen is None else seen)

    @classmethod
    def joined(cls, parts: Sequence[Guesses], people: Sequence[Ints]) -> Guesses:
        """The guesses of several parts of the people, whose numbers are told part by part."""
        shift, at = np.cumsum([0, *(part.sure.size for part in parts)]), np.argsort(np.concatenate(people))
        ends = np.cumsum([0, *(part.codes.size for part in parts)])
        return cls(
            parts[0].values,
            np.concatenate([part.of + by for part, by in zip(parts, shift, strict=False)])[at],
            np.concatenate([*(part.starts[:-1] + by for part, by in zip(parts, ends, strict=False)), ends[-1:]]),
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.sure for part in parts]),
            np.concatenate([part.seen for part in parts])[at],
            tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            parts[0].details,
        )

    def about(self, people: slice) -> Guesses:
        """The same of some of the people."""
        return replace(self, of=self.of[people], seen=self.seen[people])

    def right(self, held: Ints) -> Floats:
        """How likely each person's value, as a code of the values, is the one that is guessed."""
        many, guess = len(self.values) + 1, np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        pairs = np.sort(guess * many + self.codes)
        wanted = self.of * many + held
        at = np.minimum(np.searchsorted(pairs, wanted), max(pairs.size - 1, 0))
        among = (pairs[at] == wanted) & (held >= 0) if pairs.size else np.zeros(held.size, np.bool_)
        return np.where(among, 1 / np.maximum(np.diff(self.starts)[self.of], 1), 0.0)

    def same(self, other: Guesses) -> bool:
        """Whether the same is guessed of everybody."""
        return self.values.equals(other.values) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("of", "starts", "codes", "sure", "seen")
        )


@dataclass(frozen=True, eq=False)
class Scored:
    """People who count, how likely each guess of them is right, and how sure the attacker was."""

    right: Floats
    sure: Floats

    @property
    def people(self) -> int:
        return self.right.size

    def rate(self, *, tried: int = 1) -> Rate:
        return Rate.of(float(self.right.sum()), self.people, tried=tried)

    def at_recall(self, *, tried: int = 1) -> dict[float, Rate]:
        """How often the attacker is right of the surest; those who tie with the last one are taken in equal parts."""
        order = np.argsort(-self.sure, kind="stable")
        _, first, tied = np.unique(-self.sure[order], return_index=True, return_counts=True)
        mean = np.add.reduceat(self.right[order], first) / tied
        evened = np.cumsum(np.repeat(mean, tied))
        found = {}
        for recall in RECALLS:
            picked = max(1, round(recall * self.people))
            found[recall] = Rate.of(float(evened[picked - 1]), picked, tried=tried)
        return found


def score(release: Release, guesses: Guesses, people: pa.Table, *, everybody: bool = False) -> Scored:
    """Hold guesses against what people hold; of `everybody`, or of those whom the release can hold."""
    held = places(people[release.promise.sensitive_column], guesses.values)
    spared = ~may_guess(release, guesses.values)
    counted = np.ones(held.size, np.bool_) if everybody else guesses.seen & (held >= 0)
    if spared.any():
        counted &= ~(spared[held] & (held >= 0))
    return Scored(guesses.right(held)[counted], guesses.sure[guesses.of][counted])


def may_guess(release: Release, values: pa.Array) -> Flags:
    """Which values are guessed at all: those that are not harmless."""
    harmless = release.promise.harmless
    if not harmless:
        return np.ones(len(values), np.bool_)
    return ~np.asarray(pc.is_in(values, value_set=harmless_values(harmless, values.type)))
