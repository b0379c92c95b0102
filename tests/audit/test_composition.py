"""Releases that show rows, held against each other: an independent attacker, every possible table, clear refusals."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest

import discreet
from audit.attacker import blocks_and_values, intersect, rows_and_values
from discreet.audit.composition.auditor import _narrowed
from discreet.audit.composition.candidates import Composition
from discreet.audit.composition.people import People, Places, Shown
from discreet.audit.sequence.groups import Counts
from discreet.errors import InputError, ReleaseError
from discreet.publication.publish import publish_groups
from discreet.table.people import people as invented
from discreet.values.codes import encode

QUASI = ["age", "sex", "zipcode", "education"]


def policy(**more):
    given = {"publication": "anatomy", "partition": "anatomize", "guarantee": {"l": 4}, **more}
    return discreet.Policy(quasi=QUASI, sensitive=given.pop("sensitive", "diagnosis"), drop="rest", **given)


@pytest.fixture(scope="module")
def months(tmp_path_factory):
    """Two monthly releases that share 3,074 people; each has others, too."""
    everybody, place = invented(3_474, seed=5), tmp_path_factory.mktemp("months")
    tables = everybody.slice(0, 3_274), everybody.slice(200)
    paths = [discreet.publish(t, policy(), to=place / str(i), seed=i).path for i, t in enumerate(tables)]
    return paths, everybody


def of_people(found):
    """What the auditor tells of each combination of quasi-identifiers."""
    return {tuple(row[name] for name in found.quasi): row for row in found.linked.to_pylist()}


def test_two_monthly_releases_are_intersected(months):
    paths, everybody = months
    found, wanted = discreet.audit(paths, truth=everybody), intersect(*paths)
    assert found.people == sum(people for people, _ in wanted.values()) >= 3_074
    assert found.pinned == sum(people for people, left in wanted.values() if len(left) == 1)
    assert found.pinned >= 200
    exceeding = sum(people for people, left in wanted.values() if left and max(left.values()) > 0.25 + 1e-9)
    assert (found.vulnerable, found.ok) == (exceeding, False)
    assert (found.pinned_alone, found.posterior_alone, found.posterior) == (0, 0.25, 1.0)
    assert found.impossible == sum(people for people, left in wanted.values() if not left)
    told = of_people(found)
    assert told.keys() == wanted.keys()
    for person, (people, left) in wanted.items():
        assert (told[person]["people"], told[person]["candidates"]) == (people, len(left))
        assert told[person]["posterior"] == pytest.approx(max(left.values(), default=0))
    # everybody recognised is really the same person, but for the few who are alike
    assert found.truth.pinned >= 0.97 * found.pinned
    assert found.truth.guessed == pytest.approx(found.guess * found.people, rel=0.05)


def test_counting_heads_tells_more_and_nothing_wrong(tmp_path):
    everybody = invented(1_500, seed=6)
    tables = everybody.slice(0, 1_200), everybody
    paths = [discreet.publish(t, policy(), to=tmp_path / str(i), seed=i).path for i, t in enumerate(tables)]
    plain, counted = (discreet.audit(paths, same_people=same, truth=everybody) for same in (False, True))
    assert counted.counted
    assert (plain.people, plain.impossible, counted.impossible) == (1_200, 0, 0)
    assert counted.pinned > 2 * plain.pinned > 0
    assert (plain.truth.pinned, counted.truth.pinned) == (plain.pinned, counted.pinned)
    other = discreet.publish(invented(1_300, seed=7), policy(), to=tmp_path / "other", seed=3)
    with pytest.raises(ReleaseError, match=r"lacks people of .*: they are not the same people"):
        discreet.audit([paths[0], other], same_people=True)


def test_the_same_groups_again_tell_nothing_more(tmp_path):
    rows = pa.table({"age": [1, 1, 2, 2, 3, 4, 5], "ill": ["a", "b", "a", "c", "a", "b", None]})
    rules = discreet.Policy(quasi=["age"], sensitive="ill", missing_sensitive="value", guarantee={"l": 2})
    groups = np.array([0, 0, 1, 1, 2, 2, 2], np.int32)
    with discreet.read(rows) as table:
        made = [
            publish_groups(table, rules, table.codes("ill"), given, to=tmp_path / str(i))
            for i, given in enumerate([groups, 2 - groups, groups])
        ]
    for same in (False, True):
        found = discreet.audit(made, same_people=same)
        assert (found.ok, found.people, found.pinned, found.posterior) == (True, 7, 0, 0.5)


def test_ranges_are_held_against_e(tmp_path):
    everybody = invented(600, seed=8)
    rules = policy(sensitive="salary", publication="permutation", partition="auto", guarantee={"k": 4, "e": 8_000})
    paths = [
        discreet.publish(t, rules, to=tmp_path / str(i), seed=i).path
        for i, t in enumerate((everybody[:500], everybody))
    ]
    found, wanted = discreet.audit(paths), intersect(*paths)
    spans = {person: max(left) - min(left) for person, (_, left) in wanted.items()}
    assert found.span == min(spans.values())
    short = sum(n for p, (n, left) in wanted.items() if spans[p] < 8_000 or len(left) < 4)
    assert found.vulnerable == short > 0


def test_blocks_are_searched_for_people(tmp_path):
    everybody = invented(300, seed=9)
    anatomy = discreet.publish(everybody, policy(), to=tmp_path / "anatomy", seed=1).path
    sliced = policy(publication="slicing", together=[["age", "zipcode"], ["sex", "education"]])
    slicing = discreet.publish(everybody, sliced, to=tmp_path / "slicing", seed=2).path
    found = discreet.audit([anatomy, slicing], same_people=True, truth=everybody)
    (rows, values), (blocks, others) = rows_and_values(anatomy), blocks_and_values(slicing)
    mine = defaultdict(set)
    for person, group in rows:
        mine[person] |= set(values[group])
    for person, told in of_people(discreet.audit([anatomy, slicing])).items():
        fits = [g for g in others if all(tuple(person[i] for i in at) in held[g] for at, held in blocks)]
        assert told["candidates"] == len(mine[person] & {v for g in fits for v in others[g]})
    assert found.pinned == found.truth.pinned > 0
    full = policy(publication="full_permutation", partition="auto")
    shuffled = discreet.publish(everybody, full, to=tmp_path / "full", seed=3).path
    found = discreet.audit([shuffled, slicing], truth=everybody)
    assert (found.people, found.impossible) == (300, 0)
    with pytest.raises(InputError, match="none of the releases shows whole rows"):
        discreet.audit([shuffled, slicing])
    with pytest.raises(InputError, match="nobody can be known to be in all of them"):
        discreet.audit([shuffled, slicing], truth=everybody, same_people=True)


def test_what_cannot_be_compared(tmp_path):
    everybody = invented(200, seed=1)

    def made(name, **more):
        return discreet.publish(everybody, policy(**more), to=tmp_path / name, seed=1).path

    anatomy = made("anatomy")
    with pytest.raises(ReleaseError, match="by generalization: it shows no rows as they are"):
        discreet.audit([anatomy, made("boxes", publication="generalization", partition="auto")])
    with pytest.raises(ReleaseError, match=r"another sensitive column than .*: `salary`, not `diagnosis`"):
        discreet.audit([anatomy, made("salary", sensitive="salary")])
    rules = discreet.Policy(quasi=["country"], sensitive="diagnosis", drop="rest", guarantee={"l": 2})
    with pytest.raises(ReleaseError, match="no quasi-identifier in common"):
        discreet.audit([anatomy, discreet.publish(everybody, rules, to=tmp_path / "country", seed=1)])
    with pytest.raises(InputError, match="`--insertions` is for releases by generalization only"):
        discreet.audit([anatomy, anatomy], insertions="unknown")
    with pytest.raises(ReleaseError, match="expected at least two releases, got one"):
        discreet.audit([anatomy])


# Every table that two releases could be of, by brute force.


def drawn(chance):
    """People with kinds and values, and groups of two releases; in the first there are only some of them."""
    size = int(chance.integers(4, 8))
    kinds, values = chance.integers(0, size, size), chance.integers(0, 3, size)
    first = int(chance.integers(3, size + 1))
    rows = []
    for many in (first, size):
        groups = chance.permutation(np.arange(many) // int(chance.integers(2, 4)))
        rows.append([(int(kinds[i]), int(groups[i]), int(values[i])) for i in range(many)])
    return rows


def worlds(rows):
    """All ways in which the values of each group can be its rows': which values each kind has."""
    groups = defaultdict(list)
    for kind, group, value in rows:
        groups[group].append((kind, value))
    ways = []
    for members in groups.values():
        kinds, values = zip(*members, strict=True)
        ways.append({tuple(sorted(zip(kinds, way, strict=True))) for way in permutations(values)})
    return {tuple(sorted(Counter(pair for part in world for pair in part).items())) for world in product(*ways)}


def possible(earlier, later):
    """Of each kind in the earlier release the values that its people have in some table that both could be of."""
    found = defaultdict(set)
    afters = [Counter(dict(world)) for world in worlds(later)]
    for world in worlds(earlier):
        before = Counter(dict(world))
        if any(before <= after for after in afters):
            for kind, value in before:
                found[kind].add(value)
    return found


def shown(rows, kinds):
    """A release as the auditor reads it."""
    numbers = sorted({group for _, group, _ in rows})
    at = Counter((kind, numbers.index(group)) for kind, group, _ in rows)
    held = Counter((numbers.index(group), value) for _, group, value in rows)
    places, entries = sorted(at), sorted(held)
    starts = [sum(kind < k for kind, _ in places) for k in range(kinds + 1)]
    ends = [sum(group < g for group, _ in entries) for g in range(len(numbers) + 1)]
    whole = Places(np.array(starts), np.array([g for _, g in places]), np.array([float(at[p]) for p in places]))
    values = np.array([v for _, v in entries], np.int32), np.array([held[e] for e in entries], np.int32)
    kinds = len(whole.starts) - 1
    return Shown(whole, Counts(np.array(ends), *values), True, np.ones(kinds, np.int64), np.ones(kinds, np.int64))


def audited(rows, *, same):
    """The kinds of people in both releases: how many values are left, and the likeliest."""
    kinds = 8
    read = tuple(shown(of, kinds) for of in rows)
    found = People(pa.table({"kind": range(kinds)}), read, encode(pa.chunked_array([[0, 1, 2]])), None)
    search, asked = Composition(read, 3), np.flatnonzero(np.sum([of.present for of in read], axis=0) >= 2)
    bundles = search.bundles(asked)
    left, counted = _narrowed(search, bundles, found, count=same)
    left = left.at(bundles.of[asked])
    return dict(
        zip(asked.tolist(), zip(left.distinct.tolist(), left.guess.tolist(), strict=True), strict=True)
    ), counted


def test_pinned_people_are_certain():
    """No value is excluded that any fitting table has; nearly everybody who is certain is found to be."""
    chance, certain, pinned = np.random.default_rng(4), 0, 0
    for _ in range(300):
        rows = drawn(chance)
        truth = possible(*rows)
        told, counted = audited(rows, same=True)
        assert counted
        for kind, (distinct, guess) in told.items():
            assert distinct >= len(truth[kind]) >= 1
            if distinct == 1:
                assert truth[kind] == {guess}
            certain, pinned = certain + (len(truth[kind]) == 1), pinned + (distinct == 1)
    assert certain >= pinned >= 0.9 * certain > 100


def test_elimination_is_sound():
    """People who hold the values that are left out, by the very table that was published: nobody."""
    chance = np.random.default_rng(5)
    more = 0
    for _ in range(300):
        rows = drawn(chance)
        real = defaultdict(set)
        for kind, _, value in rows[0]:
            real[kind].add(value)
        plain, counted = audited(rows, same=False)[0], audited(rows, same=True)[0]
        for kind, (distinct, guess) in counted.items():
            assert len(real[kind]) <= distinct <= plain[kind][0]
            assert distinct > 1 or real[kind] == {guess}
            more += distinct < plain[kind][0]
    assert more > 50


def test_intersection_never_excludes_the_truth(tmp_path):
    everybody = invented(500, seed=2)
    paths = [discreet.publish(everybody, policy(), to=tmp_path / str(i), seed=i).path for i in range(3)]
    left = intersect(*paths)
    for row in everybody.select([*QUASI, "diagnosis"]).to_pylist():
        assert row["diagnosis"] in left[tuple(row[name] for name in QUASI)][1]
    found = discreet.audit(paths, truth=everybody)
    assert (found.impossible, found.truth.pinned) == (0, found.pinned)
    assert of_people(found).keys() == left.keys()
    assert found.pinned == sum(people for people, values in left.values() if len(values) == 1)


def test_values_that_changed_are_said(tmp_path):
    rules = discreet.Policy(quasi=["age"], sensitive="ill", guarantee={"l": 2}, partition="anatomize")
    ages = [1, 2, None, 4]
    paths = [
        discreet.publish(pa.table({"age": ages, "ill": ill}), rules, to=tmp_path / str(i), seed=1).path
        for i, ill in enumerate([["a", "b", "a", "b"], ["c", "d", "c", "d"]])
    ]
    for same in (False, True):
        found = discreet.audit(paths, same_people=same)
        assert (found.people, found.impossible, found.pinned, found.ok, found.counted) == (4, 4, 0, True, False)


def test_harmless_values_are_left_out_as_in_what_is_promised(tmp_path):
    """Whoever is known to work has few wages left; that most people have none says nothing of that."""
    chance, n = np.random.default_rng(4), 600
    wage = np.where(chance.random(n) < 0.6, 0, chance.integers(1, 40, n))
    rows = pa.table({"age": np.arange(n), "wage": wage})
    rules = discreet.Policy(quasi=["age"], sensitive="wage", guarantee={"l": 3}, harmless=[0], partition="deal")
    paths = [discreet.publish(rows, rules, to=tmp_path / str(i), seed=i).path for i in range(2)]
    found = discreet.audit(paths)
    held = [rows_and_values(path) for path in paths]
    left = {}
    for (age,), group in held[0][0]:
        other = next(g for (who,), g in held[1][0] if who == age)
        left[age] = {v for v in held[0][1][group] if v and held[1][1][other][v]}
    told = of_people(found)
    assert {age: len(values) for age, values in left.items()} == {age: told[age,]["candidates"] for age in left}
    assert found.pinned == sum(len(values) == 1 for values in left.values()) > 50
    assert all(told[age,]["guess"] != 0 for age in left)
    assert found.posterior_alone <= 1 / 3 + 1e-9
    assert not discreet.audit(paths, same_people=True).counted
    assert discreet.audit([paths[0], paths[0]]).ok
