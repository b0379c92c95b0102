"""Names of columns that a server would cut off, or take for one another: told before anything is written."""

import psycopg
import pyarrow as pa
import pytest

import discreet
from discreet.errors import InputError, QueryError

LONG = "é" * 31 + "xy"  # one byte more than fits
FITS = "é" * 31 + "x"
POLICY = {"name": "p", "sensitive": "ill", "guarantee": {"l": 2}}


def table(*names, rows=60):
    columns = {name: [(i * (place + 2)) % 17 for i in range(rows)] for place, name in enumerate(names)}
    return pa.table({**columns, "ill": [f"i{i % 4}" for i in range(rows)]})


def schemas(url):
    with psycopg.connect(url) as connection:
        query = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
        return [name for (name,) in connection.execute(query).fetchall()]


def test_a_column_with_a_long_name_is_refused_before_the_release_is_made(database, monkeypatch):
    monkeypatch.setattr("discreet.publication.publish.prepare", None)  # nothing is computed
    with pytest.raises(InputError, match=r"the column `é+xy` has 64 bytes, and names in PostgreSQL have 63") as caught:
        discreet.publish(table("age", LONG), {**POLICY, "quasi": ["age", LONG]}, to=database, release="r")
    assert "rename it" in caught.value.hint
    assert schemas(database) == []


@pytest.mark.parametrize("column", ["quasi", "sensitive"])
def test_a_release_with_a_long_name_is_not_loaded(database, tmp_path, column):
    rows = table("age", LONG) if column == "quasi" else table("age").rename_columns(["age", LONG])
    policy = (
        {**POLICY, "quasi": ["age", LONG]} if column == "quasi" else {**POLICY, "sensitive": LONG, "quasi": ["age"]}
    )
    made = discreet.publish(rows, policy, to=tmp_path / "r")
    with pytest.raises(InputError, match=r"the column `é+xy` has 64 bytes"):
        discreet.load(made, database, name="r")
    assert schemas(database) == []


def test_the_longest_name_that_fits_is_kept_whole(database, tmp_path):
    rows = table("age", FITS)
    made = discreet.publish(rows, {**POLICY, "quasi": ["age", FITS]}, to=tmp_path / "r")
    with discreet.load(made, database, name="r") as loaded:
        question = f"SELECT SUM({FITS}) AS n FROM p WHERE {FITS} > 3 AND ill = 'i1'"
        assert loaded.ask(question, estimator="even").rows() == made.ask(question, estimator="even").rows()
    discreet.dump(database, tmp_path / "back", name="r")


def test_a_column_of_an_answer_with_a_long_name_is_refused(database, tmp_path):
    """The server would cut off what tells the ends of an aggregate apart."""
    made = discreet.publish(table("age", FITS), {**POLICY, "quasi": ["age", FITS]}, to=tmp_path / "r")
    with discreet.load(made, database, name="r") as loaded:
        for asked in (f"SUM({FITS}) AS {FITS}", f"COUNT(*) AS {LONG}"):
            with pytest.raises((InputError, QueryError), match="bytes, and names in PostgreSQL have 63") as caught:
                loaded.ask(f"SELECT {asked} FROM p WHERE ill = 'i1'", estimator="even")
            assert "with AS" in caught.value.hint


@pytest.mark.parametrize("source", ["table", "query"])
def test_columns_that_differ_in_capitals_only_are_refused(database, source):
    """In PostgreSQL a table may have both; a question could not tell them apart."""
    with psycopg.connect(database) as connection:
        connection.execute("""CREATE TABLE t AS SELECT i AS age, i + 1 AS "Age", 'i' || i % 4 AS ill
            FROM generate_series(1, 60) i""")
    given = {"table": "t"} if source == "table" else {"query": 'SELECT age, "Age", ill FROM t'}
    with pytest.raises(InputError, match="the column name `age` stands twice") as caught:
        discreet.read(database, **given)
    assert "query" in caught.value.hint
    with discreet.read(database, query='SELECT age, "Age" AS older, ill FROM t') as rows:
        assert [column.name for column in rows.columns] == ["age", "older", "ill"]


def test_tables_that_differ_in_capitals_only_are_told_apart(database):
    with psycopg.connect(database) as connection:
        connection.execute('CREATE TABLE t (a integer); CREATE TABLE "T" (b integer)')
    for name, column in (("t", "a"), ("T", "a"), ('"T"', "b"), ('public."T"', "b")):
        with discreet.read(database, table=name) as rows:
            assert [each.name for each in rows.columns] == [column], name


def test_a_table_with_a_long_name_is_read_by_what_the_server_made_of_it(database):
    """It cuts names off wherever they stand, in CREATE TABLE, too."""
    with psycopg.connect(database) as connection:
        connection.execute(f"CREATE TABLE {'n' * 70} (a integer)")
    with discreet.read(database, table="n" * 63) as rows:
        assert [each.name for each in rows.columns] == ["a"]
