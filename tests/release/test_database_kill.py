"""The server is really killed while a release is loaded or published: then all of it is there, or nothing, and it works.

DISCREET_KILLS=50 kills it at 100 moments; how many releases were whole stands at the end of the run.
"""

import os
from random import Random
from threading import Thread
from time import monotonic, sleep

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

import discreet
from discreet.engines.postgres.files import columns_of, copied_in
from discreet.errors import DiscreetError
from server import Server

MOMENTS = int(os.environ.get("DISCREET_KILLS", "4"))  # of each way
MOST = 10 * MOMENTS  # as many are tried until one kill was not too late
POLICY = {"quasi": ["age", "sex", "education"], "sensitive": "salary", "drop": "rest", "guarantee": {"l": 4}}


@pytest.fixture
def own_server():
    """A server that nobody else needs."""
    server = Server()
    try:
        yield server.make()
    finally:
        server.stop()


@pytest.mark.parametrize("way", ["load", "deal", "local"])
def test_a_release_is_whole_or_nothing(own_server, people, tmp_path, way, record_property):
    act = ACTS[way](own_server, people, tmp_path)
    start = monotonic()
    act("first")
    lasts, rng, whole, nothing = monotonic() - start, Random(1), 0, 0  # noqa: S311
    for moment in range(MOST):
        if moment >= MOMENTS and nothing:
            break
        name, told = f"r{moment}", []
        thread = Thread(target=lambda name=name, told=told: told.append(_outcome(act, name)), daemon=True)
        thread.start()
        sleep(rng.uniform(0.1, 1.1) * lasts)
        own_server.interrupt(backend=moment % 2 == 1)
        thread.join(120)
        assert not thread.is_alive()
        with psycopg.connect(own_server.url(), connect_timeout=60) as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name]).fetchall()
        if found:
            assert discreet.verify(f"{own_server.url()}#{name}").ok
            whole += 1
        else:
            assert told != [None]  # nobody was told that it is there
            act(name)
            nothing += 1
        lasts *= 0.85 if found else 1.1  # so that kills come early and late, however busy the machine is
    times = f"{whole} times the whole release was there, {nothing} times nothing of it"
    record_property("told", f"{way} killed {whole + nothing} times: {times}")
    assert nothing, "all kills came too late to prove anything"


def _loading(server, people, folder):
    made = discreet.publish(people, POLICY, to=folder / "r")
    return lambda name: discreet.load(made, server.url(), name=name).close()


def _publishing(server, people, partition):
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(SQL("CREATE TABLE people ({})").format(columns_of(people.schema)))
        copied_in(connection, Identifier("people"), people)

    def publish(name):
        with discreet.read(server.url(), table="people") as table:
            discreet.publish(table, {**POLICY, "partition": partition}, to=server.url(), release=name).close()

    return publish


ACTS = {
    "load": _loading,
    "deal": lambda server, people, _: _publishing(server, people, "deal"),
    "local": lambda server, people, _: _publishing(server, people, "local"),
}


def _outcome(act, name):
    try:
        act(name)
    except DiscreetError as error:
        return error
    return None
