"""Releases in a real PostgreSQL: loaded at once or not at all, read out byte by byte, asked with the least of rights."""

import datetime as dt
import os
from decimal import Decimal
from pathlib import Path
from threading import Thread

import psycopg
import pyarrow as pa
import pytest

import discreet
from alike import alike
from discreet.engines import Address
from discreet.engines.postgres.engine import check_version
from discreet.errors import DiscreetError, EngineError, InputError, ReleaseError, VerificationError
from server import PASSWORD, Server

QUESTION = "SELECT sex, COUNT(*), AVG(salary) FROM microdata WHERE age > 40 GROUP BY sex"


@pytest.fixture(scope="module")
def release(people, tmp_path_factory):
    policy = discreet.Policy(
        name="people", quasi=["age", "sex", "education"], sensitive="salary", drop="rest", guarantee={"l": 4}
    )
    return discreet.publish(people, policy, to=tmp_path_factory.mktemp("release") / "made", seed=1)


def messy():
    """Every type that a release may hold, with what is hard to write: quotes, line ends, signs, nothing."""
    n = 60
    texts = ['a "quoted", text', "two\nlines", "", "ü €", "\\N", "it's", None, "NULL", " blank ", "\tÿ"]
    day = dt.date(1899, 12, 31)
    return pa.table(
        {
            "Text": pa.array([texts[i % 10] for i in range(n)]),
            "flag": pa.array([None if i % 7 == 3 else i % 2 == 0 for i in range(n)]),
            "tiny": pa.array([i - 30 for i in range(n)], pa.int8()),
            "huge": pa.array([2**64 - 1 - i for i in range(n)], pa.uint64()),
            "float 32": pa.array([i / 7 for i in range(n)], pa.float32()),
            "x": pa.array([None if i % 9 == 1 else 0.1 * i for i in range(n)]),
            "price": pa.array([Decimal(i) / 100 for i in range(n)], pa.decimal128(9, 2)),
            "day": pa.array([day + dt.timedelta(i % 5) for i in range(n)]),
            "at": pa.array([dt.datetime(2020, 1, 1, 12, 0, i, 7) for i in range(n)], pa.timestamp("us")),  # noqa: DTZ001
            "o'clock": pa.array([dt.time(1, 2, i % 60, 3) for i in range(n)], pa.time64("us")),
            'illness "of" person': pa.array([f"ill {i % 6}" for i in range(n)]),
        }
    )


def test_a_release_comes_back_byte_by_byte(release, database, tmp_path):
    loaded = discreet.load(release, database, name="People 2026")
    assert loaded.promise == release.promise
    back = discreet.dump(database, tmp_path / "back", name="People 2026")
    names = sorted(path.name for path in release.path.iterdir())
    assert names == sorted(path.name for path in back.path.iterdir())
    for name in names:
        assert (release.path / name).read_bytes() == (back.path / name).read_bytes()


def test_a_release_in_parts_comes_back_byte_by_byte(people, database, tmp_path):
    """One table there, and the same parts when it is read out."""
    policy = {"quasi": ["age", "sex"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    made = discreet.publish(people.slice(0, 400), policy, to=tmp_path / "made", rows_per_part=64)
    assert len(made.files("qit")) > 1
    discreet.load(made, database, name="in_parts")
    back = discreet.dump(database, tmp_path / "back", name="in_parts")
    files = {path.name: path.read_bytes() for path in made.path.iterdir()}
    assert {path.name: path.read_bytes() for path in back.path.iterdir()} == files


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_every_type_comes_back(database, tmp_path, form):
    table = messy()
    if form == "csv":
        table = table.drop_columns(["huge", "float 32", "price"])  # of which a CSV file would lose something
    quasi = [name for name in table.column_names if "illness" not in name]
    policy = discreet.Policy(
        name="m", quasi=quasi, sensitive='illness "of" person', guarantee={"l": 3}, partition="deal"
    )
    made = discreet.publish(table, policy, to=tmp_path / "made", format=form)
    with discreet.load(made, database, name="messy") as loaded:
        for question in (
            'SELECT "Text", COUNT(*) FROM m GROUP BY "Text"',
            """SELECT COUNT(*), MIN("day"), MAX("at"), AVG(x) FROM m WHERE "illness ""of"" person" = 'ill 2'""",
            """SELECT flag, MAX("o'clock") FROM m WHERE "Text" = 'a "quoted", text' OR "Text" = '' GROUP BY flag""",
        ):
            there, here = (each.ask(question, estimator="even") for each in (loaded, made))
            assert alike(there, here), question
    discreet.dump(database, tmp_path / "back", name="messy")


def test_a_schema_has_keys_and_comments(release, database):
    discreet.load(release, database, name="r")
    with psycopg.connect(database) as connection:
        keys = "SELECT conrelid::regclass::text, contype::text, confrelid::regclass::text FROM pg_constraint"
        found = set(connection.execute(f"{keys} WHERE connamespace = 'r'::regnamespace").fetchall())
        [(comment,)] = connection.execute("SELECT obj_description('r'::regnamespace)").fetchall()
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            connection.execute('UPDATE r.qit SET "group" = -1')
    assert {("r.qit", "f", "r.discreet_keys_of_st"), ("r.st", "f", "r.discreet_keys_of_st")} <= found
    assert "l = 4" in comment


def test_a_changed_table_is_found(release, database, tmp_path):
    discreet.load(release, database, name="r")
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE r.qit SET age = age + 1 WHERE ctid IN (SELECT ctid FROM r.qit LIMIT 1)")
    for act in (
        lambda: discreet.dump(database, tmp_path / "back", name="r"),
        lambda: discreet.verify(f"{database}#r"),
    ):
        with pytest.raises(VerificationError, match="not what its files say"):
            act()
    assert not (tmp_path / "back").exists()


def test_a_changed_file_is_found(release, database, tmp_path):
    discreet.load(release, database, name="r")
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE r.discreet_files SET content = content || 'x' WHERE path LIKE '%.parquet'")
    with pytest.raises(VerificationError, match="digest differs"):
        discreet.dump(database, tmp_path / "back", name="r")
    assert [*tmp_path.iterdir()] == []


def test_what_does_not_verify_is_not_loaded(release, database, tmp_path):
    import shutil

    shutil.copytree(release.path, tmp_path / "copy")
    (tmp_path / "copy" / "README.md").write_text("I promise more.")
    with pytest.raises(VerificationError, match="not loaded"):
        discreet.load(tmp_path / "copy", database, name="r")
    assert schemas(database) == []


def schemas(database):
    with psycopg.connect(database) as connection:
        query = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
        return [name for (name,) in connection.execute(query).fetchall()]


def test_names_are_taken_once_and_not_by_another_case(release, database):
    discreet.load(release, database, name="Release")
    with pytest.raises(ReleaseError, match="exists in the database already"):
        discreet.load(release, database, name="Release")
    with pytest.raises(ReleaseError, match="nothing but capitals"):
        discreet.load(release, database, name="release")
    with pytest.raises(InputError, match="has 64 bytes, and names in PostgreSQL have 63 at most"):
        discreet.load(release, database, name="é" * 32)
    with pytest.raises(InputError, match="cannot be the name"):
        discreet.load(release, database, name="pg_mine")
    with pytest.raises(ReleaseError, match="not named"):
        discreet.load(release, database)
    assert schemas(database) == ["Release"]


def test_a_role_is_known_and_not_everybody(release, database):
    with pytest.raises(InputError, match="no role `nobody_there`"):
        discreet.load(release, database, name="r", grant=["nobody_there"])
    with pytest.raises(InputError, match="PUBLIC"):
        discreet.load(release, database, name="r", grant=["public"])
    assert schemas(database) == []


def test_there_is_no_such_release(database, tmp_path):
    for act in (discreet.open_release, lambda url: discreet.dump(url, tmp_path / "x"), discreet.verify):
        with pytest.raises(ReleaseError, match="no release `nothing`"):
            act(f"{database}#nothing")
    with pytest.raises(ReleaseError, match="not the URL"):
        discreet.dump("folder", tmp_path / "x", name="r")
    with pytest.raises(ReleaseError, match="two releases"):
        discreet.open_release(f"{database}#r", release="s")


BAD = {
    "password": (lambda url: url.replace(PASSWORD.replace(" ", "%20"), "sesame"), "user or password"),
    "host": (lambda url: url.replace("127.0.0.1", "no-such-host.invalid"), "no server of that name"),
    "port": (
        lambda url: url.replace(f":{Address.of(url).url.rsplit(':', 1)[1].split('/')[0]}/", ":1/"),
        "no server answers",
    ),
    "database": (lambda url: url.rsplit("/", 1)[0] + "/nothing", "no such database"),
    "TLS": (lambda url: f"{url}?sslmode=require", "encrypted"),
    "role": (lambda url: url.replace("postgres:", "stranger:"), "user or password"),
    "option": (lambda url: f"{url}?colour=red", "URL cannot be read"),
    "service": (lambda url: "postgresql://?service=nowhere", "service"),
}


@pytest.mark.parametrize("fault", BAD)
def test_no_connection_is_explained_without_credentials(database, fault):
    change, told = BAD[fault]
    with pytest.raises(EngineError, match=told) as caught:
        discreet.open_release(change(database), release="r")
    assert caught.value.hint
    for secret in ("correct", "sesame", "stranger", "postgres:", "colour"):
        assert secret not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_credentials_come_from_variables_and_files(release, database, tmp_path, monkeypatch):
    discreet.load(release, database, name="r")
    host, port = database.split("@")[1].split("/")[0].split(":")
    name = database.rsplit("/", 1)[1]
    bare = f"postgresql://{host}:{port}/{name}"
    monkeypatch.setenv("PGUSER", "postgres")
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        assert discreet.open_release(bare, release="r").promise.rows == 2000
    file = tmp_path / "pgpass"
    file.write_text(f"{host}:{port}:*:postgres:{PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert discreet.open_release(f"{bare}#r").promise.rows == 2000
    service = tmp_path / "services"
    service.write_text(f"[mine]\nhost={host}\nport={port}\ndbname={name}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    assert discreet.open_release("postgresql://?service=mine", release="r").promise.rows == 2000


def test_no_password_is_shown(release, database):
    with discreet.load(release, database, name="r") as loaded:
        shown = [
            repr(loaded),
            str(loaded.address),
            repr(loaded.address),
            loaded.explain(QUESTION),
            loaded._repr_html_(),
        ]
    assert not any("correct" in text or "horse" in text for text in shown)
    with psycopg.connect(database) as connection:
        seen = connection.execute(
            "SELECT string_agg(convert_from(content, 'UTF8'), '') FROM r.discreet_files WHERE path LIKE '%.json'"
        )
        assert "horse" not in seen.fetchone()[0]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert PASSWORD.encode() not in path.read_bytes()
        except OSError:
            continue


def test_old_servers_are_refused():
    with pytest.raises(EngineError, match="PostgreSQL 13"):
        check_version(130_012)
    check_version(140_000)


def test_no_right_to_create_is_named(release, database, server):
    server.run("CREATE ROLE reader LOGIN PASSWORD 'correct horse'")
    try:
        with pytest.raises(EngineError, match="no right"):
            discreet.load(release, database.replace("postgres:", "reader:"), name="r")
    finally:
        server.run("DROP ROLE reader")
    assert schemas(database) == []


def test_a_read_only_server_is_named(release):
    """A real standby, which follows nobody."""
    standby = Server()
    try:
        standby.make()
        standby.kill()
        (standby.folder / "data" / "standby.signal").touch()
        standby.start()
        with pytest.raises(EngineError, match="read-only"):
            discreet.load(release, standby.url(), name="r")
    finally:
        standby.stop()


FAILING = {
    "53100": ("RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'", "disk of the server is full"),
    "57P01": ("PERFORM pg_terminate_backend(pg_backend_pid())", "ended the connection"),
    "22P02": ("RAISE EXCEPTION 'invalid: \"doctorate\"' USING ERRCODE = '22P02'", "cannot be converted"),
}


@pytest.mark.parametrize("state", FAILING)
def test_what_fails_in_the_middle_leaves_nothing(release, database, state):
    """The server itself fails as soon as the tables of a release are there."""
    act, told = FAILING[state]
    with psycopg.connect(database) as connection:
        connection.execute(
            f"CREATE FUNCTION public.fail() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN {act}; END $$"
        )
        connection.execute(
            "CREATE EVENT TRIGGER fails ON ddl_command_end WHEN TAG IN ('COMMENT') EXECUTE FUNCTION public.fail()"
        )
    try:
        with pytest.raises(EngineError, match=told) as caught:
            discreet.load(release, database, name="r")
    finally:
        with psycopg.connect(database) as connection:
            connection.execute("DROP EVENT TRIGGER fails")
    assert "doctorate" not in str(caught.value)
    assert caught.value.hint or state == "22P02"
    assert schemas(database) == []
    discreet.load(release, database, name="r").close()


def test_two_stewards_do_not_take_the_same_name(release, database):
    outcomes = []

    def load(name):
        try:
            discreet.load(release, database, name=name).close()
        except ReleaseError as error:
            outcomes.append(str(error))
        else:
            outcomes.append("loaded")

    threads = [Thread(target=load, args=(name,), daemon=True) for name in ("r", "R", "r")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert outcomes.count("loaded") == 1
    assert len(outcomes) == 3
    assert len(schemas(database)) == 1


def test_changed_tables_for_questions_are_found(release, database):
    discreet.load(release, database, name="r").close()
    assert discreet.verify(f"{database}#r").ok
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE r.discreet_signature_values SET value = value + 1")
    with pytest.raises(VerificationError, match="does not fit its rows"):
        discreet.verify(f"{database}#r")


def test_timestamps_of_nanoseconds_are_refused_by_name(database, tmp_path):
    at = pa.array([10**9 * i + 1 for i in range(12)], pa.timestamp("ns"))
    table = pa.table({"at": at, "ill": [f"i{i % 4}" for i in range(12)]})
    policy = discreet.Policy(name="t", quasi=["at"], sensitive="ill", guarantee={"l": 2}, partition="deal")
    made = discreet.publish(table, policy, to=tmp_path / "made")
    with pytest.raises(InputError, match="`at` holds times down to nanoseconds"):
        discreet.load(made, database, name="r")
    assert schemas(database) == []


def test_metrics_are_those_of_the_files(release, database):
    discreet.load(release, database, name="r").close()
    assert discreet.metrics(f"{database}#r") == discreet.metrics(release.path)
    with discreet.open_release(database, release="r") as loaded:
        assert discreet.metrics(loaded) == discreet.metrics(release)
    with pytest.raises(ReleaseError, match="no release `nothing`"):
        discreet.metrics(f"{database}#nothing")


def test_the_files_that_were_read_out_are_gone(release, database):
    with discreet.load(release, database, name="r") as loaded:
        folder = loaded.path
        assert folder.stat().st_mode & 0o077 == 0
        assert (folder / "datapackage.json").is_file()
    assert not folder.exists()


def test_commands(release, database, tmp_path, run):
    status, out, err = run("load", release.path, database, "--release", "r", "--json")
    assert status == 0, err
    assert "horse" not in out
    where = f"{database}#r"
    for command in (
        ["verify", where],
        ["show", where],
        ["audit", where],
        ["ask", where, QUESTION],
        ["ask", database, "--release", "r", QUESTION, "--json"],
    ):
        status, out, err = run(*command)
        assert status == 0, err
        assert "horse" not in out + err
    status, out, err = run("ask", where, "--explain", QUESTION)
    assert "MATERIALIZED" in out
    assert "horse" not in out
    status, out, _ = run("dump", database, "--release", "r", tmp_path / "back")
    assert (status, "verified" in out) == (0, True)
    status, _, err = run("ask", database, QUESTION)
    assert (status, "not named" in err) == (1, True)
    status, _, err = run("learn", where, "--tables", "2")
    assert (status, "name the new folder" in err) == (1, True)
    assert run("learn", where, "--tables", "2", "--to", tmp_path / "learned")[0] == 0
    assert discreet.verify(tmp_path / "learned").ok


def test_what_explain_prints_runs_as_it_is(release, database):
    with discreet.load(release, database, name="r") as loaded:
        text = loaded.explain(QUESTION, estimator="even")
        answer = loaded.ask(QUESTION, estimator="even")
    with psycopg.connect(database) as connection:
        connection.execute("SET default_transaction_read_only = on")
        rows = connection.execute(text).fetchall()
    assert [row[: len(answer.columns)] for row in rows] == [tuple(row.values()) for row in answer.rows()]


def test_a_question_that_takes_too_long_is_stopped(release, database):
    with discreet.load(release, database, name="r") as loaded:
        loaded.ask(QUESTION)
        loaded.session.sealed.engine._connection.execute("SET statement_timeout = '1ms'")
        with pytest.raises(DiscreetError, match="longer than its time limit"):
            loaded.ask("SELECT age, COUNT(DISTINCT salary), MEDIAN(salary) FROM microdata GROUP BY age")


def test_an_error_shows_neither_values_nor_sql(release, database):
    with discreet.load(release, database, name="r") as loaded:
        for question in (
            "SELECT SUM(CAST(education AS INT)) FROM microdata",
            "SELECT COUNT(*) FROM microdata WHERE education > 3",
        ):
            with pytest.raises(DiscreetError) as caught:
                loaded.ask(question, estimator="even")
            assert not any(word in str(caught.value) for word in ("bachelor", "doctorate", "qit"))


def test_without_the_driver_it_is_named(monkeypatch):
    import sys

    for name in [each for each in sys.modules if each.startswith("discreet.engines.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DiscreetError, match="psycopg is not installed"):
        discreet.open_release("postgresql://host/db#r")


def test_the_process_has_no_password_in_its_environment():
    assert PASSWORD not in os.environ.values()


@pytest.mark.parametrize("missing", [False, True])
def test_floats_of_four_bytes_are_compared_as_in_files(database, tmp_path, missing):
    """1.1 is found, though the float of eight bytes that is nearest to it is another."""
    kinds = {"dose": [1.1, 2.2, -3.3, 4.5], "size": [0.1, 0.7, 1.9]}
    columns = {name: pa.array([held[i % len(held)] for i in range(240)], pa.float32()) for name, held in kinds.items()}
    if missing:
        columns["dose"] = pa.array(
            [None if i % 9 == 0 else columns["dose"][i].as_py() for i in range(240)], pa.float32()
        )
    policy = {"quasi": ["size"], "sensitive": "dose", "guarantee": {"k": 60}, "missing_sensitive": "value"}
    made = discreet.publish(pa.table(columns), policy, to=tmp_path / "r")
    with discreet.load(made, database, name="floats") as release:
        for condition in (
            *(f"dose {sign} 1.1" for sign in ("=", "<>", "<", "<=", ">", ">=")),
            "2.2 = dose",
            "dose = -3.3",
            "dose BETWEEN 1.1 AND (2.2)",
            "dose IN (1.1, -3.3)",
            "dose < 1.1e0",
            "dose < 1e300",
            "NOT dose = 1.1 AND dose > 1",
            "size = 0.1 AND dose = 2.2",
            "size IN (0.7, 1.9)",
            "dose * 2 > 2.2",
            "1 + 2 * (dose - 0.1) = 3",
        ):
            question = f"SELECT COUNT(*) AS n FROM microdata WHERE size > 0 AND {condition}"
            assert alike(release.ask(question, estimator="even"), made.ask(question, estimator="even")), condition
        question = "SELECT size > 0.1 AS large, SUM(CASE WHEN dose = 1.1 THEN dose * 3 END) FROM microdata GROUP BY 1"
        assert alike(release.ask(question, estimator="even"), made.ask(question, estimator="even"))


def test_boxes_of_floats_of_four_bytes_are_compared_as_in_files(database, tmp_path):
    columns = {"size": pa.array([0.1, 0.7, 1.9, 0.1] * 60, pa.float32()), "ill": [f"i{i % 7}" for i in range(240)]}
    policy = {"quasi": ["size"], "sensitive": "ill", "guarantee": {"k": 5}, "publication": "generalization"}
    made = discreet.publish(pa.table(columns), policy, to=tmp_path / "r")
    question = "SELECT COUNT(*) AS n FROM microdata WHERE size = 0.7"
    with discreet.load(made, database, name="boxes") as release:
        assert made.ask(question).rows()[0]["n"] == 60
        assert alike(release.ask(question, estimator="even"), made.ask(question, estimator="even"))
