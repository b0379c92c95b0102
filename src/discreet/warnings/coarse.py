"""`coarse`: blind cuts left so few groups that the release tells next to nothing.

A blind cut needs parts that keep the guarantee whatever they hold. From about a third of the largest l on there are
hardly any such parts, where fitted cuts would still find some. Cost: none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from discreet.errors import DiscreetWarning
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.policy import Policy
    from discreet.publication.draft import Draft

MANY = 1_000  # rows; of fewer there may be no more groups
FEW = 10  # groups


def coarse(draft: Draft) -> Iterator[DiscreetWarning]:
    """Warn of a large table in hardly any groups, if cuts were blind and more than k is promised."""
    yield from few(draft.policy, draft.groups.size, draft.histograms.sizes.size)


def few(policy: Policy, rows: int, groups: int) -> Iterator[DiscreetWarning]:
    """The same of so many rows in so many groups."""
    if not policy.blind or policy.guarantee.keys() <= {"k"} or rows < MANY or groups >= FEW:
        return
    yield DiscreetWarning(
        "coarse",
        f"blind cuts left {counted(groups, 'group', 'groups')} of {rows:,} rows, so that answers will be vague: "
        "only few divisions of the rows keep the guarantee whatever values the parts hold",
        hint="promise less, such as a smaller l; publish by `anatomy`, which shows rows as they are; or try "
        'options.cuts = "fitted", which is refused if it gives people away',
    )
