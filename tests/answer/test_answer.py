"""Answers and releases as people and programs see them: names, notes, conversions, and what is shown in a notebook."""

import builtins
import dataclasses
import datetime as dt
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import Policy, open_release, publish
from discreet.answer.answer import DRAWN, EVEN
from discreet.errors import MissingExtraError

ENDS = ("", "_stderr", "_low", "_high")


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = Policy(
        quasi=["age", "sex", "education", "zipcode"],
        sensitive="salary",
        drop="rest",
        guarantee={"l": 4},
        partition="deal",
        name="people",
    )
    return publish(people, policy, to=tmp_path_factory.mktemp("releases") / "people", seed=1)


EVIL = ("<script>alert(1)</script>", "a & b", '"><img src=x onerror=alert(2)>', "'")


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """A release whose names and values are HTML."""
    table = pa.table({"<b>x</b>": [EVIL[i % 4] for i in range(24)], "<i>y": [f"<u>{i % 5}" for i in range(24)]})
    policy = Policy(quasi=["<b>x</b>"], sensitive="<i>y", guarantee={"l": 2}, name="<h1>t & u</h1>", partition="deal")
    return publish(table, policy, to=tmp_path_factory.mktemp("releases") / "evil", seed=1)


class Tags(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert attrs == []

    def handle_data(self, data):
        self.text.append(data)


def names(release, question):
    return release.ask(question).columns


def four(*measures):
    return [f"{name}{end}" for name in measures for end in ENDS]


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("COUNT(*)", four("count")),
        ("count(1), COUNT(age)", four("count", "count_age")),
        ("SUM(salary), AVG(age)", four("sum_salary", "avg_age")),
        ("MIN(salary), MAX(sex)", four("min_salary", "max_sex")),
        ("MEDIAN(salary), QUANTILE(age, 0.9)", four("median_salary", "quantile_age")),
        ("AVG(Salary)", four("avg_salary")),
        ("COUNT(*) AS n", four("n")),
        ('COUNT(*) AS "how many?"', four("how many?")),
        ("COUNT(*), COUNT(*), COUNT(*)", four("count", "count_2", "count_3")),
        ("COUNT(*) AS x, SUM(age) AS X", four("x", "X_2")),
        ("COUNT(*) AS x_low, SUM(age) AS x", four("x_low", "x_2")),
        ("QUANTILE(age, 0.1), QUANTILE(age, 0.9)", four("quantile_age", "quantile_age_2")),
    ],
)
def test_names_of_aggregates(release, select, expected):
    assert names(release, f"SELECT {select} FROM people") == expected


@pytest.mark.parametrize(
    ("select", "group", "expected"),
    [
        ("sex, COUNT(*)", "sex", ["sex", *four("count")]),
        ("COUNT(*), sex", "sex", [*four("count"), "sex"]),
        ("COUNT(*)", "sex", four("count")),
        ("sex AS s, COUNT(*)", "s", ["s", *four("count")]),
        ("SEX, COUNT(*)", "Sex", ["sex", *four("count")]),
        ("sex AS count, COUNT(*)", "1", ["count", *four("count_2")]),
        ("sex AS count_high, COUNT(*)", "1", ["count_high", *four("count_2")]),
        ("sex AS a, sex AS b, COUNT(*)", "sex", ["a", "b", *four("count")]),
    ],
)
def test_names_of_keys(release, select, group, expected):
    assert names(release, f"SELECT {select} FROM people GROUP BY {group}") == expected


@pytest.mark.parametrize(
    "question",
    [
        "SELECT sex AS a, education AS a, COUNT(*) FROM people GROUP BY 1, 2",
        "SELECT sex, upper(sex) AS sex, COUNT(*) FROM people GROUP BY 1, 2",
        "SELECT age, CAST(age AS VARCHAR), COUNT(*) FROM people GROUP BY 1, 2",
        "SELECT age, -age, age + 1, COUNT(*) FROM people GROUP BY 1, 2, 3",
        'SELECT sex AS E, education AS e, COUNT(*) AS "E" FROM people GROUP BY 1, 2',
        "SELECT COUNT(*) AS a, sex AS a_low, SUM(age) AS a_low FROM people GROUP BY sex",
        "SELECT SUM(age + 1), SUM(age - 1), SUM(age * 2) FROM people",
    ],
)
def test_names_are_never_twice_the_same(release, question):
    found = names(release, question)
    assert len({name.lower() for name in found}) == len(found)


def test_keys_of_the_same_name_keep_their_own_values(release):
    rows = release.ask("SELECT sex AS a, education AS a, COUNT(*) FROM people GROUP BY 1, 2").rows()
    first, second = zip(*(list(row.values())[:2] for row in rows), strict=True)
    assert set(first) == {"m", "f"}
    assert len(set(second)) > 2
    rows = release.ask("SELECT sex, upper(sex) AS sex, COUNT(*) FROM people GROUP BY 1, 2").rows()
    assert [list(row.values())[:2] for row in rows] == [["f", "F"], ["m", "M"]]
    rows = release.ask("SELECT age, CAST(age AS VARCHAR), COUNT(*) FROM people GROUP BY 1, 2 LIMIT 1").rows()
    assert list(rows[0].values())[:2] == [16, "16"]


def test_rows(release):
    answer = release.ask("SELECT sex, COUNT(*), AVG(salary) FROM people GROUP BY sex")
    assert len(answer) == 2
    assert [list(row) for row in answer.rows()] == [answer.columns] * 2
    assert [row["sex"] for row in answer.rows()] == ["f", "m"]
    assert sum(row["count"] for row in answer.rows()) == 2_000


def test_an_answer_without_rows(release):
    answer = release.ask("SELECT sex, COUNT(*), AVG(salary) FROM people WHERE age > 90 AND age < 20 GROUP BY sex")
    assert (len(answer), answer.rows(), answer.notes) == (0, [], ())
    assert repr(answer).split() == answer.columns
    assert "<tbody></tbody>" in answer._repr_html_()
    assert len(answer.to_pandas()) == len(answer.to_polars()) == len(answer.to_arrow()) == 0


def test_conversions(release):
    answer = release.ask("SELECT sex, COUNT(*), MIN(salary) FROM people WHERE age < 50 GROUP BY sex")
    assert isinstance(answer.to_arrow(), pa.Table)
    assert answer.to_arrow().to_pylist() == answer.rows()
    assert isinstance(answer.to_polars(), pl.DataFrame)
    assert answer.to_polars().to_dicts() == answer.rows()
    frame = answer.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == answer.columns
    assert frame["min_salary_low"].tolist() == [row["min_salary_low"] for row in answer.rows()]
    assert frame["min_salary_stderr"].isna().all()


@pytest.mark.parametrize(("convert", "library"), [("to_pandas", "pandas"), ("to_polars", "polars")])
def test_conversions_without_the_library(release, monkeypatch, convert, library):
    answer = release.ask("SELECT COUNT(*) FROM people")
    real = builtins.__import__

    def without(name, *rest):
        if name.split(".")[0] == library:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError) as caught:
        getattr(answer, convert)()
    assert f"discreet[{library}]" in caught.value.hint


def test_an_answer_is_a_frozen_value(release):
    answer = release.ask("SELECT COUNT(*) FROM people")
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.question = "another"
    assert answer.question == "SELECT COUNT(*) FROM people"
    assert answer.sql.startswith("WITH")


def test_missing_keys(tmp_path):
    table = pa.table({"age": [1, None, 3, None] * 6, "ill": ["e", None, "a", "b", "c", "d"] * 4})
    policy = Policy(quasi=["age"], sensitive="ill", guarantee={"l": 3}, missing_sensitive="value", partition="deal")
    release = publish(table, policy, to=tmp_path / "r")
    by_age = release.ask("SELECT age, COUNT(*) AS n FROM microdata GROUP BY age")
    assert [(row["age"], row["n"]) for row in by_age.rows()] == [(1, 6), (3, 6), (None, 12)]
    assert [line.split()[0] for line in repr(by_age).splitlines()] == ["age", "1", "3", "–"]
    assert "<td>–</td>" in by_age._repr_html_()
    by_ill = release.ask("SELECT ill, COUNT(*) AS n, COUNT(ill) AS known FROM microdata GROUP BY ill")
    assert [(row["ill"], row["n"], row["known"]) for row in by_ill.rows()][-2:] == [("e", 4, 4), (None, 4, 0)]
    by_both = release.ask("SELECT age, ill, COUNT(*) AS n FROM microdata GROUP BY age, ill").rows()
    assert (None, None) in {(row["age"], row["ill"]) for row in by_both}
    assert sum(row["n"] for row in by_both) == pytest.approx(24)
    by_test = release.ask("SELECT age IS NULL AS gone, MIN(ill), COUNT(*) AS n FROM microdata GROUP BY gone").rows()
    assert [(row["gone"], row["n"]) for row in by_test] == [(False, 12), (True, 12)]
    first = release.ask("SELECT age, COUNT(*) AS n FROM microdata GROUP BY age ORDER BY age NULLS FIRST").rows()
    assert first[0]["age"] is None


def test_notes_where_possibly_nobody_matches(release):
    answer = release.ask("SELECT AVG(salary), COUNT(*) FROM people WHERE age < 18 AND salary > 90000")
    [row] = answer.rows()
    assert row["count_low"] == 0 < row["count_high"]
    [note] = answer.notes
    assert note.startswith("avg_salary: ")
    assert "nobody matches" in note
    assert f"note: {note}" in repr(answer)
    assert f"<p>note: {note}</p>" in answer._repr_html_()


def test_notes_count_the_rows_they_are_about(release):
    answer = release.ask("SELECT age, MAX(salary) AS m, COUNT(*) AS n FROM people WHERE salary > 150000 GROUP BY age")
    doubtful = sum(row["n_low"] == 0 for row in answer.rows())
    assert 0 < doubtful <= len(answer)
    assert f"in {doubtful} of {len(answer)} rows" in answer.notes[0]


def test_no_notes_where_somebody_matches(release):
    assert release.ask("SELECT AVG(salary), MIN(age), COUNT(*) FROM people WHERE age < 50").notes == ()
    assert release.ask("SELECT COUNT(*) FROM people WHERE age < 18 AND salary > 90000").notes == ()


def test_certainly_nobody(release):
    answer = release.ask("SELECT COUNT(*), SUM(salary), AVG(salary), MIN(age) FROM people WHERE age > 1000")
    [row] = answer.rows()
    assert [row[f"count{end}"] for end in ENDS] == [0, 0, 0, 0]
    assert {row[name] for name in row if not name.startswith("count")} <= {None, 0.0}
    assert row["avg_salary"] is row["sum_salary"] is row["min_age"] is None


def test_repr_is_a_short_table(release):
    answer = release.ask("SELECT age, COUNT(*) FROM people GROUP BY age")
    lines = repr(answer).splitlines()
    assert len(answer) > 60
    assert lines[0].split() == answer.columns
    assert len(lines) == 22
    assert lines[-1] == f"… and {len(answer) - 20} more rows"
    assert answer._repr_html_().count("<tr>") == 21
    assert f"… and {len(answer) - 20} more rows" in answer._repr_html_()
    assert len({len(line) for line in lines[:-1]}) == 1


def test_numbers_are_shown_as_people_read_them(release):
    shown = repr(release.ask("SELECT COUNT(*), AVG(age), SUM(salary) FROM people")).splitlines()[1].split()
    assert shown[0] == "2,000"
    assert shown[4].replace(".", "").isdigit()
    assert len(shown[4]) <= 5
    assert shown[8].count(",") == 2


def test_extreme_numbers_are_shown_shortly(tmp_path):
    table = pa.table({"x": [1e300, 5e-324, float("inf"), -1e300] * 3, "ill": [1e300, -1e300, 1e-300] * 4})
    policy = Policy(quasi=["x"], sensitive="ill", guarantee={"l": 2}, partition="deal")
    answer = publish(table, policy, to=tmp_path / "r").ask(
        "SELECT MIN(x), AVG(ill), SUM(ill) FROM microdata WHERE x < 1"
    )
    assert all(len(cell) < 30 for row in answer.cells() for cell in row), answer.cells()


def test_html_is_escaped(evil):
    answer = evil.ask('SELECT "<b>x</b>" AS "<a>", COUNT(*) AS "</td>", MIN("<i>y") FROM microdata GROUP BY 1')
    shown = Tags(answer._repr_html_())
    assert shown.tags == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert {"<a>", "</td>", "</td>_low", *EVIL} <= set(shown.text)
    noted = evil.ask(
        'SELECT MIN("<i>y") AS "<p onclick=x>" FROM microdata WHERE "<b>x</b>" = \'a & b\' AND "<i>y" > \'<u>3\''
    )
    shown = Tags(noted._repr_html_())
    assert shown.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert noted.notes


def test_html_of_a_release_is_escaped(evil):
    shown = Tags(evil._repr_html_())
    assert shown.tags == {"table", "caption", "tr", "th", "td"}
    assert {"Release <h1>t & u</h1>", "<b>x</b>", "<i>y"} <= set(shown.text)
    report = Tags(evil.verify()._repr_html_())
    assert report.tags == {"table", "tr", "td"}


def test_release_shows_no_rows(release, evil):
    for shown in (repr(release), release._repr_html_()):
        assert "people" in shown
        assert "2,000" in shown
        assert "l = 4" in shown
        assert len(shown) < 1_000
        assert "doctorate" not in shown
    for shown in (repr(evil), evil._repr_html_()):
        assert not [value for value in EVIL[:3] if value in shown]


def test_release_says_that_it_is_for_tests_only(release):
    assert "NOT FOR PUBLICATION" in repr(release)
    assert "not for publication" in release._repr_html_()


def test_dates_and_times_as_keys(tmp_path):
    days = [dt.date(2020, 1, 1 + i % 3) for i in range(24)]
    table = pa.table({"day": days, "ill": [i % 4 for i in range(24)]})
    release = publish(table, Policy(quasi=["day"], sensitive="ill", guarantee={"l": 2}), to=tmp_path / "r")
    assert "PUBLICATION" not in repr(release)
    answer = release.ask("SELECT day, COUNT(*) FROM microdata GROUP BY day")
    assert [row["day"] for row in answer.rows()] == sorted(set(days))
    assert repr(answer).splitlines()[1].split()[:2] == ["2020-01-01", "8"]


def test_ways_to_ask(release):
    question = "SELECT SUM(salary) FROM people WHERE age < 30"
    expected = release.ask(question).rows()
    assert discreet.ask(release, question).rows() == expected
    assert discreet.ask(release.path, question).rows() == expected
    assert discreet.ask(str(release.path), question).rows() == expected
    assert open_release(release.path).ask(question).rows() == expected


def test_an_estimate_says_what_it_stands_on(release):
    exact = release.ask("SELECT COUNT(*), AVG(age) FROM people WHERE age < 50")
    assert exact.assumption is None
    assert "note" not in repr(exact)
    estimated = release.ask("SELECT COUNT(*) FROM people WHERE age < 50 AND salary > 60000")
    assert estimated.assumption == EVEN
    assert repr(estimated).endswith(f"note: {EVEN}")
    assert EVEN in estimated._repr_html_()


def test_it_speaks_of_no_stderr_and_no_groups_where_there_are_none(release, tmp_path):
    least = release.ask("SELECT MIN(salary) FROM people WHERE age < 30 AND salary > 60000")
    assert least.rows()[0]["min_salary_stderr"] is None
    assert least.assumption == DRAWN.sentence(stderr=False, bounds=True)
    assert least.assumption == (
        "the truth is certain to lie between low and high. The estimate assumes that the values of a group are spread over"
        " its people at random (estimator `even`); the truth can be far away"
    )
    rules = Policy(quasi=["age"], sensitive="salary", guarantee={"k": 2, "e": 10}, publication="swap")
    table = pa.table({"age": list(range(40)), "salary": [10 * i % 390 for i in range(40)]})
    shown = discreet.publish(table, rules, to=tmp_path / "swapped", seed=1).ask(
        "SELECT SUM(salary) FROM microdata WHERE age < 9"
    )
    assert shown.assumption == (
        "the truth is certain to lie between low and high. The estimate assumes that every row holds the value that it"
        " shows (estimator `even`); the truth can be far away"
    )
