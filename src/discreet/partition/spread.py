"""Spread: rows with harmless values join the groups that the other rows have formed, in proportion to these.

For partitions that look at nothing but sensitive values, and know of no harmless ones.
Cost: linear in the rows, and one sort of the groups.
Claim: spread_is_in_proportion — every group gets its share of the harmless rows, rounded up or down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InternalError
from discreet.partition.kernels import IntArray, shuffle
from discreet.values.random import RandomSource

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee


def around(
    assign: Callable[[Sequence[Any], IntArray, Guarantee, RandomSource], IntArray],
    sensitive: IntArray,
    guarantee: Guarantee,
    secret: RandomSource,
) -> IntArray:
    """The group of every row: as assigned to the rows that hold no harmless value, as if there were no others."""
    if guarantee.harmless is None:
        raise InternalError("rows were to be spread though no value is harmless")
    free = guarantee.harmless[sensitive]
    groups = np.empty(sensitive.size, np.int32)
    groups[~free] = assign([], sensitive[~free], guarantee, secret)
    others, rows = np.sort(groups[~free]), int(np.count_nonzero(free))
    places = (2 * np.arange(rows) + 1) * others.size // (2 * max(rows, 1))
    groups[free] = others[places][shuffle(secret.words(rows))]
    return groups
