"""The checks of a table before its rows are grouped, and of groups before they are written; and what comes of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import DiscreetWarning, UnacceptedError
from discreet.warnings.coarse import coarse
from discreet.warnings.dominant import dominant
from discreet.warnings.lookalikes import lookalikes
from discreet.warnings.minimality import certain, looks
from discreet.warnings.near_limit import near_limit
from discreet.warnings.repeats import repeats
from discreet.warnings.tells import tells
from discreet.warnings.text import text

if TYPE_CHECKING:
    from discreet.policy import Policy
    from discreet.publication.draft import Draft, Prepared

Check: TypeAlias = "Callable[[Prepared], Iterator[DiscreetWarning]]"
BEFORE: tuple[Check, ...] = (repeats, tells, near_limit, text)
OF_VALUES: tuple[Callable[[Draft], Iterator[DiscreetWarning]], ...] = (dominant, lookalikes)
AFTER: tuple[Callable[[Draft], Iterator[DiscreetWarning]], ...] = (*OF_VALUES, certain, looks, coarse)
Warned: TypeAlias = tuple[DiscreetWarning, ...]


def judged(found: Iterable[DiscreetWarning], policy: Policy, *, strict: bool) -> Warned:
    """Each warning with the reason for which the policy accepts it; raise if one that is not accepted must be.

    Call it before anything is written: the warnings that are left are given here, and may be turned into errors.
    """
    judged = tuple(warning.accepted(policy.accept.get(warning.name, "")) for warning in found)
    left = [warning for warning in judged if not warning.reason]
    stopping = left if strict else [warning for warning in left if warning.refuses]
    if stopping:
        raise UnacceptedError(stopping)
    for warning in left:
        warnings.warn(warning, stacklevel=3)
    return judged
