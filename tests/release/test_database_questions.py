"""Questions stored with a release in a real PostgreSQL: asked there by roles that may read it, and by nobody else."""

import json
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest

import discreet
from alike import alike
from discreet.errors import DiscreetError, EngineError, InputError, QueryError, ReleaseError

SECRET = "correct horse"  # noqa: S105
QUESTION = (
    "SELECT sex, COUNT(*), AVG(salary), MEDIAN(salary) FROM microdata WHERE age > 40 GROUP BY sex ORDER BY sex DESC"
)
AGES = "SELECT AVG(age) FROM microdata"
TOTAL = "SELECT COUNT(*) AS n FROM microdata WHERE education = 'it''s'"


@pytest.fixture(scope="module")
def place(server, people, tmp_path_factory):
    """A release with a role that may read it and one that may not; who is careless with defaults owns it."""
    mark = uuid4().hex[:8]
    database, analyst, stranger = f"stored_{mark}", f"panel_{mark}", f"passer_{mark}"
    server.run(f"CREATE DATABASE {database} TEMPLATE template0")
    server.run(*(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'" for role in (analyst, stranger)))
    server.run(
        "ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO PUBLIC",
        f"ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO {stranger}",
        f"ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO {stranger}",
        f"GRANT CREATE ON DATABASE {database} TO {stranger}",
        database=database,
    )
    policy = {"quasi": ["age", "sex", "education"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    policy["partition"] = "deal"
    made = discreet.publish(people, policy, to=tmp_path_factory.mktemp("r") / "r")
    discreet.load(made, server.url(database), name="shown", grant=[analyst]).close()
    return made, server.url(database), server.url(database, analyst), server.url(database, stranger)


@pytest.fixture
def stored(place):
    """The release with two questions, and none of them afterwards."""
    with discreet.open_release(place[1], release="shown") as release:
        assert release.store(QUESTION, name="by_sex") == "SELECT * FROM shown.by_sex"
        release.store(f"{TOTAL};\n", name="total")
        yield release
        for name in release.stored():
            release.forget(name)


def rows_of(url, query, *values):
    with psycopg.connect(url) as connection:
        return connection.execute(query, values or None).fetchall()


def test_an_analyst_asks_by_view_function_and_text(place, stored):
    """In any time zone and by any search path, read-only: what `ask` gives, in the order that was asked for."""
    _, _, analyst, _ = place
    with discreet.open_release(analyst, release="shown") as release:
        answer = release.ask(QUESTION, estimator="even")
        assert release.stored() == {"by_sex": QUESTION, "total": f"{TOTAL};\n"}
        with pytest.raises(EngineError, match="not yours"):
            release.store(QUESTION, name="mine")
        with pytest.raises(EngineError, match="not yours"):
            release.forget("total")
    expected = [tuple(row.values()) for row in answer.rows()]
    with psycopg.connect(analyst, autocommit=True) as connection:
        connection.execute(
            "SET default_transaction_read_only = on; SET search_path = shown; SET TimeZone = 'Asia/Tokyo'"
        )
        for query in ("SELECT * FROM shown.by_sex", "SELECT * FROM by_sex()"):
            cursor = connection.execute(query)
            assert [column.name for column in cursor.description] == answer.columns
            found = cursor.fetchall()
            assert [row[:2] for row in found] == [row[:2] for row in expected]
            assert [*map(pytest.approx, found)] == expected
        for text in ("by_sex", QUESTION, f" {QUESTION} ;\n"):
            rows = [row for (row,) in connection.execute("SELECT ask(%s)", [text]).fetchall()]
            assert [[*row] for row in rows] == [answer.columns] * len(expected)
            assert [pytest.approx(tuple(row.values())) for row in rows] == expected
        [(count,)] = connection.execute("SELECT ask(%s)", [TOTAL]).fetchall()
        assert count == {"n": 0, "n_stderr": 0, "n_low": 0, "n_high": 0}


def test_what_is_not_stored_is_refused_and_not_run(place, stored):
    _, owner, analyst, _ = place
    for text in (
        "SELECT COUNT(*) FROM microdata",
        "DROP TABLE shown.qit",
        "by_sex() AS e; DROP TABLE shown.qit; --",
        "total' OR '1'='1",
        "qit",
        "ask",
        "",
        None,
    ):
        for url in (analyst, owner):
            with pytest.raises(psycopg.errors.UndefinedObject, match="not stored with the release") as caught:
                rows_of(url, "SELECT shown.ask(%s)", text)
            assert caught.value.diag.message_hint.startswith("stored are: by_sex, total;")
    assert rows_of(owner, "SELECT count(*) FROM shown.qit") == [(2000,)]


def test_nobody_else_can_ask(place, stored):
    _, owner, analyst, stranger = place
    for query in (
        "SELECT shown.ask('total')",
        "SELECT * FROM shown.total",
        "SELECT * FROM shown.total()",
        "TABLE shown.discreet_questions",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows_of(stranger, query)
        rows_of(analyst, query)
    rights = """
        SELECT DISTINCT a.grantee::regrole::text, a.privilege_type FROM (
            SELECT relacl AS acl, relowner AS owner FROM pg_class WHERE relnamespace = 'shown'::regnamespace
            UNION ALL SELECT proacl, proowner FROM pg_proc WHERE pronamespace = 'shown'::regnamespace
        ) t, aclexplode(acl) a WHERE a.grantee <> owner
    """
    role = analyst.split("//")[1].split(":")[0]
    assert sorted(rows_of(owner, rights)) == [(role, "EXECUTE"), (role, "SELECT")]
    assert rows_of(owner, "SELECT bool_or(prosecdef) FROM pg_proc WHERE pronamespace = 'shown'::regnamespace") == [
        (False,)
    ]
    for statement in (
        "UPDATE shown.discreet_questions SET sql = ''",
        "DROP FUNCTION shown.ask",
        "DROP VIEW shown.total",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), psycopg.connect(analyst) as connection:
            connection.execute(statement)


def test_a_function_runs_with_the_rights_of_who_calls_it(place, stored):
    """Were EXECUTE given away by mistake, it would still show nothing."""
    _, owner, _, stranger = place
    role = stranger.split("//")[1].split(":")[0]
    with psycopg.connect(owner) as connection:
        connection.execute(
            f"GRANT USAGE ON SCHEMA shown TO {role}; GRANT ALL ON ALL FUNCTIONS IN SCHEMA shown TO {role}"
        )
    try:
        for query in ("SELECT shown.ask('total')", "SELECT * FROM shown.total()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="table"):
                rows_of(stranger, query)
        stored.store(TOTAL, name="total")  # which takes such rights away again
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="function"):
            rows_of(stranger, "SELECT * FROM shown.total()")
    finally:
        with psycopg.connect(owner) as connection:
            connection.execute(f"REVOKE ALL ON SCHEMA shown FROM {role}")


def test_a_role_that_was_granted_later_can_ask_after_the_next_is_stored(place, stored):
    _, owner, _, stranger = place
    role = stranger.split("//")[1].split(":")[0]
    with psycopg.connect(owner) as connection:
        connection.execute(
            f"GRANT USAGE ON SCHEMA shown TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA shown TO {role}"
        )
    try:
        stored.store("SELECT AVG(age) FROM microdata", name="age")
        assert rows_of(stranger, "SELECT shown.ask('total')")
    finally:
        with psycopg.connect(owner) as connection:
            connection.execute(
                f"REVOKE ALL ON SCHEMA shown FROM {role}; REVOKE ALL ON ALL TABLES IN SCHEMA shown FROM {role};"
                f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA shown FROM {role}"
            )


def test_the_release_is_the_same_with_and_without_questions(place, stored, tmp_path):
    """They stand in no file: the release verifies, is opened and dumped byte by byte as before."""
    made, owner, _, _ = place
    assert discreet.verify(f"{owner}#shown").ok
    back = discreet.dump(owner, tmp_path / "back", name="shown")
    assert {path.name: path.read_bytes() for path in back.path.iterdir()} == {
        path.name: path.read_bytes() for path in made.path.iterdir()
    }
    with discreet.open_release(owner, release="shown") as release:
        assert alike(release.ask(QUESTION, estimator="even"), made.ask(QUESTION, estimator="even"))


def test_a_question_is_stored_again_and_taken_away(place, stored):
    _, owner, _, _ = place
    stored.store("SELECT SUM(salary) AS s FROM microdata", name="by_sex")
    assert [[*row] for (row,) in rows_of(owner, "SELECT shown.ask('by_sex')")] == [["s", "s_stderr", "s_low", "s_high"]]
    stored.forget("by_sex")
    assert [*stored.stored()] == ["total"]
    with pytest.raises(psycopg.errors.UndefinedTable):
        rows_of(owner, "SELECT * FROM shown.by_sex")
    with pytest.raises(InputError, match="no question of that name") as caught:
        stored.forget("by_sex")
    assert caught.value.hint == "stored are: total"
    with psycopg.connect(owner) as connection:
        connection.execute("CREATE VIEW public.mine AS SELECT n FROM shown.total")
    try:
        with pytest.raises(ReleaseError, match="made of the question `total`"):
            stored.forget("total")
    finally:
        with psycopg.connect(owner) as connection:
            connection.execute("DROP VIEW public.mine")
    assert [*stored.stored()] == ["total"]


@pytest.mark.parametrize(
    "name", ["", "By sex", "bySex", "é", "1st", "x" * 64, 'a"; DROP', "discreet_files", "pg_x", "qit", "ask"]
)
def test_a_name_is_plain_and_free(place, name):
    with discreet.open_release(place[1], release="shown") as release, pytest.raises(InputError, match=r"name|already"):
        release.store(TOTAL, name=name)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT AVG(salary) / AVG(age) FROM microdata",
        "SELECT * FROM microdata",
        "SELECT COUNT(*) FROM microdata; DROP TABLE shown.qit",
        "DROP TABLE shown.qit",
    ],
)
def test_what_is_not_one_query_is_refused(place, question):
    with discreet.open_release(place[1], release="shown") as release:
        with pytest.raises(QueryError) as caught:
            release.store(question, name="no")
        assert caught.value.hint
        assert "no" not in release.stored()


def test_every_type_has_the_answer_of_the_release(place, database, tmp_path):
    """Of a release with a name and columns that need quotes; exact numbers stay exact, dates and times are as asked."""
    from release.test_database import messy

    table = messy()
    quasi = [name for name in table.column_names if "illness" not in name]
    policy = discreet.Policy(
        name="m", quasi=quasi, sensitive='illness "of" person', guarantee={"l": 3}, partition="deal"
    )
    made = discreet.publish(table, policy, to=tmp_path / "made")
    question = (
        'SELECT flag, "day", SUM(huge) AS "Sum ""100%""", MIN("at") AS "at", MAX(price), COUNT(*) FROM m'
        """ WHERE "illness ""of"" person" <> 'ill 2' AND "Text" <> '{}%s' GROUP BY flag, "day" """
    )
    with discreet.load(made, database, name='it\'s %s "mine" {}') as release:
        asked = release.store(question, name="messy")
        answer = release.ask(question, estimator="even")
        found = rows_of(database, asked)
        assert found == [tuple(row.values()) for row in made.ask(question, estimator="even").rows()]
        assert any(isinstance(cell, Decimal) for cell in found[0])
        assert len(rows_of(database, 'SELECT "it\'s %%s ""mine"" {}".ask(%s)', question)) == len(answer)
        release.forget("messy")
        assert release.stored() == {}


def test_a_folder_stores_nothing(place):
    for act in (lambda: place[0].store(TOTAL, name="x"), place[0].stored, lambda: place[0].forget("x")):
        with pytest.raises(ReleaseError, match="this one is a folder"):
            act()


def test_the_command(place, stored, run):
    where = f"{place[1]}#shown"
    status, out, err = run("store", where, "SELECT AVG(salary) FROM microdata", "--as", "pay")
    assert (status, out) == (0, "SELECT * FROM shown.pay;\n"), err
    status, out, _ = run("store", where)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["by_sex", "pay", "total"]
    status, out, _ = run("store", where, "--forget", "pay", "--json")
    assert json.loads(out) == {"questions": {"by_sex": QUESTION, "total": f"{TOTAL};\n"}}
    assert run("store", where, "SELECT AVG(salary) FROM microdata")[0] == 2
    status, _, err = run("store", place[0].path, TOTAL, "--as", "x")
    assert (status, "this one is a folder" in err) == (1, True)


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("discreet_files", "ALTER TABLE {0} RENAME TO hidden; CREATE VIEW {0} AS SELECT * FROM hidden WHERE touched()"),
        ("discreet_files", "CREATE POLICY p ON {0} USING (touched()); ALTER TABLE {0} ENABLE ROW LEVEL SECURITY"),
        ("qit", "CREATE POLICY p ON {0} USING (touched()); ALTER TABLE {0} ENABLE ROW LEVEL SECURITY"),
        ("discreet_questions", "CREATE TRIGGER t BEFORE INSERT ON {0} FOR EACH ROW EXECUTE FUNCTION fired()"),
        ("discreet_questions", "ALTER TABLE {0} ADD CHECK (touched())"),
        ("discreet_questions", "ALTER TABLE {0} ADD COLUMN more boolean DEFAULT touched()"),
        ("discreet_questions", "CREATE INDEX ON {0} ((touched()::int))"),
    ],
)
def test_nothing_of_whoever_owns_the_schema_runs(people, server, tmp_path, table, change):
    """Not with the rights of an administrator who opens the release, or stores a question with it."""
    mark = uuid4().hex[:8]
    database, owner = f"owned_{mark}", f"owner_{mark}"
    server.run(f"CREATE DATABASE {database} TEMPLATE template0", f"CREATE ROLE {owner} LOGIN PASSWORD '{SECRET}'")
    server.run(
        f"GRANT CREATE ON DATABASE {database} TO {owner}",
        f"GRANT CREATE ON SCHEMA public TO {owner}",
        "CREATE TABLE ran (by text); GRANT ALL ON ran TO PUBLIC",
        database=database,
    )
    policy = {"quasi": ["age"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
    made = discreet.publish(people, policy, to=tmp_path / "r")
    with discreet.load(made, server.url(database, owner), name="shown") as release:
        release.store(AGES, name="total")
    with psycopg.connect(server.url(database, owner)) as connection:
        for body, kept in (("", "IMMUTABLE"), ("INSERT INTO public.ran VALUES (session_user);", "VOLATILE")):
            for name, kind, given in (("touched", "boolean", "true"), ("fired", "trigger", "new")):
                function = f"public.{name}() RETURNS {kind} LANGUAGE plpgsql {kept}"
                connection.execute(f"CREATE OR REPLACE FUNCTION {function} AS 'BEGIN {body} RETURN {given}; END'")
            if not body:
                connection.execute("SET search_path = shown, public")
                connection.execute(change.format(table))
    with pytest.raises(DiscreetError), discreet.open_release(server.url(database), release="shown") as release:
        release.store(AGES, name="again")
    assert server.run("SELECT count(*) FROM ran", database=database) == [(0,)]


def test_what_is_told_to_ask_runs_where_the_release_is_called_by_a_word_of_sql(place):
    made, owner, _, _ = place
    for name in ("select", "user", 'o"dd'):
        with discreet.load(made, owner, name=name) as release:
            assert len(rows_of(owner, release.store(TOTAL, name="total"))) == 1
