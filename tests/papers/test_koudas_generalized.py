"""Figure 2 of Koudas et al. (ICDE 2007): what the generalized table tells, beside the permuted one with the same groups."""

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.publication.publish import publish_groups

FIGURE_1 = {
    "name": ["Alex", "Bob", "Carol", "Debra", "Evan", "Frank", "Gary", "Henry", "Ina"],
    "age": [35, 38, 40, 41, 43, 47, 52, 53, 58],
    "zipcode": [27101, 27120, 27130, 27229, 27269, 27243, 27656, 27686, 27635],
    "gender": ["M", "M", "M", "F", "F", "M", "M", "F", "M"],
    "salary": [54_000, 55_000, 56_000, 65_000, 75_000, 70_000, 80_000, 75_000, 85_000],
}
FIGURE_2 = {  # age in tens, three digits of the zipcode, no gender
    1: {"age": (31, 40), "zipcode": (27100, 27199), "gender": None},
    2: {"age": (41, 50), "zipcode": (27200, 27299), "gender": None},
    3: {"age": (51, 60), "zipcode": (27600, 27699), "gender": None},
}
QUERY_1 = "SELECT AVG(salary) AS x FROM microdata WHERE age > 50"
QUERY_2 = "SELECT SUM(salary) AS x FROM microdata WHERE age BETWEEN 35 AND 55"
QUERY_3 = "SELECT MIN(salary) AS x FROM microdata WHERE gender = 'F'"


@pytest.fixture(scope="module", params=["permutation", "anatomy"])
def release(request, tmp_path_factory):
    """Figure 1 in the groups of figure 3: tuples 1-3, 4-6 and 7-9."""
    policy = discreet.Policy(
        identifiers=["name"],
        quasi=["age", "zipcode", "gender"],
        sensitive="salary",
        guarantee={"k": 3, "e": 2_000},
        publication=request.param,
        partition="min_sum",
    )
    table = discreet.read(pa.table(FIGURE_1))
    groups = np.repeat(np.arange(3, dtype=np.int32), 3)
    made = publish_groups(table, policy, table.codes("salary"), groups, to=tmp_path_factory.mktemp("paper") / "release")
    table.close()
    yield made
    made.close()


def bounds(release, question, generalized):
    [row] = release.ask(question, generalized=generalized).rows()
    return row["x_low"], row["x_high"]


def test_query_1_is_exact_in_either_table(release):
    """All of group 3, and nobody else, is over 50."""
    assert bounds(release, QUERY_1, FIGURE_2) == bounds(release, QUERY_1, False) == (80_000, 80_000)


def test_query_2(release):
    """Group 2 whole; of groups 1 and 3 nobody, or everybody: [210K, 165K + 210K + 240K]."""
    assert bounds(release, QUERY_2, FIGURE_2) == (210_000, 615_000)
    assert bounds(release, QUERY_2, False) == (530_000, 540_000)


def test_query_3(release):
    """Gender is suppressed: if there is a woman at all, she may be anybody."""
    assert bounds(release, QUERY_3, FIGURE_2) == (54_000, 85_000)
    [note] = release.ask(QUERY_3, generalized=FIGURE_2).notes
    assert note == "x: in this row possibly nobody matches; the bounds hold if somebody does"


def test_only_bounds_are_told(release):
    [row] = release.ask(QUERY_2, generalized=FIGURE_2).rows()
    assert (row["x"], row["x_stderr"]) == (None, None)


def test_boxes_no_wider_than_their_rows(release):
    """Group 1 has ages 35 to 40, so it lies inside; group 3 still does not. All of group 1 are men."""
    assert bounds(release, QUERY_1, True) == (80_000, 80_000)
    assert bounds(release, QUERY_2, True) == (165_000 + 210_000, 615_000)
    assert bounds(release, QUERY_3, True) == (65_000, 85_000)


@pytest.mark.parametrize(
    "where", ["age > 50", "age BETWEEN 35 AND 55", "gender = 'F'", "zipcode // 100 = 272", "age < 45"]
)
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(salary)", "AVG(salary)", "MIN(salary)", "MAX(salary)"])
def test_theorem_2_on_the_figures(release, aggregate, where):
    question = f"SELECT {aggregate} AS x FROM microdata WHERE {where}"
    permuted, tight, figure_2 = (bounds(release, question, boxes) for boxes in (False, True, FIGURE_2))
    for (low, high), (least, most) in ((permuted, tight), (tight, figure_2)):
        assert least <= low <= high <= most
    [truth] = [row["x"] for row in release.ask(f"SELECT COUNT(*) AS x FROM microdata WHERE {where}").rows()]
    if aggregate == "COUNT(*)":
        assert permuted == (truth, truth)


def test_arbitrary_queries_and_ranges(tmp_path):
    """Figures 6 to 9 in small: the generalized table's relative error is higher, most of all for arbitrary rows."""
    rng = np.random.default_rng(7)
    age = rng.integers(17, 80, 1_200)
    loss = np.maximum(155, np.round(1_000 + 20 * age + rng.normal(0, 150, 1_200))).astype(int)
    policy = discreet.Policy(
        quasi=["age", "id"], sensitive="loss", guarantee={"k": 4, "e": 0}, publication="permutation", partition="local"
    )
    table = pa.table({"age": age, "id": rng.permutation(1_200), "loss": loss})
    release = discreet.publish(table, policy, to=tmp_path / "release")

    def error(where, generalized):
        [row] = release.ask(f"SELECT AVG(loss) AS x FROM microdata WHERE {where}", generalized=generalized).rows()
        return (row["x_high"] - row["x_low"]) / 2_000

    few = ", ".join(map(str, rng.choice(1_200, 300, replace=False)))
    arbitrary, narrow, broad = f"id IN ({few})", "age BETWEEN 40 AND 44", "age BETWEEN 20 AND 70"
    for where in (arbitrary, narrow, broad):
        assert error(where, generalized=False) < error(where, generalized=True)
    assert error(arbitrary, generalized=True) > 5 * error(arbitrary, generalized=False)
    assert error(broad, generalized=True) < error(narrow, generalized=True)
    release.close()
