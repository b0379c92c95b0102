"""Cells that are cut by counts alone: each keeps the guarantee by itself, none holds a row of another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantees import Guarantee, Histograms
from discreet.partition import cells
from discreet.partition.cells import Steps, Tree, cut


def table(seed, rows, sizes=(9, 3, 40), values=8):
    chance = np.random.default_rng(seed)
    columns = [chance.integers(0, size, rows).astype(np.int32) for size in sizes]
    sensitive = chance.zipf(1.6, rows).clip(1, values).astype(np.int32) - 1
    return columns, sensitive


def asked(columns, sensitive, steps):
    """Count what a tree asks for, by going through the rows."""

    def ask(tree, waiting):
        seen = [step.of[column] for step, column in zip(steps, columns, strict=True)]
        nodes, found = tree.find(seen), []
        for node in waiting:
            here = nodes == node
            counts = [np.bincount(s[here], minlength=step.firsts.size) for s, step in zip(seen, steps, strict=True)]
            found.append((counts, np.bincount(sensitive[here], minlength=int(sensitive.max()) + 1)))
        return found

    return ask


def grown(columns, sensitive, rule):
    steps = [Steps.by(np.bincount(column)) for column in columns]
    tree = cut(asked(columns, sensitive, steps), steps, np.bincount(sensitive), rule)
    seen = [step.of[column] for step, column in zip(steps, columns, strict=True)]
    return tree, tree.numbers()[tree.find(seen)]


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(200, 900), l=st.integers(1, 3), k=st.integers(1, 30))
def test_cells_keep_the_guarantee(seed, rows, l, k):
    columns, sensitive = table(seed, rows)
    guarantee = Guarantee.of({"l": l, "k": k})
    if not guarantee.holds(Histograms.whole(np.bincount(sensitive))).all():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "SIZE", 60)
        tree, cell = grown(columns, sensitive, guarantee.rule)
    assert sorted(set(cell.tolist())) == list(range(int((np.array(tree.axes) < 0).sum())))
    assert guarantee.holds(Histograms.of(cell, sensitive)).all()


def test_large_cells_are_cut_until_they_are_small(monkeypatch):
    monkeypatch.setattr(cells, "SIZE", 60)
    columns, sensitive = table(1, 3000)
    _, cell = grown(columns, sensitive, Guarantee.of({"k": 5}).rule)
    assert np.bincount(cell).max() <= 60


def test_blind_cuts_do_not_look_at_the_halves(monkeypatch):
    """Cells are the same if the sensitive values of a cell are exchanged among its rows."""
    monkeypatch.setattr(cells, "SIZE", 60)
    columns, sensitive = table(2, 2000)
    rule = Guarantee.of({"distinct_l": 2, "k": 20}).rule
    tree, cell = grown(columns, sensitive, rule)
    assert cell.max() > 4
    other, order = np.empty_like(sensitive), np.random.default_rng(3)
    for number in range(cell.max() + 1):
        here = np.flatnonzero(cell == number)
        other[here] = sensitive[order.permutation(here)]
    again, _ = grown(columns, other, rule)
    assert (again.axes, again.steps) == (tree.axes, tree.steps)


def test_a_cell_that_cannot_be_cut_and_is_too_large_is_split_by_chance(monkeypatch):
    """Into parts that fit, by nothing but the word of each row; others stay as they are."""
    monkeypatch.setattr(cells, "SIZE", 60)
    monkeypatch.setattr(cells, "MOST", 100)
    columns, sensitive = [np.repeat([0, 1], [500, 50]).astype(np.int32)], np.arange(550, dtype=np.int32) % 7
    tree, _ = grown(columns, sensitive, Guarantee.of({"k": 20}).rule)
    assert (tree.split, tree.size, tree.numbers().tolist()) == ([1, 10, 1], 11, [-1, 0, 10])
    words = np.random.default_rng(5).integers(0, 2**64, 550, dtype=np.uint64)
    cell = tree.drawn(tree.find(columns), words)
    assert (cell[500:] == 10).all()
    assert cell[:500].tolist() == (words[:500] % 10).tolist()
    assert np.bincount(cell).max() <= 100


def test_many_values_are_seen_in_steps():
    counts = np.random.default_rng(4).integers(1, 9, 50_000)
    steps = Steps.by(counts)
    assert steps.firsts.size <= cells.STEPS
    assert (np.diff(steps.of) >= 0).all()
    assert steps.of[steps.firsts].tolist() == list(range(steps.firsts.size))
    sizes = np.bincount(steps.of, counts)
    assert sizes.max() < 2 * sizes.mean()


def test_a_tree_without_cuts_is_one_cell():
    assert Tree().find([np.arange(5)]).tolist() == [0] * 5
