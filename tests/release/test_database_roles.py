"""Who may see what, proved with real roles: analysts the release and nothing else, everybody else nothing."""

from threading import Thread
from uuid import uuid4

import psycopg
import pytest

import discreet
from alike import alike

QUESTION = "SELECT sex, COUNT(*), AVG(salary), MEDIAN(salary) FROM microdata WHERE age > 40 GROUP BY sex"
SECRET = "correct horse"  # noqa: S105


@pytest.fixture(scope="module")
def place(server, people, tmp_path_factory):
    """A database with the private table and its release; the URLs of its owner, an analyst and a stranger."""
    mark = uuid4().hex[:8]
    database, analyst, stranger = f"roles_{mark}", f"analyst_{mark}", f"stranger_{mark}"
    server.run(f"CREATE DATABASE {database} TEMPLATE template0")
    server.run(*(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'" for role in (analyst, stranger)))
    # a careless owner, who lets everybody read what is made from now on
    server.run(
        "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC",
        f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {stranger}",
        f"ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO {stranger}",
        "CREATE SCHEMA private",
        "CREATE TABLE private.patients AS SELECT i AS id, 'ill ' || i % 7 AS ill FROM generate_series(1, 500) i",
        f"REVOKE ALL ON private.patients FROM PUBLIC, {stranger}",
        "ANALYZE private.patients",
        "CREATE FUNCTION public.sum(integer) RETURNS bigint LANGUAGE sql AS 'SELECT 42::bigint'",
        database=database,
    )
    policy = {"quasi": ["age", "sex", "education"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    made = discreet.publish(people, policy, to=tmp_path_factory.mktemp("r") / "r")
    discreet.load(made, server.url(database), name="shown", grant=[analyst]).close()
    return made, server.url(database, analyst), server.url(database, stranger), server.url(database)


def refused(url, statement):
    hidden = (
        psycopg.errors.InsufficientPrivilege,
        psycopg.errors.UndefinedTable,
    )  # a schema without rights is not seen
    with psycopg.connect(url) as connection, pytest.raises(hidden):
        connection.execute(statement)


def test_an_analyst_can_ask(place):
    made, analyst, _, _ = place
    with discreet.open_release(analyst, release="shown") as release:
        assert alike(release.ask(QUESTION, estimator="even"), made.ask(QUESTION, estimator="even"))
        assert release.verify().ok


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM private.patients",
        "EXPLAIN SELECT * FROM private.patients WHERE ill = 'ill 1'",
        "SET search_path = private; SELECT * FROM patients",
        "COPY private.patients TO STDOUT",
        "INSERT INTO shown.st SELECT * FROM shown.st",
        "UPDATE shown.qit SET age = 1",
        "DELETE FROM shown.discreet_files",
        "TRUNCATE shown.qit",
        "CREATE TABLE shown.mine (a int)",
        "CREATE FUNCTION shown.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE SCHEMA mine",
        "GRANT SELECT ON shown.qit TO PUBLIC",
    ],
)
def test_an_analyst_can_do_nothing_else(place, statement):
    if statement.startswith("GRANT"):
        with psycopg.connect(place[1]) as connection:
            connection.add_notice_handler(lambda _: None)
            connection.execute(statement)  # without a right to grant it only warns
        refused(place[2], "SELECT * FROM shown.qit")
        return
    refused(place[1], statement)


def test_the_planner_tells_nobody(place):
    """Statistics of the private table, which quote its values, are shown to those who may read it."""
    query = "SELECT count(*) FROM pg_stats WHERE schemaname = 'private'"
    with psycopg.connect(place[3]) as owner, psycopg.connect(place[1]) as analyst:
        assert owner.execute(query).fetchone()[0] == 2
        assert analyst.execute(query).fetchone()[0] == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            analyst.execute("SELECT * FROM pg_statistic")


def test_everybody_else_has_nothing(place):
    for name in ("qit", "st", "discreet_files", "discreet_keys_of_st", "discreet_signatures"):
        refused(place[2], f"SELECT * FROM shown.{name}")
    with pytest.raises(discreet.errors.DiscreetError, match=r"no right|no release"):
        discreet.open_release(place[2], release="shown")
    with psycopg.connect(place[3]) as owner:
        rights = owner.execute(
            "SELECT DISTINCT a.grantee::regrole::text, a.privilege_type FROM pg_class, aclexplode(relacl) a"
            " WHERE relnamespace = 'shown'::regnamespace AND a.grantee <> relowner"
            " UNION SELECT a.grantee::regrole::text, a.privilege_type FROM pg_namespace, aclexplode(nspacl) a"
            " WHERE nspname = 'shown' AND a.grantee <> nspowner"
        )
        analyst = place[1].split("//")[1].split(":")[0]
        assert sorted(rights.fetchall()) == [(analyst, "SELECT"), (analyst, "USAGE")]


def test_what_is_published_in_the_server_is_granted_in_the_same_way(place):
    """Of a private table, its analyst sees the release of it alone: neither rows nor statistics, nor what was used."""
    _, analyst, stranger, owner = place
    role = analyst.split("//")[1].split(":")[0]
    policy = {"quasi": ["id"], "sensitive": "ill", "guarantee": {"l": 3}, "partition": "deal"}
    with discreet.read(owner, table="private.patients") as table:
        discreet.publish(table, policy, to=owner, release="there", grant=[role]).close()
    with discreet.open_release(analyst, release="there") as release:
        assert release.ask("SELECT COUNT(*) FROM microdata WHERE id > 250").rows()[0]["count"] == 250
    for statement in ("SELECT * FROM private.patients", "UPDATE there.qit SET id = 1", "TABLE private.patients"):
        refused(analyst, statement)
    refused(stranger, "SELECT * FROM there.qit")
    with psycopg.connect(analyst) as connection:
        seen = "SELECT DISTINCT schemaname::text FROM pg_stats WHERE schemaname !~ '^(pg_|information_schema)'"
        assert {name for (name,) in connection.execute(seen).fetchall()} <= {"shown", "there"}
        names = "SELECT relname::text FROM pg_class WHERE relname ~ '^discreet_(source|assigned|sample)'"
        assert connection.execute(names).fetchall() == []


def test_functions_of_others_are_not_called(place, server):
    """Somebody's own `sum` in `public`, and a search path that finds it first, change no answer."""
    made, analyst, _, owner = place
    role = analyst.split("//")[1].split(":")[0]
    server.run(f"ALTER ROLE {role} SET search_path = public, pg_catalog", database=owner.rsplit("/", 1)[1])
    with discreet.open_release(analyst, release="shown") as release:
        assert alike(release.ask(QUESTION, estimator="even"), made.ask(QUESTION, estimator="even"))


def test_analysts_ask_at_once(place):
    made, analyst, _, _ = place
    expected, found = made.ask(QUESTION, estimator="even"), []

    def ask():
        with discreet.open_release(analyst, release="shown") as release:
            found.extend(release.ask(QUESTION, estimator="even") for _ in range(2))

    threads = [Thread(target=ask, daemon=True) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 40
    assert all(alike(each, expected) for each in found)
