"""The order attack: link rows to sensitive values by any order that the files may have kept.

Each hypothesis supposes that inside a group the rows stand in the same order as the group's values,
sorted by some key an outsider can compute, and links the first row to the first value, and so on.
`rank` is the strongest: when one random key both chose the rows of a value and ordered the file, the
place of a group among those that hold a value tells the key of its row. Where a value stands on each
row, as in a permutation, one more hypothesis is that it stands there as published: that it was never
shuffled, or not well. Of a full permutation, what is linked is the value of a column that stands on a row.
Where quasi-identifiers tell something of the sensitive value, sorting by them links better than
guessing too; that is not an order the release kept, but what `docs/promise.md` warns of.
Cost: n log n. Claim: order_attack_finds_a_planted_leak — and on a release of unrelated columns only guesses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.files import read_tables
from discreet.errors import InputError
from discreet.release import Release


@dataclass(frozen=True)
class Links:
    """A sensitive value linked to each person's row, in file order."""

    hypothesis: str
    values: pa.Array

    def recovered(self, truth: pa.Array) -> float:
        """The share of rows linked to their real value."""
        same = pc.fill_null(pc.equal(self.values, truth), False)
        return float(pc.mean(same.cast(pa.float64())).as_py())


def attack(release: Release) -> list[Links]:
    """Link rows to values under every hypothesis."""
    if release.promise.sensitive is None:
        raise InputError(
            "the release has no sensitive values to link rows to", hint="name a release that has a sensitive column"
        )
    tables = read_tables(release)
    values = tables.st["value"].combine_chunks()
    listed = np.repeat(np.arange(len(values)), tables.st["n"].to_numpy().astype(np.int64))
    group = tables.st["grp"].to_numpy()[listed]
    value = values.dictionary_encode().indices.fill_null(-1).to_numpy()[listed]
    rows = np.argsort(tables.qit[release.promise.group].to_numpy(), kind="stable")
    place = np.arange(listed.size)
    rank = _rank_within(value, group)
    keys = {"listed": place, "listed backwards": -place, "rank": rank, "rank backwards": -rank}
    links = [] if tables.beside is None else [Links("as published", tables.beside)]
    for hypothesis, key in keys.items():
        linked = np.empty(listed.size, np.int64)
        linked[rows] = listed[np.lexsort((key, group))]
        links.append(Links(hypothesis, values.take(pa.array(linked))))
    return links


def blind(release: Release) -> float:
    """The share of rows that guessing inside each group recovers."""
    st = read_tables(release).st
    counts = st["n"].to_numpy().astype(np.float64)
    _, group = np.unique(st["grp"].to_numpy(), return_inverse=True)
    return float(np.sum(counts * counts / np.bincount(group, weights=counts)[group]) / counts.sum())


def _rank_within(value: npt.NDArray[np.int64], group: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The place of each group among those that hold the same value, from 0 to 1."""
    order = np.lexsort((group, value))
    counts = np.bincount(value + 1)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    place = np.empty(value.size)
    place[order] = (np.arange(value.size) - starts + 0.5) / np.repeat(counts, counts)
    return place
