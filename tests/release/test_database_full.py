"""The disk of a server is really full while a release is made there: that is said, nothing is left, and it works later."""

import os
import subprocess

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

import discreet
from discreet.engines.postgres.files import columns_of, copied_in
from discreet.errors import EngineError
from server import Server

SMALL = 'mount -t tmpfs -o size=24m,uid=nobody,mode=700 tmpfs "$0" && exec "$@"'
POLICY = {"quasi": ["age", "sex", "education"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}
MORE = "INSERT INTO public.filler SELECT repeat('x', 1000) FROM generate_series(1, 50)"


@pytest.fixture
def small():
    """A server with a database on a small file system of its own, which no other process sees."""
    server = Server()
    place = server.folder / "small"
    place.mkdir()
    server.inside = ("unshare", "--mount", "sh", "-c", SMALL, place)
    try:
        if os.getuid() or subprocess.run([*server.inside, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this machine does not let us mount a small file system for another user")
        server.make()
        server.run(f"CREATE TABLESPACE small LOCATION '{place}'", "CREATE DATABASE small TABLESPACE small")
        yield server
    finally:
        server.stop()


def room(server):
    """Bytes that are free on the small file system, as the server sees it."""
    free = os.statvfs(f"/proc/{server.process.pid}/root{server.folder}/small")
    return free.f_bavail * free.f_frsize


@pytest.mark.parametrize("way", ["load", "deal", "local"])
def test_a_disk_that_is_full(small, people, tmp_path, way):
    url = small.url("small")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE TABLE public.people ({})").format(columns_of(people.schema)))
        copied_in(connection, Identifier("public", "people"), people)
        connection.execute("CREATE TABLE public.filler (text text STORAGE PLAIN)")
        while room(small) > 400_000:  # a server that has none at all cannot do anything
            connection.execute(MORE)
    made = discreet.publish(people, POLICY, to=tmp_path / "r")

    def act():
        if way == "load":
            return discreet.load(made, url, name="r")
        with discreet.read(url, table="people") as table:
            return discreet.publish(table, {**POLICY, "partition": way}, to=url, release="r")

    with pytest.raises(EngineError, match="disk of the server is full") as caught:
        act()
    assert caught.value.hint == "make room there, and run the same command again"
    left = "SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
    assert small.run(left, database="small") == [(0,)]
    small.run("TRUNCATE public.filler", database="small")
    with act() as release:
        assert discreet.verify(f"{url}#r").ok
        assert release.promise.rows == len(people)
