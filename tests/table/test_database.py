"""Tables of a real PostgreSQL: read at one moment, as the role sees them, every type without loss or refused by name."""

import datetime as dt
from decimal import Decimal
from threading import Event, Thread

import psycopg
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.postgres.dialect import arrow_type
from discreet.errors import DiscreetError, EngineError, InputError

UTC = dt.UTC
POLICY = {"name": "p", "quasi": ["age", "sex"], "sensitive": "ill", "guarantee": {"l": 2}, "drop": "rest"}


@pytest.fixture
def patients(database):
    """A table of 200 people, who see their own ward only, and who may read it."""
    with psycopg.connect(database) as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.execute(
            "CREATE TABLE clinic.patients AS SELECT i AS id, 20 + i % 50 AS age, (ARRAY['f', 'm'])[1 + i % 2] AS sex,"
            " 'ill ' || i % 5 AS ill, i % 2 AS ward FROM generate_series(1, 200) i"
        )
    return database


def test_every_type_is_read_without_loss(database):
    columns = {
        "true": ("boolean", True),
        "1": ("smallint", 1),
        "2::integer": ("integer", 2),
        "9007199254740993": ("bigint", 9007199254740993),
        "0.1::real": ("real", pytest.approx(0.1, rel=1e-7)),
        "0.1::float8": ("float8", 0.1),
        "12345678901234567890.12": ("numeric(22, 2)", Decimal("12345678901234567890.12")),
        "'a ''b'', \"c\"' || chr(10)": ("text", "a 'b', \"c\"\n"),
        "''": ("varchar(9)", ""),
        "'ab'": ("char(9)", "ab"),
        "'x'": ("domain_of_text", "x"),
        "'sad'": ("mood", "sad"),
        "'7c9e6679-7425-40de-944b-e07fc1f90ae7'": ("uuid", "7c9e6679-7425-40de-944b-e07fc1f90ae7"),
        "'1899-12-31'": ("date", dt.date(1899, 12, 31)),
        "'23:59:59.999999'": ("time", dt.time(23, 59, 59, 999999)),
        "'1969-12-31 23:59:59.999999'": ("timestamp", dt.datetime(1969, 12, 31, 23, 59, 59, 999999)),  # noqa: DTZ001
        "'2026-03-29 02:30:00+02'": ("timestamptz", dt.datetime(2026, 3, 29, 0, 30, tzinfo=UTC)),
    }
    made = ", ".join(f"c{i} {kind}" for i, (kind, _) in enumerate(columns.values()))
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute("CREATE DOMAIN domain_of_text AS text CHECK (VALUE <> '')")
        connection.execute(f"CREATE TABLE t ({made})")
        connection.execute(f"INSERT INTO t VALUES ({', '.join(columns)})")
        connection.execute(f"INSERT INTO t VALUES ({', '.join(['NULL'] * len(columns))})")
    with discreet.read(database, table="t") as table:
        rows = table.engine.run(table.select([each.name for each in table.columns])).to_pylist()
    assert [*rows[0].values()] == [value for _, value in columns.values()]
    assert {*rows[1].values()} == {None}


@pytest.mark.parametrize(
    "kind", ["integer[]", "json", "jsonb", "numeric", "interval", "bytea", "inet", "timetz", "money", "point"]
)
def test_a_type_without_a_counterpart_is_refused_by_name(database, kind):
    with psycopg.connect(database) as connection:
        connection.execute(f'CREATE TABLE t (id integer, "My col" {kind})')
    with pytest.raises(InputError) as caught:
        discreet.read(database, table="t")
    assert "`My col`" in str(caught.value)
    assert f"`{kind}`" in str(caught.value).replace("int4[]", "integer[]")
    assert caught.value.hint


@pytest.mark.parametrize(("name", "written"), [("citext", "`citext`"), ("_citext", "`citext[]`")])
def test_citext_is_refused_by_name(name, written):
    """Its extension is not in the package of the server, so the type is given as the catalogue names it."""
    with pytest.raises(InputError, match="the column `My col` is of the type") as caught:
        arrow_type("My col", name, -1, "b")
    assert written in str(caught.value)
    assert ('lower("My col"::text)' in caught.value.hint) == (name == "citext")


@pytest.mark.parametrize("way", ["in the server", "by way of this machine"])
def test_a_query_that_joins_tables_is_published(patients, tmp_path, way):
    """A person with two stays is in it twice, and one without any is not: published is what the query finds."""
    with psycopg.connect(patients) as connection:
        connection.execute(
            "CREATE TABLE clinic.wards AS SELECT w AS ward, 'ward ' || w AS name FROM generate_series(0, 1) w;"
            "CREATE TABLE clinic.stays AS SELECT 1 + i % 150 AS id, i AS stay FROM generate_series(1, 180) i"
        )
    query = (
        "SELECT p.age, p.sex, w.name, s.stay, p.ill FROM clinic.patients p JOIN clinic.wards w USING (ward)"
        " JOIN clinic.stays s ON s.id = p.id WHERE p.age < 60"
    )
    there = way == "in the server"
    policy = {**POLICY, "quasi": ["age", "name", "stay"], "partition": "deal" if there else "local"}
    with discreet.read(patients, query=query) as table:
        place = {"to": patients, "release": "joined"} if there else {"to": tmp_path / "r"}
        release = discreet.publish(table, policy, **place)
    assert there == all(resource.hash.startswith("table:") for resource in release.manifest.resources)
    assert release.verify().ok
    with psycopg.connect(patients) as connection:
        shown = connection.execute(f"SELECT age, name, stay FROM ({query}) q ORDER BY stay").fetchall()
        held = dict(connection.execute(f"SELECT ill, count(*) FROM ({query}) q GROUP BY 1").fetchall())
    rows = pq.read_table(release.file("qit")).sort_by("stay").to_pylist()
    assert [(row["age"], row["name"], row["stay"]) for row in rows] == shown
    found = pq.read_table(release.file("st")).group_by("ill").aggregate([("count", "sum")]).to_pylist()
    assert {row["ill"]: row["count_sum"] for row in found} == held
    [answer] = release.ask("SELECT COUNT(*) AS n FROM p WHERE name = 'ward 1'", estimator="even").rows()
    assert answer["n"] == sum(name == "ward 1" for _, name, _ in shown)


def test_infinite_dates_are_refused(database):
    with (
        discreet.read(database, query="SELECT 'infinity'::date AS d") as table,
        pytest.raises(InputError, match="infinite or out of range"),
    ):
        _ = table.rows


def test_a_table_is_published(patients, tmp_path):
    with discreet.read(patients, table="clinic.patients") as table:
        assert table.name == "patients"
        release = discreet.publish(table, POLICY, to=tmp_path / "r")
    assert release.promise.rows == 200
    joined = "SELECT p.*, w.name FROM clinic.patients p JOIN (VALUES (0, 'a'), (1, 'b')) w(ward, name) USING (ward); "
    with discreet.read(patients, query=joined) as table:
        assert "name" in {column.name for column in table.columns}


def test_a_table_is_published_into_the_database(patients, run, tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "p"\nquasi = ["age", "sex"]\nsensitive = "ill"\nguarantee = { l = 2 }\ndrop = "rest"\n')
    status, out, err = run(
        *("publish", patients, "--table", "clinic.patients", "--policy", policy, "--to", patients, "--release", "made")
    )
    assert status == 0, err
    assert "horse" not in out + err
    assert "#made" in out
    with discreet.open_release(f"{patients}#made") as release:
        assert release.ask("SELECT COUNT(*) FROM p").rows()[0]["count"] == 200
        assert release.verify().ok
    status, _, err = run(
        *("publish", patients, "--table", "clinic.patients", "--policy", policy, "--to", patients, "--release", "made")
    )
    assert (status, "exists in the database already" in err) == (1, True)


def test_what_the_role_does_not_see_is_not_published(patients, server, tmp_path):
    role = "ward_of_patients"
    server.run(
        f"CREATE ROLE {role} LOGIN PASSWORD 'correct horse'",
        f"GRANT USAGE ON SCHEMA clinic TO {role}",
        f"GRANT SELECT ON clinic.patients TO {role}",
        "ALTER TABLE clinic.patients ENABLE ROW LEVEL SECURITY",
        f"CREATE POLICY own ON clinic.patients FOR SELECT TO {role} USING (ward = 1)",
        database=patients.rsplit("/", 1)[1],
    )
    with discreet.read(patients.replace("postgres:", f"{role}:", 1), table="clinic.patients") as table:
        release = discreet.publish(table, POLICY, to=tmp_path / "r")
    assert release.promise.rows == 100
    assert release.ask("SELECT COUNT(*) FROM p WHERE sex = 'f'").rows()[0]["count"] == 0


def test_a_table_that_changes_is_read_at_one_moment(patients):
    """Every transaction moves all ages by the same: a mixture of two would have more than one offset."""
    stop, started = Event(), Event()

    def change():
        with psycopg.connect(patients, autocommit=True) as connection:
            while not stop.is_set():
                connection.execute("UPDATE clinic.patients SET age = age + 100")
                started.set()

    thread = Thread(target=change, daemon=True)
    thread.start()
    try:
        assert started.wait(60)
        for _ in range(5):
            rows = discreet.read(
                patients,
                query="SELECT age / 100 AS n FROM clinic.patients UNION ALL SELECT age / 100 FROM clinic.patients",
            )
            with rows as table:
                found = table.engine.run(table.select(["n"])).column(0)
                assert len({*found.to_pylist()}) == 1
    finally:
        stop.set()
        thread.join(60)


@pytest.mark.parametrize("wrong", ["nothing", "clinic.nothing", "no.such.table.at.all", "clinic.patients; DROP", ""])
def test_no_such_table(patients, wrong):
    with pytest.raises(InputError, match="no table"):
        discreet.read(patients, table=wrong)


def test_no_right_to_read(patients, server):
    role = "nobody_of_patients"
    server.run(f"CREATE ROLE {role} LOGIN PASSWORD 'correct horse'")
    with pytest.raises(DiscreetError, match=r"no right|no table"):
        discreet.read(patients.replace("postgres:", f"{role}:", 1), table="clinic.patients")


def test_a_query_reads_and_does_nothing_else(patients):
    for query in (
        "DELETE FROM clinic.patients RETURNING *",
        "SELECT 1) TO STDOUT; DROP TABLE clinic.patients; --",
        "SELEC",
    ):
        with pytest.raises(EngineError):
            discreet.read(patients, query=query)
    with discreet.read(patients, query="SELECT * FROM clinic.patients -- all of them") as table:
        assert table.rows == 200


def test_a_table_or_a_query(patients, tmp_path):
    with pytest.raises(InputError, match="either a table or a query"):
        discreet.read(patients)
    with pytest.raises(InputError, match="either a table or a query"):
        discreet.read(patients, table="a", query="b")
    with pytest.raises(InputError, match="only a database"):
        discreet.read(tmp_path / "x.csv", table="a")
    with pytest.raises(InputError, match="a folder has no name"):
        discreet.publish(tmp_path / "x.csv", POLICY, to=tmp_path / "r", release="x")
