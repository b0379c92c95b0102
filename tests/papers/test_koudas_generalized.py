"""Figure 2 of Koudas et al. (ICDE 2007): what the generalized table tells, beside the permuted one with the same groups."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
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
    assert note == "x: in this row it is possible that nobody matches; the bounds hold if somebody does"


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


EIGHT = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")


@pytest.mark.parametrize("quasi", [EIGHT, ("age",)], ids=["figures 6 and 7", "figures 8 and 9"])
def test_relative_errors_on_adult(real_data, tmp_path, quasi):
    """(4,0)-anonymous groups of near people. Arbitrary rows: over twice the truth from the generalized table, however many;
    from the permuted one less, and falling. Ranges of ages: less from both the longer they are, and never less from boxes.
    """
    table = pq.read_table(real_data / "adult" / "adult_all.parquet")
    train = pc.and_(pc.equal(table["split"], "train"), table["complete"])
    table = table.filter(pc.and_(train, pc.greater(table["capital_loss"], 0)))
    age, loss = (table[name].to_numpy() for name in ("age", "capital_loss"))
    people = table.select([*quasi, "capital_loss"]).append_column("tuple", pa.array(range(len(loss))))
    policy = discreet.Policy(
        quasi=[*quasi, "tuple"],
        sensitive="capital_loss",
        guarantee={"k": 4, "e": 0},
        publication="permutation",
        partition="local",
        options={"cuts": "fitted"},
        accept={"looks": "to compare with the paper"},
    )
    release = discreet.publish(people, policy, to=tmp_path / "release")

    def errors(queries):
        found = []
        for where, truth in queries:
            question = f"SELECT AVG(capital_loss) AS x FROM microdata WHERE {where}"
            (low, high), (least, most) = (bounds(release, question, boxes) for boxes in (False, True))
            assert least <= low <= truth + 1e-6
            assert truth - 1e-6 <= high <= most
            found.append(((high - low) / truth, (most - least) / truth))
        return np.mean(found, axis=0)

    rng = np.random.default_rng(2007)
    chosen = [rng.choice(len(loss), size, replace=False) for size in (100, 700)]
    few, many = (errors([(f"tuple IN ({', '.join(map(str, rows))})", loss[rows].mean())]) for rows in chosen)
    spans = []
    for span in (5, 20, 40):
        lows = rng.integers(20, 75 - span, 4)
        ranges = [(low, low + span) for low in lows.tolist()]
        spans.append(errors([(f"age BETWEEN {x} AND {y}", loss[(age >= x) & (age <= y)].mean()) for x, y in ranges]))
    release.close()
    assert few[1] > 2
    assert many[1] > 1.7
    assert many[0] < few[0] < 0.5
    assert spans[0][0] > spans[1][0] > spans[2][0]
    assert spans[0][1] > spans[1][1] > spans[2][1]
