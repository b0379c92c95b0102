"""A permutation shows every row as it is, but for a sensitive value drawn uniformly from those of its group."""

import datetime as dt
import json
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import pairwise, permutations
from math import factorial, sqrt

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, open_release, publish, read, verify
from discreet.guarantees import Histograms
from discreet.publication.draft import Draft
from discreet.publication.permutation import shuffled
from discreet.values.random import RandomSource

PEOPLE = 600
DRAW = np.random.default_rng(11)
SALARIES = {
    "integers": (pa.array(DRAW.integers(-40, 400, PEOPLE)), 30),
    "few integers": (pa.array(DRAW.integers(0, 8, PEOPLE), pa.int8()), 3),
    "floats": (pa.array(DRAW.normal(0, 100, PEOPLE)), 12.5),
    "decimals": (pa.array([Decimal(int(c)) / 100 for c in DRAW.integers(0, 9_999, PEOPLE)], pa.decimal128(9, 2)), 0.07),
    "dates": (pa.array([dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in DRAW.integers(0, 900, PEOPLE)]), 20),
    "timestamps": (pa.array(1_600_000_000_000_000 + DRAW.integers(0, 10**13, PEOPLE), pa.timestamp("us")), 2.5),
}


def draft(values, groups, *, seed):
    """Rows on their way to becoming a release; only what the shuffle looks at matters."""
    table = read(pa.table({"q": np.zeros(len(values), np.int8), "s": values}))
    policy = Policy(quasi=["q"], sensitive="s", guarantee={"k": 2}, publication="permutation")
    codes, groups = table.codes("s"), np.asarray(groups, np.int32)
    table.close()
    return Draft(table, policy, codes, groups, Histograms.of(groups, codes.codes), RandomSource(seed))


def many_groups(values, times, *, seed):
    """What the rows of `times` groups, all with these values, get: one line per group, rows in source order.

    Rows of all groups lie mixed in the source, the rows of each group in the order of `values`.
    """
    size = len(values)
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(times), size))
    by_group = np.argsort(groups, kind="stable")
    held = np.empty(size * times, np.int64)
    held[by_group] = np.tile(values, times)
    made = draft(held, groups, seed=seed)
    return made.sensitive.decode(shuffled(made)).to_numpy()[by_group].reshape(times, size)


@pytest.mark.parametrize("values", [[1, 2], [1, 2, 3], [1, 2, 3, 4], [5, 5, 7], [1, 1, 2, 2], [3, 9, 9, 9, 4]], ids=str)
def test_permutation_is_uniform(values):
    """Every row is equally likely to get each value, and every arrangement of the values is equally likely."""
    times = 20_000
    dealt = many_groups(values, times, seed=3)
    assert (np.sort(dealt, axis=1) == np.sort(values)).all()
    for place in range(len(values)):
        for value, count in Counter(values).items():
            share = count / len(values)
            found = (dealt[:, place] == value).sum()
            assert abs(found - times * share) <= 5 * sqrt(times * share * (1 - share)), (place, value)
    every = set(permutations(values))
    found = Counter(map(tuple, dealt.tolist()))
    expected = times / len(every)
    # chi-square with as many degrees of freedom: its mean, and five standard deviations more
    freedom = len(every) - 1
    assert sum((found[way] - expected) ** 2 / expected for way in every) <= freedom + 5 * sqrt(2 * freedom)
    assert set(found) == every


def test_groups_are_shuffled_independently():
    """The order that one group gets tells nothing of the next one's."""
    times = 36_000
    ways = list(permutations([1, 2, 3]))
    orders = [ways.index(order) for order in map(tuple, many_groups([1, 2, 3], times, seed=4).tolist())]
    found, expected = Counter(pairwise(orders)), (times - 1) / factorial(3) ** 2
    freedom = 35
    assert sum((found[a, b] - expected) ** 2 / expected for a in range(6) for b in range(6)) <= (
        freedom + 5 * sqrt(2 * freedom)
    )


def test_a_large_group_is_shuffled_as_a_whole():
    """No row stays near its own value: ranks before and after are unrelated."""
    rows = 20_000
    made = draft(np.arange(rows), np.zeros(rows), seed=5)
    given = shuffled(made)
    assert sorted(given.tolist()) == list(range(rows))
    assert abs(np.corrcoef(given, np.arange(rows))[0, 1]) <= 5 / sqrt(rows)
    assert (given == np.arange(rows)).sum() <= 1 + 5  # one is expected to stay, with a variance of one


def test_without_a_seed_every_shuffle_is_another():
    one, other = (shuffled(draft(np.arange(500), np.zeros(500), seed=None)) for _ in range(2))
    assert (one != other).any()


def table_of(salary, names=("person", "town", "born")):
    """One person per row, in the order of their salaries; towns and dates of birth are missing here and there."""
    number = np.arange(PEOPLE)
    person, town, born = names
    table = pa.table(
        {
            person: pa.array((number * 7919) % PEOPLE),
            town: pa.array(np.array(["Ulm", "Bonn", "Kiel"])[number % 3], mask=number % 11 == 0),
            born: pa.array(
                [None if n % 13 == 0 else dt.date(1950, 1, 1) + dt.timedelta(n * 30) for n in range(PEOPLE)]
            ),
            "salary": salary,
        }
    )
    return table.sort_by("salary")


def policy_for(e, names=("person", "town", "born"), **more):
    given = {"sensitive": "salary", "guarantee": {"k": 3, "e": e}, "publication": "permutation", **more}
    return Policy(quasi=names, **given)


def lines(release, name, order):
    """The rows of a file as plain DuckDB reads them, in the order of a column."""
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM '{release.file(name)}' ORDER BY \"{order}\"").fetchall()


def check_files(release, private):
    """Quasi-identifiers as they were, row numbers and order by content, and in each group its own values."""
    promise = release.promise
    permuted, mapping = lines(release, "permuted", promise.row), lines(release, "mapping", promise.row)
    rows = private.num_rows
    assert [row[0] for row in permuted] == [row[0] for row in mapping] == list(range(1, rows + 1))
    real = {row[0]: row for row in zip(*(column.to_pylist() for column in private.columns), strict=True)}
    assert Counter(row[1:4] for row in permuted) == Counter(row[:3] for row in real.values())
    shown, true = defaultdict(Counter), defaultdict(Counter)
    for (_, group), row in zip(mapping, permuted, strict=True):
        shown[group][row[4]] += 1
        true[group][real[row[1]][3]] += 1
    assert shown == true
    assert set(shown) == set(range(1, promise.groups + 1))
    content = [
        (group, *((cell is None, 0 if cell is None else cell) for cell in row[1:]))
        for (_, group), row in zip(mapping, permuted, strict=True)
    ]
    assert content == sorted(content)
    return sum(row[4] == real[row[1]][3] for row in permuted)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *((kind, "parquet") for kind in SALARIES),
        *((kind, "csv") for kind in SALARIES if kind != "decimals"),  # CSV cannot hold those exactly, and is refused
    ],
)
def test_only_the_sensitive_column_moves_and_only_inside_groups(tmp_path, kind, form):
    salary, e = SALARIES[kind]
    private = table_of(salary)
    release = publish(private, policy_for(e), to=tmp_path / "release", format=form)
    assert verify(release.path).ok
    assert check_files(open_release(release.path), private) < PEOPLE  # somebody has another's value


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("names", "own"),
    [
        (("row", "group", "count"), ("row_", "group_")),
        (("Row", "GROUP", "x"), ("row_", "group_")),
        (("row", "row_", "group__"), ("row__", "group")),
        (("mapping", "permuted file", 'a"b'), ("row", "group")),
        (("grp", "value", "n"), ("row", "group")),
    ],
    ids=str,
)
def test_odd_names_of_columns(tmp_path, names, own, form):
    salary, e = SALARIES["integers"]
    private = table_of(salary, names)
    release = publish(private, policy_for(e, names), to=tmp_path / "release", format=form)
    assert (release.promise.row, release.promise.group) == own
    assert verify(release.path).ok
    check_files(release, private)
    first = names[0]
    [answer] = release.ask(f'SELECT COUNT(*) AS n, SUM(salary) AS x FROM microdata WHERE "{first}" < 100').rows()
    truth = sum(row["salary"] for row in private.to_pylist() if row[first] < 100)
    assert answer["n"] == 100
    assert answer["x_low"] <= truth <= answer["x_high"]


@pytest.mark.parametrize("name", ["row", "group", "Row", "count", "value", "select", 'a "b" c'])
def test_odd_names_of_the_sensitive_column(tmp_path, name):
    private = pa.table({"age": [i % 5 for i in range(60)], name: [i % 12 for i in range(60)]})
    policy = Policy(quasi=["age"], sensitive=name, guarantee={"k": 3, "e": 4}, publication="permutation")
    release = publish(private, policy, to=tmp_path / "release")
    assert verify(release.path).ok
    column = '"' + name.replace('"', '""') + '"'
    [answer] = release.ask(f"SELECT MIN({column}) AS a, MAX({column}) AS b, SUM({column}) AS c FROM microdata").rows()
    assert (answer["a"], answer["b"], answer["c"]) == (0, 11, 330)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_sensitive_values_are_withheld(tmp_path, form):
    salary = pa.array([None if i % 9 == 4 else i % 50 for i in range(PEOPLE)])
    private = table_of(salary)
    policy = policy_for(10, missing_sensitive="withhold")
    release = publish(private, policy, to=tmp_path / "release", format=form)
    kept = private.filter(private["salary"].is_valid())
    assert release.promise.rows == len(kept) == PEOPLE - release.withheld
    assert verify(release.path).ok
    check_files(release, kept)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_sensitive_values_as_a_value(tmp_path, form):
    """Without a range they may stay: a missing value is drawn like any other."""
    salary = pa.array([None if i % 9 == 4 else i % 50 for i in range(PEOPLE)])
    private = table_of(salary)
    policy = policy_for(None, guarantee={"l": 3}, missing_sensitive="value")
    release = publish(private, policy, to=tmp_path / "release", format=form)
    assert verify(release.path).ok
    check_files(release, private)
    [answer] = release.ask("SELECT COUNT(*) AS n, COUNT(salary) AS known, SUM(salary) AS x FROM microdata").rows()
    known = [value for value in salary.to_pylist() if value is not None]
    assert (answer["n"], answer["known"], answer["x"]) == (PEOPLE, len(known), sum(known))


def test_people_who_are_alike_are_told_apart_by_nothing(tmp_path):
    """Rows with the same quasi-identifiers stand in the order of the values that they were given."""
    private = pa.table({"q": [1] * 400, "salary": list(range(400))})
    policy = Policy(quasi=["q"], sensitive="salary", guarantee={"k": 3, "e": 100}, publication="permutation")
    for number, rows in enumerate((private, private.take(list(range(400))[::-1]))):
        release = publish(rows, policy, to=tmp_path / str(number))
        permuted, mapping = pq.read_table(release.file("permuted")), pq.read_table(release.file("mapping"))
        together = list(zip(mapping["group"].to_pylist(), permuted["salary"].to_pylist(), strict=True))
        assert together == sorted(together)


def test_a_seeded_release_says_that_it_is_not_for_publication(tmp_path):
    salary, e = SALARIES["integers"]
    made = [publish(table_of(salary), policy_for(e), to=tmp_path / str(i), seed=seed) for i, seed in enumerate((7, 7))]
    assert [made[0].file(name).read_bytes() for name in ("permuted", "mapping")] == [
        made[1].file(name).read_bytes() for name in ("permuted", "mapping")
    ]
    real = publish(table_of(salary), policy_for(e), to=tmp_path / "real")
    assert "NOT FOR PUBLICATION" in repr(made[0])
    assert "NOT FOR PUBLICATION" not in repr(real)
    for release, fit in ((made[0], False), (real, True)):
        assert release.promise.for_publication is fit
        said = json.loads((release.path / "datapackage.json").read_text())
        assert said["discreet"]["for_publication"] is fit
        assert ("seed" in (release.path / "README.md").read_text().lower()) is not fit
        [manifest] = [check for check in verify(release.path).checks if check.name == "manifest"]
        assert manifest.ok
        assert ("NOT FOR PUBLICATION" in manifest.detail) is not fit
        assert "7919" not in str(said)
