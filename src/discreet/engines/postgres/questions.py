"""Questions stored with a release: each a view and a function of its own, and `ask`, which finds it by its text.

What a question runs is parsed once, when it is stored (`BEGIN ATOMIC`), under settings that the function brings with
it: neither a search path nor a time zone of whoever asks changes what is meant. Functions run with the rights of
whoever calls them, may read only (`STABLE`), and `ask` runs nothing of the text that it is given: it looks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from discreet.engines.address import Address
from discreet.engines.postgres.engine import SETTINGS, connected
from discreet.engines.postgres.errors import translating
from discreet.engines.postgres.store import FILES, ISOLATION, LOCK, Stored, quoted
from discreet.errors import EngineError, InputError, InternalError, ReleaseError

QUESTIONS = "discreet_questions"
ASK = "ask"
OF_SESSIONS = {"search_path", "client_encoding", "statement_timeout", "lock_timeout"}  # not for a function to say
HELD = """
    SELECT relname::text FROM pg_class WHERE relnamespace = {0}::regnamespace
    UNION SELECT proname::text FROM pg_proc WHERE pronamespace = {0}::regnamespace
"""
READERS = """
    SELECT r.rolname::text FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
    WHERE c.oid = to_regclass({}) AND a.grantee <> c.relowner AND a.privilege_type = 'SELECT'
"""
OWNER = """
    SELECT rolname::text, pg_has_role(nspowner, 'MEMBER')
    FROM pg_namespace JOIN pg_roles r ON r.oid = nspowner WHERE nspname = {}
"""
OTHERS = """
    SELECT DISTINCT r.rolname::text FROM ({}) AS t, aclexplode(rights) a JOIN pg_roles r ON r.oid = a.grantee
    WHERE a.grantee <> owner
"""
RIGHTS = {  # who has any to it beside its owner, where that is no longer what everybody has
    "TABLE": "SELECT relacl AS rights, relowner AS owner FROM pg_class WHERE oid = {}::regclass",
    "FUNCTION": "SELECT proacl AS rights, proowner AS owner FROM pg_proc WHERE oid = {}::regprocedure",
}
PLAIN = """
    SELECT relkind = 'r' AND NOT (relhastriggers OR relhasrules OR relrowsecurity) AND relchecks = 0
        AND NOT EXISTS (SELECT FROM pg_attrdef WHERE adrelid = c.oid)
        AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND NOT indisprimary)
        AND (SELECT array_agg(atttypid::regtype::text ORDER BY attnum) FROM pg_attribute
             WHERE attrelid = c.oid AND attnum > 0) = ARRAY['text', 'text', 'text', 'text[]']
    FROM pg_class c WHERE oid = to_regclass({})
"""
FOUND = """
DECLARE
    asked text := pg_catalog.btrim($1, E' \\t\\r\\n;');
    found text;
    names text;
BEGIN
    SELECT q.name INTO found FROM {questions} AS q
    WHERE asked IN (q.name, pg_catalog.btrim(q.question, E' \\t\\r\\n;')) ORDER BY q.name LIMIT 1;
    IF found IS NULL THEN
        SELECT pg_catalog.string_agg(q.name, ', ' ORDER BY q.name) INTO names FROM {questions} AS q;
        RAISE EXCEPTION USING
            ERRCODE = 'undefined_object',
            MESSAGE = 'this question is not stored with the release',
            HINT = 'stored are: ' || COALESCE(names, 'none') || '; `discreet store` adds others';
    END IF;
    RETURN QUERY EXECUTE pg_catalog.format('SELECT pg_catalog.row_to_json(e) FROM %I.%I() AS e', {schema}, found);
END
"""


@dataclass(frozen=True)
class Question:
    """A question under its name, what is run for it, and what is to be said beside its answer."""

    name: str
    question: str
    sql: str
    notes: tuple[str, ...] = ()


def questions(stored: Stored) -> list[Question]:
    """The questions that are stored with a release, by name."""
    stored.files()  # which raises if there is no release
    if QUESTIONS not in stored.tables():
        return []
    with translating():
        query = SQL("SELECT name, question, sql, notes FROM {} ORDER BY name").format(_in(stored.schema, QUESTIONS))
        rows = stored.connection.execute(query).fetchall()
    return [Question(name, question, sql, tuple(notes)) for name, question, sql, notes in rows]


def store(address: Address, question: Question, columns: Sequence[str], rows: int) -> str:
    """Store a question, in the place of one of the same name; returns the SQL that asks it.

    `columns` and `rows` are those of its answer.
    """
    schema, name = address.name, question.name
    with _changing(address) as connection:
        known = _prepared(connection, schema)
        if name in known:
            _drop(connection, schema, name)
        _check_name(connection, schema, name)
        view, function = _in(schema, name), SQL("{}()").format(_in(schema, name))
        shown = SQL(", ").join(map(Identifier, columns))
        planned = SQL("SELECT {} FROM (\n{}\n) AS planned").format(shown, SQL(question.sql))
        _run(connection, SQL("CREATE VIEW {} AS {}").format(view, planned))
        typed = _types(connection, schema, name)
        _run(connection, SQL("DROP VIEW {}").format(view))
        _run(
            connection,
            SQL("CREATE FUNCTION {} RETURNS TABLE ({}) LANGUAGE sql STABLE {} BEGIN ATOMIC {}; END").format(
                function, typed, _settings(), planned
            ),
        )
        _run(connection, SQL("CREATE VIEW {} AS SELECT * FROM {}").format(view, function))
        for kind, this in (("VIEW", view), ("FUNCTION", function)):
            _run(connection, SQL("COMMENT ON {} {} IS {}").format(SQL(kind), this, Literal(question.question)))
        values = SQL(", ").join(map(Literal, (name, question.question, question.sql, [*question.notes])))
        _run(connection, SQL("INSERT INTO {} VALUES ({})").format(_in(schema, QUESTIONS), values))
        [(found,)] = _rows(connection, SQL("SELECT count(*) FROM {}").format(function))
        if found != rows:
            raise InternalError("a stored question has another answer than the release")
        _grant(connection, schema, {*known, name})
        [(plain,)] = _rows(connection, SQL("SELECT quote_ident({})").format(Literal(schema)))
    return f"SELECT * FROM {plain}.{name}"


def forget(address: Address, name: str) -> None:
    """Take away a question that was stored."""
    schema = address.name
    with _changing(address) as connection:
        known = _prepared(connection, schema)
        if name not in known:
            raise InputError(
                "no question of that name is stored with the release",
                hint=f"stored are: {', '.join(sorted(known)) or 'none'}",
            )
        _drop(connection, schema, name)
        _grant(connection, schema, known - {name})


@contextmanager
def _changing(address: Address) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """A transaction as the owner of a release, one at a time."""
    with connected(address.url, write=True) as connection:
        with translating():
            connection.execute("SELECT pg_advisory_lock(hashtextextended(lower(%s), %s))", [address.name, LOCK])
            connection.execute(f"BEGIN ISOLATION LEVEL {ISOLATION}")
        Stored(connection, address.name).files()
        [(owner, may)] = _rows(connection, SQL(OWNER).format(Literal(address.name)))
        if not may:
            raise EngineError(
                f"the release `{address.name}` is not yours: whoever owns it says what is stored with it",
                hint="ask its owner to store the question; `discreet ask` answers it without that",
            )
        _run(connection, SQL("SET LOCAL ROLE {}").format(Identifier(owner)))
        yield connection
        _run(connection, SQL("COMMIT"))


def _prepared(connection: psycopg.Connection[Any], schema: str) -> set[str]:
    """The names that are stored; makes the table and the function that find them, if they are not there."""
    table = _in(schema, QUESTIONS)
    _run(
        connection,
        SQL(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, question text NOT NULL, sql text NOT NULL,"
            " notes text[] NOT NULL)"
        ).format(table),
    )
    [(plain,)] = _rows(connection, SQL(PLAIN).format(Literal(f"{quoted(schema)}.{QUESTIONS}")))
    if not plain:  # somebody else's trigger would run with all rights of whoever stores
        raise ReleaseError(
            f"`{QUESTIONS}` of the release `{schema}` is not the table that `discreet` made",
            hint="drop it, and store its questions again",
        )
    about = "Questions that can be asked by `ask`, or by a view and a function of their name."
    _run(connection, SQL("COMMENT ON TABLE {} IS {}").format(table, Literal(about)))
    body = SQL(FOUND).format(questions=table, schema=Literal(schema)).as_string(connection)
    _run(
        connection,
        SQL("CREATE OR REPLACE FUNCTION {}(question text) RETURNS SETOF json LANGUAGE plpgsql STABLE {} AS {}").format(
            _in(schema, ASK), _settings(), Literal(body)
        ),
    )
    about = "Answers a question that is stored, by its name or its text: a JSON document for each row."
    _run(connection, SQL("COMMENT ON FUNCTION {}(text) IS {}").format(_in(schema, ASK), Literal(about)))
    return {name for (name,) in _rows(connection, SQL("SELECT name FROM {}").format(table))}


def _check_name(connection: psycopg.Connection[Any], schema: str, name: str) -> None:
    if name in {held for (held,) in _rows(connection, SQL(HELD).format(Literal(quoted(schema))))}:
        raise InputError(f"`{name}` is something else of the release already", hint="choose another name")


def _types(connection: psycopg.Connection[Any], schema: str, view: str) -> Composable:
    query = """
        SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = {}::regclass AND attnum > 0 ORDER BY attnum
    """
    found = _rows(connection, SQL(query).format(Literal(f"{quoted(schema)}.{quoted(view)}")))
    return SQL(", ").join(SQL("{} {}").format(Identifier(name), SQL(kind)) for name, kind in found)


def _settings() -> Composable:
    """What answers rest on, for a function."""
    told = {name: value for name, value in SETTINGS.items() if name not in OF_SESSIONS}
    set_ = [SQL("SET {} TO {}").format(Identifier(name), Literal(value)) for name, value in told.items()]
    return SQL(" ").join([SQL("SET search_path TO pg_catalog, pg_temp"), *set_])


def _drop(connection: psycopg.Connection[Any], schema: str, name: str) -> None:
    this = _in(schema, name)
    try:
        connection.execute(SQL("DROP VIEW IF EXISTS {}").format(this))
        connection.execute(SQL("DROP FUNCTION IF EXISTS {}()").format(this))
    except psycopg.errors.DependentObjectsStillExist:
        raise ReleaseError(
            f"something else in the database is made of the question `{name}`",
            hint="`\\d+` in psql shows what; drop that first, or store the question by another name",
        ) from None
    except psycopg.Error:
        with translating():
            raise
    _run(connection, SQL("DELETE FROM {} WHERE name = {}").format(_in(schema, QUESTIONS), Literal(name)))


def _grant(connection: psycopg.Connection[Any], schema: str, names: set[str]) -> None:
    """To those who may read the release, and to nobody else, whatever the database grants by default."""
    readers = [name for (name,) in _rows(connection, SQL(READERS).format(Literal(f"{quoted(schema)}.{FILES}")))]
    things = [("TABLE", QUESTIONS, ""), ("FUNCTION", ASK, "(text)")]
    for name in sorted(names):
        things += [("TABLE", name, ""), ("FUNCTION", name, "()")]
    for kind, name, arguments in things:
        this = SQL("{} {}{}").format(SQL(kind), _in(schema, name), SQL(arguments))
        which = Literal(f"{quoted(schema)}.{quoted(name)}{arguments}")
        others = _rows(connection, SQL(OTHERS).format(SQL(RIGHTS[kind]).format(which)))
        for who in (SQL("PUBLIC"), *(Identifier(name) for (name,) in others)):
            _run(connection, SQL("REVOKE ALL ON {} FROM {}").format(this, who))
        right = SQL("SELECT" if kind == "TABLE" else "EXECUTE")
        for reader in readers:
            _run(connection, SQL("GRANT {} ON {} TO {}").format(right, this, Identifier(reader)))


def _in(schema: str, name: str) -> Identifier:
    return Identifier(schema, name)


def _run(connection: psycopg.Connection[Any], statement: SQL | Composed) -> None:
    with translating():
        connection.execute(statement)


def _rows(connection: psycopg.Connection[Any], query: SQL | Composed) -> list[tuple[Any, ...]]:
    with translating():
        return connection.execute(query).fetchall()
