"""Attacks that look for people in a release: linkage with a public table, presence, and what tight boxes tell."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import Failed

CHANCE = np.random.default_rng(11)
PEOPLE = pd.DataFrame(
    {
        "age": CHANCE.integers(20, 180, 500),
        "town": CHANCE.choice(list("abc"), 500),
        "ill": CHANCE.choice(["flu", "cold", "gout", "acne"], 500),
    }
)
INSIDE, OUTSIDE = PEOPLE.head(300), PEOPLE.tail(200)
QUASI = ["age", "town"]
VOTERS = PEOPLE[QUASI].assign(name=[f"voter {i}" for i in range(500)])


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("found"), {}
    for name, method in {
        "rows": {"publication": "anatomy", "partition": "anatomize"},
        "boxes": {"publication": "generalization", "partition": "mondrian", "options": {"cuts": "fitted"}},
        "shuffled": {"publication": "full_permutation", "partition": "cluster"},
    }.items():
        accepted = dict.fromkeys(("minimality", "near_limit", "coarse"), "this is a test")
        policy = discreet.Policy(quasi=QUASI, sensitive="ill", guarantee={"l": 2}, accept=accepted, **method)
        made[name] = discreet.publish(INSIDE, policy, to=folder / name, seed=2)
    return made


def test_links_are_right_as_often_as_counted(releases):
    [found] = discreet.attack(releases["rows"], "linkage", truth=INSIDE, public=VOTERS)
    public, private = (frame.groupby(QUASI).size() for frame in (VOTERS, INSIDE))
    right, alone, links = 0.0, 0, 0
    for look in VOTERS[QUASI].itertuples(index=False):
        rows, people = private.get(tuple(look), 0), public[tuple(look)]
        if rows:
            links += 1
            right += rows / people / rows
            alone += rows == people == 1
    assert found.people == links == found.details["linked"]
    assert found.attacker.share == pytest.approx(right / links)
    assert found.details["unique"] == alone
    assert found.at_recall[0.01].share == 1, "who is alone in both is found"
    assert found.blind.share < 1 / 250
    boxes = discreet.attack(releases["boxes"], "linkage", truth=INSIDE, public=VOTERS)[0]
    assert found.blind.share < boxes.attacker.share < found.attacker.share


def test_a_public_table_that_knows_less(releases):
    [found] = discreet.attack(releases["rows"], "linkage", truth=INSIDE, public=VOTERS[["town", "name"]])
    rate = VOTERS.groupby("town").size()
    assert found.attacker.share == pytest.approx(VOTERS.town.map(1 / rate).mean())
    assert "people were found by town" in found.notes


def test_presence_is_told_as_counted(releases):
    shown = {tuple(look) for look in INSIDE[QUASI].itertuples(index=False)}
    out = np.mean([tuple(look) not in shown for look in OUTSIDE[QUASI].itertuples(index=False)])
    [found] = discreet.attack(releases["rows"], "presence", truth=INSIDE, holdout=OUTSIDE)
    assert found.people == 400
    assert found.holdout.share == pytest.approx(out)
    assert found.attacker.share == pytest.approx((1 + out) / 2)
    assert found.blind.share == 0.5
    assert found.attacker.low > found.blind.high
    for name in ("boxes", "shuffled"):
        [hidden] = discreet.attack(releases[name], "presence", truth=INSIDE, holdout=OUTSIDE)
        assert hidden.details["found"] == 200, "nobody who is in it is told to be out"
        assert hidden.attacker.share < found.attacker.share


def test_others_may_come_from_a_public_table(releases):
    [found] = discreet.attack(releases["rows"], "presence", truth=INSIDE, public=VOTERS)
    assert found.attacker.share == 1, "who looks like nobody in the table is not in it"


def test_ends_of_tight_boxes_are_guessed(releases):
    release = releases["boxes"]
    [found] = discreet.attack(release, "downcoding", truth=INSIDE)
    boxes = pd.read_parquet(release.file("generalized")).groupby("group")
    ages, ends = [], []
    for _, box in boxes:
        low, high, label = box.iloc[0][["age_low", "age_high", "town"]]
        held = INSIDE[INSIDE.age.between(low, high) & INSIDE.town.isin(json.loads(label))]
        assert len(held) == len(box), "boxes of this table do not overlap"
        if low < high:
            ages.append(1 / (high - low + 1))
            ends.append(((held.age == low) | (held.age == high)).mean())
    blurred = found.details["columns"]["age"]
    sizes = [len(box) for _, box in boxes if box.age_low.iloc[0] < box.age_high.iloc[0]]
    assert blurred["inside"] == pytest.approx(np.average(ages, weights=sizes))
    assert blurred["blind"] == pytest.approx(np.average(ends, weights=sizes) / 2), "one end or the other"
    assert np.average(ends, weights=sizes) >= blurred["right"]
    assert blurred["right"] > blurred["inside"], "a small box hides little"
    assert found.attacker.share <= 1


def test_two_rows_of_a_box_are_known(tmp_path):
    """By hand: of two people of ages 20 and 30 in one box, one is 20 and the other 30."""
    table = pa.table({"age": [20, 30, 50, 60], "ill": ["a", "b", "a", "b"]})
    policy = discreet.Policy(
        quasi=["age"], sensitive="ill", guarantee={"k": 2}, publication="generalization", partition="mondrian"
    )
    release = discreet.publish(table, policy, to=tmp_path / "r", seed=1)
    [found] = discreet.attack(release, "downcoding", truth=table)
    assert found.attacker.share == 0.5
    assert found.blind.share == 0.5, "who knows that ends are held says one of them"
    assert found.details["columns"]["age"]["inside"] == pytest.approx(1 / 11)
    assert "any value inside the box is right of 9.1% of the cells" in found.notes


@pytest.mark.parametrize(
    ("release", "attack", "given", "why", "kind"),
    [
        ("rows", "linkage", {}, "no public table of people was given", "could not run"),
        ("rows", "linkage", {"public": VOTERS[["name"]]}, "the public table has none of the quasi", "could not run"),
        ("rows", "linkage", {"public": VOTERS.assign(age=7)}, "nobody of the public table could be", "could not run"),
        ("rows", "linkage", {"public": VOTERS.assign(age="x")}, "`age` holds string where int64", "could not run"),
        ("boxes", "linkage", {"public": VOTERS[["age"]]}, "and `town` is not known of them", "could not run"),
        ("shuffled", "linkage", {"public": VOTERS}, "shows no whole row", "does not apply"),
        ("rows", "presence", {}, "nobody is known who was not in the table", "could not run"),
        ("rows", "presence", {"public": INSIDE}, "everybody of the public table looks like", "could not run"),
        ("rows", "downcoding", {}, "shows no boxes of its own rows", "does not apply"),
        ("rows", "minimality", {}, "refuses no cut because of the values", "does not apply"),
    ],
)
def test_an_attack_that_was_not_made_says_why(releases, release, attack, given, why, kind):
    [found] = discreet.attack(releases[release], attack, truth=INSIDE, **given)
    assert isinstance(found, Failed)
    assert why in found.why
    assert found.kind == kind


def test_who_is_certain_is_guessed(tmp_path):
    """The worked leak of `test_minimality`: small groups by fitted cuts, some values of which are certain."""
    chance = np.random.default_rng(4)
    table = pa.table({"age": chance.integers(0, 400, 400), "ill": chance.choice(list("aaabbcd"), 400)})
    accepted = {"minimality": "this is a test", "near_limit": "this is a test"}
    policy = discreet.Policy(
        quasi=["age"],
        sensitive="ill",
        guarantee={"l": 2},
        partition="local",
        options={"cuts": "fitted"},
        accept=accepted,
    )
    release = discreet.publish(table, policy, to=tmp_path / "r", seed=4)
    [found] = discreet.attack(release, "minimality", truth=table)
    assert found.details["certain"] > 0
    assert found.attacker.share > found.blind.share
    assert found.at_recall[0.01].share == 1
