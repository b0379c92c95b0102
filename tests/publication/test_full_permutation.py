"""A full permutation shows of every group what each column holds, and nothing of which values stood in one row."""

import datetime as dt
import json
from collections import Counter, defaultdict
from decimal import Decimal
from itertools import permutations, product
from math import sqrt

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Policy, metrics, open_release, publish, read, verify
from discreet.errors import GuaranteeError, InputError, InternalError, PolicyError
from discreet.guarantees import Histograms
from discreet.partition import PARTITIONS
from discreet.publication import full_permutation
from discreet.publication.draft import Draft
from discreet.publication.publish import publish_groups
from discreet.values.random import RandomSource

PEOPLE = 300
DRAW = np.random.default_rng(5)
HOLES = DRAW.random(PEOPLE) < 0.1
COLUMNS = {
    "age": pa.array(DRAW.integers(18, 90, PEOPLE), pa.int16(), mask=HOLES),
    "height": pa.array(DRAW.normal(170, 10, PEOPLE).round(1), mask=HOLES[::-1]),
    "price": pa.array([Decimal(int(c)) / 100 for c in DRAW.integers(0, 999, PEOPLE)], pa.decimal128(9, 2)),
    "born": pa.array([dt.date(1950, 1, 1) + dt.timedelta(int(d)) for d in DRAW.integers(0, 9_000, PEOPLE)]),
    "seen": pa.array(1_600_000_000_000_000 + DRAW.integers(0, 10**13, PEOPLE), pa.timestamp("us")),
    "alarm": pa.array([dt.time(int(h), 30) for h in DRAW.integers(0, 24, PEOPLE)]),
    "member": pa.array(DRAW.random(PEOPLE) < 0.3, mask=HOLES),
    "town": pa.array(DRAW.choice(["Ulm", "Bonn", "Köln", "Aix"], PEOPLE), mask=HOLES[::-1]),
}
IN_CSV = [name for name in COLUMNS if name != "price"]  # which CSV cannot hold exactly, and is refused
ILL = pa.array(np.arange(PEOPLE) % 30)
FREE = [
    name for name, each in PARTITIONS.items() if each.sees != "hierarchies" and (not each.keeps or "l" in each.keeps)
]


def policy_for(quasi, **more):
    given = {"sensitive": "ill", "guarantee": {"l": 4}, "partition": "deal", "publication": "full_permutation", **more}
    return Policy(quasi=quasi, drop="rest", **given)


def lines(release, name):
    """The rows of a file as plain DuckDB reads them, in the order of the file."""
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM '{release.file(name)}'").fetchall()


def in_groups(rows, groups):
    """The values of each column of each group, counted."""
    found = defaultdict(Counter)
    for row, group in zip(rows, groups, strict=True):
        for column, value in enumerate(row):
            found[group, column][value] += 1
    return found


def sortable(row):
    return [(cell is None, 0 if cell is None else cell.encode() if isinstance(cell, str) else cell) for cell in row]


@pytest.mark.parametrize(("form", "quasi"), [("parquet", [*COLUMNS]), ("csv", IN_CSV)], ids=["parquet", "csv"])
@pytest.mark.parametrize("sensitive", ["ill", None])
def test_marginals_are_kept(tmp_path, form, quasi, sensitive):
    """Of every kind of column; and rows are sorted by all that they show, so that no other order can hide."""
    private = pa.table({**COLUMNS, "ill": ILL})
    groups = np.random.default_rng(1).permutation(np.arange(PEOPLE) % 50).astype(np.int32)
    rules = policy_for(quasi, sensitive=sensitive, guarantee={"k": 4})
    with read(private) as table:
        codes = None if sensitive is None else table.codes(sensitive)
        release = publish_groups(table, rules, codes, groups, to=tmp_path / "r", format=form)
    assert verify(release.path).ok
    assert open_release(release.path).promise.sensitive == sensitive
    pqt = lines(release, "pqt")
    true = list(zip(*(private[name].to_pylist() for name in quasi), strict=True))
    assert in_groups([row[:-1] for row in pqt], [row[-1] for row in pqt]) == in_groups(true, groups + 1)
    assert pqt == sorted(pqt, key=lambda row: sortable([row[-1], *row[:-1]]))
    assert pq.read_schema(release.file("pqt")).names == [*quasi, "group"] if form == "parquet" else True
    assert [resource.name for resource in release.manifest.resources] == ["pqt", "pst"][: 1 + (sensitive is not None)]
    if sensitive is not None:
        pst = lines(release, "pst")
        assert pst == sorted(zip((groups + 1).tolist(), ILL.to_pylist(), strict=True))


@pytest.mark.parametrize("partition", [*FREE, "auto"])
def test_every_partition_will_do(tmp_path, partition):
    quasi = ["age", "town", "born"]
    release = publish(pa.table({**COLUMNS, "ill": ILL}), policy_for(quasi, partition=partition), to=tmp_path / "r")
    assert verify(release.path).ok
    assert release.promise.partition == ("cluster" if partition == "auto" else partition)
    pqt, pst = pq.read_table(release.file("pqt")), pq.read_table(release.file("pst"))
    for name in quasi:
        assert Counter(pqt[name].to_pylist()) == Counter(COLUMNS[name].to_pylist())
    assert Counter(pst["ill"].to_pylist()) == Counter(ILL.to_pylist())
    assert Counter(pqt["group"].to_pylist()) == Counter(pst["group"].to_pylist())


@pytest.mark.parametrize(
    "guarantee", [{"k": 3, "e": 5}, {"k": 3, "e": 5, "l": 2}, {"distinct_l": 4}, {"k": 7}], ids=str
)
@pytest.mark.parametrize("partition", ["auto", "local"])
def test_every_guarantee_will_do(tmp_path, guarantee, partition):
    rules = policy_for(["age", "town"], guarantee=guarantee, partition=partition, accept={"looks": "of no matter here"})
    release = publish(pa.table({**COLUMNS, "ill": ILL}), rules, to=tmp_path / "r")
    assert verify(release.path).ok
    assert release.promise.partition == ("cluster" if partition == "auto" else partition)


def test_rows_that_a_partition_leaves_out(tmp_path):
    private = pa.table({"age": [1] * 10 + [2] * 10 + [99], "ill": [*range(10), *range(10), 3]})
    rules = policy_for(
        ["age"],
        guarantee={"k": 5},
        partition="full_domain",
        hierarchies={"age": {"tree": {"any": [1, 2, 99]}}},
        options={"suppression": 0.1},
    )
    release = publish(private, rules, to=tmp_path / "r")
    assert release.suppressed == 1
    assert Counter(pq.read_table(release.file("pqt"))["age"].to_pylist()) == {1: 10, 2: 10}
    for given in ([], None):  # as they were read to form groups, and read when they are published
        groups = np.array([0] * 10 + [1] * 10 + [-1], np.int32)
        with read(private) as table:
            where = tmp_path / str(given)
            made = publish_groups(table, rules, table.codes("ill"), groups, quasi=given or (), to=where)
        assert Counter(pq.read_table(made.file("pqt"))["age"].to_pylist()) == {1: 10, 2: 10}


# chance


def draft(groups, *, seed):
    """Rows on their way to becoming a release; only what the shuffle looks at matters."""
    table = read(pa.table({"q": np.zeros(len(groups), np.int8), "ill": np.zeros(len(groups), np.int8)}))
    codes, groups = table.codes("ill"), np.asarray(groups, np.int32)
    table.close()
    return Draft(table, policy_for(["q"]), codes, groups, Histograms.of(groups, codes.codes), RandomSource(seed))


def many_groups(columns, times, *, seed):
    """The columns of `times` groups that all hold the same rows, as they are published: one line per group and column.

    In the source the rows of all groups lie mixed; the first column tells the rows of a group apart.
    """
    size = len(columns[0])
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(times), size)).astype(np.int32)
    by_group = np.argsort(groups, kind="stable")
    made = draft(groups, seed=seed)
    found = []
    for values in columns:
        held = np.empty(size * times, np.int64)
        held[by_group] = np.tile(values, times)
        with read(pa.table({"q": held})) as table:
            shuffled = full_permutation.shuffled(made, table.codes("q"))
        found.append(shuffled.to_numpy().reshape(times, size))
    return found


def uniform(found, ways):
    """Whether counts are those of draws that are all equally likely.

    Chi-square with as many degrees of freedom: its mean, and five standard deviations more.
    """
    times, freedom = sum(found.values()), len(ways) - 1
    expected = times / len(ways)
    assert set(found) == set(ways)
    assert sum((found[way] - expected) ** 2 / expected for way in ways) <= freedom + 5 * sqrt(2 * freedom)


@pytest.mark.parametrize("values", [[1, 2], [1, 2, 3], [1, 2, 3, 4], [5, 5, 7], [1, 1, 2, 2]], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_every_column_is_shuffled_uniformly(values, seed):
    [found] = many_groups([values], 20_000, seed=seed)
    uniform(Counter(map(tuple, found.tolist())), set(permutations(values)))


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_shuffled_independently(seed):
    """Every pair of arrangements of two columns, and every triple of three, is equally likely."""
    ways = list(permutations([1, 2, 3]))
    found = many_groups([[1, 2, 3]] * 3, 43_200, seed=seed)
    named = [[ways.index(way) for way in map(tuple, column.tolist())] for column in found]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        uniform(Counter(zip(named[one], named[other], strict=True)), set(product(range(6), repeat=2)))
    uniform(Counter(zip(*named, strict=True)), set(product(range(6), repeat=3)))


def released(columns, size, *, seed, to):
    """The first file of a release whose groups are every `size` rows, in the order of the first column."""
    names = [f"q{i}" for i in range(len(columns))]
    rows = len(columns[0])
    private = pa.table({**dict(zip(names, columns, strict=True)), "ill": np.arange(rows)})
    mixed = np.random.default_rng(seed).permutation(rows)
    with read(private.take(mixed)) as table:
        groups = (mixed // size).astype(np.int32)
        made = publish_groups(table, policy_for(names), table.codes("ill"), groups, to=to, secret=RandomSource(seed))
    pqt = pq.read_table(made.file("pqt"))
    order = np.argsort(pqt["q0"].to_numpy(), kind="stable")  # people by their number
    return [pqt[name].to_numpy()[order].reshape(-1, size) for name in names]


@pytest.mark.parametrize("seed", range(3))
def test_published_rows_pair_columns_at_random(tmp_path, seed):
    """From source to file: given the first column, each arrangement of the others is equally likely, in every group."""
    size, times = 4, 24 * 24 * 40
    people = np.arange(size * times)
    _, *others = released([people, people * 2, people * 3], size, seed=seed, to=tmp_path / "r")
    ways = list(permutations(range(size)))
    named = []
    for factor, found in zip((2, 3), others, strict=True):
        places = found // factor - people.reshape(-1, size)[:, :1]
        named.append([ways.index(way) for way in map(tuple, places.tolist())])
        uniform(Counter(named[-1]), set(range(24)))
    uniform(Counter(zip(*named, strict=True)), set(product(range(24), repeat=2)))
    # the next group's arrangement is another draw
    pairs = zip(named[0][:-1:2], named[0][1::2], strict=True)
    uniform(Counter(pairs), set(product(range(24), repeat=2)))


def alike(values, i, j):
    """The chance that two rows of a group, or one and the same, get values like their own."""
    counts, size = Counter(values), len(values)
    if i == j:
        return counts[values[i]] / size
    both = counts[values[i]] * (counts[values[j]] - (values[i] == values[j]))
    return both / (size * (size - 1))


@pytest.mark.parametrize("seed", range(3))
def test_no_row_is_linked_better_than_its_presence(tmp_path, seed):
    """Whoever finds a person's number in the file finds the person's other values beside it as often as by chance.

    Columns that go together in the private table; the mean and the variance are those of independent permutations.
    """
    size, times = 6, 2_000
    chance = np.random.default_rng(100 + seed)
    kind = chance.integers(0, 3, size * times)
    columns = [np.arange(size * times), kind, (kind + chance.integers(0, 2, kind.size)) % 3]
    _, *others = released(columns, size, seed=seed, to=tmp_path / "r")
    true = [column.reshape(-1, size) for column in columns[1:]]
    matches = np.logical_and.reduce([shown == real for shown, real in zip(others, true, strict=True)]).sum()
    mean = variance = 0.0
    for rows in zip(*(column.tolist() for column in true), strict=True):
        single = [
            np.prod([alike(values, i, i) for values in rows]) for i in range(size)
        ]  # presence, but for the number
        pairs = [np.prod([alike(values, i, j) for values in rows]) for i in range(size) for j in range(size) if i != j]
        mean += sum(single)
        variance += sum(single) + sum(pairs) - sum(single) ** 2
    assert abs(matches - mean) <= 5 * sqrt(variance)


def test_without_a_seed_every_shuffle_is_another(tmp_path):
    people = np.arange(600)
    one, other = (released([people, people], 20, seed=None, to=tmp_path / name)[1] for name in ("a", "b"))
    assert (one != other).any()


def test_a_seed_gives_the_same_again_and_says_so(tmp_path):
    private = pa.table({**COLUMNS, "ill": ILL})
    made = [publish(private, policy_for(["age", "town"]), to=tmp_path / str(i), seed=7) for i in range(2)]
    assert not made[0].promise.for_publication
    for name in ("pqt", "pst"):
        assert made[0].file(name).read_bytes() == made[1].file(name).read_bytes()


# without a sensitive column


def traces(people, seed=3):
    """Where people were, hour by hour: every column is sensitive."""
    chance = np.random.default_rng(seed)
    home = chance.integers(0, 50, people)
    return pa.table(
        {"who": np.arange(people), **{f"at {hour}": home + chance.integers(0, 4, people) for hour in (8, 12, 18)}}
    )


TRACED = {"identifiers": ["who"], "quasi": ["at 8", "at 12", "at 18"], "publication": "full_permutation"}


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("partition", ["deal", "local", "mondrian", "auto"])
def test_every_column_is_sensitive(tmp_path, form, partition):
    private = traces(400)
    policy = Policy(**TRACED, guarantee={"k": 5}, partition=partition)
    release = publish(private, policy, to=tmp_path / "r", format=form)
    assert verify(release.path).ok
    promise = open_release(release.path).promise
    assert (promise.sensitive, promise.columns) == (None, ("at 8", "at 12", "at 18"))
    assert {path.name for path in release.path.iterdir()} == {
        *(f"pqt.{form}", "README.md", "datapackage.json", "dcat.jsonld"),
    }
    said = json.loads((release.path / "datapackage.json").read_text())["discreet"]
    assert "sensitive" not in said
    pqt = lines(release, "pqt")
    assert min(Counter(row[-1] for row in pqt).values()) >= 5
    for i, name in enumerate(policy.quasi):
        assert Counter(row[i] for row in pqt) == Counter(private[name].to_pylist())
    assert "who" not in (release.path / "README.md").read_text()
    assert "every column" in release._repr_html_()
    found = metrics(release)
    assert (found.value_rce, found.presence.disclosure, found.presence.product, found.presence.rce) == (None,) * 4
    assert 0 < found.presence.presence.mean < found.presence.largest <= 1


def test_a_policy_without_a_sensitive_column_in_toml(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('quasi = ["a"]\npublication = "full_permutation"\nguarantee = { k = 3 }\n')
    assert Policy.load(path).sensitive is None
    assert Policy.load(path) == Policy(quasi=["a"], publication="full_permutation", guarantee={"k": 3})


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"publication": "anatomy"}, "sensitive", "is missing: only the publication `full_permutation` can do without"),
        ({"publication": "join"}, "sensitive", "is missing: only the publication `full_permutation` can do without"),
        ({"guarantee": {"l": 3}}, "guarantee", "only the size of groups can be promised; write { k = 5 }"),
        ({"guarantee": {"k": 3, "l": 2}}, "guarantee", "only the size of groups can be promised"),
        ({"guarantee": {"k": 3, "e": 2}}, "guarantee", "only the size of groups can be promised"),
        ({"missing_sensitive": "value"}, "missing_sensitive", "there is no `sensitive` column; leave it out"),
        ({"missing_sensitive": "withhold"}, "missing_sensitive", "there is no `sensitive` column; leave it out"),
        ({"guarantee": {"k": 1}}, "guarantee.k", "expected 2 or more, got 1"),
        ({"partition": "anatomize"}, "partition", "needs the guarantee `l`"),
        ({"sensitive": ""}, "sensitive", "expected a text"),
    ],
    ids=str,
)
def test_mistakes_in_policies_without_a_sensitive_column(changes, key, message):
    with pytest.raises(PolicyError) as caught:
        Policy(**{**TRACED, "guarantee": {"k": 3}, **changes})
    assert any(mistake.key == key and message in mistake.message for mistake in caught.value.mistakes)


def test_publish_groups_takes_no_values(tmp_path):
    with read(traces(12)) as table:
        groups = (np.arange(12) % 3).astype(np.int32)
        policy = Policy(**TRACED, guarantee={"k": 4}, partition="deal")
        assert publish_groups(table, policy, None, groups, to=tmp_path / "r").verify().ok


# bad input


def test_too_few_rows(tmp_path):
    for rows in (1, 4):
        with pytest.raises(GuaranteeError, match=f"the table has {rows} rows"):
            publish(traces(rows), Policy(**TRACED, guarantee={"k": 5}, partition="deal"), to=tmp_path / "r")
    with pytest.raises(InputError, match="has no rows"):
        publish(traces(0), Policy(**TRACED, guarantee={"k": 5}, partition="deal"), to=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_l_of_one_promises_nothing():
    with pytest.raises(PolicyError, match="expected 2 or more, got 1"):
        policy_for(["age"], guarantee={"l": 1})


def test_a_value_that_is_too_frequent(tmp_path):
    private = pa.table({"age": range(20), "ill": [0] * 6 + [*range(1, 15)]})
    with pytest.raises(GuaranteeError, match=r"the value 0 of `ill` is held by 6 of 20 rows .* that works is 3"):
        publish(private, policy_for(["age"]), to=tmp_path / "r")
    assert publish(private, policy_for(["age"], guarantee={"l": 3}), to=tmp_path / "r").verify().ok


@pytest.mark.parametrize("guarantee", [{"k": 2}, {"l": 2}, {"distinct_l": 2}], ids=str)
def test_a_group_too_small_to_permute(tmp_path, guarantee):
    """Any guarantee asks for two rows at least, and a group of one is never published."""
    groups, rules = np.array([0, 0, 1, 1, 2], np.int32), policy_for(["age"], guarantee=guarantee)
    with read(pa.table({"age": range(5), "ill": range(5)})) as table, pytest.raises(InternalError, match="broke"):
        publish_groups(table, rules, table.codes("ill"), groups, to=tmp_path / "r")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("constant", [7, None, "x"])
def test_quasi_identifiers_that_are_all_alike(tmp_path, constant):
    """Nothing is hidden of them, and nothing was to be: everybody has the same."""
    kind = pa.string() if isinstance(constant, str) else pa.int32()
    private = pa.table({"a": pa.array([constant] * 30, kind), "b": [1] * 30, "ill": [*range(10)] * 3})
    for partition in ("deal", "local", "cluster"):
        release = publish(private, policy_for(["a", "b"], partition=partition), to=tmp_path / partition)
        assert verify(release.path).ok
        found = metrics(release)
        assert (found.ncp_normalised, found.presence.largest, found.presence.presence.least) == (0, 1, 1)


def test_infinite_quasi_identifiers(tmp_path):
    private = pa.table({"a": [float("inf"), -float("inf"), 1.0] * 8, "ill": [*range(12)] * 2})
    release = publish(private, policy_for(["a"]), to=tmp_path / "r")
    assert verify(release.path).ok
    assert Counter(pq.read_table(release.file("pqt"))["a"].to_pylist()) == Counter(private["a"].to_pylist())


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("names", [("group", "Count"), ("grp", "value"), ("n", 'a"b'), ("pqt", "share_1")], ids=str)
def test_odd_names_of_columns(tmp_path, names, form):
    private = pa.table({names[0]: np.arange(40) % 7, names[1]: np.arange(40) % 5, "row": np.arange(40) % 20})
    rules = policy_for(names, sensitive="row")
    release = publish(private, rules, to=tmp_path / "r", format=form)
    assert verify(release.path).ok
    assert (release.promise.group, release.promise.row) == ("group_" if names[0] == "group" else "group", "row_")
    assert metrics(release, truth=private).presence.people == 40


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_missing_sensitive_values(tmp_path, form):
    ill = pa.array([None if i % 10 == 3 else i % 30 for i in range(PEOPLE)])
    private = pa.table({**COLUMNS, "ill": ill})
    with pytest.raises(InputError, match="30 missing values"):
        publish(private, policy_for(["age"]), to=tmp_path / "r")
    value = publish(private, policy_for(["age"], missing_sensitive="value"), to=tmp_path / "value", format=form)
    assert Counter(row[1] for row in lines(value, "pst")) == Counter(ill.to_pylist())
    held = publish(private, policy_for(["age"], missing_sensitive="withhold"), to=tmp_path / "held", format=form)
    assert (held.withheld, held.promise.rows) == (30, PEOPLE - 30)
    kept = private.filter(private["ill"].is_valid())
    assert Counter(row[0] for row in lines(held, "pqt")) == Counter(kept["age"].to_pylist())
    assert verify(value.path).ok
    assert verify(held.path).ok


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("sensitive", ["ill", None])
def test_the_readme_has_sql_that_runs(tmp_path, form, sensitive, monkeypatch):
    rules = policy_for(["age", "town"], sensitive=sensitive, guarantee={"k": 5})
    release = publish(pa.table({**COLUMNS, "ill": ILL}), rules, to=tmp_path / "r", format=form)
    sql = (release.path / "README.md").read_text().split("```sql\n")[1].split("```")[0]
    monkeypatch.chdir(release.path)
    first, then = (
        sql.replace("TRUE", "age > 40", 1),
        sql.replace("TRUE", "age > 40", 1).replace("TRUE", "town = 'Ulm'", 1),
    )
    over = sum(age is not None and age > 40 for age in COLUMNS["age"].to_pylist())
    with duckdb.connect() as connection:
        everybody, some, fewer = (connection.execute(query).fetchall() for query in (sql, first, then))
    assert sum(row[-1] for row in everybody) == pytest.approx(PEOPLE)
    assert sum(row[-1] for row in some) == pytest.approx(over)
    if sensitive is not None:
        assert {value: pytest.approx(n) for value, n in everybody} == Counter(ILL.to_pylist())
    pqt = lines(release, "pqt")
    sizes = Counter(row[-1] for row in pqt)
    old, ulm = (
        Counter(row[-1] for row in pqt if test(row)) for test in (lambda r: (r[0] or 0) > 40, lambda r: r[1] == "Ulm")
    )
    expected = sum(old[group] * ulm[group] / sizes[group] for group in sizes)
    assert sum(row[-1] for row in fewer) == pytest.approx(expected)


def test_values_too_far_apart_are_refused(tmp_path):
    table = pa.table({"x": [1e308, -1e308, 3.0, 4.0], "s": [1, 2, 3, 4]})
    policy = Policy(quasi=["x"], sensitive="s", guarantee={"l": 2}, publication="full_permutation")
    with pytest.raises(InputError, match="the values of `x` lie too far apart"):
        publish(table, policy, to=tmp_path / "r")
    assert not (tmp_path / "r").exists()
