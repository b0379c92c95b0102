"""Swap: exact quasi-identifiers, each with the sensitive value of somebody whose value is not far in rank.

A baseline for comparison: it carries no (k,e) guarantee. A row may keep its value, or get an equal one,
and whoever knows one of two rows that were swapped knows the other.
Source: Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996, sized
to (k,e) as in Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, section 7.1.
Cost: n log n in the rows, and one sort of the table in the engine.
Claim: swap_windows_contain_every_link — a row's own value has a rank in the window of the value it shows.
Claim: swap_leaves_no_pair_that_could — of two rows that kept their values, neither lies in the other's reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.errors import Mistake
from discreet.guarantees import Guarantee, Scale
from discreet.partition.kernels import IntArray, MarkArray, UIntArray, below, shuffle, shuffle_by_value
from discreet.partition.ranges.stretches import wide
from discreet.policy import Policy
from discreet.policy.meant import Meant
from discreet.publication.draft import Draft, Grouped, Prepared
from discreet.publication.publication import Publication
from discreet.release.manifest import Promise, TableSpec, Window
from discreet.release.rows import ascending, number, store_rows
from discreet.release.write import FileToWrite
from discreet.values.names import fresh
from discreet.values.random import RandomSource

BoolArray: TypeAlias = npt.NDArray[np.bool_]
BLOCK = 64  # ranks that are counted one by one: a line of the processor's cache


def _files(draft: Draft) -> Sequence[FileToWrite]:
    """The swapped table, and the window of ranks of every value it shows."""
    value, sized = draft.field(draft.policy.sensitive_column), window(draft.policy)
    swapped = TableSpec(fields=(*map(draft.field, draft.policy.quasi), value))
    windows = TableSpec(fields=(value, *map(number, (draft.count, sized.low, sized.high))))
    return (
        FileToWrite("swapped", swapped, lambda path: _store_swapped(draft, path)),
        FileToWrite("windows", windows, lambda path: _store_windows(draft, path)),
    )


def window(policy: Policy) -> Window:
    """What windows are sized to, and the names of their ends: such as no published column has."""
    low, high = (fresh(name, policy.columns) for name in ("low", "high"))
    return Window.model_validate({**policy.guarantee, "low": low, "high": high})


def _check(meant: Meant) -> Iterator[Mistake]:
    """What does not go with values that are swapped inside windows."""
    if meant.guarantee and meant.guarantee.keys() != {"k", "e"}:
        what = "sizes its windows by k and e, by both and nothing else, and promises neither"
        yield Mistake("guarantee", f"`swap` {what}; write {{ k = 4, e = 100 }}")


def _group(prepared: Prepared) -> Grouped:
    """All rows are one group."""
    return Grouped(np.zeros(prepared.sensitive.codes.size, np.int32))


def _members(draft: Draft) -> Mapping[str, Any]:
    """It promises nothing: what windows are sized to is no guarantee."""
    return {"guarantee": {}, "window": window(draft.policy)}


def _told(promise: Promise) -> Iterator[str]:
    sized = promise.member(Window, "window")
    about = f"windows are sized to k = {sized.k}, e = {sized.e}"
    yield f"{promise.rows:,} rows, values swapped, verified"
    yield f"promised: NOTHING; swapping is a baseline for comparison ({about}, which is no guarantee)"


def _store_swapped(draft: Draft, path: Path) -> None:
    names = (*draft.policy.quasi, draft.policy.sensitive_column)
    given = swap(draft.sensitive.codes, _guarantee(draft), draft.secret)
    shown = exp.select(*(exp.column(name, quoted=True) for name in names))
    with draft.rows([*draft.policy.quasi], also={draft.policy.sensitive_column: draft.sensitive.decode(given)}) as rows:
        found = shown.from_(rows.subquery("rows beside groups")).order_by(*map(ascending, names))
        draft.table.engine.store(found, path)
    draft.table.check_unchanged()


def _store_windows(draft: Draft, path: Path) -> None:
    counts = draft.sensitive.counts()
    held = np.flatnonzero(counts)
    low, high = windows(counts[held], _guarantee(draft), held)
    names, value = window(draft.policy), draft.sensitive.decode(held)
    rows = {draft.policy.sensitive_column: value, draft.count: counts[held], names.low: low, names.high: high}
    store_rows(pa.table(rows), path)


def _guarantee(draft: Draft) -> Guarantee:
    policy = draft.policy
    return Guarantee.of(policy.guarantee, Scale.of(draft.sensitive.domain, policy.sensitive_column))


def swap(sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The code of the sensitive value that every row gets; ranks among equal values are drawn."""
    counts = np.bincount(sensitive)
    held = np.flatnonzero(counts)
    n = sensitive.size
    owners = shuffle_by_value(sensitive, counts, secret.words(n))
    reach = _sized(counts[held], guarantee, held)
    partners = pair(reach, shuffle(secret.words(n)), secret.words(n))
    given: IntArray = np.empty_like(sensitive)
    given[owners] = sensitive[owners[partners]]
    return given


def windows(counts: IntArray, guarantee: Guarantee, held: IntArray) -> tuple[IntArray, IntArray]:
    """For every value the first and last rank, from 1, that a row which shows it may really have."""
    low, high = links(_sized(counts, guarantee, held))
    ends = np.cumsum(counts)
    return low[ends - counts] + 1, high[ends - 1] + 1


def _sized(counts: IntArray, guarantee: Guarantee, held: IntArray) -> IntArray:
    """How far every rank reaches, for (k,e) on the values that occur."""
    rule = guarantee.rule
    values = np.repeat(np.arange(held.size), counts)
    sized: IntArray = reaches(values, rule.marks[held], rule.distinct_l, rule.e)
    return sized


@nb.njit(cache=True, nogil=True)
def reaches(values: IntArray, marks: MarkArray, k: int, e: float) -> IntArray:
    """For every rank the least l so that the ranks up to l from it have k distinct values and span e.

    From a rank to the next, l changes by 1 at most: a stretch of ranks does if one inside it does.
    """
    n = values.size
    reach = np.empty(n, np.int64)
    l = 0
    for rank in range(n):
        l = max(l - 1, 0)
        while l < n and not wide(marks, values[max(rank - l, 0)], values[min(rank + l, n - 1)], k, e):
            l += 1
        reach[rank] = l
    return reach


@nb.njit(cache=True, nogil=True)
def links(reach: IntArray) -> tuple[IntArray, IntArray]:
    """For every rank the first and last that it may have been swapped with: one of the two reached the other.

    Since `rank - reach` and `rank + reach` never fall, those are all ranks between, and neither end falls.
    """
    n = reach.size
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    first, last = 0, 0  # that reach this rank
    for rank in range(n):
        while first + reach[first] < rank:
            first += 1
        while last + 1 < n and last + 1 - reach[last + 1] <= rank:
            last += 1
        low[rank] = max(min(rank - reach[rank], first), 0)
        high[rank] = min(max(rank + reach[rank], last), n - 1)
    return low, high


@nb.njit(cache=True, nogil=True)
def pair(reach: IntArray, order: IntArray, words: UIntArray) -> IntArray:
    """For every rank the one it is swapped with, or itself.

    In random order each rank that is still free draws one of the free ranks in its reach. A binary
    indexed tree (Fenwick 1994) counts the free ones of 64 ranks at a time.
    """
    n = reach.size
    free = np.ones(n, np.bool_)
    tree = np.zeros(n // BLOCK + 2, np.int64)
    for at in range(1, tree.size):
        tree[at] += min(BLOCK, n - (at - 1) * BLOCK)
        if at + (at & -at) < tree.size:
            tree[at + (at & -at)] += tree[at]
    partners = np.arange(n)
    for rank in order:
        if not free[rank]:
            continue
        before = _free_before(free, tree, max(rank - reach[rank], 0))
        others = _free_before(free, tree, min(rank + reach[rank], n - 1) + 1) - before - 1
        if others == 0:
            continue
        drawn = before + below(words[rank], others)
        if drawn >= _free_before(free, tree, rank):
            drawn += 1  # step over the rank itself
        partner = _free_at(free, tree, drawn)
        partners[rank], partners[partner] = partner, rank
        _take(free, tree, rank)
        _take(free, tree, partner)
    return partners


@nb.njit(cache=True, nogil=True)
def _take(free: BoolArray, tree: IntArray, rank: int) -> None:
    """Count a rank as free no more."""
    free[rank] = False
    at = rank // BLOCK + 1
    while at < tree.size:
        tree[at] -= 1
        at += at & -at


@nb.njit(cache=True, nogil=True)
def _free_before(free: BoolArray, tree: IntArray, rank: int) -> int:
    """How many ranks before this one are free."""
    at = rank // BLOCK
    total = 0
    for near in range(at * BLOCK, rank):
        total += free[near]
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@nb.njit(cache=True, nogil=True)
def _free_at(free: BoolArray, tree: IntArray, number: int) -> int:
    """The free rank with so many free ones before it."""
    step = 1
    while step * 2 < tree.size:
        step *= 2
    at = 0
    while step > 0:
        if at + step < tree.size and tree[at + step] <= number:
            at += step
            number -= tree[at]
        step //= 2
    rank = at * BLOCK
    while number > 0 or not free[rank]:
        number -= free[rank]
        rank += 1
    return rank


PUBLICATION = Publication(
    _files,
    check=_check,
    partition=lambda _: "none",
    group=_group,
    members=_members,
    told=_told,
    numeric=True,
    grouped=False,
)
