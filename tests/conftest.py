"""What many tests share: the hooks of a run, the folder of real data, a small table of people, and the program."""

import os
import sys
from pathlib import Path

import pytest

from lane import pytest_collection_modifyitems, pytest_configure

__all__ = ["pytest_collection_modifyitems", "pytest_configure"]


@pytest.fixture(scope="session")
def real_data():
    """The folder of real microdata; a file that it lacks is a failure, not a reason to skip."""
    place = os.environ.get("DISCREET_DATA")
    if not place:
        pytest.skip("DISCREET_DATA does not point at the folder of real microdata")
    return Path(place)


@pytest.fixture(scope="session")
def people():
    from discreet.table.people import people

    return people(2_000, seed=3)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a command as its program would: exit status, stdout, stderr."""
    from discreet.cli import main

    def act(*arguments):
        monkeypatch.setattr(sys, "argv", ["discreet", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as leaving:
            status = leaving.code or 0
        out, err = capsys.readouterr()
        return status, out, err

    return act


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL of this process; every test makes a database of its own (`database`)."""
    from server import Server

    made = Server()
    try:
        yield made.make()
    finally:
        made.stop()


@pytest.fixture(scope="session")
def one_database(server):
    """A database for all tests of this process: to make and remove one takes longer than most of them."""
    server.run("CREATE DATABASE tests TEMPLATE template0 STRATEGY wal_log")
    return server.url("tests")


@pytest.fixture
def database(server, one_database):
    """The URL of a database that is empty."""
    left = "FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'"
    dropped = server.run(f"SELECT format('DROP SCHEMA %I CASCADE', nspname) {left}", database="tests")
    server.run("ALTER DATABASE tests RESET ALL")
    server.run(
        *(drop for (drop,) in dropped),
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        database="tests",
    )
    return one_database


@pytest.fixture(scope="session")
def cluster():
    """A Spark of this process: a master and two workers. Where there is no Java, its tests are skipped and say so."""
    from spark.cluster import Cluster, missing

    if (why := missing()) is not None:
        pytest.skip(f"no Spark: {why}")
    made = Cluster()
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture(scope="session")
def spark(cluster):
    """A classic session with the workers; its settings are odd on purpose."""
    return cluster.session()


@pytest.fixture(scope="session")
def placed(request):
    """Put a release where an engine holds it: as it is, in a database of the server, or asked by Spark."""
    from uuid import uuid4

    import discreet

    opened = []

    def place(release, engine):
        if engine == "duckdb":
            return release
        if engine == "spark":
            opened.append(discreet.open_release(release.path, engine=request.getfixturevalue("spark")))
            return opened[-1]
        found = discreet.load(release, request.getfixturevalue("server").url(), name=uuid4().hex)
        opened.append(found)
        return found

    yield place
    for each in opened:
        each.close()
