"""The model `learned`: it finds a relation, invents none, says when it was cut short, and takes any table."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from discreet.learn.drawn import APART
from discreet.learn.draws import draw
from discreet.learn.features import MOST, features
from discreet.learn.kinds import Kinds
from discreet.learn.learned import _in_turn, keeps, learned
from discreet.learn.score import likely
from discreet.learn.view import View
from discreet.values.coded import Coded, code

GROUP, TABLES = 4, 10


def view(quasi: dict[str, list[Any]], values: list[Any], sizes: list[int]) -> tuple[View, npt.NDArray[np.int32]]:
    """A release of rows that lie in the order of groups of these sizes, and who really holds what."""
    coded = code(pa.array(values))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    truth = coded.codes.astype(np.int32)
    held = np.concatenate([np.sort(truth[a:b]) for a, b in pairwise(starts)])
    return View(starts, {name: code(pa.array(each)) for name, each in quasi.items()}, held, coded.values, "pay"), truth


def grown(rows: int, strength: float, seed: int = 1) -> tuple[View, npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Groups of four at random in one of many neighbourhoods of age; pay grows with age and differs by sex."""
    random = np.random.default_rng(seed)
    age = np.sort(random.integers(20, 70, rows))
    sex = random.integers(0, 2, rows)
    pay = np.clip(np.round(strength * ((age - 45) / 8 + 2 * sex - 1) + random.normal(6, 1.5, rows)), 0, 11)
    order = np.arange(rows).reshape(-1, 8 * GROUP)
    order = np.take_along_axis(order, random.random(order.shape).argsort(1), 1).ravel()
    age, sex, pay = age[order], sex[order], pay[order]
    shown, truth = view({"age": age.tolist(), "sex": ["fm"[i] for i in sex]}, pay.tolist(), [GROUP] * (rows // GROUP))
    return shown, truth, sex == 1


def counted(codes: npt.NDArray[Any], men: npt.NDArray[Any], kinds: int) -> npt.NDArray[np.float64]:
    """For each value how many men hold it or a smaller one, per table."""
    return np.stack([np.bincount(table[men], minlength=kinds).cumsum() for table in np.atleast_2d(codes)]).astype(float)


def test_learned_finds_a_relation() -> None:
    shown, truth, men = grown(3200, 1.0)
    told = counted(truth, men, len(shown.values))
    off = {}
    for model in ("learned", "even"):
        found = counted(draw(shown, TABLES, model=model, secret=5).codes, men, len(shown.values))
        off[model] = np.abs(found.mean(0) - told).sum()
    assert off["learned"] < 0.3 * off["even"]


def test_learned_finds_who_has_no_value() -> None:
    """Among thousands of numbers a missing one is a kind without neighbours, and must not be taken for noise as they are."""
    off, inside = {"learned": 0.0, "even": 0.0}, []
    for seed in range(6):
        random = np.random.default_rng(seed)
        men, pay = random.integers(0, 2, 2400) == 1, np.round(random.normal(3000, 500, 2400)).tolist()
        gone = random.random(2400) < np.where(men, 0.25, 0.1)
        held = [None if none else number for none, number in zip(gone, pay, strict=True)]
        shown, _ = view({"sex": ["fm"[int(i)] for i in men]}, held, [GROUP] * 600)
        for model in ("learned", "even"):
            found = (draw(shown, 20, model=model, secret=5).codes[:, men] == len(shown.values) - 1).sum(1)
            apart = abs(found.mean() - gone[men].sum())
            off[model] += apart
            if model == "learned":
                inside.append(apart <= 2 * np.sqrt(found.var(ddof=1) * (1 + 1 / 20)))
    assert off["learned"] < 0.5 * off["even"]
    assert all(inside)


def test_learned_invents_no_relation() -> None:
    """Where values do not go with quasi-identifiers it says so, and is as good as `even` is."""
    off = {"learned": 0.0, "even": 0.0}
    inside, asked = 0, 0
    for seed in range(6):
        shown, truth, men = grown(800, 0.0, seed)
        told = counted(truth, men, len(shown.values))[0]
        for model in ("learned", "even"):
            drawn = draw(shown, 20, model=model, secret=seed)
            found = counted(drawn.codes, men, len(shown.values))
            off[model] += np.abs(found.mean(0) - told).sum()
            assert bool(drawn.fit.notes) == (model == "learned")
            if model == "learned":
                assert drawn.fit.notes[0].startswith("the groups say little of whether values go with")
                near = np.abs(found.mean(0) - told) <= 2 * np.sqrt(found.var(0, ddof=1) * (1 + 1 / 20))
                inside, asked = inside + int(near.sum()), asked + near.size
    assert off["learned"] < 1.1 * off["even"] + 1
    assert inside > 0.8 * asked  # 95 % if the questions of a table were independent, which they are not


def test_a_relation_that_groups_do_not_show_is_in_the_spread() -> None:
    """Dealt groups are alike, and hardly tell of the relation: even tables are sure of what is not so."""
    near: dict[str, list[float]] = {"learned": [], "even": []}
    for seed in (1, 2):
        shown, truth, men = grown(800, 1.0, seed)
        mixed = np.random.default_rng(seed).permutation(truth.size)
        order = mixed[np.argsort(truth[mixed], kind="stable")].reshape(GROUP, -1).T.ravel()
        quasi = {name: column.decode().take(pa.array(order)).to_pylist() for name, column in shown.quasi.items()}
        pay = shown.values.take(pa.array(truth[order].astype(np.int64))).to_pylist()
        dealt, held = view(quasi, pay, [GROUP] * (truth.size // GROUP))
        told = counted(held, men[order], len(dealt.values))[0]
        for model, found in near.items():
            drawn = counted(draw(dealt, 20, model=model, secret=3).codes, men[order], len(dealt.values))
            reach = 2 * np.sqrt(drawn.var(0, ddof=1) * (1 + 1 / 20))
            found.append(float(np.mean(np.abs(drawn.mean(0) - told) <= reach)))
    assert np.mean(near["even"]) < 0.2
    assert np.mean(near["learned"]) > 0.6


def test_doubtful_tables_are_drawn_both_ways() -> None:
    numbers = np.arange(1.0, 13.0).reshape(3, 2, 2)
    drawn = _in_turn(numbers, 2, 7)
    assert np.array_equal(drawn[:2], numbers[:2])
    assert np.array_equal(drawn[2:6], [numbers[0], -numbers[0], numbers[1], -numbers[1]])
    assert not drawn[6].any()
    assert np.array_equal(_in_turn(numbers, 5, 5), numbers[[0, 1, 2, 0, 1]])


def test_a_relation_is_as_likely_as_its_score_says() -> None:
    assert likely(0.0, 100) == likely(-3.0, 100) == pytest.approx(1 / (1 + 37**0.5))
    assert likely(0.0, 6000) == pytest.approx(1 / (1 + 3601**0.5))
    assert likely(5.0, 100) > likely(5.0, 6000) > 0.99


def test_a_faint_relation_is_noticed() -> None:
    shown, _, _ = grown(3200, 0.4)
    assert draw(shown, 2, secret=1).fit.rhat is not None


def test_a_fit_that_is_cut_short_says_so() -> None:
    shown, _, _ = grown(3200, 1.0)
    short = learned(shown, TABLES, np.random.default_rng(5), lambda _: None, epochs=1).fit
    assert short.rhat is not None
    assert short.rhat > APART
    assert any("have not come together" in note for note in short.notes)
    whole = learned(shown, TABLES, np.random.default_rng(5), lambda _: None).fit
    assert whole.rhat is not None
    assert whole.rhat < short.rhat


def test_progress_is_told() -> None:
    shown, _, _ = grown(320, 1.0)
    said: list[str] = []
    draw(shown, 2, secret=1, progress=said.append)
    assert said[0] == "fitting"
    assert "fitting, 1 of 20" in said
    assert said[-1] == "drawing, 1 of 1"


HARD: dict[str, tuple[dict[str, list[Any]], list[Any], list[int]]] = {
    "one group": ({"a": [1, 2, 3, 4]}, [5, 6, 7, 8], [4]),
    "groups of one value": ({"a": [1, 2, 3, 4]}, ["x", "x", "y", "y"], [2, 2]),
    "one value": ({"a": [1, 2, 3, 4]}, ["x"] * 4, [2, 2]),
    "groups of one row": ({"a": [1, 2, 3]}, [1, 2, 3], [1, 1, 1]),
    "a value per row": ({"a": [*range(400)]}, [float(i) for i in range(400)], [4] * 100),
    "missing values": ({"a": [1, None, 3, None], "b": ["x", None, "y", "x"]}, [1, None, 2, 3], [2, 2]),
    "only missing": ({"a": pa.nulls(4).to_pylist(), "b": [1, 1, 2, 2]}, ["x", "y", None, "x"], [2, 2]),
    "one constant column": ({"a": [7] * 6}, [1, 2, 3, 4, 5, 6], [3, 3]),
    "many texts": ({"a": [f"{i}" for i in range(300)]}, [f"v{i % 150}" for i in range(300)], [3] * 100),
    "thirty columns": ({f"q{j}": [(i * (j + 3)) % 7 for i in range(60)] for j in range(30)}, [*range(60)], [6] * 10),
    "a group of hundreds": ({"a": [i % 50 for i in range(500)]}, [i % 90 for i in range(500)], [480, 20]),
}


@pytest.mark.parametrize("name", HARD)
def test_any_table_can_be_drawn(name: str) -> None:
    shown, _ = view(*HARD[name])
    drawn = draw(shown, 3, secret=2)
    for table in drawn.codes:
        for first, last in pairwise(shown.starts):
            assert sorted(table[first:last]) == shown.held[first:last].tolist()
    assert drawn.fit.model == "learned"


def test_groups_that_are_too_large_are_drawn_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, _, _ = grown(320, 1.0)
    monkeypatch.setattr("discreet.learn.learned.FITTED", GROUP - 1)
    assert "too many to learn from" in draw(shown, 2, secret=1).fit.notes[0]
    monkeypatch.setattr("discreet.learn.learned.FITTED", 40 * GROUP)
    assert "too many to learn from" not in "".join(draw(shown, 2, secret=1).fit.notes)


def test_many_values_are_kinds_and_said() -> None:
    shown, _ = view(*HARD["a value per row"])
    assert any("400 values of `pay` were told apart as 50 kinds" in note for note in draw(shown, 2, secret=1).fit.notes)


def test_a_table_with_other_values_is_found() -> None:
    starts, held = np.array([0, 2, 4]), np.array([0, 1, 1, 2], np.int32)
    assert keeps(starts, held, np.array([1, 0, 2, 1], np.uint8), np.uint64(1))
    assert not keeps(starts, held, np.array([1, 1, 2, 0], np.uint8), np.uint64(1))
    assert not keeps(starts, held, np.array([0, 1, 1, 9], np.uint8), np.uint64(1))


def test_features_have_room() -> None:
    columns = [Coded(np.arange(200) % (j + 40), pa.array([f"{i}" for i in range(j + 40)])) for j in range(30)]
    assert sum(features(columns).sizes) <= MOST
    alone, pairs = features(columns[:2], pairs=0), features(columns[:2])
    assert sum(alone.sizes) < sum(pairs.sizes)


def test_kinds_of_numbers_keep_their_order() -> None:
    values = pa.array([float(i) for i in range(1000)])
    kinds = Kinds.among(np.arange(1000, dtype=np.int32), values)
    assert (np.diff(kinds.of) >= 0).all()
    assert kinds.size == 50
    assert np.allclose(kinds.share, 1 / 50, atol=0.002)
    texts = Kinds.among(np.array([0, 0, 1, 2], np.int32), pa.array(["a", "b", "c"]))
    assert texts.of.tolist() == [0, 1, 2]
    assert not texts.curves.size
