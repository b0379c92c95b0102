"""Lots that are divided by the partition `compact`: what is told, what is lost, and what is never kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

from discreet import Vault, audit
from discreet.audit.attacks.attack import Given
from discreet.audit.attacks.minimality import Minimality
from discreet.errors import InternalError
from discreet.partition.spatial.space import penalties
from discreet.values.boxes import box_of
from discreet.values.columns import Column
from discreet.values.random import RandomSource
from discreet.vault.growth.divide import _dimension, divide
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import loss
from discreet.vault.tree.model import Rows
from vault.steward import WAYS, dump, inspect, people, policy

COLUMNS = (Column("a", pa.float64()), Column("b", pa.string()))


def lot(points, values):
    nobody = np.zeros(len(points), np.int64)
    return Rows(nobody, points, np.asarray(values, np.int64), nobody, nobody.astype(np.bool_))


def groups_of(points, values, rule, space):
    """The groups of a lot, as sets of rows."""
    order, starts = divide(lot(points, values), COLUMNS, space, rule)
    return [order[a:b].tolist() for a, b in pairwise([*starts, order.size])]


@pytest.mark.parametrize("promised", [{"l": 2}, {"distinct_l": 2}, {"l": 2, "k": 3}], ids=str)
@pytest.mark.parametrize("counts", [(2, 2, 2), (2, 1, 1, 1, 1), (2, 2, 1, 1)], ids=str)
def test_blind_lots_tell_nothing(promised, counts):
    """Of all tables with the groups that are shown, people hold each value in just the share of their group."""
    chance, worlds = np.random.default_rng(1), defaultdict(list)
    points = np.column_stack([chance.permutation(sum(counts)), chance.integers(0, 3, sum(counts))]).astype(float)
    rule, space = replace(Rule.of(promised), cuts="blind"), box_of(points, COLUMNS)
    values = [value for value, times in enumerate(counts) for _ in range(times)]
    with mock.patch("discreet.vault.growth.divide.RandomSource", side_effect=lambda: RandomSource(5)):
        for table in sorted(set(permutations(values))):
            found = groups_of(points, np.array(table), rule, space)
            shown = frozenset((frozenset(rows), tuple(sorted(table[row] for row in rows))) for rows in found)
            worlds[shown].append(table)
    for shown, tables in worlds.items():
        for rows, held in shown:
            share = {value: Fraction(times, len(held)) for value, times in Counter(held).items()}
            for row in rows:
                told = Counter(table[row] for table in tables)
                assert {value: Fraction(times, len(tables)) for value, times in told.items()} == share


@pytest.mark.parametrize("promised", [{"l": 3}, {"distinct_l": 4}, {"k": 7}], ids=str)
def test_compact_lots_lose_less(promised):
    """Than those that are cut where least is lost, by the loss of the paper, over everybody who ever came."""
    chance = np.random.default_rng(2)
    points = np.column_stack([chance.normal(size=600), chance.zipf(1.7, 600) % 9])
    values, space = chance.integers(0, 8, 600), box_of(points * [2.0, 1.0], COLUMNS)
    lost = {}
    for cuts in ("least_loss", "fitted"):
        rule = replace(Rule.of(promised), cuts=cuts)
        found = groups_of(points, values, rule, space)
        assert all(rule.group(np.bincount(values[rows], minlength=8)) for rows in found)
        lost[cuts] = sum(len(rows) * loss(box_of(points[rows], COLUMNS), space) for rows in found)
    assert lost["fitted"] < lost["least_loss"]


@pytest.mark.parametrize(
    "here",
    [
        [3.0, 5.0, 3.0, 4.0],
        [np.nan, 1.0, 5.0, 2.0],
        [np.nan] * 4,
        [7.0] * 4,
        [-1e308, 1e308, 0.0, np.nan],
        [5e-324, 0, 0, 0],
    ],
    ids=str,
)
def test_columns_are_as_wide_as_everybodys(here):
    """What a box of two rows costs is the share of what all rows ever covered, and all of it with a missing value."""
    points = np.column_stack([here, np.zeros(4)]).astype(float)
    everybody = np.vstack([points, [[1e308 if np.nanmax(np.abs([*here, 0])) > 9 else 9.0, 0]]])
    space = box_of(everybody, COLUMNS)
    seen = _dimension(points[:, 0], COLUMNS, space, 0)
    wide = space.highs[0] / 2 - space.lows[0] / 2
    for a, b in ((0, 1), (1, 2), (0, 3)):
        expected = float((here[a] != here[b]) and not np.isnan([here[a], here[b]]).all())
        if not np.isnan([here[a], here[b]]).any():
            expected = abs(here[a] / 2 - here[b] / 2) / wide
        both = penalties([replace(seen, codes=seen.codes[[a, b]])], np.zeros(2, np.int32))
        assert both[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("way", ["fitted", "blind"])
def test_lots_that_compact_divides(tmp_path, way):
    """Older software would divide them in its own way, so it is told that the vault is of another version."""
    with Vault.create(tmp_path / "vault", policy(**WAYS[way])) as vault:
        vault.append(people(60))
        release = vault.release(tmp_path / "1")
        assert release.promise.partition == "vault"
        assert release.promise.cuts == ("blind" if way == "blind" else None)
        assert (Minimality().suits(release, Given()) is None) == (way == "fitted")
        assert vault._database.one("PRAGMA user_version")[0] == 4
    with Vault.open(tmp_path / "vault") as vault:
        vault.append(people(60, start=1_000))
        assert vault.release(tmp_path / "2").promise.rows == 120
    inspect(tmp_path / "vault")
    assert audit([tmp_path / "1", tmp_path / "2"]).ok


def test_a_group_that_breaks_the_guarantee_is_never_kept(tmp_path):
    """Whatever divides a lot, its groups are counted before the vault takes them in."""
    with Vault.create(tmp_path / "vault", policy(**WAYS["fitted"])) as vault:
        vault.append(people(60))
        before = dump(tmp_path / "vault")
        pairs = mock.patch("discreet.partition.Partition.assign", lambda _, seen, held, *__: np.arange(held.size) // 2)
        with pairs, pytest.raises(InternalError, match="does not keep the guarantee; the vault is as it was"):
            vault.append(people(60, start=1_000))
        assert dump(tmp_path / "vault") == before
