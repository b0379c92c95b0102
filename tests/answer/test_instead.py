"""A refusal says what to write instead: made from the question itself, and answered when it is written."""

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
import sqlglot

from discreet.answer.instead import REWRITES, Shown, instead
from discreet.errors import QueryError
from discreet.policy import Policy
from discreet.publication.publish import publish

CASES = (Path(__file__).parent.parent / "cases" / "sql" / "instead.sql").read_text(encoding="utf-8")
REFUSED = re.findall(r"^-- (.+)\n(.+);\n(.+);\n", CASES, re.MULTILINE)


def made(people, folder):
    policy = Policy(
        quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4}, partition="deal"
    )
    return publish(people, policy, to=folder / "r")


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def release(request, people, tmp_path_factory, placed):
    return placed(made(people, tmp_path_factory.mktemp("releases")), request.param)


@pytest.mark.spark
def test_spark_offers_the_same(people, tmp_path_factory, placed):
    """What is offered is made from the question: some of the cases will do."""
    release = placed(made(people, tmp_path_factory.mktemp("releases")), "spark")
    for _, sql, wanted in REFUSED[::40]:
        with pytest.raises(QueryError) as refused:
            release.ask(sql)
        assert refused.value.instead == wanted
        assert len(release.ask(wanted)) > 0


@pytest.mark.parametrize(("sql", "wanted"), [pytest.param(*pair, id=title) for title, *pair in REFUSED])
def test_what_a_refusal_says_to_write_is_answered(release, sql, wanted):
    with pytest.raises(QueryError) as refused:
        release.ask(sql)
    assert refused.value.instead == wanted
    assert str(refused.value).endswith(f"\nWrite instead: {wanted}")
    assert len(release.ask(wanted)) > 0


def test_nothing_is_offered_that_is_refused():
    """What a release does not answer is not offered, and trying ends."""
    shown = Shown("microdata", "pay", (("age",), ("pay",)), frozenset({"age", "pay"}))
    tried = []
    assert instead("SELECT CORR(age, pay), * FROM microdata", shown, lambda sql: bool(tried.append(sql))) == ""
    assert 0 < len(tried) == len({*tried}) <= 40


@pytest.mark.parametrize("sql", ["SELECT (", "", "DROP TABLE microdata", "SELECT COUNT(*) FROM read_csv('x')"])
def test_where_there_is_nothing_to_offer(release, sql):
    with pytest.raises(QueryError) as refused:
        release.ask(sql)
    assert refused.value.instead == ""
    assert "Write instead" not in str(refused.value)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.__name__)
def test_a_rewrite_leaves_the_question_as_it_was(rewrite):
    shown = Shown("microdata", "salary", (("age", "sex"), ("salary",)), frozenset({"age", "salary"}))
    for _, sql, _ in REFUSED:
        tree = sqlglot.parse_one(sql, dialect="duckdb")
        before = tree.copy()
        rewrite(tree, shown)
        assert tree == before


def test_a_refusal_that_is_not_of_the_question_offers_nothing(release):
    with pytest.raises(QueryError, match="no estimator") as refused:
        release.ask("SELECT COUNT(*) FROM microdata", estimator="odd")
    assert refused.value.instead == ""


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        (
            (
                "SELECT sex, COUNT(*) AS n FROM microdata WHERE education IN (SELECT school FROM schools WHERE years > 3)"
                " AND salary > 40000 GROUP BY sex ORDER BY n"
            ),
            (
                "SELECT microdata.sex, COUNT(*) AS n FROM microdata JOIN schools ON microdata.education = schools.school"
                " WHERE microdata.salary > 40000 AND schools.years > 3 GROUP BY microdata.sex ORDER BY n"
            ),
        ),
        (
            "SELECT COUNT(*) AS n FROM microdata WHERE education NOT IN (SELECT school FROM schools) AND salary > 40000",
            (
                "SELECT COUNT(*) AS n FROM microdata LEFT JOIN schools ON microdata.education = schools.school"
                " WHERE microdata.salary > 40000 AND NOT microdata.education IS NULL AND schools.school IS NULL"
            ),
        ),
    ],
    ids=["in", "not in"],
)
def test_lists_from_a_table_become_joins(release, people, sql, wanted):
    schools = {"schools": pa.table({"school": ["primary", "master", "doctorate"], "years": [2, 5, 8]})}
    with pytest.raises(QueryError) as refused:
        release.ask(sql, tables=schools)
    assert refused.value.instead == wanted
    found = release.ask(wanted, tables=schools).rows()
    with duckdb.connect() as database:
        database.register("microdata", people)
        database.register("schools", schools["schools"])
        truth = database.sql(sql).fetchall()
        assert database.sql(wanted).fetchall() == truth
    by_sex = {row.get("sex"): row for row in found}
    for *key, n in truth:
        row = by_sex[key[0] if key else None]
        assert row["n_low"] <= n <= row["n_high"]
