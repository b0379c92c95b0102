"""Give rows of a server their groups in the server, by a plan that was made from counts alone.

Rows are sorted by the value that the plan counts, and those of the same value by chance. The plan is runs: from which
place on rows go to which group, and whether the next rows go to the next groups or to the same. Chance is a random UUID
for every row, from the server's cryptographic generator: no key exists that could stand in a log, and none is kept.
Which row has which value and group is in a temporary table, which nobody else can read and which ends with the
transaction. Cost: a sort of the rows by value, and one by group for each table that is made of them.
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
from discreet.values.names import fresh

ASSIGNED = "discreet_assigned"
MEMORY = {"work_mem": "256MB", "temp_buffers": "128MB", "maintenance_work_mem": "256MB"}


def assign(
    connection: psycopg.Connection[tuple[Any, ...]],
    rows: str,
    columns: pa.Schema,
    *,
    by: str,
    group: str,
    plan: tuple[npt.NDArray[np.integer[Any]], ...],
) -> Postgres:
    """An engine that knows the rows of a query as `assigned`, with these columns and a `group`, numbered from 1.

    The `plan` has, of every run, its first place among the rows sorted `by` a column (missing values last), from 0; the
    group of that place, from 0; and by how much the group grows from place to place.
    """
    place, run = fresh("place", [*columns.names, group]), fresh("run", [*columns.names, group])
    shown = SQL(", ").join(map(Identifier, columns.names))
    typed = SQL(", ").join(_typed(field) for field in columns)
    statement = SQL(
        "CREATE TEMPORARY TABLE {assigned} ON COMMIT DROP AS SELECT {shown},"
        " (%(groups)s::integer[])[{run}]"
        " + (%(steps)s::integer[])[{run}] * ({place} - (%(firsts)s::bigint[])[{run}])::integer AS {group}"
        " FROM (SELECT *, width_bucket({place}, %(firsts)s::bigint[]) AS {run}"
        " FROM (SELECT *, row_number() OVER (ORDER BY {by} NULLS LAST, gen_random_uuid()) AS {place}"
        " FROM (SELECT {typed} FROM ({rows}) AS as_they_are) AS typed) AS ranked) AS placed"
    ).format(
        assigned=Identifier(ASSIGNED),
        group=Identifier(group),
        shown=shown,
        typed=typed,
        by=Identifier(by),
        place=Identifier(place),
        run=Identifier(run),
        rows=SQL(rows.replace("%", "%%")),
    )
    firsts, groups, steps = (each.tolist() for each in plan)
    with translating():
        for name, value in MEMORY.items():
            connection.execute("SELECT set_config(%s, %s, false)", [name, value])
        given = {"firsts": [first + 1 for first in firsts], "groups": [each + 1 for each in groups], "steps": steps}
        connection.execute(statement, given)
        connection.execute(SQL("ANALYZE {}").format(Identifier("pg_temp", ASSIGNED)))
    return Postgres(connection, {"assigned": ("pg_temp", ASSIGNED)})


def lay_down(
    connection: psycopg.Connection[tuple[Any, ...]], engine: Postgres, schema: str, name: str, query: exp.Expr
) -> None:
    """Make a table of a query, in its order."""
    with translating():
        made = SQL("CREATE TABLE {} AS ").format(Identifier(schema, name))
        connection.execute(made + SQL(engine.written(query)))


def _typed(field: pa.Field) -> Composable:
    """A column as the release has it: texts are compared byte by byte."""
    type_, _, collation = type_in_server(field.name, field.type).partition(" COLLATE ")
    cast = "CAST({0} AS " + type_ + ")" + (f" COLLATE {collation}" if collation else "")
    return SQL(cast + " AS {0}").format(Identifier(field.name))
