"""The learner: how often guesses are right, by brute force; and what a model gains where values follow, and where not."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import Given, Rate, silent
from discreet.audit.attacks.learner import Learner
from discreet.audit.guessing.learned import learn
from discreet.audit.guessing.model import fit
from discreet.audit.metrics.truth import places
from discreet.errors import InputError
from discreet.learn.view import View
from discreet.publication.publish import grouped
from discreet.values.coded import Coded
from discreet.values.random import RandomSource

L = 5
RULES = {"quasi": ["age", "town"], "sensitive": "value", "guarantee": {"l": L}}


def people(rows, *, related, seed=1):
    """People whose value follows their quasi-identifiers, or does not."""
    chance = np.random.default_rng(seed)
    age, town = chance.integers(20, 80, rows), chance.choice(["a", "b", "c"], rows)
    drift = (age - 20) / 4 + 5 * (town == "b") if related else chance.uniform(0, 15, rows)
    return pa.table({"age": age, "town": town, "value": np.rint(drift + chance.normal(0, 1.5, rows)).astype(int) % 20})


def released(table, to, **more):
    return discreet.publish(table, discreet.Policy(**RULES, **more), to=to, seed=3)


def attack(release, truth, **more):
    return Learner().run(release, Given.read(release, truth=truth, **more))


def expected(votes, table, spared=()):
    """How many people hold the likeliest value of those who look like them; ties are shared."""
    right = Fraction(0)
    for row in table.to_pylist():
        found = {value: n for value, n in votes[row["age"], row["town"]].items() if value not in spared}
        best = [value for value, n in found.items() if n > max(found.values()) * (1 - 1e-6)]
        right += Fraction(row["value"] in best, len(best))
    return right


def scaled(chances):
    """Rows and columns scaled to a sum of 1 in turns, from chances to the power n / (n - 1)."""
    found = np.exp(chances * len(chances) / (len(chances) - 1))
    for _ in range(200):
        found /= found.sum(0)
        found /= found.sum(1, keepdims=True)
    return found


@pytest.mark.parametrize("spared", [(), (3, 4)])
def test_guesses_are_counted_as_by_hand(tmp_path, spared):
    """By a model and blindly, in plain loops; people with harmless values are not counted."""
    table = people(400, related=True)
    release = released(table, tmp_path / "r", partition="deal", harmless=list(spared))
    view = View.of(release)
    looks = list(zip(*(coded.values.take(coded.codes).to_pylist() for coded in view.quasi.values()), strict=True))
    model, values = learn(view, silent), view.values.to_pylist()
    chances = model.chances([coded.codes for coded in view.quasi.values()])[:, model.kinds.of]
    by_model, by_group = defaultdict(Counter), defaultdict(Counter)
    for start, end in zip(view.starts[:-1], view.starts[1:], strict=True):
        likely = scaled(chances[start:end][:, view.held[start:end]].astype(float))
        for row, look in enumerate(looks[start:end]):
            for place, code in enumerate(view.held[start:end]):
                by_model[look][values[code]] += likely[row, place]
                by_group[look][values[code]] += 1 / int(end - start)
    found = attack(release, table)
    counted = table.filter(pa.array([value not in spared for value in table["value"].to_pylist()]))
    assert found.people == len(counted) < 401 - 10 * len(spared)
    assert found.attacker.share == pytest.approx(float(expected(by_model, counted, spared) / len(counted)), abs=0.01)
    assert found.blind.share == pytest.approx(float(expected(by_group, counted, spared) / len(counted)))
    often = Counter(value for value in table["value"].to_pylist() if value not in spared).most_common(1)[0][1]
    assert found.details["frequent"].share == pytest.approx(often / len(counted))


def test_a_model_learned_from_groups_nears_that_of_people(tmp_path):
    """It guesses people without their groups better than the most frequent value does, as one of known values would."""
    table = people(2_000, related=True)
    view = View.of(released(table, tmp_path / "r", partition="mixed"))
    asked = [places(table[name], coded.values) for name, coded in view.quasi.items()]
    held = places(table["value"], view.values)
    known = fit(
        [Coded(codes, coded.values) for codes, coded in zip(asked, view.quasi.values(), strict=True)], held, view.values
    )
    shares = [(each.chances(asked).argmax(1) == each.kinds.of[held]).mean() for each in (learn(view, silent), known)]
    assert np.bincount(held).max() / held.size + 0.05 < shares[0] < shares[1] + 0.02


def test_nothing_is_learned_where_nothing_is_related(tmp_path):
    """Groups that show no relation leave the shares of all values: guesses are those of one who is blind."""
    table = people(400, related=False)
    release = released(table, tmp_path / "r", partition="mixed")
    assert learn(View.of(release), silent).strength == 0
    found = attack(release, table)
    assert found.attacker == found.blind


def test_a_row_that_is_recognised_is_looked_for_in_its_group(tmp_path):
    """Everybody's group is told: who is blind is right of one in so many rows as it has, and a learner more often."""
    table = people(1_500, related=True)
    release = released(table, tmp_path / "r", partition="mixed")
    policy = discreet.Policy(**RULES, partition="mixed")
    groups = grouped(discreet.read(table), policy, RandomSource(3)).astype(np.int64)
    by_look, by_row = attack(release, table), attack(release, table, groups=groups)
    assert by_row.blind.share == pytest.approx(1 / L, abs=0.01)
    assert by_row.attacker.share > max(by_look.attacker.share, by_row.blind.high)
    with pytest.raises(InputError, match="groups of 3 people are told, and the truth has 1,500"):
        attack(release, table, groups=groups[:3])
    with pytest.raises(InputError, match="people of a holdout are in no group"):
        attack(release, table, groups=groups, holdout=people(10, related=True, seed=2))


@pytest.mark.slow
def test_learner_beats_the_promise_where_values_follow(tmp_path):
    """More than 1/l of rows that are recognised where values follow the quasi-identifiers; else as blind guesses do."""
    table, rules = people(3_000, related=True), discreet.Policy(**RULES)
    release = discreet.publish(table, rules, to=tmp_path / "related", seed=3)
    found = attack(release, table, groups=grouped(discreet.read(table), rules, RandomSource(3)).astype(np.int64))
    assert found.attacker.low > 1 / L
    assert found.attacker.low > found.blind.high
    assert found.without.low > found.details["frequent"].high
    table = people(3_000, related=False)
    found = attack(released(table, tmp_path / "unrelated"), table)
    assert found.attacker.low <= found.blind.share <= found.attacker.high
    assert found.without.low <= found.details["frequent"].high


def test_an_interval_of_a_share():
    """Wilson's, as in the tables of textbooks; within 0 and 1 at the ends."""
    found = Rate.of(10, 100)
    assert (found.share, round(found.low, 4), round(found.high, 4)) == (0.1, 0.0552, 0.1744)
    assert (Rate.of(0, 10).low, Rate.of(10, 10).high) == (0, 1)


def test_a_truth_of_other_people(tmp_path):
    table = people(300, related=False)
    release = released(table, tmp_path / "r", partition="deal")
    elsewhere = table.set_column(0, "age", pa.array([999] * len(table)))
    with pytest.raises(InputError, match="nobody of the truth is in the release"):
        attack(release, elsewhere)
    some = attack(release, table.slice(0, 50))
    assert some.people == 50
    whole, part = (discreet.attack(release, "order", truth=each)[0] for each in (table, table.slice(0, 50)))
    assert "accounts for 16.7% of the release" in part.notes[0]
    assert not any("accounts for" in note for note in whole.notes)
