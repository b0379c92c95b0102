"""In which box each public row lies: of several, the smallest, so that a person counts once.

Boxes are those of groups of private rows. They are taken 64 at a time, the smallest first; of every code of every
dimension a word tells which of the 64 cover it, and a row lies where a bit is set in the words of all its codes.
Cost: for every 64 boxes, dimensions x rows that are not found yet.
Claim: rows_are_found_in_the_smallest_box — and in none only if no box holds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.space import Codes, Dimension, common_nodes, penalties
from discreet.values.boxes import ends
from discreet.values.kernel import kernel

NOWHERE = -1
WORD = 64
PIECES = 8  # of the public rows, for threads


def smallest_boxes(space: Sequence[Dimension], groups: Codes) -> Codes:
    """The group in whose box each row beyond those of the groups lies, or -1."""
    private, count = groups.size, int(groups.max()) + 1
    mine = [replace(dimension, codes=dimension.codes[:private]) for dimension in space]
    by_size = np.argsort(penalties(mine, groups).sum(axis=1), kind="stable").astype(np.int32)
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(count, dtype=np.int32)
    rows = np.argsort(rank[groups], kind="stable")
    codes = np.stack([dimension.codes[private:] for dimension in space])
    found = np.full(codes.shape[1], NOWHERE, np.int32)
    starts = np.cumsum([0, *(dimension.size for dimension in space)])[:-1]
    with ThreadPoolExecutor() as threads:
        for first in range(0, count, WORD):
            ends_ = np.searchsorted(rank[groups[rows]], (first, first + WORD))
            here = rows[slice(*ends_)]
            words = np.concatenate([_words(own, own.codes[here], rank[groups[here]] - first) for own in mine])
            find = partial(_find, words=words, starts=starts, first=first)
            list(threads.map(find, np.array_split(codes, PIECES, axis=1), np.array_split(found, PIECES)))
    return np.where(found >= 0, by_size[found], np.int32(NOWHERE))


def _words(dimension: Dimension, codes: Codes, boxes: Codes) -> npt.NDArray[np.uint64]:
    """Of each code the boxes that cover it, given the codes of the rows in each."""
    words, bits = np.zeros(dimension.size + 1, np.uint64), np.uint64(1) << np.arange(WORD, dtype=np.uint64)
    if dimension.levels is not None:
        level, node = common_nodes(dimension.levels, codes, boxes, WORD)
        for i, nodes in enumerate(dimension.levels):
            of_node = np.zeros(int(nodes.max()) + 1, np.uint64)
            np.bitwise_or.at(of_node, node[level == i], bits[level == i])
            words[:-1] |= of_node[nodes]
    elif dimension.form == "set":
        np.bitwise_or.at(words, codes, bits[boxes])
    else:  # a bit turns on at the lowest code and off after the highest
        present = codes < dimension.size - dimension.missing
        low, high = ends(codes[present], boxes[present], WORD)
        held = low <= high
        np.bitwise_xor.at(words, low[held], bits[held])
        np.bitwise_xor.at(words, high[held] + 1, bits[held])
        words = np.bitwise_xor.accumulate(words)
        if dimension.missing:  # a missing value lies in a box only if a row of the group lacks the value
            words[dimension.size - 1] = np.bitwise_or.reduce(bits[boxes[~present]], initial=np.uint64(0))
    return words[:-1]


@kernel
def _find(codes, found, words, starts, first):  # type: ignore[no-untyped-def]
    """Write the first box that holds each row, if it is found in none before."""
    one = np.uint64(1)
    for i in range(found.size):
        if found[i] >= 0:
            continue
        held = words[starts[0] + codes[0, i]]
        for j in range(1, starts.size):
            held &= words[starts[j] + codes[j, i]]
        if held:
            box = first
            while not held & one:
                held >>= one
                box += 1
            found[i] = box
