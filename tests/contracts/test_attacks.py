"""The contract of attacks: every one states its threat, runs on released files alone, and is scored beside guessers.

It knows no attack: whatever is in the registry is held against every publication that it suits.
"""

import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks import ATTACKS, run_attacks
from discreet.audit.attacks.attack import RECALLS, Failed, Given, Rate, Success
from discreet.errors import DiscreetError, InputError

ROWS, HELD_OUT = 240, 30
ACCEPT = {"looks": "a test", "minimality": "a test"}
RELEASES = {
    "anatomy": {},
    "anatomy, fitted cuts": {"options": {"cuts": "fitted"}, "accept": ACCEPT},  # which minimality plays again
    "permutation": {"guarantee": {"k": 3, "e": 2}},
    "full_permutation": {"partition": "cluster"},
    "generalization": {"options": {"cuts": "fitted"}, "accept": ACCEPT},
}


def people(rows, seed=5):
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 50, rows)
    value = (age // 4 + chance.integers(0, 4, rows)) % 10 + 1
    return pa.table({"age": age, "sex": chance.choice(["f", "m"], rows), "value": value})


@pytest.fixture(scope="module")
def everybody():
    return people(ROWS + HELD_OUT)


def published(table, to, seed=1, **rules):
    policy = discreet.Policy(quasi=["age", "sex"], sensitive="value", **{"guarantee": {"l": 3}, **rules})
    return discreet.publish(table, policy, to=to, seed=seed)


@pytest.fixture(scope="module")
def other(everybody, tmp_path_factory):
    """Another release of the same people, made independently."""
    return published(everybody.slice(0, ROWS), tmp_path_factory.mktemp("other") / "made", seed=2, partition="mixed")


@pytest.fixture(scope="module")
def releases(everybody, tmp_path_factory):
    """Copies of the folders of releases, which are all that is left of them."""
    found = {}
    for title, rules in RELEASES.items():
        at = tmp_path_factory.mktemp(title.replace(", ", "-").replace(" ", "-"))
        published(everybody.slice(0, ROWS), at / "made", publication=title.partition(",")[0], **rules)
        shutil.copytree(at / "made", at / "elsewhere")
        shutil.rmtree(at / "made")
        found[title] = discreet.open_release(at / "elsewhere")
    return found


@pytest.fixture(scope="module")
def given(releases, everybody, other):
    """What attackers of each release have."""
    return {
        title: Given.read(
            release,
            truth=everybody.slice(0, ROWS),
            holdout=everybody.slice(ROWS),
            population=people(ROWS, seed=6),
            public=everybody.slice(0, ROWS).select(["age", "sex"]),
            others=(other,),
        )
        for title, release in releases.items()
    }


@pytest.fixture(scope="module")
def results(releases, given):
    """What an attack on a release comes to; each is made once."""
    made = {}

    def result(name, title):
        if (name, title) not in made:
            [made[name, title]] = run_attacks(releases[title], given[title], [name])
        return made[name, title]

    return result


def same(one, other):
    """Whether two results of `guesses` are alike, whatever their form."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one.same(other) if hasattr(one, "same") else one == other


@pytest.mark.parametrize("name", ATTACKS)
def test_states_its_threat(name):
    attack = ATTACKS[name]
    assert attack.name == name
    for part in (attack.threat.knows, attack.threat.wants, attack.threat.given):
        assert part
        assert part[0].islower()
        assert not part.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("title", RELEASES)
@pytest.mark.parametrize("name", ATTACKS)
def test_reports_success_beside_guessers_or_why_not(name, title, results):
    found = results(name, title)
    if isinstance(found, Failed):
        assert found.kind in {"does not apply", "could not run"}
        assert len(found.why) > 20
        return
    assert isinstance(found, Success)
    assert 0 < found.people <= max(ROWS, 1)
    assert found.threat == ATTACKS[name].threat
    rates = [found.attacker, found.blind, found.without, found.holdout, *found.at_recall.values()]
    for rate in rates:
        if rate is not None:
            assert isinstance(rate, Rate)
            assert 0 <= rate.low <= rate.share + 1e-9 <= rate.high + 2e-9 <= 1 + 3e-9
    missing = found.without is None or found.holdout is None or [*found.at_recall] != [*RECALLS]
    assert found.notes or not missing, "a note says why a figure has no meaning"


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_is_made_on_some_release(name, results):
    """A contract that nobody has to keep is none: every attack succeeds in being made somewhere here."""
    assert any(isinstance(results(name, title), Success) for title in RELEASES)


@pytest.mark.slow
@pytest.mark.parametrize("title", RELEASES)
@pytest.mark.parametrize("name", ATTACKS)
def test_guesses_do_not_see_the_truth(name, title, releases, given, everybody):
    """They are equal if the truth says something else of everybody, or nothing at all."""
    attack, release, given = ATTACKS[name], releases[title], given[title]
    if attack.suits(release, given) is not None:
        assert isinstance(run_attacks(release, given, [name])[0], Failed)
        return
    told = everybody.slice(0, ROWS).select(["age", "sex"])
    lied = given.truth.set_column(2, "value", given.truth["value"].take(pa.array(np.arange(ROWS)[::-1])))
    try:
        found = [
            attack.guesses(release, told, replace(given, truth=truth, holdout=None, kept={}))
            for truth in (None, given.truth, lied)
        ]
    except DiscreetError:  # something that it needs is not given
        assert isinstance(run_attacks(release, given, [name])[0], Failed)
        return
    assert same(found[0], found[1])
    assert same(found[0], found[2])


def test_what_cannot_run_is_a_failure_with_a_reason(everybody, tmp_path):
    """Neither silence nor a low figure: without a truth, and where a release shows nothing that could be attacked."""
    policy = discreet.Policy(quasi=["age", "sex"], sensitive="value", guarantee={"l": 3})
    release = discreet.publish(everybody, policy, to=tmp_path / "r", seed=1)
    found = run_attacks(release, Given(), ["learner", "order"])
    assert [type(each) for each in found] == [Failed, Failed]
    assert all("without the private table" in each.why and each.kind == "could not run" for each in found)
    with pytest.raises(InputError, match="there is no attack `lerner`") as error:
        run_attacks(release, Given(), ["lerner"])
    assert error.value.hint == "did you mean `learner`?"
    strangers = everybody.set_column(0, "age", pa.array([999] * len(everybody)))
    [found] = run_attacks(release, Given.read(release, truth=strangers), ["order"])
    assert "nobody of the truth is in the release" in found.why
