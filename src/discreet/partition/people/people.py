"""Group people who may have several rows: all rows of a person go into one group, and groups count people.

People are parted into strata of alike many rows (`strata.py`); in each, those of similar quasi-identifiers are brought
together if the partition looks at these (`cut.py`). Where all people of a stratum have equally many rows, those of each
cell are dealt into groups (`deal.py`). Where they have not, to deal would tell who is likelier to hold a frequent
value: then every cell is a group. `docs/promise.md` has the proof that no such group tells more than it shows.
Cost: as of its parts; a few integers per row and person.
Claim: people_stay_whole — every person is in one group, and every group keeps the rule about people.
Claim: groups_of_people_tell_no_more — by all worlds and the groups made of each, nobody is believed to hold a value
with more than is promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from discreet.errors import GuaranteeError
from discreet.partition.kernels import shuffle
from discreet.partition.people.rule import PeopleRule
from discreet.partition.people.strata import Ladder, Numbers, Rules, levels
from discreet.values.random import RandomSource
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.guarantees import Guarantee, Promise

TOGETHER = 1 << 14  # people who are dealt at a time where nothing else brings them together
WEAKER = 20  # times that a threshold is halved or doubled in search of one that works
Codes = npt.NDArray[np.int32]


def assign(
    seen: Sequence[Codes],
    people: Codes,
    sensitive: Codes,
    guarantee: Guarantee,
    secret: RandomSource,
    *,
    lots: int = 1,
) -> npt.NDArray[np.int32]:
    """The group of every row. `people` numbers the person of each row from 0, `seen` are quasi-identifiers, if any.

    Somebody may have rows in so many `lots`, of which this is one.
    """
    from discreet.partition.people.cut import cut
    from discreet.partition.people.deal import deal

    rows = np.bincount(people).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(rows)])
    by_person = np.argsort(people, kind="stable")
    values, kinds = sensitive[by_person], int(sensitive.max()) + 1
    rules = _ruled(guarantee, lots)
    strata = _strata(rows, people, sensitive, kinds, rules, guarantee, lots)
    order = shuffle(secret.words(rows.size))
    points = np.empty((rows.size, max(len(seen), 1)), np.int32)
    points[order, 0] = np.arange(rows.size)  # where nothing is seen, chance brings people together
    for j, codes in enumerate(seen):
        points[:, j] = codes[by_person[starts[:-1]]]
    spans = np.maximum(points.max(axis=0, initial=0), 1).astype(np.float64)
    hard = np.maximum.reduceat(np.bincount(sensitive)[values], starts[:-1])
    groups, counts, made = np.empty(rows.size, np.int32), np.zeros(kinds, np.int64), 0
    for inside in strata:
        here = order[inside[order]]
        alike, rule = int(rows[inside].min()) == int(rows[inside].max()), rules(int(rows[inside].max()))
        if seen or not alike:
            edges = [*cut(here, points, spans, starts, values, rule, counts), here.size]
            # what the cuts sorted by must not decide who is dealt first
            here = here[np.lexsort((secret.words(here.size), np.repeat(np.arange(len(edges) - 1), np.diff(edges))))]
        else:
            edges = _parts(here, starts, values, rule, counts)
        for a, b in pairwise(edges):
            if alike:
                made += deal(here[a:b], starts, values, hard, kinds, rule, groups, made)
            else:
                groups[here[a:b]] = made
                made += 1
    return groups[people]


def _ruled(guarantee: Guarantee, lots: int) -> Rules:
    """The rule of each cap, made once."""
    return cache(lambda cap: PeopleRule.of(guarantee, cap, lots))


def _parts(here: Codes, starts, values, rule, counts) -> list[int]:  # type: ignore[no-untyped-def]
    """Cut people in random order into parts of some thousands that keep the rule; or leave them as they are."""
    from discreet.partition.people.rule import keeps

    parts = here.size // TOGETHER + 1
    edges = [here.size * i // parts for i in range(parts + 1)]
    whole = all(keeps(here[a:b], starts, values, rule, counts) for a, b in pairwise(edges))
    return edges if whole else [0, here.size]


def _strata(
    rows: Numbers, people: Codes, sensitive: Codes, kinds: int, rules: Rules, guarantee: Guarantee, lots: int
) -> list[npt.NDArray[np.bool_]]:
    """Who is in each stratum; raise with what would work if there are none that keep the rule."""
    level = levels(rows)
    at = level[people] * kinds + sensitive
    counts = np.bincount(at, minlength=(int(level.max()) + 1) * kinds).reshape(-1, kinds)
    ladder = Ladder.of(rows, counts)
    found = ladder.strata(rules)
    if found is not None:
        return [(level >= begin) & (level < end) for begin, end in found]
    raise _why(rows, ladder, guarantee, lots)


def _why(rows: Numbers, ladder: Ladder, guarantee: Guarantee, lots: int) -> GuaranteeError:
    """What cannot be met, and what would work."""
    fewest = guarantee.of_people(1).k
    if rows.size < fewest:
        return GuaranteeError(f"k = {fewest} cannot be met: the table has {rows.size:,} people", hint="lower it")

    def works(promises: Sequence[Promise], upto: int | None = None) -> bool:
        return ladder.strata(_ruled(replace(guarantee, promises=tuple(promises)), lots), upto) is not None

    promises = list(guarantee.promises)
    of_values = [promise for promise in promises if promise.of_values]
    at = next((promises.index(each) for each in of_values if not works([each])), promises.index(of_values[-1]))
    failed = promises[at]
    best = next((each for each in _weaker(failed) if works([*promises[:at], each, *promises[at + 1 :]])), None)
    advice = [] if best is None else [f"set {best.name} = {best.threshold}"]
    reach = next((upto for upto in range(len(ladder.most) - 1, 0, -1) if works(promises, upto)), 0)
    if reach:
        most = int(ladder.most[reach - 1])
        more = counted(int((rows > most).sum()), "person has", "people have")
        advice.append(f"leave out people with many rows ({more} over {most:,}; without them it can be met)")
    told = f"no {failed.name} of 2 or more works" if failed.integral else f"no {failed.name} that was tried works"
    if best is not None:
        told = f"the largest that works is {best.threshold}" if failed.integral else f"{best.threshold} works"
    return GuaranteeError(
        f"{failed.name} = {failed.threshold} cannot be met: somebody with many rows (up to {rows.max():,}) is too"
        f" likely to hold a frequent value in one of them; {told}",
        hint=", or ".join([*advice, "publish fewer rows per person, for example only the last"]),
    )


def _weaker(promise: Promise) -> Iterator[Promise]:
    """Weaker promises of the same kind, the strongest first."""
    if promise.integral:
        thresholds: Sequence[float] = range(int(promise.threshold) - 1, int(promise.weakest) - 1, -1)
    else:
        factor = 0.5 if promise.stronger == "larger" else 2.0
        thresholds = [promise.threshold * factor**turn for turn in range(1, WEAKER)]
    yield from (replace(promise, threshold=threshold) for threshold in thresholds)  # type: ignore[type-var]
