"""`design` answers: against a regression written again, kept inside bounds, refused where it is not valid."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from answer.estimators.dealt import dealt, people, regression, shuffled
from discreet.answer.estimators import columns
from discreet.answer.estimators.design.inverted import quantile_places
from discreet.answer.session import Session
from discreet.errors import QueryError
from laws.deals import spread

ROWS, SIZE = 6000, 5
WAYS = (True, False)  # the compiled pass, the plain plan


@pytest.fixture(scope="module")
def table():
    return people(ROWS, 1)


@pytest.fixture(scope="module")
def groups():
    return shuffled(ROWS, SIZE, 2)


@pytest.fixture(scope="module", params=["anatomy", "permutation"])
def release(request, table, groups, tmp_path_factory):
    return dealt(table, groups, tmp_path_factory.mktemp(request.param) / "release", publication=request.param)


@pytest.mark.parametrize("accelerate", WAYS)
def test_totals_are_those_of_a_regression(release, table, groups, accelerate):
    salary, school = table["salary"].to_numpy(), table["school"].to_numpy()
    age = np.nan_to_num(table["age"].to_numpy(zero_copy_only=False).astype(float))
    much = {value for value in salary.tolist() if value > 15000}
    often = {value: int((salary == value).sum()) for value in set(salary.tolist())}
    match = regression(salary, groups, (school > 5).astype(float))
    ages = regression(salary, groups, np.where(school > 5, age, 0))
    there = regression(salary, groups, (school > 5) * (age > 0))
    with Session(release, accelerate=accelerate) as session:
        [row] = session.ask(
            "SELECT COUNT(*) AS n, SUM(salary) AS s, AVG(salary) AS m, SUM(age) AS years, COUNT(age) AS c, AVG(age) AS y"
            " FROM microdata WHERE school > 5 AND salary > 15000"
        ).rows()
    count = sum(often[value] * match[value] for value in much)
    total = sum(value * often[value] * match[value] for value in much)
    years, some = (sum(often[value] * each[value] for value in much) for each in (ages, there))
    found = [row[name] for name in ("n", "s", "m", "years", "c", "y")]
    assert found == pytest.approx([count, total, total / count, years, some, years / some])


@pytest.mark.parametrize("accelerate", WAYS)
def test_keys_of_both_sides_tell_rows_apart_and_estimates_stay_inside_bounds(release, table, groups, accelerate):
    salary, sex = table["salary"].to_numpy(), np.array(table["sex"].to_pylist())
    with Session(release, accelerate=accelerate) as session:
        answer = session.ask(
            "SELECT salary // 10000 AS band, sex, COUNT(*) AS n FROM microdata WHERE school < 4 GROUP BY sex, band"
            " ORDER BY n DESC"
        )
    rows, expected = answer.rows(), {}
    for who in ("f", "m"):
        means = regression(salary, groups, ((sex == who) & (table["school"].to_numpy() < 4)).astype(float))
        for band in range(3):
            expected[band, who] = sum(n for value in salary.tolist() if value // 10000 == band for n in [means[value]])
    assert [row["n"] for row in rows] == sorted((row["n"] for row in rows), reverse=True)
    assert expected[2, "f"] < 0
    expected[2, "f"] = next(row["n_low"] for row in rows if (row["band"], row["sex"]) == (2, "f"))
    assert answer.notes == ("n: in 1 of 6 rows the estimate was beyond low or high, and was moved there",)
    assert {(row["band"], row["sex"]): row["n"] for row in rows} == pytest.approx(expected)


@pytest.mark.parametrize("accelerate", WAYS)
def test_what_is_kept_of_a_question_is_right_for_the_next(release, accelerate):
    """One side the same and the other another, the argument counted or added up, keys in another place."""
    asked = [
        "SELECT sex, SUM(salary) AS a FROM microdata WHERE salary > 9000 GROUP BY sex",
        "SELECT sex, SUM(salary) AS a FROM microdata WHERE salary > 15000 GROUP BY sex",
        "SELECT sex, SUM(salary) AS a FROM microdata WHERE salary > 15000 AND school > 5 GROUP BY sex",
        "SELECT school % 2 AS odd, sex, COUNT(*) AS a FROM microdata WHERE salary > 15000 GROUP BY odd, sex",
        "SELECT sex, school % 2 AS odd, COUNT(*) AS a FROM microdata WHERE salary > 15000 GROUP BY sex, odd",
        "SELECT sex, COUNT(age) AS a FROM microdata WHERE salary > 9000 GROUP BY sex",
        "SELECT sex, AVG(age) AS a FROM microdata WHERE salary > 9000 GROUP BY sex",
    ]
    with Session(release, accelerate=accelerate) as session:
        kept = [session.ask(sql).rows() for sql in asked]
    for sql, rows in zip(asked, kept, strict=True):
        with Session(release, accelerate=accelerate) as session:
            assert rows == session.ask(sql).rows()


@pytest.mark.parametrize("accelerate", WAYS)
def test_quantiles_of_either_side_are_near_the_truth(release, table, accelerate):
    salary, school = table["salary"].to_numpy(), table["school"].to_numpy()
    with Session(release, accelerate=accelerate) as session:
        [row] = session.ask(
            "SELECT MEDIAN(salary) AS m, QUANTILE(salary, 0.9) AS q FROM microdata WHERE school = 7"
        ).rows()
        [other] = session.ask("SELECT MEDIAN(school) AS m FROM microdata WHERE salary > 20000").rows()
        [even] = session.ask("SELECT MEDIAN(salary) AS m FROM microdata WHERE school = 7", estimator="even").rows()
    assert abs(row["m"] - np.median(salary[school == 7])) <= 1000
    assert abs(even["m"] - np.median(salary[school == 7])) >= 4000
    assert abs(row["q"] - np.quantile(salary[school == 7], 0.9)) <= 1000
    assert other["m"] == np.median(school[salary > 20000])


def test_an_answer_says_which_columns_are_by_design(release):
    answer = release.ask("SELECT COUNT(*) AS n, AVG(salary) AS m, MAX(salary) AS top FROM microdata WHERE school = 7")
    assert answer.estimator == "design"
    assert answer.estimators == {"n": "exact", "m": "design", "top": "even"}
    assert "top: `design` tells nothing of single rows; the estimate is that of `even`" in answer.notes
    assert "the truth is within 2 stderr about 19 times in 20, if more than a few rows match" in answer.assumption
    assert release.ask("SELECT COUNT(*), AVG(age) FROM microdata WHERE school = 7").assumption is None


@pytest.mark.parametrize("accelerate", WAYS)
def test_cells_are_solved_one_by_one(table, tmp_path, accelerate):
    """Groups of men come first, and are a cell of their own."""
    sex, school, salary = (np.array(table[name].to_pylist()) for name in ("sex", "school", "salary"))
    groups = np.empty(ROWS, int)
    men = sex == "m"
    groups[men] = shuffled(int(men.sum()), SIZE, 7)
    made = groups[men].max() + 1
    groups[~men] = made + shuffled(int((~men).sum()), SIZE, 8)
    cells = [int(made), int(groups.max() + 1 - made)]
    release = dealt(
        table, groups, tmp_path / "release", partition="mixed", randomness="cells", cells=cells, cuts="blind"
    )
    expected = 0.0
    for who in (men, ~men):
        _, own = np.unique(groups[who], return_inverse=True)
        means = regression(salary[who], own, (school[who] > 5).astype(float))
        expected += sum(means[value] for value in salary[who].tolist() if value > 15000)
    with Session(release, accelerate=accelerate) as session:
        [row] = session.ask("SELECT COUNT(*) AS n FROM microdata WHERE school > 5 AND salary > 15000").rows()
    assert row["n"] == pytest.approx(expected)


@pytest.mark.parametrize("accelerate", WAYS)
def test_a_handful_of_rows_is_not_certain(tmp_path, accelerate):
    """Of one row or two an estimated share is often outside of 0 to 1; the stderr is then not 0."""
    release = dealt(people(300, 1), shuffled(300, SIZE, 2), tmp_path / "release")
    with Session(release, accelerate=accelerate) as session:
        rows = session.ask("SELECT age, salary, COUNT(*) AS n FROM microdata GROUP BY age, salary").rows()
    open_ = [row["n_stderr"] for row in rows if row["n_low"] < row["n_high"]]
    assert len(open_) > 800
    assert min(open_) > 0


def test_what_is_certain_has_no_stderr(release):
    [row] = release.ask("SELECT AVG(salary) AS m, COUNT(salary) AS n FROM microdata").rows()
    assert (row["m_stderr"], row["n_stderr"], row["n"]) == (0, 0, ROWS)


def test_values_that_no_group_tells_apart_are_estimated_evenly(tmp_path):
    table = pa.table({"hit": [1, 0, 0, 1, 1, 0] * 2, "salary": ["a", "b", "c"] * 4})
    release = dealt(table, np.repeat(np.arange(4), 3), tmp_path / "release")
    question = "SELECT salary, COUNT(*) AS n FROM microdata WHERE hit = 1 GROUP BY salary"
    answer = release.ask(question)
    assert answer.rows() == release.ask(question, estimator="even").rows()
    why = "groups do not tell these values apart, or too few rows match"
    assert answer.notes == (f"n: {why}; the estimate is that of `even`",)
    assert answer.estimators == {"n": "even"}
    median = release.ask("SELECT QUANTILE(salary, 0.5) AS q FROM microdata WHERE hit = 1")
    assert median.estimators == {"q": "even"}
    assert median.notes == ("q: some values cannot be told apart; the estimate is that of `even`",)


def test_a_few_rare_values_that_share_a_group_do_not_spoil_the_rest(table, groups, tmp_path):
    """Two salaries that nobody else has, in one group: nobody can tell whose is whose, and it hardly matters."""
    salary = table["salary"].to_numpy().copy()
    salary[np.flatnonzero(groups == 3)[:2]] = [90000, 95000]
    changed = table.set_column(3, "salary", pa.array(salary))
    release = dealt(changed, groups, tmp_path / "release")
    answer = release.ask("SELECT AVG(salary) AS m, MEDIAN(salary) AS q FROM microdata WHERE school = 7")
    assert answer.estimators == {"m": "design", "q": "design"}
    [row] = answer.rows()
    assert abs(row["m"] - salary[table["school"].to_numpy() == 7].mean()) < 3 * row["m_stderr"]
    alone = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE school = 7 AND salary = 90000")
    assert alone.estimators == {"n": "even"}
    here = table["school"].to_pylist()[np.flatnonzero(groups == 3)[0]]
    every = release.ask(f"SELECT salary, COUNT(*) AS n FROM microdata WHERE school = {here} GROUP BY salary")
    assert every.estimators == {"n": "design, even"}
    assert f"n: in 2 of {len(every)} rows the estimate is that of `even`" in " ".join(every.notes)


def test_many_neighbours_are_taken_together_and_that_is_said(tmp_path):
    rng = np.random.default_rng(4)
    school = rng.integers(0, 8, ROWS)
    salary = 1000 * school + rng.permutation(ROWS)
    table = pa.table({"school": school, "salary": salary})
    release = dealt(table, shuffled(ROWS, SIZE, 5), tmp_path / "release")
    answer = release.ask("SELECT AVG(salary) AS m FROM microdata WHERE school = 7")
    bins = ROWS // SIZE // 2
    assert f"are taken together in {bins:,} bins of neighbours" in answer.notes[0]
    [row] = answer.rows()
    assert abs(row["m"] - salary[school == 7].mean()) < 3 * row["m_stderr"] < 2000


def test_one_group_tells_no_more_than_even(tmp_path):
    """All its values are one bin, of which a question takes a part: by chance, which the stderr counts."""
    release = dealt(pa.table({"age": [20, 21, 22, 23], "salary": [1, 2, 3, 4]}), np.zeros(4, int), tmp_path / "release")
    sql = "SELECT COUNT(*) AS n, SUM(salary) AS s FROM microdata WHERE age > 21 AND salary > 2"
    design, even = (release.ask(sql, estimator=name) for name in ("design", "even"))
    assert "are taken together in 1 bin of neighbours" in design.notes[0]
    assert dict(design.estimators) == {"n": "design", "s": "design"}
    assert design.rows()[0]["n_stderr"] > 0.5
    assert design.rows()[0] == pytest.approx(even.rows()[0])


def test_too_many_words_are_estimated_evenly(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.answer.estimators.design.ByDesign.most", 2)
    table = pa.table({"hit": [1, 0, 0, 1, 1, 0] * 2, "salary": ["a", "b", "c"] * 4})
    release = dealt(table, np.repeat(np.arange(4), 3), tmp_path / "release")
    answer = release.ask("SELECT COUNT(*) AS n FROM microdata WHERE hit = 1 AND salary = 'a'")
    assert answer.notes == ("the sensitive values are too many to be told apart: estimates are those of `even`",)
    assert answer.estimators == {"n": "even"}


@pytest.mark.parametrize(
    ("stated", "why", "hint"),
    [
        ({"partition": "local", "randomness": "near", "estimator": "even"}, "errors of 79 to 189 %", "`mixed`"),
        (
            {"partition": "anatomize", "randomness": None, "estimator": "even"},
            "states by what chance",
            'use estimator "learned" or "even", or',
        ),
        (
            {"partition": "anatomize", "randomness": None, "estimator": None},
            "states by what chance",
            'use estimator "even", or',
        ),
    ],
)
def test_design_is_refused_where_it_is_not_valid(table, groups, tmp_path, stated, why, hint):
    release = dealt(table, groups, tmp_path / "release", **stated)
    for act in (release.ask, release.explain):
        with pytest.raises(QueryError, match=why) as raised:
            act("SELECT AVG(salary) FROM microdata WHERE school = 7", estimator="design")
        assert hint in raised.value.hint
    assert release.ask("SELECT AVG(salary) FROM microdata WHERE school = 7").estimator == "even"


def test_boxes_have_no_design(release):
    with pytest.raises(QueryError, match="needs rows as they are"):
        release.ask("SELECT AVG(salary) FROM microdata WHERE school = 7", generalized=True, estimator="design")
    assert release.ask("SELECT AVG(salary) FROM microdata WHERE school = 7", generalized=True).estimator == "even"


def test_explain_says_what_is_not_sql(release):
    text = release.explain("SELECT AVG(salary), SUM(age) FROM microdata WHERE school = 7 AND salary > 3000")
    assert "-- `design`: low and high are those of the query above." in text
    assert "-- in SQL" in text
    after = text.partition("-- `design`")[2]
    assert after.count("FROM qit") == 2
    assert '"values by code"' in after
    assert "-- `design`" not in release.explain("SELECT AVG(salary) FROM microdata", estimator="even")
    assert "-- `design`" not in release.explain("SELECT AVG(age) FROM microdata")


def test_over_all_deals_answers_in_sql_are_right_on_average(tmp_path, monkeypatch):
    """Each deal of a plan is published and asked; what is moved to a bound is looked at before it is."""
    places = [(0, 1), (0, 2), (1, 1), (1, 3), (2, 1), (2, 2), (2, 3)]  # group, value
    first, second = ([i for i, (_, value) in enumerate(places) if value == which] for which in (1, 2))
    hits, ages = [1, 0, 0, 1, 1, 1, 1], [5, 20, 10, 40, 30, 80, 40]  # both rows of the value 3 are alike
    raw: dict[str, list[float]] = {}
    put = columns.Column.put

    def seen(self, answer, name):
        raw.setdefault(name, []).append(float(self.estimate[0]))
        return put(self, answer, name)

    monkeypatch.setattr(columns.Column, "put", seen)
    monkeypatch.setattr("discreet.learn.classes.GROUPS", 1)  # so few groups are enough for three values
    for number, (one, other) in enumerate((a, b) for a in permutations(first) for b in permutations(second)):
        group_of = {i: places[i][0] for i in range(len(places))}
        group_of |= {
            row: places[place][0]
            for rows, at in ((one, first), (other, second))
            for row, place in zip(rows, at, strict=True)
        }
        table = pa.table({"hit": hits, "age": ages, "salary": [value for _, value in places]})
        release = dealt(table, [group_of[i] for i in range(len(places))], tmp_path / str(number))
        release.ask("SELECT COUNT(*) AS n, SUM(salary) AS s, SUM(age) AS a FROM microdata WHERE hit = 1 AND salary < 3")
        release.close()
    asked = [i for i, (_, value) in enumerate(places) if value < 3 and hits[i]]
    truth = {"n": len(asked), "s": sum(places[i][1] for i in asked), "a": sum(ages[i] for i in asked)}
    assert {name: spread(found)[0] for name, found in raw.items()} == pytest.approx(truth)
    assert len(raw["n"]) == 12


def test_a_quantile_of_no_values_has_no_place() -> None:
    assert quantile_places(np.zeros((2, 0)), Fraction(1, 2)).tolist() == [-1, -1]
