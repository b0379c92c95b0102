"""The worked example and the theorems of Xiao and Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006)."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import sqrt
from statistics import mean, pstdev

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.publication.publish import publish_groups

TABLE_1 = [
    (23, "M", 11000, "pneumonia"),
    (27, "M", 13000, "dyspepsia"),
    (35, "M", 59000, "dyspepsia"),
    (59, "M", 12000, "pneumonia"),
    (61, "F", 54000, "flu"),
    (65, "F", 25000, "gastritis"),
    (65, "F", 25000, "flu"),
    (70, "F", 30000, "bronchitis"),
]
TABLE_3A = [(*row[:3], 1 if number < 4 else 2) for number, row in enumerate(TABLE_1)]
TABLE_3B = [
    (1, "dyspepsia", 2),
    (1, "pneumonia", 2),
    (2, "bronchitis", 1),
    (2, "flu", 2),
    (2, "gastritis", 1),
]
TABLE_4 = [
    (23, "M", 11000, 1, "dyspepsia", 2),
    (23, "M", 11000, 1, "pneumonia", 2),
    (27, "M", 13000, 1, "dyspepsia", 2),
    (27, "M", 13000, 1, "pneumonia", 2),
    (35, "M", 59000, 1, "dyspepsia", 2),
    (35, "M", 59000, 1, "pneumonia", 2),
    (59, "M", 12000, 1, "dyspepsia", 2),
    (59, "M", 12000, 1, "pneumonia", 2),
]
TABLE_5 = {
    "Ada": (61, "F", 54000),
    "Alice": (65, "F", 25000),
    "Bella": (65, "F", 25000),
    "Emily": (67, "F", 33000),
    "Stephanie": (70, "F", 30000),
}
QUERY_A = """
    SELECT COUNT(*) FROM microdata
    WHERE Disease = 'pneumonia' AND Age <= 30 AND Zipcode BETWEEN 10001 AND 20000
"""
POLICY = discreet.Policy(
    quasi=["Age", "Sex", "Zipcode"], sensitive="Disease", guarantee={"l": 2}, identifiers=["Tuple"], name="patients"
)


def microdata():
    columns = dict(zip(["Age", "Sex", "Zipcode", "Disease"], zip(*TABLE_1, strict=True), strict=True))
    return pa.table({"Tuple": range(1, 9), **columns})


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Table 1 published with the groups of Table 2: tuples 1-4 and 5-8."""
    table = discreet.read(microdata())
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    place = tmp_path_factory.mktemp("paper") / "release"
    made = publish_groups(table, POLICY, table.codes("Disease"), groups, to=place)
    table.close()
    return made


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def chance(release, quasi, value):
    """Theorem 1: the chance of guessing a person's value, over every tuple that could be theirs."""
    qit, st = rows(pq.read_table(release.file("qit"))), rows(pq.read_table(release.file("st")))
    sizes = Counter(row[-1] for row in qit)
    counts = {(group, held): count for group, held, count in st}
    theirs = [row[-1] for row in qit if row[:-1] == quasi]
    return sum(Fraction(counts.get((group, value), 0), len(theirs) * sizes[group]) for group in theirs)


def test_table_3a_is_the_quasi_identifier_table(release):
    qit = pq.read_table(release.file("qit"))
    assert qit.column_names == ["Age", "Sex", "Zipcode", "group"]
    assert rows(qit) == TABLE_3A


def test_table_3b_is_the_sensitive_table(release):
    st = pq.read_table(release.file("st"))
    assert st.column_names == ["group", "Disease", "count"]
    assert rows(st) == TABLE_3B


def test_the_release_verifies(release):
    assert release.verify().ok
    assert (release.promise.rows, release.promise.groups) == (8, 2)


def test_query_a(release):
    """The paper answers 1. Two of group 1's four tuples match, and two of its four values are pneumonia."""
    [answer] = release.ask(QUERY_A).rows()
    worlds = [sum(tuple_ < 2 for tuple_ in ill) for ill in combinations(range(4), 2)]
    assert answer["count"] == mean(worlds) == 1
    assert answer["count_stderr"] == pytest.approx(pstdev(worlds))
    assert pstdev(worlds) == pytest.approx(sqrt(1 / 3))
    assert (answer["count_low"], answer["count_high"]) == (min(worlds), max(worlds)) == (0, 2)


def test_query_a_is_the_truth(release):
    truth = sum(age <= 30 and 10001 <= zipcode <= 20000 and ill == "pneumonia" for age, _, zipcode, ill in TABLE_1)
    assert release.ask(QUERY_A).rows()[0]["count"] == truth


def test_query_a_by_the_name_of_the_table(release):
    named = release.ask(QUERY_A.replace("microdata", "patients"))
    assert named.rows() == release.ask(QUERY_A).rows()


def test_lemma_1_the_natural_join_is_table_4(release):
    """Anyone can join the two files; the paper prints what concerns group 1."""
    with duckdb.connect() as connection:
        join = connection.execute(
            f"SELECT * FROM '{release.file('qit')}' NATURAL JOIN '{release.file('st')}' ORDER BY ALL"
        ).fetchall()
    assert [row for row in join if row[3] == 1] == TABLE_4
    assert len(join) == 4 * 2 + 4 * 3
    sizes = Counter(row[3] for row in TABLE_3A)
    first = {row[4]: Fraction(row[5], sizes[row[3]]) for row in join if row[:3] == (23, "M", 11000)}
    assert first == {"dyspepsia": Fraction(2, 4), "pneumonia": Fraction(2, 4)}


def test_lemma_1_through_a_question(release):
    """Asking for tuple 1 gives the same probabilities: half a person with each disease."""
    answer = release.ask("SELECT Disease, COUNT(*) FROM microdata WHERE Age = 23 GROUP BY Disease")
    found = {row["Disease"]: row["count"] for row in answer.rows() if row["count"]}
    assert found == {"dyspepsia": 0.5, "pneumonia": 0.5}


def test_corollary_1_no_tuple_is_rebuilt_with_more_than_1_in_l(release):
    assert max(chance(release, row[:3], row[3]) for row in TABLE_1) == Fraction(1, 2)


def test_theorem_1_alice(release):
    """Two tuples could be hers, both in group 2 where two of four have the flu: 1/2 x 2/4 + 1/2 x 2/4."""
    assert chance(release, TABLE_5["Alice"], "flu") == Fraction(1, 2)
    assert chance(release, TABLE_5["Alice"], "pneumonia") == 0


def test_table_5_the_voter_list(release):
    """The QIT shows who is in the microdata: Emily is not, and Alice is for certain (formula 3)."""
    present = Counter(row[:3] for row in rows(pq.read_table(release.file("qit"))))
    listed = Counter(TABLE_5.values())
    involved = {name: min(Fraction(present[quasi], listed[quasi]), 1) for name, quasi in TABLE_5.items()}
    assert involved == {"Ada": 1, "Alice": 1, "Bella": 1, "Emily": 0, "Stephanie": 1}
    assert involved["Alice"] * chance(release, TABLE_5["Alice"], "flu") == Fraction(1, 2)


def test_bob(release):
    """Age 23 and zipcode 11000 single out tuple 1, and leave pneumonia and dyspepsia at 50 % each."""
    assert [row for row in TABLE_3A if row[0] == 23 and row[2] == 11000] == [TABLE_3A[0]]
    assert chance(release, (23, "M", 11000), "pneumonia") == chance(release, (23, "M", 11000), "dyspepsia") == 0.5


def test_equation_13_on_the_paper_s_tables(release):
    """Section 4 gives tuple 1 an error of 0.5; group 2's tuples have 3/8, 7/8, 3/8 and 7/8 by equation 12."""
    st = rows(pq.read_table(release.file("st")))
    error = {}
    for number, (age, sex, zipcode, ill) in enumerate(TABLE_1):
        group = 1 if number < 4 else 2
        shares = {held: Fraction(count, 4) for g, held, count in st if g == group}
        error[number] = sum(((held == ill) - share) ** 2 for held, share in shares.items())
        assert (age, sex, zipcode, group) in TABLE_3A
    assert error[0] == Fraction(1, 2)
    assert [error[number] for number in range(4, 8)] == [Fraction(x, 8) for x in (3, 7, 3, 7)]
    assert discreet.metrics(release).rce == pytest.approx(float(sum(error.values()))) == pytest.approx(4.5)


def people(n, seed):
    rng = np.random.default_rng(seed)
    ill = np.minimum(rng.geometric(0.12, n), 25)
    return pa.table({"age": rng.integers(18, 90, n), "zipcode": rng.integers(1000, 1100, n), "ill": ill})


@pytest.mark.parametrize("partition", ["anatomize", "deal", "local"])
@pytest.mark.parametrize(("n", "l"), [(400, 4), (403, 4), (1000, 7), (997, 2)])
def test_theorems_2_and_4(tmp_path, partition, n, l):
    """RCE is n minus the groups when values in a group differ; anatomize and deal are within 1 + 1/n of the bound."""
    policy = discreet.Policy(quasi=["age", "zipcode"], sensitive="ill", guarantee={"l": l}, partition=partition)
    release = discreet.publish(people(n, l), policy, to=tmp_path / "release", seed=n)
    counts, groups = pq.read_table(release.file("st"))["count"].to_pylist(), release.promise.groups
    error, least = discreet.metrics(release).rce, n * (1 - Fraction(1, l))
    assert error >= float(least) - 1e-6
    if partition in {"anatomize", "deal"}:
        assert set(counts) == {1}
        assert groups == n // l
        assert error <= float(least * (1 + Fraction(1, n))) + 1e-6
        # The proof gives the exact factor: r = n mod l residue tuples add one each.
        assert error == pytest.approx(float(least * (1 + Fraction(n % l, n * (l - 1)))))
    if set(counts) == {1}:
        assert error == pytest.approx(n - groups)


@pytest.mark.parametrize("partition", ["anatomize", "deal", "local"])
def test_rce_when_every_value_is_unique(tmp_path, partition):
    """Then every group of every partition has distinct values, and what is left is n minus the groups."""
    n = 500
    table = people(n, 5).set_column(2, "ill", pa.array(np.random.default_rng(5).permutation(n)))
    policy = discreet.Policy(quasi=["age", "zipcode"], sensitive="ill", guarantee={"l": 5}, partition=partition)
    release = discreet.publish(table, policy, to=tmp_path / "release", seed=1)
    assert set(pq.read_table(release.file("st"))["count"].to_pylist()) == {1}
    assert discreet.metrics(release).rce == pytest.approx(n - release.promise.groups)
