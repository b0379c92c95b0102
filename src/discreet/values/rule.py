"""What every group must keep, as compiled kernels see it: one value, and the questions that are asked of it.

    keeps   do these rows keep all promises as one group?
    surely  how many of these rows keep them, whichever they are?
    sweep   where may a run of rows be cut in two, so that both parts keep them?

In how many groups rows may be dealt out is asked in `capacity.py`.

A group is seen through six numbers: the rows of its most frequent value, its distinct values, its smallest and its
largest value, the rows it needs so that no value has more than its share, and its rows with harmless values, which
the first four leave out. Who counts by other means adds to them with `see` and asks `kept`. Scratch `counts`, one per
value, are all zero before and after.
Cost: linear in the rows of a run, however many sensitive values there are.
Claim: sweep_marks_every_cut — a position is marked if and only if both parts of a cut there keep all promises.
Claim: surely_means_any_of_them — so many of the rows keep all promises whichever they are, and more do, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.values.kernel import kernel
from discreet.values.ordered import order_of

Marks: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.signedinteger[Any]]

NEVER = 2**62  # more rows than there are
FAR = 2**31 - 1  # beyond every value


class Rule(NamedTuple):
    """The thresholds of all promises; as they stand here they ask nothing.

    `marks` tells where each value lies, and `e` how far a group must reach. `shares` has a line per value: the largest
    share of a group that it may have, as numerator and denominator, each below 2**31. `k` may be more than was
    promised: what other promises imply. `harmless` says of each value whether all but `k` and `shares` ask nothing of
    the rows that hold it, and look only at the others. What is not promised is empty and keeps its type: kernels are
    compiled once, and not again for every combination of promises.
    """

    k: int = 1
    l: int = 1
    distinct_l: int = 1
    e: int | float = 0
    marks: Marks = np.zeros(0, np.int64)
    shares: npt.NDArray[np.int64] = np.zeros((0, 2), np.int64)
    harmless: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)


@kernel
def fewest_rows(rule):  # type: ignore[no-untyped-def]
    """No fewer rows than these can keep all promises."""
    return max(rule.k, rule.l, rule.distinct_l, 1)


@kernel
def only_counts(rule):  # type: ignore[no-untyped-def]
    """Whether enough rows are all that is promised."""
    return rule.l <= 1 and rule.distinct_l <= 1 and rule.marks.size == 0 and not has_shares(rule)


@kernel
def at_least(rows, rule):  # type: ignore[no-untyped-def]
    """The same rule for groups of so many rows, more or fewer than it asks by itself."""
    return Rule(rows, rule.l, rule.distinct_l, rule.e, rule.marks, rule.shares, rule.harmless)


def among(values: IntArray, rule: Rule) -> Rule:
    """The same rule for rows that hold only these values, ascending, by their numbers in this order."""
    of_values = {name: column[values] for name in ("marks", "shares", "harmless") if len(column := getattr(rule, name))}
    return rule._replace(**of_values)


@kernel
def only_rows(rows, rule):  # type: ignore[no-untyped-def]
    """What asks for so many rows, whatever they hold, in the place of a rule: kernels then decide without values."""
    return Rule(rows, 1, 1, rule.e, rule.marks[:0], rule.shares[:0], rule.harmless[:0])


@kernel
def has_shares(rule):  # type: ignore[no-untyped-def]
    """Whether values have shares to keep to."""
    return rule.shares.shape[0] > 0


@kernel
def rows_for(value, count, rule):  # type: ignore[no-untyped-def]
    """The fewest rows of a group in which so many may hold a value: exact, since both factors are below 2**31."""
    if count == 0 or not has_shares(rule):
        return np.int64(0)
    most, of = rule.shares[value, 0], rule.shares[value, 1]
    return -(-np.int64(count) * of // most) if most else np.int64(NEVER)


@kernel
def at_most(value, rows, rule):  # type: ignore[no-untyped-def]
    """How many rows of a group of so many may hold a value, as far as its share goes."""
    if not has_shares(rule):
        return np.int64(rows)
    return np.int64(rows) * rule.shares[value, 0] // rule.shares[value, 1]


@kernel
def is_harmless(value, rule):  # type: ignore[no-untyped-def]
    """Whether a value is harmless."""
    return rule.harmless.size > 0 and rule.harmless[value]


@kernel
def nothing():  # type: ignore[no-untyped-def]
    """What is seen of a group without rows."""
    return np.int64(0), np.int64(0), np.int64(NEVER), np.int64(-1), np.int64(0), np.int64(0)


@kernel
def see(seen, value, count, new, rule):  # type: ignore[no-untyped-def]
    """What is seen once so many rows of the group hold a value: if it is `new` there was none, else one fewer."""
    top, distinct, low, high, need, free = seen
    need = max(need, rows_for(value, count, rule))
    if is_harmless(value, rule):
        return top, distinct, low, high, need, free + (np.int64(count) if new else np.int64(1))
    return max(top, np.int64(count)), distinct + new, min(low, np.int64(value)), max(high, np.int64(value)), need, free


@kernel
def kept(seen, rows, rule):  # type: ignore[no-untyped-def]
    """Whether a group of so many rows keeps all promises."""
    top, distinct, low, high, need, free = seen
    if rows < rule.k or top * rule.l > rows - free or distinct < max(rule.distinct_l, 1) or need > rows:
        return False
    return rule.marks.size == 0 or rule.marks[high] - rule.marks[low] >= rule.e


@kernel
def keeps(values, rule, counts):  # type: ignore[no-untyped-def]
    """Whether the rows with these sensitive values keep all promises as one group."""
    n = values.size
    if n < fewest_rows(rule):
        return False
    if only_counts(rule):
        return True
    seen = nothing()
    for i in range(n):
        v = values[i]
        counts[v] += np.int32(1)
        seen = see(seen, v, counts[v], counts[v] == 1, rule)
    for i in range(n):
        counts[values[i]] = 0
    return kept(seen, n, rule)


@kernel
def surely(values, rule, counts):  # type: ignore[no-untyped-def]
    """How many of the rows with these sensitive values keep all promises, whichever they are: more than all if none do.

    It follows from how often each value occurs, and from nothing else: of s rows the most frequent value may
    have all it has; all values may be among the few that have most rows, or among those within a range; and all
    harmless rows may be among them.
    """
    if only_counts(rule):
        return np.int64(fewest_rows(rule))
    held, times, free, share = _occurring(values, rule, counts)
    return _whichever(held, times, free, share, values.size, rule)


def surely_of(counts: IntArray, rule: Rule) -> int:
    """The same of rows of which is known how often each value occurs."""
    held = np.flatnonzero(counts).astype(np.int32)
    return int(surely_held(held, counts[held].astype(np.int64), rule))


@kernel
def surely_held(values, times, rule):  # type: ignore[no-untyped-def]
    """The same of rows of which is known what different values they hold, ascending, and how often each occurs."""
    if only_counts(rule):
        return np.int64(fewest_rows(rule))
    held, own, distinct = np.empty(values.size, np.int32), np.empty(values.size, np.int64), 0
    rows, free, share = np.int64(0), np.int64(0), np.int64(rule.k)
    for i in range(values.size):
        rows += times[i]
        share = max(share, rows_for(values[i], times[i], rule))
        if is_harmless(values[i], rule):
            free += times[i]
        else:
            held[distinct], own[distinct] = values[i], times[i]
            distinct += 1
    return _whichever(held[:distinct], own[:distinct], free, share, rows, rule)


@kernel
def _whichever(held, times, free, share, rows, rule):  # type: ignore[no-untyped-def]
    """How many of so many rows keep all promises, by the values that are not harmless and how often each occurs."""
    if held.size == 0:
        return np.int64(rows + 1)
    top = times[0]
    for i in range(times.size):
        top = max(top, times[i])
    need = max(np.int64(max(rule.l, rule.distinct_l, 1)), top * rule.l)
    if rule.marks.size and rule.e > 0:
        need = max(need, within(held, times, rule) + 1)
    if rule.distinct_l > 1:
        by_times, most = order_of(times), np.int64(0)
        for i in range(max(times.size - rule.distinct_l + 1, 0), times.size):
            most += times[by_times[i]]
        need = max(need, most + 1)
    return max(share, need + free)


@kernel
def _occurring(values, rule, counts):  # type: ignore[no-untyped-def]
    """The values that are not harmless, ascending if they have marks, and how often each occurs.

    And the harmless rows, and how many rows there must be so that no value has more than its share of them.
    """
    held, found, distinct, free, share = np.empty(values.size, np.int32), 0, 0, np.int64(0), np.int64(rule.k)
    for v in values:
        if counts[v] == 0:
            held[found] = v
            found += 1
        counts[v] += np.int32(1)
    for i in range(found):
        v = held[i]
        share = max(share, rows_for(v, counts[v], rule))
        if is_harmless(v, rule):
            free += counts[v]
        else:
            held[distinct] = v
            distinct += 1
    held = held[:distinct]
    if rule.marks.size:
        by_value, unsorted = order_of(held), held.copy()
        for i in range(distinct):
            held[i] = unsorted[by_value[i]]
    times = np.empty(distinct, np.int32)
    for i in range(distinct):
        times[i] = counts[held[i]]
    for v in values:
        counts[v] = 0
    return held, times, free, share


@kernel
def within(held, times, rule):  # type: ignore[no-untyped-def]
    """The most rows whose values lie within a range that is too small."""
    first, inside, most = 0, np.int64(0), np.int64(0)
    for i in range(held.size):
        inside += times[i]
        while rule.marks[held[i]] - rule.marks[held[first]] >= rule.e:
            inside -= times[first]
            first += 1
        most = max(most, inside)
    return most


@kernel
def within_each(starts, values, counts, rule):  # type: ignore[no-untyped-def]
    """The same of each group, whose values and counts begin at `starts`."""
    found = np.empty(starts.size, np.int64)
    for g in range(starts.size):
        end = starts[g + 1] if g + 1 < starts.size else values.size
        found[g] = within(values[starts[g] : end], counts[starts[g] : end], rule)
    return found


@kernel
def sweep(values, rule, counts, works):  # type: ignore[no-untyped-def]
    """Set works[i] for every i: whether the first i rows keep all promises, and so do the rows from i on."""
    for step in (1, -1):
        _sweep(values, step, rule, counts, works)
        for i in range(values.size):
            counts[values[i]] = 0


@kernel
def _sweep(values, step, rule, counts, works):  # type: ignore[no-untyped-def]
    """Set works[i] for every i: whether the first i rows keep all promises; backwards, whether the others do, too."""
    n, forwards = values.size, step > 0
    top, distinct, need, free = np.int32(0), 0, np.int64(0), 0  # as `see` does, at a third of its time
    low, high = np.int32(FAR), np.int32(-1)
    shared, spared = has_shares(rule), rule.harmless.size > 0
    works[0 if forwards else n] = False
    for rows in range(1, n + 1):
        v = values[rows - 1 if forwards else n - rows]
        counts[v] += np.int32(1)
        if shared:
            need = max(need, rows_for(v, counts[v], rule))
        if spared and rule.harmless[v]:
            free += 1
        else:
            top = max(top, counts[v])
            distinct += counts[v] == 1
            low, high = min(low, v), max(high, v)
        fine = rows >= max(rule.k, need) and top * rule.l <= rows - free and distinct >= max(rule.distinct_l, 1)
        if fine and rule.marks.size:
            fine = rule.marks[high] - rule.marks[low] >= rule.e
        if forwards:
            works[rows] = fine
        else:
            works[n - rows] = works[n - rows] and fine
