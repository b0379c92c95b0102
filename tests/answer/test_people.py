"""COUNT(DISTINCT person), held against the table, and against every world that a small release allows."""

from itertools import product
from math import isclose, sqrt

import pyarrow.parquet as pq
import pytest

from discreet import publish
from discreet.errors import GuaranteeError, QueryError
from publication.visits import every_world, groups_of, policy, visits


def small(tmp_path):
    """Releases whose groups are small enough to count all of their worlds."""
    for seed in range(16):
        rows = visits(people=4, each=[1, 2], seed=seed, kinds=12)
        try:
            release = publish(rows, policy(guarantee={"l": 2}, partition="deal"), to=tmp_path / str(seed))
        except GuaranteeError:
            continue
        if max(sum(values.values()) for _, values in groups_of(release).values()) <= 7:
            yield release


def in_every_world(release, matching, wanted):
    """Mean, deviation, least and most of how many people match, over all pairings of rows and values."""
    mean, variance, low, high = 0.0, 0.0, 0, 0
    for persons, values in groups_of(release).values():
        counts = [
            len({who for who, value in world if who in matching and wanted(value)})
            for world in every_world(persons, values)
        ]
        average = sum(counts) / len(counts)
        mean += average
        variance += sum((count - average) ** 2 for count in counts) / len(counts)
        low, high = low + min(counts), high + max(counts)
    return mean, sqrt(variance), low, high


def test_people_bounds_are_the_extremes(tmp_path):
    tried = 0
    for release in small(tmp_path):
        shown = pq.read_table(release.path / "qit.parquet").to_pylist()
        middle = sorted(row["age"] for row in shown)[len(shown) // 2]
        for younger, least in product((middle, 100), (2, 6)):
            matching = {row["person"] for row in shown if row["age"] < younger}
            expected = in_every_world(release, matching, lambda value, least=least: value >= least)
            sql = f"SELECT COUNT(DISTINCT person) FROM microdata WHERE age < {younger} AND ill >= {least}"
            [found] = [tuple(row.values()) for row in release.ask(sql).rows()]
            assert all(isclose(a, b, abs_tol=1e-9) for a, b in zip(found, expected, strict=True)), (found, expected)
            tried += 1
    assert tried > 8


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    rules = policy(guarantee={"l": 2, "k": 3}, publication="permutation")
    return publish(visits(each=[1, 2, 3]), rules, to=tmp_path_factory.mktemp("people") / "r")


@pytest.fixture(scope="module")
def table():
    return visits(each=[1, 2, 3]).to_pandas()


def test_conditions_on_quasi_identifiers_are_exact(release, table):
    found = release.ask("SELECT town, COUNT(DISTINCT person) AS n FROM microdata WHERE age >= 50 GROUP BY town")
    truth = table[table.age >= 50].groupby("town").person_id.nunique()
    assert [(row["town"], row["n"], row["n_stderr"], row["n_low"], row["n_high"]) for row in found.rows()] == [
        (town, people, 0, people, people) for town, people in truth.items()
    ]


def test_the_truth_lies_between_low_and_high(release, table):
    found = release.ask("SELECT ill, town, COUNT(DISTINCT Person) FROM microdata WHERE age < 60 GROUP BY 1, 2").rows()
    truth = table[table.age < 60].groupby(["ill", "town"]).person_id.nunique()
    shown = {(row["ill"], row["town"]): row for row in found}
    assert truth.index.isin(list(shown)).all()
    assert all(row["people_low"] <= truth.get(key, 0) <= row["people_high"] for key, row in shown.items())
    off = sum(row["people"] - truth.get(key, 0) for key, row in shown.items())
    assert abs(off) < 0.05 * truth.sum()


def test_rows_are_counted_as_before(release, table):
    assert release.ask("SELECT COUNT(*) AS n FROM microdata WHERE age < 60").rows()[0]["n"] == (table.age < 60).sum()


def test_order_and_limit(release):
    every = release.ask("SELECT ill, COUNT(DISTINCT person) AS n FROM microdata GROUP BY ill ORDER BY n DESC").rows()
    assert [row["n"] for row in every] == sorted((row["n"] for row in every), reverse=True)
    limited = "SELECT ill, COUNT(DISTINCT person) AS n FROM microdata GROUP BY ill ORDER BY n DESC LIMIT 2 OFFSET 1"
    assert release.ask(limited).rows() == every[1:3]


def test_nobody(release):
    for condition in ("age = 3", "ill = 99"):
        found = release.ask(f"SELECT COUNT(DISTINCT person) FROM microdata WHERE {condition}").rows()
        assert found == [{"people": 0, "people_stderr": 0, "people_low": 0, "people_high": 0}]


def test_beside_another_aggregate(release):
    [row] = release.ask("SELECT COUNT(*) / COUNT(DISTINCT person) AS each FROM microdata").rows()
    [rows], [people] = (
        release.ask(f"SELECT {n} AS n FROM microdata").rows() for n in ("COUNT(*)", "COUNT(DISTINCT person)")
    )
    assert row["each"] == row["each_low"] == row["each_high"] == rows["n"] / people["n"]


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT COUNT(DISTINCT person) FROM microdata WHERE person = 3", "there is no column `person`"),
        ("SELECT COUNT(DISTINCT person) FROM microdata WHERE age < ill", "mixes the sensitive column"),
    ],
)
def test_what_is_refused(release, sql, told):
    with pytest.raises(QueryError, match=told):
        release.ask(sql)


def test_boxes_tell_no_people_apart(release):
    with pytest.raises(QueryError, match="boxes tell no people apart"):
        release.ask("SELECT COUNT(DISTINCT person) FROM microdata", generalized=True)
    with pytest.raises(QueryError, match="not one query"):
        release.explain("SELECT COUNT(DISTINCT person) FROM microdata")


def test_what_is_certain_has_no_error(tmp_path):
    """Where no group has a value twice its people are known, and no rounding of fractions makes that look a guess."""
    rows = visits(people=600, each=[1, 2, 3], kinds=60)
    release = publish(rows, policy(guarantee={"l": 2, "k": 7}, partition="deal"), to=tmp_path / "r")
    counted = release.ask("SELECT ill, COUNT(DISTINCT person) FROM microdata GROUP BY ill").rows()
    certain = [row for row in counted if row["people_low"] == row["people_high"]]
    assert len(certain) > 5
    assert {row["people_stderr"] for row in certain} == {0}
    assert all(row["people"] == row["people_low"] for row in certain)
