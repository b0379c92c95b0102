"""The worked example of Koudas et al., "Aggregate query answering on anonymized tables" (ICDE 2007), sections 2 to 5."""

from collections import Counter
from itertools import combinations, product
from math import sqrt
from statistics import mean, pstdev

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InternalError
from discreet.publication.publish import publish_groups

FIGURE_1 = [
    ("Alex", 35, 27101, "M", 54_000),
    ("Bob", 38, 27120, "M", 55_000),
    ("Carol", 40, 27130, "M", 56_000),
    ("Debra", 41, 27229, "F", 65_000),
    ("Evan", 43, 27269, "F", 75_000),
    ("Frank", 47, 27243, "M", 70_000),
    ("Gary", 52, 27656, "M", 80_000),
    ("Henry", 53, 27686, "F", 75_000),
    ("Ina", 58, 27635, "M", 85_000),
]
COLUMNS = ["name", "age", "zipcode", "gender", "salary"]
GROUPS = np.repeat(np.arange(3, dtype=np.int32), 3)  # figure 3: tuples 1-3, 4-6 and 7-9
FIGURE_4 = [  # group, hits, and in thousands: sum-l-b, sum-u-b, min-l-b, min-u-b
    (1, 1, 54, 56, 54, 56),
    (1, 2, 109, 111, 54, 55),
    (1, 3, 165, 165, 54, 54),
    (2, 1, 65, 75, 65, 75),
    (2, 2, 135, 145, 65, 70),
    (2, 3, 210, 210, 65, 65),
    (3, 1, 75, 85, 75, 85),
    (3, 2, 155, 165, 75, 80),
    (3, 3, 240, 240, 75, 75),
]
QUERY_1 = "SELECT AVG(salary) AS x FROM microdata WHERE age > 50"
QUERY_2 = "SELECT SUM(salary) AS x FROM microdata WHERE age BETWEEN 35 AND 55"
QUERY_3 = "SELECT MIN(salary) AS x FROM microdata WHERE gender = 'F'"


def policy(e=2_000):
    return discreet.Policy(
        name="population",
        identifiers=["name"],
        quasi=["age", "zipcode", "gender"],
        sensitive="salary",
        guarantee={"k": 3, "e": e},
        publication="permutation",
        partition="min_sum",
    )


def published(to, e=2_000, form="parquet"):
    """Figure 1 in the groups of figure 3."""
    table = discreet.read(pa.table(dict(zip(COLUMNS, zip(*FIGURE_1, strict=True), strict=True))))
    try:
        return publish_groups(table, policy(e), table.codes("salary"), GROUPS, to=to, format=form)
    finally:
        table.close()


@pytest.fixture(scope="module", params=["parquet", "csv"])
def release(request, tmp_path_factory):
    return published(tmp_path_factory.mktemp("paper") / "release", form=request.param)


def bounds(release, question):
    [row] = release.ask(question).rows()
    assert row["x_low"] <= row["x"] <= row["x_high"]
    return row["x_low"], row["x_high"]


def file(release, name):
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT * FROM '{release.file(name)}'").fetchall()


def test_figure_3_is_the_permuted_table(release):
    """Quasi-identifiers as they were, and in each group the salaries of that group, in whatever order."""
    permuted, mapping = file(release, "permuted"), file(release, "mapping")
    assert [row[:4] for row in permuted] == [(i + 1, *row[1:4]) for i, row in enumerate(FIGURE_1)]
    assert mapping == [(i + 1, group + 1) for i, group in enumerate(GROUPS.tolist())]
    for group in range(3):
        mine = slice(3 * group, 3 * group + 3)
        assert Counter(row[4] for row in permuted[mine]) == Counter(row[4] for row in FIGURE_1[mine])
    assert release.verify().ok


def test_query_1_is_exact(release):
    """All of group 3, and nobody else, is over 50."""
    assert bounds(release, QUERY_1) == (80_000, 80_000)
    [row] = release.ask(QUERY_1).rows()
    assert (row["x"], row["x_stderr"]) == (80_000, 0)


def test_query_2(release):
    """Groups 1 and 2 whole, and two of group 3: 165K + 210K + [155K, 165K]."""
    assert bounds(release, QUERY_2) == (530_000, 540_000)
    truth = sum(row[4] for row in FIGURE_1 if 35 <= row[1] <= 55)
    assert 530_000 <= truth <= 540_000


def test_query_2_mean_and_deviation_over_all_possible_answers(release):
    worlds = [165_000 + 210_000 + sum(two) for two in combinations((80_000, 75_000, 85_000), 2)]
    [row] = release.ask(QUERY_2).rows()
    assert row["x"] == pytest.approx(mean(worlds))
    assert row["x_stderr"] == pytest.approx(pstdev(worlds)) == pytest.approx(sqrt(5e7 / 3))


def test_query_3(release):
    """The text says [65K, 75K] because "there is a female in each of groups 2 and 3"; but figure 1 has two women in
    group 2 (Debra and Evan), and with two hits the smaller of them has at most 70K: figure 4, group 2, hits 2, min-u-b.
    """
    women = [row for row in FIGURE_1 if row[3] == "F"]
    assert Counter(GROUPS[FIGURE_1.index(row)] + 1 for row in women) == {2: 2, 3: 1}
    low, high = bounds(release, QUERY_3)
    assert (low, high) == (65_000, 70_000)
    assert 65_000 <= low <= min(row[4] for row in women) <= high <= 75_000


@pytest.mark.parametrize(("group", "hits", "sum_low", "sum_high", "min_low", "min_high"), FIGURE_4)
def test_figure_4_is_the_help_table(release, group, hits, sum_low, sum_high, min_low, min_high):
    """Every choice of so many people of the group, each named by their age, is answered by the same row."""
    ages = [row[1] for row in FIGURE_1[3 * group - 3 : 3 * group]]
    for chosen in combinations(ages, hits):
        where = f"WHERE age IN ({', '.join(map(str, chosen))})"
        assert release.ask(f"SELECT COUNT(*) AS n FROM microdata {where}").rows()[0]["n"] == hits
        assert bounds(release, f"SELECT SUM(salary) AS x FROM microdata {where}") == (1000 * sum_low, 1000 * sum_high)
        assert bounds(release, f"SELECT MIN(salary) AS x FROM microdata {where}") == (1000 * min_low, 1000 * min_high)


def test_the_rows_that_figure_4_leaves_out_for_space(release):
    """MAX and AVG of every group and number of hits, by trying every choice of salaries."""
    for group, hits in product((1, 2, 3), (1, 2, 3)):
        people = FIGURE_1[3 * group - 3 : 3 * group]
        where = f"WHERE age IN ({', '.join(str(row[1]) for row in people[:hits])})"
        choices = list(combinations([row[4] for row in people], hits))
        for function, of in (("MAX", max), ("AVG", mean)):
            found = bounds(release, f"SELECT {function}(salary) AS x FROM microdata {where}")
            assert found == pytest.approx((min(map(of, choices)), max(map(of, choices))), rel=1e-12)


def test_section_5_2_the_two_steps_of_the_paper_by_hand(release):
    """Hits per group from PT and MT, then the help table: written by hand, over the files alone."""
    permuted, mapping = release.file("permuted"), release.file("mapping")
    by_hand = f"""
        WITH HT AS (
          SELECT "group", ROW_NUMBER() OVER up AS hits, SUM(salary) OVER up AS lb, SUM(salary) OVER down AS ub_of_rank,
                 COUNT(*) OVER (PARTITION BY "group") - ROW_NUMBER() OVER up + 1 AS rank_from_above
          FROM '{permuted}' JOIN '{mapping}' USING ("row")
          WINDOW up AS (PARTITION BY "group" ORDER BY salary ROWS UNBOUNDED PRECEDING),
                 down AS (PARTITION BY "group" ORDER BY salary DESC ROWS UNBOUNDED PRECEDING)
        ), R1 AS (
          SELECT "group", COUNT(*) AS hits FROM '{mapping}'
          WHERE "row" IN (SELECT "row" FROM '{permuted}' WHERE age BETWEEN 35 AND 55) GROUP BY "group"
        )
        SELECT (SELECT SUM(lb) FROM HT JOIN R1 USING ("group", hits)),
               (SELECT SUM(ub_of_rank) FROM HT JOIN R1 ON HT."group" = R1."group" AND rank_from_above = R1.hits)
    """
    with duckdb.connect() as connection:
        assert connection.execute(by_hand).fetchone() == (530_000, 540_000) == bounds(release, QUERY_2)


def test_the_partition_is_not_3_10000_anonymous(tmp_path):
    """Group 1 spans 2,000 dollars only; nothing is published under a larger e, not even by one."""
    for e in (2_001, 10_000):
        with pytest.raises(InternalError, match="broke the guarantee; nothing was published"):
            published(tmp_path / "release", e=e)
    assert list(tmp_path.iterdir()) == []
    assert published(tmp_path / "release").verify().ok


def test_a_partition_of_figure_1_that_is_3_10000_anonymous(tmp_path):
    """What the paper asks for instead: every partition finds groups that span 10,000 dollars."""
    table = pa.table(dict(zip(COLUMNS, zip(*FIGURE_1, strict=True), strict=True)))
    release = discreet.publish(table, policy(10_000), to=tmp_path / "release")
    values = {}
    for (_, group), row in zip(file(release, "mapping"), file(release, "permuted"), strict=True):
        values.setdefault(group, []).append(row[4])
    assert all(len(set(held)) >= 3 and max(held) - min(held) >= 10_000 for held in values.values())
    low, high = bounds(release, QUERY_2)
    assert low <= sum(row[4] for row in FIGURE_1 if 35 <= row[1] <= 55) <= high
