"""Tell some of the channels that were found one by one: their groups, and the values that they leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from discreet.audit.sequence.groups import Counts, Groups, Ranks
from discreet.audit.sequence.lineage import Chain, Lines
from discreet.audit.sequence.links import Links
from discreet.audit.sequence.pairs import CHANNELS, NEW, TOGETHER, Found
from discreet.audit.sequence.report import Channel

LISTED = 20


def surest(channels: Sequence[Channel]) -> tuple[Channel, ...]:
    """Those of which an attacker is surest; pairs before lines, and those that give away most people first."""

    def place(channel: Channel) -> tuple[float, bool, int]:
        return -channel.posterior, channel.kind == "chain", -sum(n for _, n in channel.values)

    return tuple(sorted(channels, key=place)[:LISTED])


def of_pair(releases: Sequence[Groups], i: int, j: int, links: Links, found: Found, values: pa.Array) -> list[Channel]:
    """The surest channels between releases i and j, counted from 0."""
    listing = []
    for at in np.argsort(-found.posteriors, kind="stable")[:LISTED]:
        kind, group, partner = int(found.kinds[at]), int(found.groups[at]), int(found.partners[at])
        left = _held(releases[j].counts, partner)
        if kind == TOGETHER:
            left &= _held(releases[j].counts, partner, found.fresh)
        elif kind < NEW:
            sole = links.starts[group + 1] - links.starts[group] == 1
            left = left if sole else _held(releases[j].counts, partner, found.unattributed)
            left &= _held(releases[i].counts, group)
        else:
            others = links.later[links.starts[group] : links.starts[group + 1]]
            every = sum((_held(releases[j].counts, int(other)) for other in others), Counter[int]())
            left &= every - _held(releases[i].counts, group)
        line = [(i, group), (j, partner)] if kind != TOGETHER else [(j, partner)]
        listing.append(_told(CHANNELS[kind], releases, line, left, values, float(found.posteriors[at])))
    return listing


def of_lines(
    releases: Sequence[Groups], chain: Chain, cohort: int, fresh: Sequence[Ranks], lines: Lines, values: pa.Array
) -> Iterator[Channel]:
    """The surest of the listed channels of those who first were in release `cohort`, counted from 0."""
    last = len(releases) - 1
    offsets = np.cumsum([0, *(of.numbers.size for of in releases)])
    for at in np.argsort(-lines.posteriors, kind="stable")[:LISTED]:
        groups = [int(group) for group in lines.listed[at] if group >= 0]
        line = [(last - back, group - int(offsets[last - back])) for back, group in enumerate(groups)][::-1]
        left = chain.left(groups, fresh)
        yield _told("chain", releases, line, left, values, float(lines.posteriors[at]), cohort + 1 if cohort else None)


def _held(counts: Counts, group: int, numbers: Ranks | None = None) -> Counter[int]:
    """The values of a group as a multiset; as many of each as `numbers` says of its entry."""
    at = slice(int(counts.starts[group]), int(counts.starts[group + 1]))
    numbers = counts.counts if numbers is None else numbers
    return Counter(dict(zip(counts.values[at].tolist(), numbers[at].tolist(), strict=True)))


def _told(
    kind: str,
    releases: Sequence[Groups],
    line: Sequence[tuple[int, int]],
    left: Counter[int],
    values: pa.Array,
    posterior: float,
    since: int | None = None,
) -> Channel:
    held = [(values[code].as_py(), n) for code, n in (+left).items()]
    return Channel(
        kind,
        tuple(t + 1 for t, _ in line),
        tuple(int(releases[t].numbers[group]) for t, group in line),
        tuple(sorted(held, key=lambda one: (-one[1], one[0] is None, str(one[0])))),
        posterior,
        since,
    )
