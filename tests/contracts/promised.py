"""Guarantees to try, tables that are difficult, and what it means to keep a promise, by counting."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import log

import numpy as np

from discreet.guarantees import Guarantee, Scale

GUARANTEES = [
    {"l": 2},
    {"l": 3},
    {"l": 5},
    {"k": 2},
    {"k": 5},
    {"distinct_l": 2},
    {"distinct_l": 4},
    {"k": 2, "l": 3},
    {"k": 6, "l": 2},
    {"l": 2, "distinct_l": 4},
    {"l": 3, "distinct_l": 2},
    {"k": 6, "distinct_l": 3},
    {"k": 7, "l": 2, "distinct_l": 3},
    {"k": 3, "l": 3, "distinct_l": 3},
    {"k": 2, "e": 0},
    {"k": 2, "e": 7},
    {"k": 4, "e": 5},
    {"k": 5, "e": 0.5},
    {"k": 3, "e": 4, "l": 2},
    {"beta": 1},
    {"beta": 0.5},
    {"enhanced_beta": 2},
    {"k": 4, "l": 2, "beta": 3},
]


def mark(value):
    """Where a value lies on the line: not evenly."""
    return 2 * value + (value % 3 == 1)


def guaranteed(promised, sensitive):
    scale = Scale(np.array([mark(value) for value in range(int(sensitive.max()) + 1)]))
    return Guarantee.of(promised, scale, np.bincount(sensitive))


def keeps(counter, promised, table=None):
    """Whether one group keeps the promises, by counting; k counts distinct values beside e.

    It is compared with the table that it is a part of, or the whole of.
    """
    size, everybody = sum(counter.values()), sum((table or counter).values())

    def gains():
        """How much more frequent each value is than in the table, and its share of the table."""
        shares = {value: Fraction((table or counter)[value], everybody) for value in counter}
        return [(Fraction(counter[value], size) / share - 1, share) for value, share in shares.items()]

    kept = {
        "k": lambda k: (len(counter) if "e" in promised else size) >= k,
        "e": lambda e: mark(max(counter)) - mark(min(counter)) >= e,
        "l": lambda l: all(times * l <= size for times in counter.values()),
        "distinct_l": lambda l: len(counter) >= l,
        "beta": lambda beta: all(gain <= Fraction(str(beta)) for gain, _ in gains()),
        "enhanced_beta": lambda beta: all(gain <= min(Fraction(str(beta)), -log(share)) for gain, share in gains()),
    }
    return all(kept[name](threshold) for name, threshold in promised.items())


def codes(values):
    """Values as dense codes, in the type that the table's encoder gives."""
    return np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int32)


def check(groups, sensitive, promised):
    """Every row has one group, groups are 0..g-1, and each keeps the promises."""
    assert groups.shape == sensitive.shape
    assert np.issubdtype(groups.dtype, np.integer)
    members, table = defaultdict(Counter), Counter(sensitive.tolist())
    for group, value in zip(groups.tolist(), sensitive.tolist(), strict=True):
        members[group][value] += 1
    assert sorted(members) == list(range(len(members)))
    broken = {group: counter for group, counter in members.items() if not keeps(counter, promised, table)}
    assert not broken


def as_sets(groups):
    rows = defaultdict(set)
    for row, group in enumerate(groups.tolist()):
        rows[group].add(row)
    return {frozenset(members) for members in rows.values()}


def fair(values, promised):
    """Counts made to meet the promises as one group, by adding to the rarest value until they do."""
    counts = list(values)
    distinct = promised.get("k", 1) if "e" in promised else 1
    while len(counts) < max(promised.get("l", 1), promised.get("distinct_l", 1), distinct, promised.get("e", 0)):
        counts.append(1)
    while not keeps(Counter(dict(enumerate(counts))), promised):
        counts[counts.index(min(counts))] += 1
    return counts


def shapes():
    """Larger tables with a difficulty each: (title, quasi-identifiers, sensitive)."""
    rng = np.random.default_rng(20)
    n = 3001
    skew = codes(np.minimum(rng.geometric(0.15, n), 40))
    wide = [rng.integers(0, 100, n), rng.integers(0, 2, n), rng.integers(0, 10**6, n)]
    yield "one value in every quasi-identifier", [np.zeros(n, int)] * 2, skew
    yield "every quasi-identifier unique", [rng.permutation(n), rng.permutation(n)], skew
    yield "skewed sensitive values, mixed quasi-identifiers", wide, skew
    yield "every sensitive value unique", wide, rng.permutation(n)
    yield "more than 65,536 codes", [rng.integers(0, 2**31, 70_000)], rng.integers(0, 30, 70_000)
    yield "rows sorted by the sensitive value", [np.sort(rng.integers(0, 50, n))], np.sort(skew)
    yield "quasi-identifier equal to the sensitive value", [skew], skew


SHAPES = [(title, [codes(column) for column in quasi], codes(sensitive)) for title, quasi, sensitive in shapes()]
