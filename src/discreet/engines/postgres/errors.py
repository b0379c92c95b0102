"""Our error for every one of the driver's: never with credentials, SQL, or the values that it likes to quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from discreet.errors import DiscreetError, EngineError

WRITTEN = "nothing was written"


@contextmanager
def translating() -> Iterator[None]:
    """Around every call of the driver."""
    try:
        yield
    except psycopg.errors.QueryCanceled as error:
        if "statement timeout" in str(error):
            raise EngineError(
                "the server stopped the query, which took longer than its time limit",
                hint="ask for less at a time, or raise `statement_timeout`",
            ) from None
        raise KeyboardInterrupt from None
    except psycopg.Error as error:
        raise translated(error) from None


def translated(error: psycopg.Error) -> DiscreetError:
    state = error.sqlstate or ("22021" if isinstance(error, psycopg.DataError) else "")
    for start, (what, hint) in STATES.items():
        if state.startswith(start):
            return EngineError(what, hint=hint)
    if state[:2] == "42":  # found before any row is read; what is in quotes are names and texts of the query
        wrong = re.sub(r"'[^']*'|\"[^\"]*\"", "…", (error.diag.message_primary or "").splitlines()[0])
        return EngineError(wrong[:200])
    return EngineError("the database server cannot do that") if state else _unreached(error)


def _unreached(error: psycopg.Error) -> DiscreetError:
    """Why there is no connection: libpq tells it in words only, among which are hosts and users."""
    text = str(error)
    for pattern, (what, hint) in UNREACHED.items():
        if re.search(pattern, text):
            return EngineError(what, hint=hint)
    lost, hint = STATES["08"]
    return EngineError(lost, hint=hint)


# By the beginning of SQLSTATE; the longer ones first.
STATES: dict[str, tuple[str, str]] = {
    "42501": (
        "the role that you connect as has no right to do that",
        "ask the owner for it: USAGE and SELECT to read, CREATE and TEMPORARY on the database to write a release",
    ),
    "42P01": ("there is no such table", "name it as `schema.table`, and look whether your role may see it"),
    "42703": ("there is no such column", "look at the columns of the table with `\\d` in psql"),
    "42601": ("the query is not SQL that the server can read", "try it in psql"),
    "42P06": ("a release of that name exists already", "a release is never overwritten: choose another name"),
    "3F000": ("there is no such schema", "look at the schemas with `\\dn` in psql"),
    "3D000": ("there is no such database", "look at the databases with `psql -l`"),
    "28": ("the server refused user or password", "give them in the URL, in PGUSER and PGPASSWORD, or in ~/.pgpass"),
    "25006": ("the server is read-only", "connect to the primary server, or ask for a role that may write"),
    "53100": (f"the disk of the server is full; {WRITTEN}", "make room there, and run the same command again"),
    "53200": ("the server is out of memory", "ask for less at a time"),
    "53300": ("the server has no connection left", "try again later, or raise `max_connections`"),
    "55P03": (
        f"somebody else holds what is needed here for too long; {WRITTEN}",
        "wait until others who publish or change the table have ended, and run the same command again",
    ),
    "57P": (f"the server ended the connection; {WRITTEN}", "see whether it runs, and run the same command again"),
    "58": (f"the server cannot read or write its files; {WRITTEN}", "look at its log"),
    "40": (f"the server gave way to another transaction; {WRITTEN}", "run the same command again"),
    "2201": ("a number is too large, or not defined", ""),
    "22003": ("a number is too large, or not defined", ""),
    "22021": ("a text holds a character that PostgreSQL cannot keep, such as NUL", "take it out of the text"),
    "54000": (
        "a text is too long to be found again: the server takes 2,700 bytes at most",
        "shorten it, or give people and values a code",
    ),
    "22012": ("a number is divided by zero", ""),
    "22": ("a value cannot be converted to the type that was asked for", ""),
    "23": ("the rows break a key of their table", ""),
    "08": (f"the connection to the server was lost; {WRITTEN}", "run the same command again"),
}
UNREACHED: dict[str, tuple[str, str]] = {
    "password authentication failed|no password supplied|role .* does not exist|authentication": STATES["28"],
    "database .* does not exist": STATES["3D000"],
    "resolve host|translate host|Name or service|nodename": (
        "no server of that name is known",
        "check the host in the URL, in PGHOST, or in the service file",
    ),
    "does not support SSL|SSL|certificate": (
        "no encrypted connection could be made as it was asked for",
        "check `sslmode` and the certificates, or ask whoever runs the server",
    ),
    "Connection refused|timeout expired|No route|No such file": (
        "no server answers there",
        "check host and port, and whether the server runs",
    ),
    "too many clients|too many connections|remaining connection slots": STATES["53300"],
    "service file|definition of service": (
        "the service is in no service file",
        "look into ~/.pg_service.conf, or set PGSERVICEFILE",
    ),
    'invalid (connection|URI|percent)|missing "="|invalid integer value|invalid port|unexpected character': (
        "the URL cannot be read",
        "write it as postgresql://user@host:5432/database, with %20 for a space and so on",
    ),
}
