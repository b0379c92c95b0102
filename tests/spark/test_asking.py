"""Asked in Spark by a session of the user's own, classic or Connect: what it runs, reaches, and leaves behind."""

import re
from threading import Timer

import pyarrow as pa
import pytest

import discreet
from alike import alike
from discreet import Policy, publish
from discreet.engines import spark_of
from discreet.errors import EngineError, InputError, MissingExtraError, QueryError
from discreet.visible import in_a_line

QUESTION = "SELECT sex, COUNT(*) AS n, AVG(salary) AS pay FROM microdata WHERE age > 40 GROUP BY sex ORDER BY sex"


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = Policy(
        quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4}, partition="deal"
    )
    return publish(people.slice(0, 400), policy, to=tmp_path_factory.mktemp("a {b} 'c'") / "release")


@pytest.fixture(scope="module", params=["classic", "connect"])
def session(request, cluster, spark):
    return spark if request.param == "classic" else cluster.connect()


def test_answers_are_those_of_duckdb_and_explain_is_what_runs(release, session):
    with discreet.open_release(release.path, engine=session) as there:
        expected = release.ask(QUESTION)
        assert alike(there.ask(QUESTION), expected)
        *views, query = re.split(r";\n?", there.explain(QUESTION).strip().removesuffix(";"))
        assert len(views) == len(release.manifest.resources)
        other = session.newSession()
        for statement in views:
            other.sql(statement)
        found = other.sql(query).toArrow().to_pylist()
        for row, wanted in zip(found, expected.rows(), strict=True):
            assert row["sex"] == wanted["sex"]
            assert [row["n"], row["pay"]] == pytest.approx([wanted["n"], wanted["pay"]], rel=1e-9)


def test_nothing_is_left_in_the_session(release, session):
    with discreet.open_release(release.path, engine=session) as there:
        there.ask("SELECT COUNT(*) FROM microdata")
    assert [table.name for table in session.catalog.listTables() if "file" in table.name] == []


def test_tables_of_ones_own_are_joined(release, spark):
    schools = {
        "schools": pa.table({"school": ["primary", "master", "doctorate"], "years": pa.array([2, 5, 8], pa.uint8())})
    }
    question = "SELECT COUNT(*) AS n FROM microdata JOIN schools ON microdata.education = schools.school WHERE salary > 40000 AND years > 3"
    with discreet.open_release(release.path, engine=spark) as there:
        assert alike(there.ask(question, tables=schools), release.ask(question, tables=schools))


def test_other_estimators_answer_as_well(release, spark):
    question = "SELECT AVG(salary) AS pay FROM microdata WHERE age > 40"
    with discreet.open_release(release.path, engine=spark) as there:
        assert alike(there.ask(question, estimator="design"), release.ask(question, estimator="design"))


def test_csv_files_are_sent(people, spark, tmp_path):
    policy = Policy(quasi=["age", "sex"], sensitive="salary", drop="rest", guarantee={"l": 4}, partition="deal")
    release = publish(people.slice(0, 200), policy, to=tmp_path / "release", format="csv")
    with discreet.open_release(release.path, engine=spark) as there:
        question = "SELECT SUM(salary) AS pay FROM microdata WHERE sex = 'f'"
        assert alike(there.ask(question), release.ask(question))


def test_a_query_can_be_stopped(spark):
    engine = spark_of(spark)
    engine.load("few", pa.table({"x": [1]}))
    engine._send(["few"])
    timer = Timer(2, engine.interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.run("SELECT COUNT(*) FROM RANGE(10000000000) AS a JOIN few ON a.id % 7 = few.x")
    timer.join()
    engine.close()


def test_times_finer_than_sparks_are_refused(people, spark, tmp_path):
    seen = pa.array([1_600_000_000_000_000_001 + i for i in range(100)], pa.timestamp("ns"))
    table = people.slice(0, 100).select(["age", "salary"]).append_column("seen", seen)
    policy = Policy(quasi=["age", "seen"], sensitive="salary", guarantee={"l": 2}, partition="deal")
    made = publish(table, policy, to=tmp_path / "release")
    with discreet.open_release(made.path, engine=spark) as there, pytest.raises(InputError, match="nanoseconds"):
        there.ask("SELECT COUNT(*) FROM microdata")


def test_a_session_that_was_stopped_is_told(release, cluster):
    gone = cluster.connect()
    with discreet.open_release(release.path, engine=gone) as there:
        gone.stop()
        with pytest.raises(EngineError, match="was stopped"):
            there.ask("SELECT COUNT(*) FROM microdata")


def test_a_refusal_names_the_engine_in_what_to_write(release, spark, run):
    status, _, err = run("ask", release.path, "SELECT AVG(salary / age) FROM microdata", "--engine", "spark")
    assert status != 0
    assert "--engine=spark" in err


def test_the_command_asks_explains_and_verifies(release, spark, run):
    status, out, _ = run("ask", release.path, QUESTION, "--engine", "spark", "--csv")
    assert (status, out.splitlines()[0].split(",")[:2]) == (0, ["sex", "n"])
    status, out, _ = run("ask", release.path, QUESTION, "--engine", "spark", "--explain")
    assert status == 0
    assert "USING PARQUET" in out
    assert out == "\n".join(map(in_a_line, out.splitlines())) + "\n"
    status, out, _ = run("verify", release.path, "--engine", "spark")
    assert (status, "FAILED" in out) == (0, False)
    status, _, err = run("ask", release.path, QUESTION, "--engine", "oracle")
    assert (status != 0, "the engines are: duckdb, spark" in err) == (True, True)


def test_without_pyspark_the_extra_is_named(monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.startswith("discreet.engines.spark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    monkeypatch.setitem(sys.modules, "pyspark.errors", None)
    with pytest.raises(MissingExtraError) as caught:
        spark_of("spark")
    assert "discreet[spark]" in caught.value.hint


def test_what_cannot_be_computed_is_refused_without_a_cell(release, spark):
    with discreet.open_release(release.path, engine=spark) as there, pytest.raises(QueryError) as caught:
        there.ask("SELECT COUNT(*) FROM microdata WHERE CAST(education AS INTEGER) = 3")
    assert "cannot be converted" in str(caught.value)


def test_floats_of_four_bytes_are_compared_as_in_files(spark, tmp_path):
    """1.1 is found, though the float of eight bytes that is nearest to it is another."""
    kinds = {"dose": [1.1, 2.2, -3.3, 4.5], "size": [0.1, 0.7, 1.9]}
    columns = {name: pa.array([held[i % len(held)] for i in range(240)], pa.float32()) for name, held in kinds.items()}
    rules = {"quasi": ["size"], "sensitive": "dose", "guarantee": {"k": 60}}
    made = discreet.publish(pa.table(columns), rules, to=tmp_path / "r")
    question = "SELECT size > 0.1 AS large, COUNT(*) FROM microdata WHERE dose IN (1.1, 4.5) AND size <> 1.9 GROUP BY 1"
    with discreet.open_release(made.path, engine=spark) as there:
        assert alike(there.ask(question, estimator="even"), made.ask(question, estimator="even"))
    assert made.ask("SELECT COUNT(*) AS n FROM microdata WHERE dose = 1.1").rows()[0]["n"] == 60
