"""Random spaces for the partitions that form boxes, the promises to keep in them, and plain-Python readings of both."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Scale
from discreet.partition.spatial.space import Dimension

MARKS = np.cumsum([0, 1, 5, 2, 1, 9, 1, 3])
FORMS = ("range", "tree", "set")


def ranged(values, missing=0):
    """A range over whole numbers, of which the last so many rows are missing."""
    present, codes = np.unique(np.asarray(values), return_inverse=True)
    codes = np.append(codes, [present.size] * missing).astype(np.int32)
    places = present.astype(float)
    if missing:
        places = np.append(places, places[-1] + (places[-1] - places[0]))
    return Dimension(codes, places.size, places, None, bool(missing))


def tree(codes, *levels):
    """A tree whose levels above the codes are told as the node of each code; the root is added."""
    size = len(levels[0]) if levels else int(max(codes)) + 1
    table = [range(size), *levels, [0] * size]
    return Dimension(np.asarray(codes, np.int32), size, None, np.array(table, np.int32))


def named(codes, size=None):
    return Dimension(np.asarray(codes, np.int32), size or int(max(codes)) + 1)


@st.composite
def dimensions(draw, n, forms=FORMS, extents=(1, 2, 4, 8, 64)):
    """One dimension of n rows; the extent of a range is a power of two, so that shares are exact."""
    form = draw(st.sampled_from(forms))
    size = draw(st.integers(1, 9))
    if form == "range":
        extent = draw(st.sampled_from(extents))
        inner = draw(st.sets(st.integers(1, extent - 1), max_size=7)) if extent > 1 else set()
        places = np.array(sorted({0, extent} | inner), float) if size > 1 else np.zeros(1)
        missing = draw(st.booleans())
        if missing:
            places = np.append(places, places[-1] + (places[-1] - places[0]))
        codes = draw(st.lists(st.integers(0, places.size - 1), min_size=n, max_size=n))
        return Dimension(np.array(codes, np.int32), places.size, places, None, missing)
    codes = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    if form == "set":
        return named(codes, size)
    levels, nodes = [], np.arange(size)
    for _ in range(draw(st.integers(0, 2))):
        count = int(nodes.max()) + 1
        parents = np.array(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
        nodes = np.unique(parents, return_inverse=True)[1][nodes]
        levels.append(nodes)
    return (
        tree(codes, *levels)
        if levels
        else Dimension(np.array(codes, np.int32), size, None, np.array([range(size), [0] * size], np.int32))
    )


@st.composite
def cases(draw, forms=FORMS, most=60):
    """A space of up to three dimensions, sensitive values, and promises that all rows keep as one group."""
    sensitive = draw(st.lists(st.integers(0, draw(st.integers(1, 7))), min_size=2, max_size=most))
    space = [draw(dimensions(len(sensitive), forms)) for _ in range(draw(st.integers(1, 3)))]
    counts = Counter(sensitive)
    promised = {"l": draw(st.integers(1, max(1, min(4, len(sensitive) // max(counts.values())))))}
    if draw(st.booleans()):
        promised["k"] = draw(st.integers(1, len(counts)))
        promised["e"] = draw(st.integers(0, int(MARKS[max(counts)] - MARKS[min(counts)])))
    else:
        promised["k"] = draw(st.integers(1, min(len(sensitive), 9)))
        promised["distinct_l"] = draw(st.integers(1, len(counts)))
        if draw(st.booleans()):
            promised = {"k": promised["k"]}
    return space, np.array(sensitive, np.int32), promised


def guarantee(promised):
    return Guarantee.of(promised, Scale(MARKS))


def keeps(values, promised):
    """Whether rows with these values keep the promises, by counting; k counts distinct values beside e."""
    counter = Counter(values)
    return bool(values) and (
        (len(counter) if "e" in promised else len(values)) >= promised.get("k", 1)
        and MARKS[max(counter)] - MARKS[min(counter)] >= promised.get("e", 0)
        and len(counter) >= promised.get("distinct_l", 1)
        and max(counter.values()) * promised.get("l", 1) <= len(values)
    )


def members(groups):
    """The rows of each group, which must be numbered from 0 without a gap."""
    rows = defaultdict(list)
    for row, group in enumerate(groups.tolist()):
        rows[group].append(row)
    assert sorted(rows) == list(range(len(rows)))
    return [rows[group] for group in range(len(rows))]


def as_sets(groups):
    return {frozenset(rows) for rows in members(groups)}


def untouched(space, sensitive, act):
    """The result of an act that must leave its input as it is."""
    before = [dimension.codes.copy() for dimension in space], sensitive.copy()
    result = act()
    assert all(np.array_equal(dimension.codes, codes) for dimension, codes in zip(space, before[0], strict=True))
    assert np.array_equal(sensitive, before[1])
    return result


def nodes(dimension, rows):
    """Level by level below the lowest node that rows share, the rows of each node."""
    levels = dimension.levels[:, dimension.codes[rows]]
    common = next(i for i, nodes in enumerate(levels) if len(set(nodes.tolist())) == 1)
    for level in range(common - 1, -1, -1):
        parts = defaultdict(list)
        for row in rows:
            parts[int(dimension.levels[level, dimension.codes[row]])].append(row)
        yield parts


def branches(dimension, rows, keep):
    """The cut of a tree that the rule finds, if any; `keep` says whether some rows keep the promises."""
    for parts in nodes(dimension, rows):
        alone = sorted((part for part in parts if keep(parts[part])), key=lambda part: (len(parts[part]), part))
        stay = [row for part in parts if part not in alone for row in parts[part]]
        leave = list(alone)
        while stay and leave and not keep(stay):
            stay += parts[leave.pop(0)]
        if not leave:
            spared = [part for part in reversed(alone) if keep([row for row in rows if row not in parts[part]])]
            leave, stay = spared[:1], [row for row in rows if not spared or row not in parts[spared[0]]]
        if leave:
            return [parts[part] for part in leave] + [stay] * bool(stay)
    return [rows]


def names(dimension, rows):
    """All ways to part rows in two between the values of a set."""
    others = sorted({int(code) for code in dimension.codes[rows]})[1:]
    for number in range(1, len(others) + 1):
        for right in combinations(others, number):
            yield (
                [row for row in rows if dimension.codes[row] not in right],
                [row for row in rows if dimension.codes[row] in right],
            )


def edges(dimension, rows):
    """All ways to part rows in two between two values of a range, the nearest to the middle first."""
    codes = dimension.codes
    ways = [
        [[row for row in rows if codes[row] < code], [row for row in rows if codes[row] >= code]]
        for code in sorted({int(codes[row]) for row in rows})[1:]
    ]
    return sorted(ways, key=lambda way: abs(len(way[0]) - len(way[1])))
