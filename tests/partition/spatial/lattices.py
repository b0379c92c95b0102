"""Small random tables with hierarchies, and a plain reading of full-domain generalization to judge results by."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Scale
from discreet.partition.spatial.space import Dimension

MARKS = np.array([0, 1, 3, 8, 9, 20])


@st.composite
def hierarchies(draw, size):
    """Levels over `size` codes: neighbours or strangers join, a level may repeat the one under it, the last has one node."""
    levels = [list(range(size))]
    while max(levels[-1]) > 0:
        nodes = max(levels[-1]) + 1
        parents = draw(st.lists(st.integers(0, nodes - 1), min_size=nodes, max_size=nodes))
        if len(levels) > 3:
            parents = [0] * nodes
        names = {parent: i for i, parent in enumerate(dict.fromkeys(parents))}
        levels.append([names[parents[node]] for node in levels[-1]])
    if draw(st.integers(0, 3)) == 0:
        levels.append([0] * size)
    return np.array(levels, np.int32)


@st.composite
def spaces(draw, rows, most=4):
    """One to four dimensions; now and then one without a hierarchy; codes need not all be held."""
    space = []
    for _ in range(draw(st.integers(1, most))):
        size = draw(st.integers(1, 6))
        codes = np.array(draw(st.lists(st.integers(0, size - 1), min_size=rows, max_size=rows)), np.int32)
        levels = draw(hierarchies(size)) if draw(st.integers(0, 5)) else None
        space.append(Dimension(codes, size, levels=levels))
    return space


def guaranteed(promised):
    return Guarantee.of(promised, Scale(MARKS))


def keeps(values, promised):
    counter = Counter(values)
    kept = {
        "k": lambda k: (len(counter) if "e" in promised else len(values)) >= k,
        "e": lambda e: MARKS[max(values)] - MARKS[min(values)] >= e,
        "l": lambda l: max(counter.values()) * l <= len(values),
        "distinct_l": lambda l: len(counter) >= l,
    }
    return all(kept[name](threshold) for name, threshold in promised.items())


def levels_of(dimension):
    if dimension.levels is not None:
        return dimension.levels.tolist()
    return [list(range(dimension.size)), [0] * dimension.size]


def groups_at(space, levels):
    """The rows that share all nodes, under these nodes."""
    found = defaultdict(list)
    for row in range(space[0].codes.size):
        nodes = (levels_of(d)[level][d.codes[row]] for d, level in zip(space, levels, strict=True))
        found[tuple(nodes)].append(row)
    return found


def loss_at(space, levels, found, published, loss):
    """What the point loses where only these groups are published, row by row."""
    rows, lost = space[0].codes.size, [Fraction(0)] * len(space)
    for nodes, members in found.items():
        if loss == "discernibility":
            lost[0] += len(members) * (len(members) if nodes in published else rows)
            continue
        for i, (d, level, node) in enumerate(zip(space, levels, nodes, strict=True)):
            leaves = levels_of(d)[level].count(node)
            if loss == "ncp":
                share = Fraction(leaves, d.size) if leaves > 1 else 0
            else:
                share = Fraction(leaves - 1, max(d.size - 1, 1))
            lost[i] += len(members) * (share if nodes in published else 1)
    return prod(1 + column / rows for column in lost) - 1 if loss == "geometric" else sum(lost)


def best_of_all(space, sensitive, promised, suppression, loss):
    """Every point of the lattice is tried: (loss, sum of levels, levels, rows suppressed, groups published), or None."""
    rows, best = sensitive.size, None
    limit = Fraction(str(suppression)) * rows
    for levels in product(*(range(len(levels_of(d))) for d in space)):
        found = groups_at(space, levels)
        published = {nodes for nodes, members in found.items() if keeps(sensitive[members].tolist(), promised)}
        suppressed = rows - sum(len(found[nodes]) for nodes in published)
        if published and suppressed <= limit:
            lost = loss_at(space, levels, found, published, loss)
            sets = {frozenset(found[nodes]) for nodes in published}
            rival = lost, sum(levels), levels, suppressed, sets
            best = rival if best is None or rival[:3] < best[:3] else best
    return best
