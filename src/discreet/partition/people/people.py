"""Group people who may have several rows: all rows of a person go into one group, and groups count people.

People are parted into strata of alike many rows (`strata.py`); in each, those of similar quasi-identifiers are brought
together if the partition looks at these (`cut.py`), and dealt into groups (`deal.py`).
Cost: as of its parts; a few integers per row and person.
Claim: people_stay_whole — every person is in one group, and every group keeps the rule about people.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from discreet.errors import GuaranteeError
from discreet.partition.kernels import shuffle
from discreet.partition.people.strata import Numbers, Strata, levels
from discreet.values.random import RandomSource
from discreet.words import counted

TOGETHER = 1 << 14  # people who are dealt at a time where nothing else brings them together
Codes = npt.NDArray[np.int32]


def assign(
    seen: Sequence[Codes], people: Codes, sensitive: Codes, k: int, l: int, secret: RandomSource
) -> npt.NDArray[np.int32]:
    """The group of every row. `people` numbers the person of each row from 0, `seen` are quasi-identifiers, if any."""
    from discreet.partition.people.cut import cut
    from discreet.partition.people.deal import deal

    rows = np.bincount(people).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(rows)])
    by_person = np.argsort(people, kind="stable")
    values, kinds = sensitive[by_person], int(sensitive.max()) + 1
    strata = _strata(rows, people, sensitive, kinds, k, l)
    points = np.empty((rows.size, len(seen)), np.int32)
    for j, codes in enumerate(seen):
        points[:, j] = codes[by_person[starts[:-1]]]
    spans = np.maximum(points.max(axis=0, initial=0), 1).astype(np.float64)
    hard = np.maximum.reduceat(np.bincount(sensitive)[values], starts[:-1])
    groups, counts, made = np.empty(rows.size, np.int32), np.zeros(kinds, np.int64), 0
    order = shuffle(secret.words(rows.size))
    for inside, rule in strata.each():
        here = order[inside[order]]
        if seen:
            edges = [*cut(here, points, spans, starts, values, rule, counts), here.size]
            # what the cuts sorted by must not decide who is dealt first
            here = here[np.lexsort((secret.words(here.size), np.repeat(np.arange(len(edges) - 1), np.diff(edges))))]
        else:
            edges = _parts(here, starts, values, rule, counts)
        for a, b in pairwise(edges):
            made += deal(here[a:b], starts, values, hard, kinds, rule, groups, made)
    return groups[people]


def _parts(here: Codes, starts, values, rule, counts) -> list[int]:  # type: ignore[no-untyped-def]
    """Cut people in random order into parts of some thousands that keep the rule; or leave them as they are."""
    from discreet.partition.people.rule import keeps

    parts = here.size // TOGETHER + 1
    edges = [here.size * i // parts for i in range(parts + 1)]
    whole = all(keeps(here[a:b], starts, values, rule, counts) for a, b in pairwise(edges))
    return edges if whole else [0, here.size]


def _strata(rows: Numbers, people: Codes, sensitive: Codes, kinds: int, k: int, l: int) -> Strata:
    """The strata; raise with what would work if there are none that keep the rule."""
    level = levels(rows)
    at = level[people] * kinds + sensitive
    counts = np.bincount(at, minlength=(int(level.max()) + 1) * kinds).reshape(-1, kinds)
    strata = Strata.of(rows, counts, k, l)
    if strata.found:
        return strata
    if rows.size < k:
        raise GuaranteeError(f"k = {k} cannot be met: the table has {rows.size:,} people", hint="lower it")
    # what keeps a larger l keeps a smaller one
    best = bisect.bisect_left(range(2, l), True, key=lambda less: not Strata.of(rows, counts, k, less).found) + 1
    works = [] if best == 1 else [f"set l = {best}"]
    if 0 < strata.reach < rows.max():
        more = counted(int((rows > strata.reach).sum()), "person has", "people have")
        works.append(f"leave out people with many rows ({more} over {strata.reach:,}; without them it can be met)")
    raise GuaranteeError(
        f"l = {l} cannot be met: somebody with many rows (the most are {rows.max():,}) would all too probably hold a"
        f" frequent value in one; {f'the largest that works is {best}' if best > 1 else 'no value of it works'}",
        hint=", or ".join([*works, "publish fewer rows of each person, like the last one"]),
    )
