"""COPY as CSV, which `discreet` uses, beside binary COPY as the driver reads and writes it, in one server.

    python bench/copies.py [ROWS]

Of each way: seconds of the processor that this process takes, and seconds by the clock; both end, or begin, with Arrow.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import psycopg
import pyarrow as pa

from discreet.engines.postgres.files import columns_of, copied_in, copied_out
from discreet.table.people import people
from server import Server

QUERY = "SELECT * FROM people"


def main(rows=1_000_000):
    server = Server()
    try:
        server.make()
        with psycopg.connect(server.url(), autocommit=True) as connection:
            table = people(rows, seed=1).drop_columns(["name"])
            table = table.cast(pa.schema([pa.field(field.name, _plain(field.type)) for field in table.schema]))
            connection.execute(psycopg.sql.SQL("CREATE TABLE people ({})").format(columns_of(table.schema)))
            told("CSV in", lambda: copied_in(connection, psycopg.sql.Identifier("people"), table))
            connection.execute("TRUNCATE people")
            types = [column.type_code for column in connection.execute(f"{QUERY} LIMIT 0").description]
            told("binary in, from Arrow by tuples", lambda: binary_in(connection, table, types))
            told("CSV out, to Arrow", lambda: copied_out(connection, QUERY))
            told("binary out, to Arrow by tuples", lambda: binary_out(connection, types, table.schema))
            for form in ("csv", "binary"):
                told(f"{form} out, bytes alone", lambda form=form: bytes_out(connection, form))
    finally:
        server.stop()


def told(title, act):
    clock, processor = time.perf_counter(), time.process_time()
    act()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{title}: {processor:.2f} s of the processor, {clock:.2f} s by the clock")


def binary_in(connection, table, types):
    with connection.cursor() as cursor, cursor.copy("COPY people FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(types)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            copy.write_row(row)


def binary_out(connection, types, schema):
    with connection.cursor() as cursor, cursor.copy(f"COPY ({QUERY}) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(types)
        columns = zip(*copy.rows(), strict=True)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def bytes_out(connection, form):
    with connection.cursor() as cursor, cursor.copy(f"COPY ({QUERY}) TO STDOUT (FORMAT {form})") as copy:
        return sum(map(len, copy))


def _plain(type_):
    return type_.value_type if pa.types.is_dictionary(type_) else type_


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
