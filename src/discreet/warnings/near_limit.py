"""`near_limit`: an l so close to the largest that the sensitive column allows that answers will be vague.

Near that limit every group needs the commonest value as often as it may be there, so groups must be made of people who
have little in common. Cost: the distinct sensitive values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.errors import DiscreetWarning
from discreet.guarantees.l import L

if TYPE_CHECKING:
    from discreet.publication.draft import Prepared

FEW = 1_000  # rows; the answers of smaller tables are vague anyhow


def near_limit(prepared: Prepared) -> Iterator[DiscreetWarning]:
    """Warn of an l that is close to the largest possible."""
    sensitive, name = prepared.sensitive, prepared.policy.sensitive
    for promise in prepared.guarantee.promises if name is not None and sensitive.counts().sum() >= FEW else ():
        limit = promise.limit(prepared.guarantee.counted(sensitive.counts())) if isinstance(promise, L) else None
        if limit is not None:
            less = max(2, round(limit / 2))
            yield DiscreetWarning(
                "near_limit",
                f"l = {promise.threshold} is close to the largest that `{name}` allows, {limit}: answers will be vague",
                hint=f"to see what a smaller l would gain: `discreet compare --sweep l={less},{promise.threshold}`",
            )
