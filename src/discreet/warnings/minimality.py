"""Refuse groups whose cuts give people away: attack the draft as anyone could attack the release.

That no value is believed of anybody with more than 1 in l would be printed and not be so, and nobody can accept that
for the people who are certain. So this is no warning but a `GuaranteeError`; only of a release with a seed, which is
not for publication, it is a warning. Rows are attacked as if everybody knew what they look like, also where the
publication shows boxes: a neighbour may know all people of one.

Partitions whose cuts are fitted to sensitive values and are not attacked are refused unless the policy accepts that,
whatever l is: nobody looked. Those that are attacked in part get a warning where l is small: that nobody was found
proves nothing there. Of blind cuts there is nothing to find.
Cost: that of the attack, see `audit/replay/minimality.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DiscreetWarning, GuaranteeError
from discreet.partition import PARTITIONS

if TYPE_CHECKING:
    from discreet.publication.draft import Draft

KIND, LOOKS = "minimality", "looks"
WAY = 'leave cuts = "fitted" out, since blind cuts tell nothing; or promise a larger l'

INSTEAD = ' let it cut without looking (options.cuts = "blind"), use `deal`,'
TOO_FEW = 4  # below it, hundreds of 100,000 people were given away there
ENOUGH = 10  # of l or distinct_l: `local` with fitted cuts gave away 20 of 100,000 people of SAL at 6, and one at 10


def looks(draft: Draft) -> Iterator[DiscreetWarning]:
    """A warning of cuts that were fitted to sensitive values, in a way that is not attacked in full."""
    from discreet.audit.replay.minimality import attackable

    policy = draft.policy
    partition = PARTITIONS.get(policy.grouping)
    if partition is None or policy.person is not None or partition.cuts(policy.options) != "fitted":
        return
    seeded = draft.secret.seeded
    if not attackable(partition.name, policy.guarantee, blind=False):
        yield from unseen(partition.name, policy.guarantee, seeded=seeded)
    elif partition.name != "local":
        yield from looked(f"`{policy.grouping}` looked", policy.guarantee, INSTEAD, seeded=seeded)


def unseen(
    partition: str, guarantee: Mapping[str, float], instead: str = INSTEAD, *, seeded: bool = False
) -> Iterator[DiscreetWarning]:
    """The warning of fitted cuts that nobody attacks: whatever is promised of values, nobody knows what they tell."""
    if guarantee.keys() - {"k"}:
        yield DiscreetWarning(
            LOOKS,
            f"`{partition}` looked at sensitive values to form groups: whoever knows how it goes about it may learn "
            "from the groups it did not form who holds a value. No attack tries that before publishing, so nobody knows"
            " how much it tells, whatever is promised",
            hint=f'{instead.strip()} or accept it with the reason: accept.looks = "…"',
            refuses=not seeded,
        )


def looked(
    who: str, guarantee: Mapping[str, float], instead: str = "", *, seeded: bool = False
) -> Iterator[DiscreetWarning]:
    """The warning of whoever looks at sensitive values to form groups, unless l is so large that it hardly matters."""
    promised = guarantee.keys() - {"k"}
    least = min((guarantee[name] for name in ("l", "distinct_l") if name in promised), default=0)
    if not promised or least >= ENOUGH:
        return
    yield DiscreetWarning(
        LOOKS,
        f"{who} at sensitive values to form groups: whoever knows how it goes about it may learn "
        "from the groups it did not form who holds a value, and that is not, or not fully, tried before publishing",
        hint=f'promise an l of {ENOUGH} or more,{instead} or accept it with the reason: accept.looks = "…"',
        refuses=0 < least < TOO_FEW and not seeded,
    )


def certain(draft: Draft) -> Iterator[DiscreetWarning]:
    """Raise if somebody's value is certain because of a cut that was refused; warn where there is a seed."""
    from discreet.audit.replay.minimality import attackable, find, lines

    policy, histograms = draft.policy, draft.histograms
    ranges = policy.grouping == "mondrian"
    if draft.people is not None or not attackable(policy.grouping, policy.guarantee, blind=policy.blind):
        return
    if ranges:  # as it sees them: a category in the order of its labels
        on_lines = [axis for axis in draft.axes if axis.dimension.form == "range"]
        seen = [replace(axis.codes, codes=axis.dimension.codes) for axis in on_lines]
    else:
        seen = [axis.codes for axis in draft.axes]
    usual = len(seen) == len(draft.axes) and not {"dimension", "median"} & policy.options.keys()
    entries, quasi = (histograms.groups, histograms.values, histograms.counts), [codes.codes for codes in seen]
    places = lines(seen) if ranges and usual else None
    known = find(policy.grouping, quasi, draft.groups, entries, policy.guarantee, places)
    people = int(np.count_nonzero(known >= 0))
    if people == 0:
        return
    who = "the value of 1 person is" if people == 1 else f"the values of {people:,} people are"
    message = (
        f"{who} certain to whoever asks why `{policy.grouping}` did not cut further "
        f"(a minimality attack on {draft.groups.size:,} rows, l = {policy.guarantee['l']})"
    )
    if not draft.secret.seeded:
        raise GuaranteeError(message, hint=WAY)
    yield DiscreetWarning(KIND, message, hint=WAY)
