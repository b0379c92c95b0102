"""People with several rows: what is published of them, held against every pairing, and what is refused."""

import re
import shutil
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb, log

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Vault, compare, publish, read, verify
from discreet.errors import DiscreetWarning, GuaranteeError, InputError, PolicyError
from publication.visits import every_world, groups_of, policy, visits
from release.forger import Forger


def belief(own, held, size):
    """How probably somebody with `own` of a group's rows holds a value of `held` rows, over all pairings."""
    return 1 - Fraction(comb(size - held, own), comb(size, own))


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
@pytest.mark.parametrize("partition", ["deal", "local"])
def test_nobody_is_believed_to_hold_a_value_beyond_one_in_l(publication, partition, tmp_path):
    rules = policy(publication=publication, partition=partition, guarantee={"l": 3, "k": 4})
    release = publish(visits(each=[1, 2, 2, 3]), rules, to=tmp_path / "r")
    found = groups_of(release)
    assert release.promise.people == 1_000 == len({who for persons, _ in found.values() for who in persons})
    assert sum(len(persons) for persons, _ in found.values()) == 1_000, "somebody is in two groups"
    assert len(found) == release.promise.groups > 20
    for persons, values in found.values():
        size = sum(values.values())
        assert len(persons) >= 4
        for held in values.values():
            assert all(belief(own, held, size) <= Fraction(1, 3) for own in persons.values())
    assert verify(release.path).ok


ASKED = [
    ({"distinct_l": 4}, lambda n, r, held, _: (sum(sorted(held.values())[-3:]) + 1) * r <= n),
    (
        {"k": 3, "e": 4},
        lambda n, r, held, _: (
            (sum(sorted(held.values())[-2:]) + 1) * r <= n
            and all((sum(held[v] for v in range(low, low + 4)) + 1) * r <= n for low in held)
        ),
    ),
    (
        {"beta": 2.5, "k": 6},
        lambda n, r, held, shares: all(
            held[v] / n <= 3.5 * shares[v] / (1 + (r - 1) * shares[v]) + 1e-12 for v in held
        ),
    ),
    (
        {"enhanced_beta": 8.0},
        lambda n, r, held, shares: all(
            held[v] / n <= (1 - log(shares[v])) * shares[v] / (1 + (r - 1) * shares[v]) + 1e-12 for v in held
        ),
    ),
]


@pytest.mark.parametrize(("promised", "kept"), ASKED, ids=lambda each: str(each) if isinstance(each, dict) else "")
@pytest.mark.parametrize("partition", ["deal", "local"])
def test_every_guarantee_is_about_people(promised, kept, partition, tmp_path):
    """The definitions of the page on promises, held against the files; and a promise that is not kept is found."""
    rules = policy(guarantee=promised, partition=partition)
    release = publish(visits(each=[1, 2, 2]), rules, to=tmp_path / "r", seed=1)
    found = groups_of(release)
    everybody = sum((values for _, values in found.values()), Counter())
    shares = {value: many / everybody.total() for value, many in everybody.items()}
    assert len(found) > 3
    for persons, values in found.values():
        assert len(persons) >= (promised.get("k", 1) if "e" not in promised else 1)
        assert kept(values.total(), max(persons.values()), values, shares)
    names = {check.name for check in verify(release.path).checks}
    assert {f"people {name} = {threshold}" for name, threshold in promised.items()} <= names
    stricter = {"distinct_l": 39, "e": 39, "beta": 0.01, "enhanced_beta": 0.01}
    name = next(name for name in stricter if name in promised)
    forger = Forger(shutil.copytree(release.path, tmp_path / "copy"), {})
    forger.promise(guarantee={**promised, name: stricter[name]})
    assert f"people {name} = {stricter[name]}" in {check.name for check in verify(forger.path).failures}


def test_in_some_world_anybody_holds_none_of_so_few_values(tmp_path):
    """Small tables: for everybody, and for any two values or any range, there is a pairing without one of them."""
    tried = 0
    for seed in range(10):
        rows, promised = visits(people=4, each=[1, 2], seed=seed, kinds=60), {"k": 3, "e": 3}
        try:
            release = publish(rows, policy(guarantee=promised, partition="deal"), to=tmp_path / str(seed))
        except GuaranteeError:
            continue
        for persons, values in groups_of(release).values():
            if values.total() > 7:
                continue
            worlds = [set(world) for world in every_world(persons, values)]
            for who in persons:
                for few in [*combinations(values, 2), *([low, low + 1, low + 2] for low in values)]:
                    tried += 1
                    assert any(not world & {(who, value) for value in few} for world in worlds)
    assert tried > 50


def test_nobody_is_believed_to_hold_a_value_beyond_beta(tmp_path):
    """Over all pairings of a group, and of the whole table: by how much more probably somebody holds a value."""
    release = publish(visits(each=[1, 2, 3]), policy(guarantee={"beta": 3.0}), to=tmp_path / "r", seed=2)
    found = groups_of(release).values()
    everybody = sum((values for _, values in found), Counter())
    most = Fraction(0)
    for persons, values in found:
        for value, held in values.items():
            for own in set(persons.values()):
                by_table = belief(own, everybody[value], everybody.total())
                most = max(most, Fraction(own * held, values.total()) / by_table)
    assert 1 < most <= 4


def test_what_cannot_be_promised_is_told_with_what_can(tmp_path):
    rows = visits(people=200, each=4)
    with pytest.raises(GuaranteeError, match=r"e = 30 cannot be met: .* \(up to 4\) .*; 7\.5 works") as refused:
        publish(rows, policy(guarantee={"k": 2, "e": 30}), to=tmp_path / "r")
    assert "set e = 7.5, or publish fewer rows" in refused.value.hint
    publish(rows, policy(guarantee={"k": 2, "e": 7.5}), to=tmp_path / "r")
    with pytest.raises(GuaranteeError, match=r"beta = 0\.01 cannot be met: .*; 0\.16 works"):
        publish(rows, policy(guarantee={"beta": 0.01}), to=tmp_path / "s")


def test_people_hold_values_no_more_often_than_promised(tmp_path):
    """The promise as it is printed, held against the private table."""
    rows = visits(each=[1, 2, 3])
    release = publish(rows, policy(partition="local"), to=tmp_path / "r")
    private = Counter(zip(rows["age"].to_pylist(), rows["town"].to_pylist(), strict=True))
    shown = pq.read_table(release.path / "qit.parquet")
    assert Counter(zip(shown["age"].to_pylist(), shown["town"].to_pylist(), strict=True)) == private
    for persons, values in groups_of(release).values():
        assert all(3 * held <= len(persons) for held in values.values())  # at most so many people hold it


def test_the_visits_of_the_issue_are_published_about_people(tmp_path):
    """1,000 people x 5 rows: groups of one single person before, and now groups that are told by people."""
    release = publish(visits(kinds=60), policy(guarantee={"l": 4}), to=tmp_path / "r")
    assert (release.promise.rows, release.promise.people) == (5_000, 1_000)
    assert min(len(persons) for persons, _ in groups_of(release).values()) >= 4
    assert "5000 rows of 1000 people" in (release.path / "README.md").read_text()
    refused = r"l = 4 cannot be met: somebody with many rows .* frequent value .*; no l of 2 or more works"
    with pytest.raises(GuaranteeError, match=refused):
        publish(visits(kinds=8), policy(guarantee={"l": 4}), to=tmp_path / "s")


def test_the_number_of_a_person_is_chance(tmp_path):
    rows = visits(people=300, each=2)
    orders = []
    for name in ("a", "b"):
        shown = pq.read_table(publish(rows, policy(), to=tmp_path / name).path / "qit.parquet")
        key = zip(shown["age"].to_pylist(), shown["town"].to_pylist(), strict=True)
        alone = {key for key, times in Counter(key).items() if times == 2}
        numbers = dict(
            zip(
                zip(shown["age"].to_pylist(), shown["town"].to_pylist(), strict=True),
                shown["person"].to_pylist(),
                strict=True,
            )
        )
        orders.append([numbers[key] for key in sorted(alone)])
    assert len(orders[0]) > 30
    assert orders[0] != orders[1]
    ranks = [np.argsort(np.argsort(order)) for order in orders]
    assert abs(np.corrcoef(*ranks)[0, 1]) < 0.6


def test_bad_people_are_named(tmp_path):
    rows = visits(people=20, each=2)
    missing = rows.set_column(0, "person_id", pa.array([None, *rows["person_id"].to_pylist()[1:]]))
    with pytest.raises(InputError, match="1 row has no `person_id`: it cannot be known whose they are"):
        publish(missing, policy(), to=tmp_path / "r")
    moved = rows.set_column(2, "town", pa.array([*["Dax"] * 3, *rows["town"].to_pylist()[3:]]))
    aged = moved.set_column(1, "age", pa.array([18, *rows["age"].to_pylist()[1:]]))
    with pytest.raises(
        InputError,
        match=r"`age` differs from row to row of 1 person; `town` differs from row to row of 1 person \(told apart by",
    ) as refused:
        publish(aged, policy(), to=tmp_path / "r")
    assert "list it in `drop`" in refused.value.hint
    with pytest.raises(GuaranteeError, match="k = 21 cannot be met: the table has 20 people"):
        publish(rows, policy(guarantee={"k": 21}), to=tmp_path / "r")


def test_a_person_with_more_rows_than_a_group_is_told(tmp_path):
    rows = pa.concat_tables(
        [
            visits(people=300, each=2),
            visits(people=1, each=300, kinds=3).set_column(0, "person_id", pa.array(["x"] * 300)),
        ]
    )
    with pytest.raises(GuaranteeError, match=r"\(up to 300\)") as refused:
        publish(rows, policy(), to=tmp_path / "r")
    assert "1 person has over 2; without them it can be met" in refused.value.hint


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            {"publication": "slicing"},
            "`slicing` treats every row as a different person, but the policy has a `person`; use `anatomy` or `permutation`",
        ),
        (
            {"partition": "anatomize"},
            "`anatomize` treats every row as a different person, but the policy has a `person`; use `deal` or `local`",
        ),
        ({"identifiers": ["person_id"]}, "the column `person_id` stands in `identifiers` too; a column has one role"),
        ({"person": 3}, "`person`: expected a text, got 3"),
    ],
)
def test_what_cannot_be_had_is_named(more, told):
    with pytest.raises(PolicyError, match=re.escape(told)):
        policy(**more)


def test_the_table_must_have_the_column():
    with pytest.raises(PolicyError, match="`person`: the table has no column `person_id`"):
        policy().fit(read(visits(people=3).drop_columns(["person_id"])).columns)


def test_boxes_of_people_are_for_a_vault_alone(tmp_path):
    boxes = policy(publication="generalization", guarantee={"l": 10})
    told = "`generalization` treats every row as a different person, but the policy has a `person`; use `anatomy` or `permutation`"
    with pytest.raises(PolicyError, match=re.escape(told)):
        publish(visits(), boxes, to=tmp_path / "r")
    Vault.create(tmp_path / "v", boxes).close()


def test_methods_are_compared_about_people():
    found = compare(visits(people=200, each=2), policy(guarantee={"l": 2}), queries=5, seed=1, attack=False)
    assert {outcome.method for outcome in found.outcomes} >= {"anatomy/local", "anatomy/deal"}
    assert not any(outcome.refused for outcome in found.outcomes)
    assert not sum(outcome.outside for outcome in found.outcomes)


def test_values_that_look_alike_are_judged_about_people(tmp_path):
    """Two spellings: rows would keep l = 2 if they were one value, and people would not."""
    spelled = [f"ill {i}" for i in range(40)]
    ill = [spelled[i % 40] for i in range(400)]
    ill[::3] = ["flu", "Flu"] * 67
    rows = visits(people=200, each=2).set_column(3, "ill", pa.array(ill))
    with pytest.warns(DiscreetWarning, match=r"lookalikes.ill: .* of the rows of one group") as told:
        release = publish(rows, policy(guarantee={"l": 2}), to=tmp_path / "r")
    merged = {number: Counter() for number in groups_of(release)}
    for number, (_, values) in groups_of(release).items():
        for value, many in values.items():
            merged[number][value.lower()] += many
    broken = sum(max(values.values()) * 4 > sum(values.values()) for values in merged.values())
    expected = f"is broken in {broken} of {len(merged)} groups" if broken else "still holds"
    assert broken > 0
    assert expected in str(told[0].message)


def test_people_whose_rows_are_withheld_are_not_counted(tmp_path):
    rows = visits(people=200, each=2)
    ill = pa.array(rows["ill"].to_pylist(), mask=np.arange(400) < 4)
    release = publish(rows.set_column(3, "ill", ill), policy(missing_sensitive="withhold"), to=tmp_path / "r")
    assert (release.promise.people, release.promise.rows, release.withheld) == (198, 396, 4)


def test_the_rule_holds_against_every_pairing(tmp_path):
    """The attacker of small tables: every world that the files allow, counted one by one."""
    tried = 0
    for seed in range(12):
        rows = visits(people=8, each=[1, 2], seed=seed, kinds=9)
        try:
            release = publish(rows, policy(guarantee={"l": 2}), to=tmp_path / str(seed))
        except GuaranteeError:
            continue
        for persons, values in groups_of(release).values():
            if sum(values.values()) > 7:
                continue
            tried += 1
            worlds, holds = 0, Counter()
            for world in every_world(persons, values):
                worlds += 1
                holds.update(set(world))
            assert max(holds.values()) * 2 <= worlds
    assert tried > 5


@pytest.mark.parametrize("publication", ["anatomy", "permutation"])
def test_csv_files_and_a_column_of_the_same_name(publication, tmp_path):
    rows = visits(people=200, each=2).rename_columns(["person_id", "person", "town", "ill"])
    rules = policy(quasi=["person", "town"], publication=publication, guarantee={"l": 2})
    release = publish(rows, rules, to=tmp_path / "r", format="csv")
    assert release.promise.person == "person_"
    assert release.ask("SELECT COUNT(DISTINCT person_) FROM microdata").rows()[0]["people"] == 200
    assert verify(release.path).ok
