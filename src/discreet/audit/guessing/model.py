"""A model of the sensitive value given the quasi-identifiers, of people whose values are known, or expected.

It is a logit with pairs of columns beside naive Bayes, a weighted mean of their log-probabilities: on census tables
that guesses other people better than either, and no option has to be chosen. What it says beyond the shares of all
people counts by its `strength`, 0 to 1: of few people, that which foretells one half of them best from the other, so
that nobody who learned of chance alone takes it for a relation.
Cost: that of both, of at most `FITTED` rows; twice if they are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.guessing.bayes import fit_bayes
from discreet.audit.guessing.logit import fit_logit
from discreet.audit.guessing.seen import Seen
from discreet.learn.kinds import Kinds
from discreet.values.coded import Coded, code

FITTED = 100_000  # rows
FEW = 20_000  # rows, of which chance may teach a model too much
STRENGTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
LEAN = 0.4  # on naive Bayes

Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


class Part(Protocol):
    """What a model is made of."""

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        """The log-probability of every kind for people, given their codes column by column."""
        ...


@dataclass(frozen=True, eq=False)
class Model:
    """How likely every kind of value is for somebody: a weighted mean of the log-probabilities of its parts."""

    kinds: Kinds
    values: npt.NDArray[np.integer]  # of all rows
    parts: tuple[tuple[float, Part], ...]
    strength: float = 1.0

    @classmethod
    def of(cls, seen: Seen, counts: Singles, kinds: Kinds, values: npt.NDArray[np.integer]) -> Model:
        """Fit one to how many of every look hold each kind (looks x kinds); `values` are those of all rows."""
        logit = fit_logit(seen, counts, kinds.curves)
        return cls(kinds, values, ((1 - LEAN, logit), (LEAN, fit_bayes(seen, counts))))

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        """The log-probability of every kind for people, given their codes column by column."""
        found = np.tile(np.log(np.maximum(self.kinds.share, 1e-9)).astype(np.float32), (len(columns[0]), 1))
        if self.strength:
            found *= 1 - self.strength
            for weight, part in self.parts:
                found += np.float32(self.strength * weight) * part.chances(columns)
            found -= np.log(np.exp(found).sum(1, keepdims=True))
        return found

    @cached_property
    def within(self) -> Singles:
        """The log-share of each value in its kind."""
        counts = np.bincount(self.values, minlength=self.kinds.of.size) + 1e-3
        return np.log(counts / np.bincount(self.kinds.of, counts)[self.kinds.of]).astype(np.float32)


def fit(quasi: Sequence[Coded], held: Ints, values: pa.Array) -> Model:
    """Fit a model to people with these quasi-identifiers and values, as codes."""
    if held.size > FITTED:
        some = np.sort(np.random.default_rng(0).choice(held.size, FITTED, replace=False))
        quasi, held = [Coded(each.codes[some], each.values) for each in quasi], held[some]
    kinds, every = Kinds.among(held.astype(np.int32), values), np.arange(held.size)
    model = _fitted(quasi, held, kinds, every)
    return replace(model, strength=_strength(quasi, held, kinds)) if 1 < held.size <= FEW else model


def _fitted(quasi: Sequence[Coded], held: Ints, kinds: Kinds, rows: Ints) -> Model:
    seen = Seen.of([Coded(each.codes[rows], each.values) for each in quasi])
    both = np.bincount(seen.look * kinds.size + kinds.of[held[rows]], minlength=seen.looks * kinds.size)
    return Model.of(seen, both.reshape(seen.looks, kinds.size).astype(np.float32), kinds, held[rows])


def _strength(quasi: Sequence[Coded], held: Ints, kinds: Kinds) -> float:
    """The strength with which a model of one half of the people makes the values of the other half likeliest."""
    order = np.random.default_rng(0).permutation(held.size)
    one, other = order[: held.size // 2], order[held.size // 2 :]
    model, asked = _fitted(quasi, held, kinds, one), [each.codes[other] for each in quasi]
    kind = kinds.of[held[other]]
    told = [replace(model, strength=each).chances(asked)[np.arange(other.size), kind].sum() for each in STRENGTHS]
    return STRENGTHS[int(np.argmax(told))]


def jointly(parts: Sequence[Sequence[pa.ChunkedArray]]) -> list[list[Coded]]:
    """The columns of several tables as codes of the same values: part by part, column by column."""
    found: list[list[Coded]] = [[] for _ in parts]
    for columns in zip(*parts, strict=True):
        type_ = columns[0].type
        chunks = [chunk for column in columns for chunk in column.cast(type_).chunks]
        both = code(pa.chunked_array(chunks, type_))
        for part, codes in zip(found, np.split(both.codes, np.cumsum([len(c) for c in columns])[:-1]), strict=True):
            part.append(Coded(codes, both.values))
    return found
