"""A model of the sensitive value given the quasi-identifiers, of people whose values are known.

It is a logit with pairs of columns beside naive Bayes, a weighted mean of their log-probabilities: on census tables
that guesses other people better than either, and no option has to be chosen.
Cost: that of both, of at most `FITTED` rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.bayes import Bayes, fit_bayes
from discreet.audit.attacks.logit import Logit, fit_logit
from discreet.learn.kinds import Kinds
from discreet.values.coded import Coded, code

FITTED = 100_000  # rows
LEAN = 0.4  # on naive Bayes

Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Model:
    """How likely every kind of value is for somebody; `within` is the log-share of each value in its kind."""

    kinds: Kinds
    within: Singles
    logit: Logit
    bayes: Bayes

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        """The log-probability of every kind for people, given their codes column by column."""
        found = (1 - LEAN) * self.logit.chances(columns) + LEAN * self.bayes.chances(columns)
        found -= np.log(np.exp(found).sum(1, keepdims=True))
        return found


def fit(quasi: Sequence[Coded], held: Ints, values: pa.Array) -> Model:
    """Fit a model to people with these quasi-identifiers and values, as codes."""
    if held.size > FITTED:
        some = np.sort(np.random.default_rng(0).choice(held.size, FITTED, replace=False))
        quasi, held = [Coded(each.codes[some], each.values) for each in quasi], held[some]
    kinds = Kinds.among(held.astype(np.int32), values)
    kind = kinds.of[held].astype(np.int64)
    counts = np.bincount(held, minlength=len(values)) + 1e-3
    within = np.log(counts / np.bincount(kinds.of, counts)[kinds.of]).astype(np.float32)
    return Model(kinds, within, fit_logit(quasi, kind, kinds.size), fit_bayes(quasi, kind, kinds.size))


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
