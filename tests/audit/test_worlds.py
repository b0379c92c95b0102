"""Playing a partition on other worlds, judged by all worlds of tiny tables, and by who is right on small ones."""

from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks import run_attacks
from discreet.audit.attacks.attack import Failed, Given, Rate
from discreet.audit.enclosed import Pairs
from discreet.audit.replay import worlds
from discreet.audit.replay.everybody import placed, rows_of
from discreet.audit.replay.played import Player
from discreet.audit.replay.worlds import believe, neighbourhoods, tells
from discreet.errors import ReleaseError
from discreet.learn.view import View
from discreet.values.random import RandomSource

ACCEPT = dict.fromkeys(("minimality", "looks", "coarse"), "a test")
L = {"l": 2}


def people(seed, rows, kinds=4):
    """People whose values go with nothing."""
    chance = np.random.default_rng(seed)
    columns = {"age": chance.integers(20, 60, rows), "height": chance.integers(150, 190, rows)}
    return pa.table({**columns, "value": chance.integers(1, kinds + 1, rows)})


def published(table, to, partition, *, seed=0, cuts="fitted", guarantee=L, **rules):
    ordered = ["age", "height"] if partition == "full_domain" else []
    options = {"cuts": cuts, **rules.pop("options", {})}
    return discreet.publish(
        table,
        discreet.Policy(
            quasi=["age", "height"],
            sensitive="value",
            guarantee=guarantee,
            partition=partition,
            ordered=ordered,
            options=options,
            accept=ACCEPT,
            **rules,
        ),
        to=to,
        seed=seed,
    )


def attacked(release, table, **given):
    [found] = run_attacks(release, Given.read(release, truth=table, **given), ["minimality"])
    return found


def members(groups):
    return {tuple(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)}


def posterior(player, view):
    """The share of worlds that give the same groups in which each row holds each value, by trying all worlds."""
    groups = np.repeat(np.arange(view.groups), np.diff(view.starts))
    edges = zip(view.starts, view.starts[1:], strict=False)
    ways = [sorted(set(permutations(view.held[a:b].tolist()))) for a, b in edges]
    rows, same = np.arange(view.rows), []
    for chosen in product(*ways):
        world = np.array([value for way in chosen for value in way], np.int32)
        made = player.play(rows, world, RandomSource(0))
        if made is not None and members(made) == members(groups):
            same.append(world)
    return np.array(same), groups


def tiny(seed):
    """Eight people on a grid of four by four."""
    chance = np.random.default_rng(seed)
    return pa.table({name: chance.integers(0, most, 8) for name, most in (("age", 4), ("height", 4), ("value", 3))})


@pytest.mark.parametrize(("partition", "seeds"), [("mondrian", (4, 9, 52)), ("full_domain", (4, 9))])
def test_worlds_agree_with_all_tables(partition, seeds, tmp_path):
    """Where chance has no part: of every row of which something is believed, each value is as likely as it is.

    By `full_domain` there is hardly anything: one level for all rows says that some group somewhere would have broken
    the guarantee, and not which. In all worlds of 44 such tables the likeliest values are right of 48.0 % of the
    people, where a blind guess is right of 47.7 %.
    """
    believed = 0
    for seed in seeds:
        release = published(tiny(seed), tmp_path / str(seed), partition)
        view = View.of(release)
        player = Player.of(release.promise, view)
        told = believe(player, view, seed, worlds=600)
        same, _ = posterior(player, view)
        assert len(same), "the release itself is one of the worlds"
        believed += told.rows.size
        for i, row in enumerate(told.rows.tolist()):
            votes = told.values[told.ends[i] : told.ends[i + 1]]
            for value in np.unique(view.held):
                assert np.mean(votes == value) == pytest.approx(np.mean(same[:, row] == value), abs=0.1)
    print(f"{partition}: something is believed of {believed} of {8 * len(seeds)} people")
    assert believed


class Right(NamedTuple):
    """How often the attack is right on average, of the tenth of whom it is surest, and a blind guess."""

    share: float
    surest: float
    blind: float


def right_of_small(partition, tables, place):
    """Of so many tables of 60 people without any relation."""
    right = np.zeros(3)
    for seed in range(tables):
        table = people(seed, 60)
        found = attacked(published(table, place / str(seed), partition, seed=seed), table)
        right += (found.attacker.share, found.at_recall[0.1].share, found.blind.share)
    return Right(*(right / tables))


@pytest.mark.parametrize(
    ("partition", "tables"), [("topdown", 10), ("compact", 3), pytest.param("cluster", 10, marks=pytest.mark.slow)]
)
def test_worlds_beat_the_blind(partition, tables, tmp_path):
    """Of a few small tables without any relation: those whom the attacker is surest of, beyond what chance explains."""
    found = right_of_small(partition, tables, tmp_path)
    print(f"{partition}: right {found.share:.1%}, of the surest tenth {found.surest:.1%}, blind {found.blind:.1%}")
    assert found.share > found.blind
    assert Rate.of(found.surest * 6 * tables, 6 * tables).low > found.blind
    if partition == "compact":
        assert Rate.of(found.share * 60 * tables, 60 * tables).low > found.blind


def test_nothing_is_learned_where_nothing_is_told(tmp_path):
    """Of blind cuts: the attack does not apply, and if it is made all the same, hardly a group is believed anything of."""
    table = people(3, 120, 6)
    release = published(table, tmp_path / "r", "topdown", cuts="blind")
    assert "without looking" in attacked(release, table).why
    view = View.of(release)
    chance = np.random.default_rng(1)
    held = np.array([chance.permutation(np.repeat(np.arange(3), 2)) for _ in range(200)])
    assert not tells(held, np.repeat(np.arange(3), 2))
    trials = [chance.permuted(np.tile(np.repeat(np.arange(3), 2), (50, 1)), axis=1) for _ in range(1_000)]
    assert sum(tells(each, np.repeat(np.arange(3), 2)) for each in trials) <= 30
    assert view.rows == 120


def test_the_partition_is_played_as_published(tmp_path):
    """On the truth itself, by partitions that leave nothing to chance."""
    table = people(5, 40)
    for partition in ("mondrian", "full_domain"):
        release = published(table, tmp_path / partition, partition)
        view = View.of(release)
        looks = {(row["age"], row["height"]): row["value"] for row in table.to_pylist()}
        ages, heights = (view.quasi[name].decode().to_pylist() for name in ("age", "height"))
        if len(looks) < len(table):
            continue
        codes = {value: i for i, value in enumerate(view.values.to_pylist())}
        world = np.array([codes[looks[look]] for look in zip(ages, heights, strict=True)], np.int32)
        groups = Player.of(release.promise, view).play(np.arange(40), world, RandomSource(0))
        assert members(groups) == members(np.repeat(np.arange(view.groups), np.diff(view.starts)))


@pytest.mark.parametrize("guarantee", [{"distinct_l": 2}, {"l": 2, "k": 3}, {"k": 2, "e": 1}, {"beta": 2.0}])
def test_any_guarantee_about_values_is_played(guarantee, tmp_path):
    table = people(2, 48, 5)
    release = published(table, tmp_path / "r", "topdown", guarantee=guarantee)
    found = attacked(release, table)
    assert not isinstance(found, Failed)
    assert found.details["again"] > 0
    assert any("worlds were played" in note for note in found.notes)
    rows = published(table, tmp_path / "k", "topdown", guarantee={"k": 3})
    assert "only rows are promised" in attacked(rows, table).why


def test_boxes_are_played_by_who_knows_everybody(tmp_path):
    table = people(4, 60)
    release = published(table, tmp_path / "r", "mondrian", publication="generalization")
    found = attacked(release, table)
    assert found.details["played"] == 60
    some = attacked(release, table, holdout=people(9, 10))
    assert some.attacker == found.attacker, "people who were not in the table are not taken for those who were"
    fewer = attacked(release, table.slice(0, 50))
    assert isinstance(fewer, Failed)
    assert "everybody in the table" in fewer.why


def test_everybody_is_in_their_box(tmp_path):
    """Two look-alikes in two boxes are told apart by who else may be there; or else nobody is placed."""
    look = np.array([0, 0, 1, 2], np.int32)
    may = Pairs(np.array([0, 2, 3, 4]), np.array([0, 1, 0, 1]))
    assert sorted(placed(look, may, np.array([2, 2])).tolist()) == [0, 0, 1, 1]
    open_ = Pairs(np.array([0, 2, 4]), np.array([0, 1, 0, 1]))
    with pytest.raises(ReleaseError, match="cannot be played again"):
        placed(np.array([0, 1], np.int32), open_, np.array([1, 1]))
    table = people(4, 60)
    release = published(table, tmp_path / "r", "mondrian", publication="generalization")
    shown = rows_of(release, table.select(["age", "height"]))
    rows = published(table, tmp_path / "rows", "mondrian")
    again = View.of(rows)
    assert shown.starts.tolist() == again.starts.tolist()
    assert shown.held.tolist() == again.held.tolist()
    for name in ("age", "height"):
        for a, b in zip(again.starts, again.starts[1:], strict=False):
            assert sorted(shown.quasi[name].codes[a:b]) == sorted(again.quasi[name].codes[a:b])


def test_what_cannot_be_played_is_a_failure_with_a_reason(tmp_path, monkeypatch):
    table = people(6, 60)
    out = published(table, tmp_path / "out", "full_domain", options={"suppression": 0.2})
    assert "left out" in attacked(out, table).why
    shuffled = published(table, tmp_path / "shuffled", "cluster", publication="full_permutation")
    assert "which rows share a group" in attacked(shuffled, table).why
    whole = published(table, tmp_path / "whole", "full_domain")
    monkeypatch.setattr(worlds, "BUDGET", 1_000)
    assert "too many to be played" in attacked(whole, table).why
    other = published(table, tmp_path / "other", "topdown")
    monkeypatch.setattr(Player, "play", lambda *_: None)
    assert "not one group came about again" in attacked(other, table).why


def test_large_releases_are_played_in_neighbourhoods(tmp_path, monkeypatch):
    table = people(7, 300)
    release = published(table, tmp_path / "r", "topdown")
    view = View.of(release)
    parts = neighbourhoods(Player.of(release.promise, view).places, view, 40)
    assert sorted(np.concatenate(parts).tolist()) == list(range(view.groups))
    assert all(np.diff(view.starts)[part].sum() <= 40 or part.size == 1 for part in parts)
    monkeypatch.setattr(worlds, "NEAR", 40)
    monkeypatch.setattr(worlds, "PLAYED", 100)
    found = attacked(release, table)
    assert 40 <= found.details["played"] <= 100
    assert any("drawn in neighbourhoods" in note for note in found.notes)
