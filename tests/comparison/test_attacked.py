"""`compare` tells of the worst attacker beside the errors, if it is asked to."""

import pytest

import discreet

POLICY = {"quasi": ["age", "sex", "zipcode"], "sensitive": "diagnosis", "drop": "rest", "guarantee": {"l": 3}}


@pytest.mark.slow
def test_the_worst_attacker_stands_beside_the_error(people):
    methods = ["anatomy/anatomize", "generalization/mondrian"]
    found = discreet.compare(people, POLICY, methods=methods, queries=5, seed=1, attack=True)
    shown, boxes = (next(each for each in found.outcomes if each.method == name) for name in methods)
    assert shown.attacked.name in {"learner", "order"}
    assert shown.attacked.right.share >= shown.attacked.blind > 0
    assert any("the worst attacker, `" in remark for remark in found.remarks())
    assert boxes.attacked.told().startswith(("the worst attacker", "not attacked, which does not mean"))
    alone = discreet.compare(people, POLICY, methods=methods[:1], queries=5, seed=1)
    assert alone.outcomes[0].attacked is None
