"""Questions about quasi-identifiers alone: any SELECT, with the answer that the table gives, and no claim beyond it."""

import duckdb
import pytest

from discreet.answer.ways.exact import NOTE, OPEN
from discreet.errors import QueryError
from discreet.policy import Policy
from discreet.publication.publish import publish

INNER = "(SELECT * FROM microdata WHERE age > 30)"


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    rules = Policy(quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4})
    return publish(people, rules, to=tmp_path_factory.mktemp("exact") / "release", seed=1)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT sex FROM (SELECT * FROM microdata)",
        f"SELECT DISTINCT t.sex, education FROM {INNER} AS t",
        f"WITH t AS {INNER} SELECT DISTINCT sex, age // 10 AS decade FROM t",
        f"SELECT COUNT(*) AS n FROM (SELECT DISTINCT sex, education FROM {INNER})",
        f"SELECT a.sex FROM {INNER} AS a JOIN (SELECT DISTINCT age FROM microdata) AS b ON a.age = b.age + 60",
        "SELECT age, RANK() OVER (ORDER BY age) AS place FROM microdata",
        "SELECT DISTINCT age FROM microdata ORDER BY age LIMIT 3",
        "SELECT DISTINCT age, sex FROM microdata ORDER BY ALL LIMIT 3",
    ],
)
def test_the_answer_is_that_of_the_table(release, people, sql):
    answer = release.ask(sql)
    with duckdb.connect() as database:
        database.register("microdata", people)
        truth = database.sql(sql).fetchall()
    assert sorted(tuple(row.values()) for row in answer.rows()) == sorted(truth)
    assert answer.notes == (NOTE,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, ROW_NUMBER() OVER () AS n FROM microdata",
        "SELECT age, education, ROW_NUMBER() OVER (ORDER BY age) AS n FROM microdata",
        "SELECT age FROM microdata LIMIT 3",
        "SELECT age, sex FROM microdata ORDER BY age LIMIT 3",
        "SELECT FIRST(age) FROM microdata",
        "SELECT LIST(age ORDER BY sex) FROM microdata",
        "SELECT age, SUM(age) OVER (ORDER BY sex ROWS 1 PRECEDING) FROM microdata",
        "SELECT DISTINCT ON (sex) sex, age FROM microdata",
        "SELECT MAX(age) FROM (SELECT age FROM microdata OFFSET 3)",
    ],
)
def test_nothing_is_called_exact_that_hangs_on_the_order_of_rows(release, sql):
    assert release.ask(sql).notes == (OPEN,)
    assert "exact" not in OPEN


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM {INNER}",
        f"SELECT t.* FROM {INNER} AS t",
        f"SELECT t FROM {INNER} AS t",
        f"WITH t AS {INNER} SELECT t FROM t",
        "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM microdata)",
        "SELECT sex FROM (SELECT DISTINCT * FROM microdata)",
        f"SELECT COUNT(*) FROM ({INNER} EXCEPT {INNER})",
        f"SELECT COUNT(*) FROM {INNER} AS a NATURAL JOIN {INNER} AS b",
        f"SELECT sex FROM (SELECT * FROM {INNER})",
        "SELECT COUNT(*) FROM microdata AS a WHERE EXISTS (SELECT * FROM microdata AS b WHERE a.salary > b.salary)",
    ],
)
def test_rows_with_the_sensitive_column_are_not_passed_on(release, sql):
    """Without it they would be other rows: it is refused, or answered with bounds."""
    try:
        notes = release.ask(sql).notes
    except QueryError as error:
        notes = (error.hint,)
    assert NOTE not in notes
    assert OPEN not in notes
