"""`compare` tells of the worst attacker beside the errors, so that a method is chosen on both."""

import pytest

import discreet
from discreet.comparison import sweep
from discreet.comparison.attacked import Attacked

POLICY = {"quasi": ["age", "sex", "zipcode"], "sensitive": "diagnosis", "drop": "rest", "guarantee": {"l": 3}}


METHODS = ["anatomy/anatomize", "generalization/mondrian"]


def test_the_worst_attacker_stands_beside_the_error(people, tmp_path):
    found = discreet.compare(people, POLICY, methods=METHODS, queries=5, seed=1)
    shown, boxes = (next(each for each in found.outcomes if each.method == name) for name in METHODS)
    assert shown.attacked.name in {"population", "order"}
    assert shown.attacked.right.share >= shown.attacked.blind > 0
    assert shown.attacked.quick
    assert (shown.attacked.near, shown.attacked.drawn) == (None, None)
    assert sum("anatomy/anatomize: the worst attacker, `" in remark for remark in found.remarks()) == 1
    assert sum("attacked by `order`, `minimality`, `population`" in remark for remark in found.remarks()) == 1
    at = found.columns.index("worst attacker")
    assert found.columns[at - 1] == "worst"
    assert [row[at] for row in found.cells()] == [each.attacked.cell() for each in found.outcomes]
    assert shown.attacked.cell() == f"{shown.attacked.name} {shown.attacked.right.share:.1%}"
    assert "worst attacker" in repr(found)
    drawn = found.chart(tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "Attacks that are right" in drawn
    assert f"% {shown.attacked.name}" in drawn
    assert boxes.attacked.told().startswith(("the worst attacker", "not attacked, which does not mean"))


def test_nobody_attacks_if_that_is_said(people):
    found = discreet.compare(people, POLICY, methods=METHODS[:1], queries=5, seed=1, attack=False)
    assert found.outcomes[0].attacked is None
    assert "worst attacker" not in found.columns
    assert any("no attack was made, which does not mean that the risk is low" in each for each in found.remarks())


def test_of_a_large_table_some_people_are_attacked(people, monkeypatch):
    monkeypatch.setattr("discreet.comparison.attacked.ROWS", 300)
    found = discreet.compare(people, POLICY, methods=METHODS, queries=5, seed=1)
    for each in (outcome.attacked for outcome in found.outcomes):
        assert 250 <= each.drawn <= 320
        assert f"of {each.drawn} people drawn at random" in each.told()


@pytest.mark.slow
def test_all_attack_who_need_nothing_beside_the_release(people):
    policy = {**POLICY, "sensitive": "salary", "quasi": ["age", "sex"]}
    found = discreet.compare(people, policy, methods=METHODS[:1], queries=5, seed=1, attack=True)
    attacked = found.outcomes[0].attacked
    assert attacked.name in {"learner", "order", "population", "background"}
    assert not attacked.quick
    assert 0 < attacked.near_blind < 1
    assert "; within 5% of the value, `proximity` is about" in attacked.told()
    assert not any("attacked by `order`" in remark for remark in found.remarks())


@pytest.mark.slow
def test_a_sweep_tells_the_worst_attacker_at_each_threshold(people, tmp_path):
    found = sweep(people, POLICY, "l", [2, 3], methods=["anatomy/anatomize"], queries=5, seed=1)
    at = found.columns.index("worst attacker")
    told = [row[at] for row in found.cells()]
    assert told == [outcome.attacked.cell() for _, outcome in found.outcomes()]
    assert [*map(len, found.cells())] == [len(found.columns)] * len(told)
    drawn = found.chart(tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "share of people of whom the worst attacker is right" in drawn
    assert all(f"{outcome.attacked.name} " in drawn for _, outcome in found.outcomes())


def test_an_attack_that_was_not_made_is_no_low_share():
    assert Attacked(None, why="there is no sensitive column").cell() == "not attacked"
