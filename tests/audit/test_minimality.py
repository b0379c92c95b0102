"""The minimality attack, judged by every table that could have given the same groups."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from contracts.promised import codes, guaranteed
from discreet.audit.replay.minimality import attack, find
from discreet.errors import GuaranteeError
from discreet.guarantees import Histograms
from discreet.partition import PARTITIONS
from discreet.partition.spatial.space import Dimension
from discreet.policy import Policy
from discreet.publication.publish import publish
from discreet.values.random import RandomSource

CENSUS = ["age", "gender", "education", "marital", "race", "workclass", "country"]


def diverse(rows, values, l):
    return all(times * l <= len(rows) for times in Counter(values[row] for row in rows).values())


def cells(quasi, values, l, *, blind):
    """The cells of `local` by a plain reading of its docstring, for columns in which no value stands twice."""
    spans = [max(column) for column in quasi]

    def cut(rows):
        widths = [
            (max(c[r] for r in rows) - min(c[r] for r in rows)) / span for c, span in zip(quasi, spans, strict=True)
        ]
        half, top = len(rows) // 2, max(Counter(values[row] for row in rows).values())
        for j in sorted(range(len(quasi)), key=lambda j: -widths[j]):
            ordered = sorted(rows, key=quasi[j].__getitem__)
            for size in (half, half + 1):
                left, right = ordered[:size], ordered[size:]
                if min(size, len(right)) >= l and (
                    min(size, len(right)) >= top * l
                    if blind
                    else diverse(left, values, l) and diverse(right, values, l)
                ):
                    return cut(left) | cut(right)
        return {frozenset(rows)}

    return cut(list(range(len(values))))


def members(groups):
    return [tuple(np.flatnonzero(groups == g).tolist()) for g in range(groups.max() + 1)]


def worlds(groups, values):
    """Every assignment of values to rows that has the same histograms."""
    ways = [sorted(set(permutations(values[row] for row in rows))) for rows in members(groups)]
    for chosen in product(*ways):
        world = list(values)
        for rows, held in zip(members(groups), chosen, strict=True):
            for row, value in zip(rows, held, strict=True):
                world[row] = value
        yield world


def posterior(groups, values, same):
    """How often each row holds each value, in the worlds that would have given the same cuts."""
    left = [world for world in worlds(groups, values) if same(world)]
    return [{v: Fraction(times, len(left)) for v, times in Counter(held).items()} for held in zip(*left, strict=True)]


def tables(rows, l, kinds, number, seed):
    """Small tables of two columns whose widths differ, no value twice in a column, and values that allow l."""
    chance = np.random.default_rng(seed)
    while number:
        values = chance.integers(0, kinds, rows).tolist()
        if diverse(range(rows), values, l):
            number -= 1
            yield [chance.permutation(rows), chance.choice(3 * rows, rows, replace=False)], codes(values).tolist()


def attacked(partition, quasi, groups, values, l, places=None):
    found = Histograms.of(groups, np.array(values, np.int32))
    entries = found.groups, found.values, found.counts
    return find(partition, [np.asarray(c, np.int32) for c in quasi], groups, entries, {"l": l}, places)


@pytest.mark.parametrize(("rows", "l", "kinds"), [(6, 2, 3), (7, 2, 4), (8, 2, 3), (8, 3, 5)])
def test_replay_names_only_the_certain(rows, l, kinds):
    """Whoever is named is certain in truth, by every world; many are; and by blind cuts nobody is likelier than its group says."""
    certain = named = 0
    for n, (quasi, values) in enumerate(tables(rows, l, kinds, 60, seed=rows)):
        held, seen = np.array(values, np.int32), [np.asarray(column, np.int32) for column in quasi]
        promise = guaranteed({"l": l}, held)
        for cuts in ("fitted", "blind"):
            real = cells(quasi, values, l, blind=cuts == "blind")
            groups = PARTITIONS["local"].assign(seen, held, promise, RandomSource(n), {"cuts": cuts})
            assert all(any(set(group) <= cell for cell in real) for group in members(groups)), (
                "other cells than the plain ones"
            )
            told = posterior(
                groups,
                values,
                lambda w, quasi=quasi, cuts=cuts, real=real: cells(quasi, w, l, blind=cuts == "blind") == real,
            )
            if cuts == "blind":
                for rows_of in members(groups):
                    share = Counter(values[row] for row in rows_of)
                    alike = {v: Fraction(times, len(rows_of)) for v, times in share.items()}
                    assert all(told[row] == alike for row in rows_of)
                continue
            certain += sum(len(each) == 1 for each in told)
            for row, value in enumerate(attacked("local", quasi, groups, values, l).tolist()):
                if value >= 0:
                    named += 1
                    assert told[row] == {value: 1}
    assert certain >= named
    assert (named > 0) == (l == 2)


class Named(NamedTuple):
    """Of how many people all worlds leave one value, whom the attack names, and whom it would by the last cuts alone."""

    people: int
    certain: int
    named: int
    last: int


def named_by_mondrian(rows, l, kinds, number=25):
    """Of so many small tables; the partition itself is run on every world, and whoever is named must be certain."""
    found = Named(0, 0, 0, 0)
    for quasi, values in tables(rows, l, kinds, number, seed=rows):
        space = [Dimension(codes(c), rows, np.unique(c).astype(float)) for c in quasi]

        def run(values, space=space):
            held = np.array(values, np.int32)
            return PARTITIONS["mondrian"].assign(
                space, held, guaranteed({"l": l}, held), RandomSource(0), {"cuts": "fitted"}
            )

        groups = run(values)
        sets = set(members(groups))
        told = posterior(groups, values, lambda world, run=run, sets=sets: set(members(run(world))) == sets)
        places = np.array([(d.places - d.places[0]) / np.ptp(d.places) for d in space])
        guessed = attacked("mondrian", [d.codes for d in space], groups, values, l, places)
        last = attacked("mondrian", [d.codes for d in space], groups, values, l)
        for row in np.flatnonzero(guessed >= 0):
            assert told[row] == {guessed[row]: 1}
        certain = sum(len(each) == 1 for each in told)
        more = rows, certain, np.count_nonzero(guessed >= 0), np.count_nonzero(last >= 0)
        found = Named(*(before + now for before, now in zip(found, more, strict=True)))
    return found


@pytest.mark.parametrize(("rows", "l", "kinds"), [(7, 2, 3)])
def test_mondrian_names_only_the_certain(rows, l, kinds):
    """The partition itself is run on every world; `bench/promise.py` prints how many there are."""
    found = named_by_mondrian(rows, l, kinds)
    assert found.certain >= found.named > found.last > 0


@pytest.fixture(scope="module")
def occupations(request):
    return pq.read_table(request.getfixturevalue("real_data") / "census-anatomy" / "occ100k.parquet")


def policy(l, **options):
    return Policy(quasi=CENSUS, sensitive="occupation", guarantee={"l": l}, partition="local", options=options)


def test_publish_refuses_whom_it_would_give_away(occupations, tmp_path):
    with pytest.raises(
        GuaranteeError, match=r"the values of \d+ people are certain .* `local` did not cut further"
    ) as refused:
        publish(occupations, policy(3, cuts="fitted"), to=tmp_path / "release")
    assert refused.value.exit_status == 3
    assert "blind cuts tell nothing" in refused.value.hint
    assert not any(tmp_path.iterdir())
    blind = publish(occupations, policy(3), to=tmp_path / "blind")
    assert blind.promise.cuts == "blind"
    assert blind.verify().ok
    assert attack(blind) is None


def test_attack_from_the_files(occupations, tmp_path):
    """Of the 20,999 people who are unique, about 150 are certain with l = 3, all rightly; the same that `publish` counts."""
    release = publish(occupations, policy(3, cuts="fitted"), to=tmp_path / "release", seed=1)
    [warning] = [each for each in release.warnings if each.name == "minimality"]
    found = attack(release)
    assert f"{found.people:,} people are certain" in str(warning)
    assert np.count_nonzero(found.unique) == 20_999
    assert 100 <= found.named <= 250
    qit = pq.read_table(release.file("qit"))
    looks = {}
    for row in occupations.to_pylist():
        looks.setdefault(tuple(row[name] for name in CENSUS), []).append(row["occupation"])
    named = zip(qit.select(CENSUS).to_pylist(), found.values.to_pylist(), found.unique.tolist(), strict=True)
    for row, value, unique in named:
        if unique and value is not None:
            assert looks[tuple(row.values())] == [value]


def test_nobody_is_certain_with_a_large_l(occupations, tmp_path):
    release = publish(occupations, policy(10, cuts="fitted"), to=tmp_path / "release")
    assert "minimality" not in {warning.name for warning in release.warnings}
    assert attack(release).people == 0


def test_tables_without_a_cut(tmp_path):
    """Nothing to replay: everybody looks alike."""
    table = pa.table({"q": [7, 7, 7, 7], "s": [1, 2, 3, 4]})
    release = publish(
        table,
        Policy(quasi=["q"], sensitive="s", guarantee={"l": 2}, partition="local", options={"cuts": "fitted"}),
        to=tmp_path / "r",
    )
    assert attack(release).people == 0


def test_publish_follows_an_ordered_category_in_its_own_order(tmp_path):
    """By labels that stand otherwise in the alphabet, as many people are certain as by numbers in the same order."""
    chance = np.random.default_rng(2)
    ages, heights, values = chance.integers(0, 12, 40), chance.permutation(40), chance.integers(0, 4, 40)
    labels = pa.array([f"{i * 5 % 12:02d}" for i in range(12)])
    told = []
    for name, column in (
        ("numbers", pa.array(ages)),
        ("labels", pa.DictionaryArray.from_arrays(pa.array(ages.astype(np.int32)), labels, ordered=True)),
    ):
        rules = Policy(
            quasi=["age", "height"],
            sensitive="value",
            guarantee={"l": 2},
            partition="mondrian",
            options={"cuts": "fitted"},
            accept={"looks": "a test"},
        )
        table = pa.table({"age": column, "height": heights, "value": values})
        release = publish(table, rules, to=tmp_path / name, seed=1)
        told.append([str(each) for each in release.warnings if each.name == "minimality"])
    assert told[0]
    assert told[0] == told[1]
