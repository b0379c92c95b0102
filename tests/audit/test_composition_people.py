"""Releases in which people have several rows, held against each other: a plain attacker, and every possible table."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, product
from math import factorial, prod

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.attacker import intersect
from discreet import Policy, audit, publish
from discreet.errors import GuaranteeError
from publication.visits import policy, visits


def persons_of(folder):
    """The quasi-identifiers, the group and the number of rows of each person, and the values of each group."""
    found, values = defaultdict(list), defaultdict(Counter)
    for row in pq.read_table(folder / "qit.parquet").to_pylist():
        found[row["person"]].append((row["age"], row["town"], row["group"]))
    for line in pq.read_table(folder / "st.parquet").to_pylist():
        values[line["group"]][line["ill"]] += line["count"]
    return [(rows[0][:2], rows[0][2], len(rows)) for rows in found.values()], values


def signed(folder):
    """The groups of each kind of people, by who is in them and what they hold."""
    persons, values = persons_of(folder)
    inside, found = defaultdict(list), defaultdict(list)
    for kind, group, rows in persons:
        inside[group].append((kind, rows))
    for kind, group, _ in persons:
        found[kind].append((tuple(sorted(inside[group])), tuple(sorted(values[group].items()))))
    return {kind: tuple(sorted(groups)) for kind, groups in found.items()}


def share(folder, kind):
    """How likely a value of a row is by one release."""
    persons, values = persons_of(folder)
    groups = [group for who, group, rows in persons if who == kind for _ in range(rows)]
    odds = Counter()
    for group in groups:
        for value, count in values[group].items():
            odds[value] += count / values[group].total() / len(groups)
    return max(odds.values())


def two(place, rows, **more):
    return [publish(rows, policy(**more), to=place / f"{number}").path for number in range(2)]


def told(found):
    return {(row["age"], row["town"]): row for row in found.linked.to_pylist()}


def test_what_is_left_is_as_a_plain_attacker_finds_it(tmp_path):
    """A row has what releases leave for rows like it; a person of r rows r times the belief, in any row."""
    paths = two(tmp_path, visits(people=400, each=[1, 2, 3], kinds=60), guarantee={"l": 3})
    found, wanted = audit(paths), intersect(*paths)
    most, people = Counter(), Counter()
    for path in paths:
        here = Counter()
        for kind, _, rows in persons_of(path)[0]:
            most[kind] = max(most[kind], rows)
            here[kind] += 1
        people |= here
    assert told(found).keys() == wanted.keys()
    given_away, again = 0, set.intersection(*(set(signed(path).items()) for path in paths))
    assert len(again) < 40
    for kind, row in told(found).items():
        left = wanted[kind][1]
        if kind in dict(again):  # in the same groups as in the other release, which tells nothing more
            continue
        belief = min(1.0, most[kind] * max(left.values(), default=0))
        assert (row["people"], row["candidates"]) == (people[kind], len(left))
        assert row["posterior"] == pytest.approx(belief)
        alone = most[kind] * max(share(path, kind) for path in paths)
        given_away += people[kind] * (belief > max(1 / 3, alone) + 1e-9 or len(left) == 1)
    assert found.people == 400
    assert found.vulnerable == given_away > 200


def couples(seed, ills):
    """Six people of their own looks with two visits each."""
    ages, chance = np.repeat(np.arange(6), 2), np.random.default_rng(seed)
    values = chance.permutation(np.arange(12) % ills)
    return pa.table({"person_id": [f"p{age}" for age in ages], "age": ages, "town": ["Aix"] * 12, "ill": values})


def every_world(folder):
    """All ways to give people values that a release allows, as what each holds."""
    persons, values = persons_of(folder)
    worlds = []
    for group, held in values.items():
        people = [(kind, rows) for kind, at, rows in persons if at == group]
        worlds.append([dict(dealt) for dealt in dealt_out(people, tuple(sorted(held.elements())))])
    for parts in product(*worlds):
        world = {kind: own for part in parts for kind, own in part.items()}
        yield world


def dealt_out(people, values):
    """Every way in which people can hold these values, each a multiset."""
    if not people:
        yield ()
        return
    (kind, rows), *others = people
    for own in sorted(set(combinations(values, rows))):
        rest = tuple(sorted((Counter(values) - Counter(own)).elements()))
        yield from (((kind, own), *more) for more in dealt_out(others, rest))


@pytest.mark.slow
def test_nobody_s_value_is_ruled_out_and_who_is_pinned_is_certain(tmp_path):
    certain = found_out = 0
    for seed in range(8):
        place = tmp_path / f"{seed}"
        place.mkdir()
        paths = two(place, couples(seed, 5 + seed % 4), guarantee={"l": 2}, partition="deal")
        worlds = [{tuple(sorted(world.items())) for world in every_world(path)} for path in paths]
        both = worlds[0] & worlds[1]
        possible = defaultdict(set)
        for world in both:
            for kind, own in world:
                possible[kind] |= set(own)
        for same in (False, True):
            for kind, row in told(audit(paths, same_people=same)).items():
                assert row["candidates"] >= len(possible[kind])
                if row["candidates"] == 1:
                    assert possible[kind] == {row["guess"]}
                found_out += same and row["candidates"] == len(possible[kind])
                certain += same
    assert found_out > certain / 2


def test_who_looks_alike_is_told_apart_by_the_number_of_rows(tmp_path):
    """Every two people look the same, and one of them has twice as many rows: who knows that finds each of them."""
    rng, who = np.random.default_rng(3), np.repeat(np.arange(120), np.tile([2, 4], 60))
    rows = pa.table(
        {
            "person_id": [f"p{each}" for each in who],
            "age": who // 2,
            "town": ["Aix"] * who.size,
            "ill": rng.integers(0, 60, who.size),
        }
    )
    paths = two(tmp_path, rows, guarantee={"l": 2})
    plain, known = audit(paths), audit(paths, same_people=True)
    assert known.linked.num_rows == 2 * plain.linked.num_rows == 120
    assert sorted(set(known.linked["rows"].to_pylist())) == [2, 4]
    assert (plain.people, known.people) == (120, 120)
    assert known.pinned >= plain.pinned
    assert sum(known.linked["candidates"].to_pylist()) / 2 < sum(plain.linked["candidates"].to_pylist())


def test_the_same_groups_again_tell_nothing_more(tmp_path):
    """Also of people who look the same, and have different numbers of rows."""
    rows = visits(people=200, each=[1, 3], kinds=60)
    paths = two(tmp_path, rows, guarantee={"l": 2})
    for same in (False, True):
        assert audit([paths[0], paths[0]], same_people=same).ok
        assert not audit(paths, same_people=same).ok


def test_a_release_is_held_against_earlier_ones_about_people(tmp_path):
    rows = visits(people=300, each=2, kinds=60)
    first = publish(rows, policy(guarantee={"l": 2}), to=tmp_path / "a")
    told_so = r"with `a`, the release would give away \d+ people of the 300 who may be in both"
    with pytest.raises(GuaranteeError, match=told_so):
        publish(rows, policy(guarantee={"l": 2}), to=tmp_path / "b", earlier=[first.path])
    assert not (tmp_path / "b").exists()
    others = visits(people=300, each=2, kinds=60, seed=4)
    others = others.set_column(1, "age", pa.array(np.asarray(others["age"]) + 100))
    publish(others, policy(guarantee={"l": 2}), to=tmp_path / "c", earlier=[first.path])


def test_rows_of_people_and_people_with_one_row(tmp_path):
    """A release with one visit of each person beside one with all of them: both show the same people."""
    rows = visits(people=300, each=[1, 3], kinds=60)
    first = {who: at for at, who in reversed(list(enumerate(rows["person_id"].to_pylist())))}
    once = rows.take(sorted(first.values()))
    single = Policy(identifiers=["person_id"], quasi=["age", "town"], sensitive="ill", guarantee={"l": 2})
    paths = [
        publish(once, single, to=tmp_path / "once").path,
        publish(rows, policy(guarantee={"l": 2}), to=tmp_path / "all").path,
    ]
    found = audit(paths)
    assert found.people == 300
    assert found.vulnerable > 100
    assert audit(paths, same_people=True).people == 300


def test_the_worlds_are_counted_right():
    assert len(list(dealt_out([("a", 2), ("b", 2)], (1, 2, 3, 4)))) == factorial(4) // prod([2, 2])
    assert sorted(dealt_out([("a", 1), ("b", 1)], (1, 1))) == [(("a", (1,)), ("b", (1,)))]
