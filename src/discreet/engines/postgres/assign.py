"""Give rows of a server their groups in the server: by a plan that was made from counts alone, or as they are told.

By a plan, rows are sorted by the value that it counts, and those of the same value by chance. The plan is runs: from
which place on rows go to which group, and whether the next rows go to the next groups or to the same. Chance is a
SHA-256 of where a row lies under a key of 256 bits, which the server draws from its cryptographic generator for one
statement: it stands in no text or log, never leaves the server, and is gone when the statement ends.

Told groups are laid beside the place of each row by COPY, which no log shows, and joined.

Which row has which value and group is in a temporary table, which nobody else sees and which is dropped before the
transaction ends. Nothing of it comes into the server's log of changes, and so to no copy of the server, and what a
crash leaves of it is deleted when the server starts again. (After an unlogged one it may not start: decision 0028.)
Cost: a sort of the rows by value, or a join; and a sort by group for each table that is made of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
import pyarrow as pa
from psycopg.sql import SQL, Composable, Identifier
from sqlglot import exp

from discreet.engines.postgres.dialect import type_in_server
from discreet.engines.postgres.engine import Postgres
from discreet.engines.postgres.errors import translating
from discreet.engines.postgres.files import copied_in
from discreet.values.names import fresh

HERE = "pg_temp"  # what the server calls the schema of temporary tables of a session
ASSIGNED, TOLD = (HERE, "discreet_assigned"), (HERE, "discreet_told")
_DRAWN = " || ".join(["uuid_send(gen_random_uuid())"] * 3)  # each has 122 random bits
KEY = f"(SELECT sha256({_DRAWN}))"  # once for a whole statement, since it depends on no row


def assign(
    connection: psycopg.Connection[tuple[Any, ...]],
    rows: str,
    columns: pa.Schema,
    *,
    lies: str,
    by: str,
    missing: bool,
    group: str,
    plan: tuple[npt.NDArray[np.integer[Any]], ...],
) -> Postgres:
    """An engine that knows the rows of a query as `assigned`, with these columns and a `group`, numbered from 1.

    The query has where each row `lies`, too. The `plan` has, of every run, its first place among the rows sorted `by` a
    column (`missing` values last, if it has any), from 0; the group of that place, from 0; and by how much the group
    grows from place to place.
    """
    place, run = (fresh(name, [*columns.names, group, lies]) for name in ("place", "run"))
    chance = SQL("sha256({key} || tidsend({lies}))").format(key=SQL(KEY), lies=_named(lies))
    statement = SQL(
        "CREATE TEMPORARY TABLE {assigned} AS SELECT {shown},"
        " (%(groups)s::integer[])[{run}]"
        " + (%(steps)s::integer[])[{run}] * ({place} - (%(firsts)s::bigint[])[{run}])::integer AS {group}"
        " FROM (SELECT *, width_bucket({place}, %(firsts)s::bigint[]) AS {run} FROM (SELECT {shown},"
        " row_number() OVER (ORDER BY {order}) AS {place}"
        " FROM (SELECT {typed}, {lies} FROM ({rows}) AS as_they_are) AS typed) AS ranked) AS placed"
    ).format(
        assigned=Identifier(*ASSIGNED),
        shown=SQL(", ").join(map(_named, columns.names)),
        typed=SQL(", ").join(_typed(field) for field in columns),
        order=_order(columns.field(by), chance, missing=missing),
        group=_named(group),
        place=_named(place),
        lies=_named(lies),
        run=_named(run),
        rows=SQL(rows.replace("%", "%%")),
    )
    firsts, groups, steps = (each.tolist() for each in plan)
    with translating():
        given = {"firsts": [first + 1 for first in firsts], "groups": [each + 1 for each in groups], "steps": steps}
        connection.execute(statement, given)
    return Postgres(connection, {"assigned": ASSIGNED})


def told(
    connection: psycopg.Connection[tuple[Any, ...]],
    rows: str,
    columns: pa.Schema,
    *,
    lies: str,
    group: str,
    groups: pa.Table,
) -> Postgres:
    """The same of rows whose groups are known: `groups` has, of each that is published, where it lies and its group."""
    at = fresh("at", [*columns.names, group, lies])
    given = Identifier(*TOLD)
    with translating():
        columns_told = map(Identifier, (at, group))
        connection.execute(SQL("CREATE TEMPORARY TABLE {} ({} tid, {} integer)").format(given, *columns_told))
        copied_in(connection, given, groups)
        statement = SQL(
            "CREATE TEMPORARY TABLE {assigned} AS SELECT {typed}, {group} FROM ({rows}) AS as_they_are"
            " JOIN {given} ON {lies} = {at}"
        ).format(
            assigned=Identifier(*ASSIGNED),
            typed=SQL(", ").join(_typed(field, signs=False) for field in columns),
            rows=SQL(rows),
            given=given,
            **{name: Identifier(each) for name, each in (("group", group), ("lies", lies), ("at", at))},
        )
        connection.execute(statement)
        connection.execute(SQL("DROP TABLE {}").format(given))
    return Postgres(connection, {"assigned": ASSIGNED})


def forget(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Drop what links rows to groups and values, before anybody can see it."""
    with translating():
        connection.execute(SQL("DROP TABLE {}").format(Identifier(*ASSIGNED)))


def _order(field: pa.Field, chance: Composable, *, missing: bool) -> Composable:
    """By value, and rows of one value by chance.

    Where it can be done, both are one text of bytes, of which the server compares the first eight at once; a whole
    number is in the order of its bytes if its sign is turned.
    """
    if not missing and type_in_server(field.name, field.type) in {"smallint", "integer"}:
        return SQL("int4send({}::integer # (-2147483648)) || {}").format(_named(field.name), chance)
    texts = pa.types.is_string(field.type)  # which a server may keep in another encoding
    value = SQL("convert_to({}, 'UTF8')" if texts else "{}").format(_named(field.name))
    return SQL("{} NULLS LAST, {}").format(value, chance)


def shuffled(rows: exp.Select, group: str, name: str) -> exp.Select:
    """Rows numbered from 1 inside their group, in an order of chance, in a column `name`."""
    number, key = (fresh(each, [*rows.named_selects, name]) for each in ("number", "key"))
    counted = exp.alias_(exp.Window(this=exp.RowNumber()), number, quoted=True)
    drawn = exp.alias_(exp.maybe_parse(KEY, dialect="postgres"), key, quoted=True)
    chance = exp.Anonymous(
        this="sha256",
        expressions=[
            exp.DPipe(
                this=exp.column(key, quoted=True),
                expression=exp.Anonymous(this="int8send", expressions=[exp.column(number, quoted=True)]),
            )
        ],
    )
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(group, quoted=True)],
        order=exp.Order(expressions=[exp.Ordered(this=chance)]),
    )
    shown = [exp.column(each, quoted=True) for each in rows.named_selects]
    numbered = rows.select(counted, drawn).subquery("numbered")
    return exp.select(*shown, exp.alias_(place, name, quoted=True)).from_(numbered)


def _typed(field: pa.Field, *, signs: bool = True) -> Composable:
    """A column as the release has it: texts are compared byte by byte. `signs` as in a statement with parameters."""
    type_, _, collation = type_in_server(field.name, field.type).partition(" COLLATE ")
    cast = "CAST({0} AS " + type_ + ")" + (f" COLLATE {collation}" if collation else "")
    return SQL(cast + " AS {0}").format(_named(field.name) if signs else Identifier(field.name))


def _named(*names: str) -> Identifier:
    """A name in a statement that has parameters, where `%` begins one unless it is doubled."""
    return Identifier(*(name.replace("%", "%%") for name in names))
