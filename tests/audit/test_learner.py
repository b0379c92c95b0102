"""The learner: how often guesses are right, by brute force; and what a model gains where values follow, and where not."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.audit.attacks.attack import Given, Rate
from discreet.audit.attacks.learner import Learner
from discreet.errors import InputError
from discreet.learn.draws import draw
from discreet.learn.plausible import secret_of
from discreet.learn.view import View

L = 5


def people(rows, *, related, seed=1):
    """People whose value follows their quasi-identifiers, or does not."""
    chance = np.random.default_rng(seed)
    age, town = chance.integers(20, 80, rows), chance.choice(["a", "b", "c"], rows)
    drift = (age - 20) / 4 + 5 * (town == "b") if related else chance.uniform(0, 15, rows)
    return pa.table({"age": age, "town": town, "value": np.rint(drift + chance.normal(0, 1.5, rows)).astype(int) % 20})


def released(table, to, **more):
    rules = {"quasi": ["age", "town"], "sensitive": "value", "guarantee": {"l": L}, **more}
    return discreet.publish(table, discreet.Policy(**rules), to=to, seed=3)


def attack(release, truth, **options):
    return Learner(**options).run(release, Given.read(release, truth=truth))


def expected(votes, table, spared=()):
    """How many people hold the likeliest value of those who look like them; ties are shared."""
    right = Fraction(0)
    for row in table.to_pylist():
        found = {value: n for value, n in votes[row["age"], row["town"]].items() if value not in spared}
        best = [value for value, n in found.items() if n == max(found.values())]
        right += Fraction(row["value"] in best, len(best))
    return right


@pytest.mark.parametrize("spared", [(), (3, 4)])
def test_guesses_are_counted_as_by_hand(tmp_path, spared):
    """Both of the votes of tables and of those of groups; people with harmless values are not counted."""
    table = people(400, related=True)
    release = released(table, tmp_path / "r", partition="deal", harmless=list(spared))
    view, tables = View.of(release), 7
    looks = list(zip(*(coded.values.take(coded.codes).to_pylist() for coded in view.quasi.values()), strict=True))
    values, drawn = view.values.to_pylist(), draw(view, tables, model="even", secret=secret_of(release))
    by_table, by_group = defaultdict(Counter), defaultdict(Counter)
    for row, look in enumerate(looks):
        by_table[look].update(values[code] for code in drawn.codes[:, row])
    for start, end in zip(view.starts[:-1], view.starts[1:], strict=True):
        for look in looks[start:end]:
            for code in view.held[start:end]:
                by_group[look][values[code]] += Fraction(1, int(end - start))
    found = attack(release, table, tables=tables, model="even")
    counted = table.filter(pa.array([value not in spared for value in table["value"].to_pylist()]))
    assert found.people == len(counted) < 401 - 10 * len(spared)
    assert found.attacker.share == pytest.approx(float(expected(by_table, counted, spared) / len(counted)))
    assert found.blind.share == pytest.approx(float(expected(by_group, counted, spared) / len(counted)))
    often = Counter(value for value in table["value"].to_pylist() if value not in spared).most_common(1)[0][1]
    assert found.details["frequent"].share == pytest.approx(often / len(counted))


@pytest.mark.slow
def test_learner_beats_the_promise_where_values_follow(tmp_path):
    """More than 1/l where values follow the quasi-identifiers, and no more than blind guesses where they do not."""
    table = people(3_000, related=True)
    found = attack(released(table, tmp_path / "related"), table)
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
        attack(release, elsewhere, model="even")
    some = attack(release, table.slice(0, 50), model="even")
    assert some.people == 50
