"""Find people in a release that shows blocks of columns only: by the groups that hold their values in every block.

Cost: the groups that hold the most telling block of each kind of people, summed over all kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from discreet.audit.sequence.groups import Numbers
from discreet.errors import ReleaseError

LIMIT = 50_000_000  # groups to look at, over all kinds of people
Floats = npt.NDArray[np.float64]


def find(blocks: Sequence[Sequence[Numbers]], group: Numbers, release: Path) -> tuple[Numbers, Numbers, Floats]:
    """The kinds of people and groups that fit in every block, by kind, and how many people are expected there.

    A block is given as the code of every kind of people and that of every row; `group` is the group of every row.
    """
    sizes = np.bincount(group)
    listed = []
    for kinds, rows in blocks:
        pairs, counts = np.unique(rows * sizes.size + group, return_counts=True)
        ends = np.searchsorted(pairs, np.append(kinds, kinds + 1) * sizes.size)
        listed.append((int(np.diff(ends.reshape(2, -1), axis=0).sum()), kinds, pairs, counts, ends))
    listed.sort(key=lambda block: block[0])
    many, codes, pairs, counts, ends = listed[0]
    if many > LIMIT:
        raise ReleaseError(
            f"`{release}` shows too little of people to find their groups: {many:,} would have to be looked at",
            hint="leave it out, or compare releases that show whole rows",
        )
    first, last = ends.reshape(2, -1)
    kind = np.repeat(np.arange(codes.size), last - first)
    at = np.arange(many) + np.repeat(first - np.cumsum(last - first) + (last - first), last - first)
    found, expected = pairs[at] % sizes.size, counts[at].astype(np.float64)
    for _, codes, pairs, counts, _ in listed[1:]:
        wanted = codes[kind] * sizes.size + found
        place = np.minimum(np.searchsorted(pairs, wanted), pairs.size - 1)
        same = pairs[place] == wanted
        kind, found = kind[same], found[same]
        expected = expected[same] * counts[place[same]] / sizes[found]
    return kind, found, expected
