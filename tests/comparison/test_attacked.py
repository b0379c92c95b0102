"""`compare` tells of the worst attacker beside the errors, if it is asked to."""

import pytest

import discreet
from discreet.comparison import sweep
from discreet.comparison.attacked import Attacked

POLICY = {"quasi": ["age", "sex", "zipcode"], "sensitive": "diagnosis", "drop": "rest", "guarantee": {"l": 3}}


@pytest.mark.slow
def test_the_worst_attacker_stands_beside_the_error(people, tmp_path):
    methods = ["anatomy/anatomize", "generalization/mondrian"]
    found = discreet.compare(people, POLICY, methods=methods, queries=5, seed=1, attack=True)
    shown, boxes = (next(each for each in found.outcomes if each.method == name) for name in methods)
    assert shown.attacked.name in {"learner", "order"}
    assert shown.attacked.right.share >= shown.attacked.blind > 0
    assert any("the worst attacker, `" in remark for remark in found.remarks())
    at = found.columns.index("worst attacker")
    assert found.columns[at - 1] == "worst"
    assert [row[at] for row in found.cells()] == [each.attacked.cell() for each in found.outcomes]
    assert shown.attacked.cell() == f"{shown.attacked.name} {shown.attacked.right.share:.1%}"
    assert "worst attacker" in repr(found)
    drawn = found.chart(tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "Attacks that are right" in drawn
    assert f"% {shown.attacked.name}" in drawn
    assert boxes.attacked.told().startswith(("the worst attacker", "not attacked, which does not mean"))
    alone = discreet.compare(people, POLICY, methods=methods[:1], queries=5, seed=1)
    assert alone.outcomes[0].attacked is None
    assert "worst attacker" not in alone.columns


@pytest.mark.slow
def test_a_sweep_tells_the_worst_attacker_at_each_threshold(people, tmp_path):
    found = sweep(people, POLICY, "l", [2, 3], methods=["anatomy/anatomize"], queries=5, seed=1, attack=True)
    at = found.columns.index("worst attacker")
    told = [row[at] for row in found.cells()]
    assert told == [outcome.attacked.cell() for _, outcome in found.outcomes()]
    assert [*map(len, found.cells())] == [len(found.columns)] * len(told)
    drawn = found.chart(tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "share of people of whom the worst attacker is right" in drawn
    assert all(f"{outcome.attacked.name} " in drawn for _, outcome in found.outcomes())


def test_an_attack_that_was_not_made_is_no_low_share():
    assert Attacked(None, why="there is no sensitive column").cell() == "not attacked"
