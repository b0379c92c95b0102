"""Trades inside cells: each cell keeps what it has, and its groups differ more than dealt ones."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from contracts.promised import GUARANTEES, fair, guaranteed, keeps
from discreet.partition import trades
from discreet.partition.kernels import deal_cells
from discreet.values.random import RandomSource


@pytest.mark.parametrize("promised", GUARANTEES, ids=str)
def test_trades_stay_in_cells(promised):
    """Three cells, each with the values of the others in another order."""
    chance = np.random.default_rng(5)
    counts = fair(chance.integers(1, 9, 9).tolist(), promised)
    one = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    values, edges = np.concatenate([chance.permutation(one) for _ in range(3)]), np.arange(4) * one.size
    rule, table = guaranteed(promised, values).rule, Counter(values.tolist())
    rows = chance.permutation(values.size).astype(np.int32)
    cells = [frozenset(rows[a:b].tolist()) for a, b in pairwise(edges)]
    held = dict(zip(rows.tolist(), values.tolist(), strict=True))
    dealt = deal_cells(edges, values, rows, rule)
    groups = trades.in_cells(edges, values.copy(), rows.copy(), rule, RandomSource(3))
    assert np.array_equal(np.bincount(groups), np.bincount(dealt)), "groups are as large as dealing makes them"
    for number in range(groups.max() + 1):
        people = np.flatnonzero(groups == number).tolist()
        assert [cell for cell in cells if cell.issuperset(people)] == [cells[number * 3 // (groups.max() + 1)]]
        assert keeps(Counter(held[row] for row in people), promised, table)


def test_groups_of_a_cell_differ():
    """Dealt groups of twenty equally frequent values are one of two kinds; after trades nearly all differ."""
    values, rows = np.repeat(np.arange(20, dtype=np.int32), 50), np.arange(1000, dtype=np.int32)
    rule, edges = guaranteed({"l": 10}, values).rule, np.array([0, 1000])

    def kinds(groups):
        return len({frozenset(values[groups == number].tolist()) for number in range(100)})

    assert kinds(deal_cells(edges, values, rows, rule)) == 2
    assert kinds(trades.in_cells(edges, values.copy(), rows.copy(), rule, RandomSource(1))) > 95
